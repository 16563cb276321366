//! Unique integer ids for applications on Apache Cassandra and ScyllaDB.

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
mod identity;
mod range;
mod register;
mod reserve;
mod runtime;
mod sequence;
mod stop;
pub mod store;
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
pub use self::store::StoreHandle;
pub use self::timestamp::{LamportTimestamp, ParseTimestampError};
