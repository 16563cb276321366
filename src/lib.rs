//! Unique integer ids for applications on Apache Cassandra and ScyllaDB, with no coordinator and no clock.
//!
//! A table holds one Lamport timestamp per named sequence. A client moves it on by a lightweight transaction, so
//! owns the ids in between, and hands them out from memory. No id is given twice, by any number of processes, under any
//! faults of network, clients and a minority of replicas; what is in doubt is a gap. The README says for whom this
//! is and for whom it is not, `docs/design.md` which rules make it safe, `docs/protocol.md` what is sent.
//!
//! # Tour
//!
//! - [`StoreHandle::connect`] takes a URL; `store::cql::CqlStore::from_session` takes the driver session that
//!   an application already has.
//! - [`Sequence::open`] opens a sequence: [`next_id`](Sequence::next_id) and [`try_next_id`](Sequence::try_next_id) for
//!   single ids, [`next_ids`](Sequence::next_ids) and [`reserve`](Sequence::reserve) for many,
//!   [`observe`](Sequence::observe) to stay beyond what another process has given,
//!   [`state`](Sequence::state) for a readiness probe. [`SequenceBuilder`] has every option.
//! - [`Definition`] is what a sequence is; [`Catalog`] is what an operator does with it.
//! - [`Error`] says what happened and what was changed; [`Stop`] is the one that nothing but a person mends.
//! - [`store::Store`] is for sequences that are kept elsewhere.
//!
//! ```no_run
//! use lamport_seq::{Definition, Sequence, StoreHandle};
//!
//! # async fn example() -> Result<(), lamport_seq::Error> {
//! let store = StoreHandle::connect("cassandra://127.0.0.1/shop").await?;
//! let orders = Sequence::open(&store, "orders").create_if_missing(Definition::default()).await?;
//! let id = orders.next_id().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! They only ever add.
//!
//! - `cassandra` (default): Apache Cassandra and ScyllaDB, through the `scylla` driver.
//! - `tls`: TLS for it, by rustls.
//! - `sqlite`: an embedded file, for one machine.
//! - `testing`: a store in memory, and the conformance suite for stores.
//! - `history`: a recorder of what happens to ids, and checkers that judge what it recorded.
//! - `serde`: `Serialize` for [`Definition`], and both ways for [`LamportTimestamp`].

mod backoff;
mod birth;
mod buffer;
mod builder;
mod catalog;
mod definition;
mod effort;
mod error;
mod flight;
mod generator;
mod health;
#[cfg(feature = "history")]
pub mod history;
mod identity;
mod pace;
mod range;
mod register;
mod reserve;
mod runtime;
mod sequence;
mod stop;
pub mod store;
#[cfg_attr(feature = "history", path = "history/tape.rs")]
mod tape;
#[cfg(feature = "testing")]
pub mod testing;
mod timestamp;

pub use self::builder::SequenceBuilder;
pub use self::catalog::{Advance, Advanced, Catalog, CorruptSequence, SequenceInfo};
pub use self::definition::{
    Definition, DefinitionBuilder, InvalidDefinition, InvalidName, SequenceName,
};
pub use self::error::Error;
pub use self::range::{IdRange, Ids};
pub use self::reserve::Verify;
pub use self::sequence::{Sequence, State, TryNextError};
pub use self::stop::{Stop, StopCause};
pub use self::store::{Connect, StoreHandle};
pub use self::timestamp::{LamportTimestamp, ParseTimestampError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
