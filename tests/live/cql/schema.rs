//! Making the tables, and making them again.

use std::collections::BTreeMap;

use lamport_seq::store::Store;
use lamport_seq::store::cql::{CqlOptions, CqlStore, Replication, Schema};

use super::{TIMEOUT, contact_points, deadline, empty, init, prefix, run, store};

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_tables_are_made_once() {
    let store = empty().await;
    let schema = Schema::inspect(&store, TIMEOUT).await.unwrap();
    let plan = schema.plan(None, false).unwrap();
    assert_eq!(plan.statements().count(), 4, "three tables and their format");
    let mut sent = Vec::new();
    schema.apply(&plan, TIMEOUT, |statement| sent.push(statement.to_owned())).await.unwrap();
    assert_eq!(sent, plan.statements().map(str::to_owned).collect::<Vec<_>>());
    schema.apply(&plan, TIMEOUT, |_| ()).await.unwrap();

    let schema = Schema::inspect(&store, TIMEOUT).await.unwrap();
    assert_eq!(schema.plan(None, false).unwrap().statements().count(), 0);
    store.check(deadline()).await.unwrap();
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_keyspace_is_made_with_the_replication_that_is_asked_for() {
    let keyspace = format!("{}_{}", super::keyspace(), prefix().trim_end_matches('_'));
    let options = CqlOptions::new(&contact_points().join(","), &keyspace).unwrap();
    let store = CqlStore::connect(options).await.unwrap();
    let schema = Schema::inspect(&store, TIMEOUT).await.unwrap();
    let nodes: u32 = schema.datacenters().values().sum();
    if nodes > 1 {
        let error = schema.plan(None, false).unwrap_err().to_string();
        let datacenter = schema.datacenters().keys().next().unwrap();
        assert!(error.contains(datacenter.as_str()) && error.contains("--rf"), "{error}");
    }
    let unknown = BTreeMap::from([("atlantis".to_owned(), 1)]);
    let unknown = schema.plan(Some(&Replication::PerDatacenter(unknown)), false);
    assert!(unknown.unwrap_err().to_string().contains("no datacenter `atlantis`"));
    let many = schema.plan(Some(&Replication::Everywhere(99)), false);
    assert!(many.unwrap_err().to_string().contains("can't hold 99 replicas"));

    let one = Replication::Everywhere(1);
    let plan = schema.plan(Some(&one), false).unwrap();
    assert!(plan.warnings().iter().any(|warning| warning.contains("1 replica in")));
    schema.apply(&plan, TIMEOUT, |_| ()).await.unwrap();
    store.check(deadline()).await.unwrap();
    let again = Schema::inspect(&store, TIMEOUT).await.unwrap().plan(Some(&one), false).unwrap();
    assert_eq!(again.statements().count(), 0);
    assert!(again.notes()[0].contains("left as it is"));
    run(&store, &format!("DROP KEYSPACE {keyspace}")).await;
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_two_inits_at_once_make_one_set_of_tables() {
    let first = empty().await;
    let second = first.clone();
    tokio::join!(init(&first, false), init(&second, false));
    first.check(deadline()).await.unwrap();
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_check_is_quick_to_repeat() {
    let store = store().await;
    for _ in 0..3 {
        store.check(deadline()).await.unwrap();
    }
}
