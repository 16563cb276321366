//! On a real cluster. `cargo xtask test` starts one and runs these; by hand:
//! `LSEQ_TEST_CASSANDRA=127.0.0.1,127.0.0.2,127.0.0.3 cargo test --all-features --test live -- --ignored live`.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod conformance;
mod cql;
#[path = "../common/example.rs"]
mod example;
mod examples;
mod faults;
mod literal;
mod outages;
mod stops;
mod support;
mod wire;
