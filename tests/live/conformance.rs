//! The suite that every store must pass, on real tables.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use lamport_seq::store::cql::CqlStore;
use lamport_seq::testing::conformance::CLAUSES;

use crate::support::Keyspace;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_cassandra_keeps_every_clause_of_the_contract() {
    let keyspace = Keyspace::create(3).await;
    let store = CqlStore::from_session(keyspace.session.clone(), &keyspace.name).unwrap();
    let mut broken = Vec::new();
    for clause in CLAUSES {
        // All of them are tried, so that one failure does not hide the next.
        if AssertUnwindSafe(clause.check(&store)).catch_unwind().await.is_err() {
            broken.push(clause.name);
        }
    }
    assert!(broken.is_empty(), "of {} clauses these are broken: {broken:?}", CLAUSES.len());
    keyspace.drop().await;
}
