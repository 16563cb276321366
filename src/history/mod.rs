//! Histories: what happened, written down as it happens, and judged.
//!
//! A [`Recorder`] writes an event for everything that decides which ids are given, and [`check()`] shows that none is
//! given twice, that each was reserved by who gave it, and what else is promised; or names the lines that show
//! otherwise. docs/history.md has the format, and what each checker can and can't see.
//!
//! # Example: a history is checked
//!
//! ```
//! use lamport_seq::history::{Options, Source, check};
//!
//! let history = concat!(
//!     r#"{"process":{"format":1,"client":"a","run":"00000000-0000-8000-8000-000000000001","boot_id":"b","time_namespace":"n"}}"#, "\n",
//!     r#"{"open":{"g":1,"h":1,"sequence":"orders","definition":{"start_value":1,"increment_by":1,"min_value":1,"max_value":9},"value":0,"t":1}}"#, "\n",
//!     r#"{"reserve":{"g":1,"n":1,"attempt":"00000000-0000-8000-8000-00000000000a","old":0,"value":5,"t":2}}"#, "\n",
//!     r#"{"ok":{"n":1,"t":3}}"#, "\n",
//!     r#"{"give":{"g":1,"id":1,"t":4}}"#, "\n",
//!     r#"{"give":{"g":1,"id":1,"t":5}}"#, "\n",
//! );
//! let report = check(&[Source::bytes("a.jsonl", history.as_bytes())], Options::default())?;
//! assert_eq!(
//!     report.violations[0].to_string(),
//!     "unique: sequence `orders`: 1 was given twice: give 1 by a/1 at a.jsonl:5; give 1 by a/1 at a.jsonl:6"
//! );
//! # Ok::<(), lamport_seq::history::HistoryError>(())
//! ```

mod check;
mod clock;
pub mod event;
mod fault;
mod incarnation;
mod read;
mod recorder;

pub use self::check::{
    Options, Progress, Property, Report, Shown, Summary, Torn, Violation, check,
};
pub use self::event::How;
pub use self::fault::{Cause, Fault};
pub use self::incarnation::Incarnation;
pub use self::read::{HistoryError, Source};
pub use self::recorder::{Operation, Recorder};
