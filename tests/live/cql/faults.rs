//! The store itself avoids a node that is silent (S13): here on a session of the application's own, which takes a
//! minute to notice one, where a session of the store's own takes a few seconds.

use std::time::Instant;

use lamport_seq::store::cql::CqlStore;
use lamport_seq::{Catalog, StoreHandle};

use crate::support::{Keyspace, Paused, REQUEST_TIMEOUT, first_replica, tens};

fn on_the_drivers_defaults(keyspace: &Keyspace) -> StoreHandle {
    let store = CqlStore::from_session(keyspace.session.clone(), &keyspace.name).unwrap();
    StoreHandle::new(store.with_request_timeout(REQUEST_TIMEOUT).unwrap())
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_a_paused_replica_is_avoided_before_the_driver_notices() {
    let keyspace = Keyspace::create(3).await;
    let store = on_the_drivers_defaults(&keyspace);
    let sequence = tens(&store, "paused").await.unwrap();
    sequence.reserve(10).await.unwrap();
    let _paused = Paused::nodes([first_replica(&keyspace, "paused")]);
    let began = Instant::now();
    sequence.reserve(10).await.unwrap();
    let took = began.elapsed();
    assert!(took < 2 * REQUEST_TIMEOUT, "{took:?}");
    let began = Instant::now();
    for _ in 0..10 {
        sequence.reserve(10).await.unwrap();
    }
    let took = began.elapsed();
    assert!(took < REQUEST_TIMEOUT, "the silent node was asked again: {took:?}");
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_nobody_waits_for_a_paused_node_to_prepare_a_statement() {
    let keyspace = Keyspace::create(3).await;
    let store = on_the_drivers_defaults(&keyspace);
    tens(&store, "unprepared").await.unwrap().reserve(10).await.unwrap();
    let _paused = Paused::nodes([first_replica(&keyspace, "unprepared")]);
    let began = Instant::now();
    Catalog::new(&store).drop("unprepared").await.unwrap();
    let took = began.elapsed();
    // One statement is lost to the paused node, and the drop waits a little for its own to be prepared.
    assert!(took < 2 * REQUEST_TIMEOUT, "{took:?}");
}
