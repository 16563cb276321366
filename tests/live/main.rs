//! Tests against a real cluster. `cargo xtask test` starts one and runs them; by hand:
//! `LSEQ_TEST_CASSANDRA=127.0.0.1 cargo test --test live -- --ignored`.

#![cfg(feature = "cassandra")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod cql;
