//! Nodes that stand still: S13.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lamport_seq::{Catalog, State};

use crate::support::{Keyspace, Paused, REQUEST_TIMEOUT, contact_points, first_replica, tens};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_with_the_first_replica_paused_ids_flow_within_two_request_timeouts() {
    let keyspace = Keyspace::create(3).await;
    let store = keyspace.connect().await;
    let sequence = tens(&store, "paused").await.unwrap();
    sequence.next_ids(10).await.unwrap();
    let first = first_replica(&keyspace, "paused");
    let _paused = Paused::nodes([first]);
    let began = Instant::now();
    sequence.next_id().await.unwrap();
    let took = began.elapsed();
    println!("the first id with node {first} paused took {took:?}");
    assert!(took < 2 * REQUEST_TIMEOUT, "{took:?}");
    // The silent node is avoided from then on.
    let began = Instant::now();
    for _ in 0..5 {
        sequence.reserve(10).await.unwrap();
    }
    let took = began.elapsed();
    println!("five more reservations took {took:?}");
    assert!(took < REQUEST_TIMEOUT, "{took:?}");
}

/// The driver prepares a statement on every node and waits for each of them: one that is stuck must not matter.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_a_statement_that_was_never_sent_before_works_with_a_node_paused() {
    let keyspace = Keyspace::create(3).await;
    let store = keyspace.connect().await;
    tens(&store, "unprepared").await.unwrap().next_ids(10).await.unwrap();
    let _paused = Paused::nodes([first_replica(&keyspace, "unprepared")]);
    let began = Instant::now();
    // The first statement may be lost to the paused node; the drop itself was never prepared.
    Catalog::new(&store).drop("unprepared").await.unwrap();
    let took = began.elapsed();
    println!("a drop with the first replica paused took {took:?}");
    assert!(took < 2 * REQUEST_TIMEOUT, "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_a_client_starts_with_a_node_paused() {
    let keyspace = Keyspace::create(3).await;
    let store = keyspace.connect().await;
    tens(&store, "newcomer").await.unwrap().next_ids(10).await.unwrap();
    let _paused = Paused::nodes([first_replica(&keyspace, "newcomer")]);
    let began = Instant::now();
    let newcomer = tens(&keyspace.connect().await, "newcomer").await.unwrap();
    assert!(newcomer.next_id().await.unwrap() > 10);
    let took = began.elapsed();
    println!("a client that started with the first replica paused had an id after {took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Everything that is logged in this process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s13_a_minute_without_the_cluster_costs_callers_their_deadlines_and_nothing_else()
 {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let keyspace = Keyspace::create(3).await;
    let store = keyspace.connect().await;
    let timeout = Duration::from_secs(5);
    let sequence = tens(&store, "away").timeout(timeout).await.unwrap();
    sequence.next_ids(10).await.unwrap();
    let guard = tracing::subscriber::set_default(subscriber);
    {
        let _paused = Paused::nodes(1..=contact_points().len());
        let away = Instant::now();
        while away.elapsed() < Duration::from_secs(60) {
            let began = Instant::now();
            let error = sequence.next_id().await.unwrap_err();
            let late = began.elapsed().saturating_sub(timeout);
            assert!(error.is_retryable() || error.is_unknown(), "{error:?}");
            assert!(late < Duration::from_secs(1), "{late:?} after the deadline");
            assert!(matches!(sequence.state(), State::Degraded { .. }));
        }
    }
    let began = Instant::now();
    let id = loop {
        match sequence.next_id().await {
            Ok(id) => break id,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error:?}"),
        }
    };
    println!("id {id} came {:?} after the cluster was back", began.elapsed());
    assert!(id > 10);
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let ours: Vec<_> = log.lines().filter(|line| line.contains("lamport_seq")).collect();
    assert_eq!(ours.len(), 2, "{ours:#?}");
    assert!(ours[0].contains("does not answer as it should"), "{ours:#?}");
    assert!(ours[1].contains("answers again after"), "{ours:#?}");
    keyspace.drop().await;
}
