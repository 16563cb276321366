//! A session that the application already has is used as it is (S8).

use std::sync::Arc;
use std::time::Duration;

use lamport_seq::Definition;
use lamport_seq::store::cql::CqlStore;
use lamport_seq::store::cql::scylla::client::execution_profile::ExecutionProfile;
use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;
use lamport_seq::store::cql::scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use lamport_seq::store::cql::scylla::policies::timestamp_generator::TimestampGenerator;
use lamport_seq::store::cql::scylla::statement::{Consistency, SerialConsistency};
use lamport_seq::store::{Change, Store, Swapped};

use super::{at, contact_points, deadline, fresh, keyspace, name, store};

/// A clock that went wrong long ago.
struct LongAgo;

impl TimestampGenerator for LongAgo {
    fn next_timestamp(&self) -> i64 {
        1000
    }
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_session_with_other_defaults_needs_no_change() {
    let tables = store().await;
    let location = tables.location();
    let (_, prefix) = location.split_once("?prefix=").unwrap();
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::One)
        .serial_consistency(Some(SerialConsistency::LocalSerial))
        .request_timeout(Some(Duration::from_millis(1)))
        .speculative_execution_policy(Some(Arc::new(SimpleSpeculativeExecutionPolicy {
            max_retry_count: 3,
            retry_interval: Duration::from_millis(1),
        })))
        .build();
    let session = SessionBuilder::new()
        .known_nodes(contact_points())
        .default_execution_profile_handle(profile.into_handle())
        .timestamp_generator(Arc::new(LongAgo))
        .use_keyspace("system", false)
        .build()
        .await
        .unwrap();
    let store = CqlStore::from_session(Arc::new(session), &keyspace()).unwrap();
    let store = store.with_prefix(prefix).unwrap();
    assert!(store.location().ends_with(&format!("/{}?prefix={prefix}", keyspace())));
    store.check(deadline()).await.unwrap();

    let orders = name("orders");
    let row = fresh(Definition::default());
    store.insert(&orders, &row, deadline()).await.unwrap();
    let to = at(10, 1);
    let moved = store.swap(&orders, &row, Change::Move { to }, deadline()).await;
    assert_eq!(moved.unwrap(), Swapped::Applied);
    let found = store.read(&orders, deadline()).await.unwrap().unwrap();
    assert_eq!(found.timestamp, to);
    let written = found.written.unwrap().value_us.unwrap();
    assert!(
        written > 1_000_000_000_000_000,
        "the servers' time counts, not the session's: {written}"
    );
}
