//! Tables that would break a sequence are refused before anything is sent (S9), and clusters that are not there are
//! named within the timeout.

use std::time::{Duration, Instant};

use lamport_seq::Error;
use lamport_seq::store::cql::{CqlOptions, CqlStore, Schema};
use lamport_seq::store::{Store, StoreError, StoreErrorKind};

use super::{TIMEOUT, contact_points, deadline, empty, run, store, table};

async fn refusal(store: &CqlStore) -> StoreError {
    let error = store.check(deadline()).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Refused, "{error}");
    assert!(error.hint().is_some(), "{error}");
    error
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_missing_tables_and_keyspaces_are_named() {
    let store = empty().await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("there is no table"), "{error}");
    let options = CqlOptions::new(&contact_points().join(","), "no_such_keyspace").unwrap();
    let nowhere = CqlStore::connect(options).await.unwrap();
    let error = refusal(&nowhere).await;
    assert_eq!(error.to_string(), "there is no keyspace no_such_keyspace");
    assert!(error.hint().unwrap().contains("lseq init"));
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_table_whose_rows_expire_is_refused() {
    let store = store().await;
    let counters = table(&store, "counters");
    run(&store, &format!("ALTER TABLE {counters} WITH default_time_to_live = 60")).await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("expire after 60 s"), "{error}");
    let schema = Schema::inspect(&store, TIMEOUT).await.unwrap();
    assert!(matches!(schema.plan(None, false), Err(Error::Refused { .. })));
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_column_of_another_type_is_refused() {
    let store = store().await;
    let counters = table(&store, "counters");
    run(&store, &format!("DROP TABLE {counters}")).await;
    run(&store, &format!("CREATE TABLE {counters} (name text PRIMARY KEY, node uuid, value int)"))
        .await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("is int (regular), not bigint"), "{error}");
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_counter_columns_and_wide_rows_are_refused() {
    let store = store().await;
    let counters = table(&store, "counters");
    run(&store, &format!("DROP TABLE {counters}")).await;
    run(&store, &format!("CREATE TABLE {counters} (name text PRIMARY KEY, value counter)")).await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("counter columns"), "{error}");
    run(&store, &format!("DROP TABLE {counters}")).await;
    run(
        &store,
        &format!(
            "CREATE TABLE {counters} (name text, day date, node uuid, value bigint, PRIMARY KEY (name, day))"
        ),
    )
    .await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("primary key"), "{error}");
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_another_format_is_refused() {
    let store = store().await;
    let meta = table(&store, "lseq_meta");
    run(&store, &format!("UPDATE {meta} SET value = '7' WHERE key = 'format' IF value = '1'"))
        .await;
    let error = refusal(&store).await;
    assert!(error.to_string().contains("format `7`"), "{error}");
    let schema = Schema::inspect(&store, TIMEOUT).await.unwrap();
    assert!(matches!(schema.plan(None, false), Err(Error::Refused { .. })));
    run(&store, &format!("DELETE FROM {meta} WHERE key = 'format' IF EXISTS")).await;
    let error = refusal(&store).await;
    assert!(error.hint().unwrap().contains("lseq init"), "{error}");
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_deadline_that_has_passed_sends_nothing() {
    let store = store().await;
    let orders = super::name("orders");
    let past = tokio::time::Instant::now();
    let row = super::fresh(lamport_seq::Definition::default());
    let error = store.insert(&orders, &row, past).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
    assert_eq!(store.read(&orders, deadline()).await.unwrap(), None);
}

#[cfg(feature = "tls")]
#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_tls_to_a_plain_port_says_so_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, CA).unwrap();
    let began = Instant::now();
    let options = CqlOptions::new(&contact_points().join(","), "shop").unwrap().tls(&ca);
    let error = CqlStore::connect(options.connect_timeout(Duration::from_secs(5))).await;
    let error = error.map(|_| ()).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(6));
    let shown = format!("{:#}", anyhow::Error::from(error.clone()));
    assert!(shown.contains("no TLS is spoken there"), "{shown}");
    assert!(error.hint().unwrap().contains("tls=true"), "{error}");
}

/// Some authority; its key was thrown away.
#[cfg(feature = "tls")]
const CA: &str = include_str!("ca.pem");
