//! Sequences in Apache Cassandra or ScyllaDB: one row per sequence, lightweight transactions only.
//!
//! docs/protocol.md has the tables, the statements and their consistency levels. Each statement sets its own
//! consistency, timeout, retry policy and routing, so that a session that an application already has can be used as
//! it is.

mod bind;
mod options;
mod outcome;
mod reason;
mod routing;
mod rows;
mod statements;
#[cfg(feature = "tls")]
mod tls;
mod url;

pub use scylla;

pub use self::options::CqlOptions;
