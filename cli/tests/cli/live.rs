//! On a real Cassandra.
