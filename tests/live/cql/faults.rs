//! A node that is frozen: connections stay, and nobody answers (S13).

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;
use lamport_seq::store::cql::{CqlOptions, CqlStore};
use lamport_seq::store::{Change, Row, Store, Swapped};
use lamport_seq::{Definition, SequenceName};
use tokio::time::Instant;

use super::{TIMEOUT, at, deadline, fresh, hosts, keyspace, name, store};

/// The default of the store.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// A frozen node, which goes on when this is dropped, however the test ended.
struct Frozen {
    xtask: String,
    node: String,
}

impl Frozen {
    /// Freezes the node at `address`. `None`: the cluster is not ours to play with.
    fn at(address: std::net::IpAddr) -> Option<Self> {
        let Ok(xtask) = std::env::var("LSEQ_TEST_XTASK") else {
            #[expect(clippy::print_stderr, reason = "nothing may be skipped in silence")]
            {
                eprintln!("SKIPPED: LSEQ_TEST_XTASK is not set, so the nodes can't be frozen");
            }
            return None;
        };
        let address = address.to_string();
        let (_, node) = address.rsplit_once('.').unwrap();
        let node = node.to_owned();
        run(&xtask, "pause", &node);
        Some(Self { xtask, node })
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        run(&self.xtask, "resume", &self.node);
    }
}

fn run(xtask: &str, action: &str, node: &str) {
    let status = Command::new(xtask).args(["cluster", action, node]).status();
    assert!(status.unwrap().success(), "{action} {node}");
}

/// The replica that is asked first for a sequence.
fn first_replica(store: &CqlStore, sequence: &SequenceName) -> std::net::IpAddr {
    let cluster = store.session().get_cluster_state();
    let location = store.location();
    let (_, prefix) = location.split_once("?prefix=").unwrap();
    let table = format!("{prefix}counters");
    let replicas = cluster.get_endpoints(&keyspace(), &table, &(sequence.as_str(),));
    replicas.unwrap()[0].0.address.ip()
}

/// One reservation, tried as the protocol does: read, then swap. Whether it was applied for certain.
async fn reserve(store: &CqlStore, sequence: &SequenceName, node: u128) -> bool {
    let Ok(Some(row)) = store.read(sequence, deadline()).await else {
        return false;
    };
    let to = at(row.timestamp.value + 1, node);
    let swapped = store
        .swap(sequence, &row, Change::Move { to }, deadline())
        .await;
    swapped.is_ok_and(|swapped| swapped == Swapped::Applied)
}

/// A sequence, through a session with the driver's own defaults: it takes a minute to notice a frozen node.
async fn made(sequence: &str) -> (CqlStore, SequenceName, Row) {
    let (tables, sequence) = (store().await, name(sequence));
    let location = tables.location();
    let (_, prefix) = location.split_once("?prefix=").unwrap();
    let hosts = hosts();
    let session = SessionBuilder::new()
        .known_nodes(hosts.split(','))
        .build()
        .await;
    let store = CqlStore::from_session(Arc::new(session.unwrap()), &keyspace()).unwrap();
    let store = store.with_prefix(prefix).unwrap();
    store.check(deadline()).await.unwrap();
    let row = fresh(Definition::default());
    let inserted = store.insert(&sequence, &row, deadline()).await;
    assert_eq!(inserted.unwrap(), Swapped::Applied);
    (store, sequence, row)
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_with_the_first_replica_frozen_ids_flow_within_two_request_timeouts() {
    let (store, orders, _) = made("orders").await;
    assert!(reserve(&store, &orders, 1).await);
    let Some(_frozen) = Frozen::at(first_replica(&store, &orders)) else {
        return;
    };
    let began = Instant::now();
    let mut node = 2;
    while !reserve(&store, &orders, node).await {
        assert!(began.elapsed() < TIMEOUT, "no id at all");
        node += 1;
    }
    assert!(
        began.elapsed() < 2 * REQUEST_TIMEOUT,
        "{:?}",
        began.elapsed()
    );
    let began = Instant::now();
    for node in 100..110 {
        assert!(reserve(&store, &orders, node).await);
    }
    assert!(
        began.elapsed() < REQUEST_TIMEOUT,
        "the frozen node was asked again"
    );
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_statement_that_was_never_prepared_works_with_a_node_frozen() {
    let (store, orders, row) = made("orders").await;
    let Some(_frozen) = Frozen::at(first_replica(&store, &orders)) else {
        return;
    };
    // The first one may be lost to the frozen node, the others may not.
    let _ = store.read(&orders, deadline()).await;
    let began = Instant::now();
    let retired = store.swap(&orders, &row, Change::Retire, deadline()).await;
    assert_eq!(retired.unwrap(), Swapped::Applied);
    assert!(began.elapsed() < REQUEST_TIMEOUT, "{:?}", began.elapsed());
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_client_starts_with_a_node_frozen() {
    let (store, orders, _) = made("orders").await;
    let Some(_frozen) = Frozen::at(first_replica(&store, &orders)) else {
        return;
    };
    let (_, tables) = store
        .location()
        .rsplit_once('/')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let url = format!("cassandra://unknown.invalid,{}/{tables}", hosts());
    let began = Instant::now();
    let newcomer = CqlStore::connect(CqlOptions::from_url(&url).unwrap())
        .await
        .unwrap();
    newcomer.check(deadline()).await.unwrap();
    while !reserve(&newcomer, &orders, 7).await {
        assert!(began.elapsed() < TIMEOUT, "no id at all");
    }
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
