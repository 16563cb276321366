//! Histories: what happened, written down as it happens, and judged.
//!
//! A [`Recorder`] writes an event for everything that decides which ids are given, and a check shows that none is
//! given twice, that each was reserved by who gave it, and what else is promised; or names the lines that show
//! otherwise. docs/history.md has the format, and what each checker can and can't see.

mod clock;
pub mod event;
mod fault;
mod incarnation;
mod recorder;

pub use self::event::How;
pub use self::fault::{Cause, Fault};
pub use self::incarnation::Incarnation;
pub use self::recorder::{Operation, Recorder};
