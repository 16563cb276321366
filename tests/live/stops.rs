//! Rows that are not what they must be, on a real cluster: S4 to S7.

use lamport_seq::{Advance, Catalog, Definition, Error, Sequence, StopCause, TryNextError};

use crate::support::{Keyspace, Paused, first_replica, tens};

/// A live generator that has used up its block, and something that happens to the row; the stop that it meets.
async fn stop_after<F>(keyspace: &Keyspace, name: &str, happens: F) -> StopCause
where
    F: AsyncFnOnce(&Keyspace, &str),
{
    let store = keyspace.connect().await;
    let sequence = tens(&store, name).await.unwrap();
    let buffered = tens(&store, name).await.unwrap();
    buffered.warm_up().await.unwrap();
    sequence.next_ids(10).await.unwrap();
    happens(keyspace, name).await;
    let error = sequence.next_id().await.unwrap_err();
    let cause = error.stop().unwrap_or_else(|| panic!("{name}: {error:?}")).cause.clone();
    // S5: nothing more is given, buffered or not, on this handle.
    assert!(matches!(buffered.try_next_id(), Err(TryNextError::Stopped(_))), "{name}");
    assert!(matches!(tens(&store, name).await, Err(Error::Stopped(_))), "{name}");
    cause
}

/// The row as it is: value and node.
async fn row(keyspace: &Keyspace, name: &str) -> (i64, uuid::Uuid) {
    let info = Catalog::new(&keyspace.connect().await).get(name).await.unwrap();
    (info.timestamp.value, info.timestamp.node)
}

/// After a restart of the process, with creation asked for: no id comes again.
async fn assert_not_born_again(keyspace: &Keyspace, name: &str) {
    let opened = tens(&keyspace.connect().await, name).await;
    let error = opened.expect_err("a sequence that existed is not created anew");
    assert_eq!(error.stop().unwrap().cause, StopCause::Missing, "{name}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("--recreate"), "{hint}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s4_s6_a_deleted_row_is_a_stop_and_is_not_born_again() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "deleted", async |keyspace, name| {
        keyspace.plain(&format!("DELETE FROM {{t}} WHERE name = '{name}'")).await;
    })
    .await;
    assert_eq!(cause, StopCause::Missing);
    assert_not_born_again(&keyspace, "deleted").await;
    // Only this mends it.
    let catalog = Catalog::new(&keyspace.connect().await);
    let mend = Advance::above(1000).recreate(Definition::default());
    catalog.advance("deleted", mend).await.unwrap();
    let reborn = tens(&keyspace.connect().await, "deleted").await.unwrap();
    assert_eq!(reborn.next_id().await.unwrap(), 1001);
    keyspace.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s4_s6_a_truncated_table_is_a_stop_and_is_not_born_again() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "truncated", async |keyspace, _| {
        keyspace.plain("TRUNCATE {t}").await;
    })
    .await;
    assert_eq!(cause, StopCause::Missing);
    assert_not_born_again(&keyspace, "truncated").await;
    keyspace.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s4_a_row_set_back_is_a_stop() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "set back", async |keyspace, name| {
        let node = uuid::Uuid::new_v4();
        let set_back = format!("UPDATE {{t}} SET value = 3, node = {node} WHERE name = '{name}'");
        keyspace.plain(&set_back).await;
    })
    .await;
    assert!(matches!(cause, StopCause::Regressed { .. }), "{cause:?}");
    keyspace.drop().await;
}

/// Only the node tells that the row is not the one that was seen.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s4_a_row_set_back_and_advanced_to_the_same_value_is_a_stop() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "same value", async |keyspace, name| {
        let (value, _) = row(keyspace, name).await;
        let node = uuid::Uuid::new_v4();
        let set_back = format!("UPDATE {{t}} SET value = 0, node = {node} WHERE name = '{name}'");
        keyspace.plain(&set_back).await;
        let rival = tens(&keyspace.connect().await, name).await.unwrap();
        rival.reserve(value.unsigned_abs()).await.unwrap();
        assert_eq!(row(keyspace, name).await.0, value);
    })
    .await;
    assert!(matches!(cause, StopCause::Regressed { .. }), "{cause:?}");
    keyspace.drop().await;
}

/// kafka-journal#532: conditional writes are "applied" and shadowed by a plain one from the future.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s7_a_plain_write_from_the_future_is_a_stop() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "future", async |keyspace, name| {
        let (value, node) = row(keyspace, name).await;
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
        let later = now + 3_600_000_000;
        let shadow = format!(
            "UPDATE {{t}} USING TIMESTAMP {later} SET value = {value}, node = {node} WHERE name = '{name}'"
        );
        keyspace.plain(&shadow).await;
    })
    .await;
    assert!(matches!(cause, StopCause::Shadowed { .. }), "{cause:?}");
    keyspace.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s6_a_sequence_dropped_under_a_live_generator_is_a_stop() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "dropped", async |keyspace, name| {
        let catalog = Catalog::new(&keyspace.connect().await);
        catalog.drop(name).await.unwrap();
        let created = catalog.create(name, Definition::default()).await.unwrap_err();
        assert!(matches!(created, Error::Stopped(_)), "{created:?}");
    })
    .await;
    assert_eq!(cause, StopCause::Retired);
    let reopened = tens(&keyspace.connect().await, "dropped").await.unwrap_err();
    assert_eq!(reopened.stop().unwrap().cause, StopCause::Retired);
    let (value, _) = row(&keyspace, "dropped").await;
    let catalog = Catalog::new(&keyspace.connect().await);
    let back = Advance::above(1).recreate(Definition::default());
    assert_eq!(catalog.advance("dropped", back).await.unwrap().after, value);
    let next = tens(&keyspace.connect().await, "dropped").await.unwrap().next_id().await.unwrap();
    assert!(next > value, "{next} lies beyond {value}");
    keyspace.drop().await;
}

/// Dropped and brought back while a generator sleeps: it knows another birth.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s6_a_sequence_recreated_under_a_live_generator_is_a_stop() {
    let keyspace = Keyspace::create(3).await;
    let cause = stop_after(&keyspace, "recreated", async |keyspace, name| {
        let store = keyspace.connect().await;
        Catalog::new(&store).drop(name).await.unwrap();
        let back = Advance::above(1).recreate(Definition::default());
        Catalog::new(&keyspace.connect().await).advance(name, back).await.unwrap();
    })
    .await;
    assert!(matches!(cause, StopCause::Recreated { .. }), "{cause:?}");
    keyspace.drop().await;
}

/// The replication is raised from 1 to 3 and nothing is repaired: two of three replicas know nothing.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_nodes_s4_s6_replication_raised_without_repair_starts_nothing_anew() {
    let keyspace = Keyspace::create(1).await;
    let name = "raised";
    let store = keyspace.connect().await;
    let sequence = tens(&store, name).await.unwrap();
    sequence.next_ids(10).await.unwrap();
    let holder = first_replica(&keyspace, name);
    let raise = format!(
        "ALTER KEYSPACE {} WITH replication = {{'class': 'NetworkTopologyStrategy', '{}': 3}}",
        keyspace.name,
        datacenter(&keyspace)
    );
    keyspace.plain(&raise).await;
    {
        // The one replica that knows the row is silent, so the other two are the majority.
        let _paused = Paused::nodes([holder]);
        let error = sequence.next_id().await.unwrap_err();
        assert_eq!(error.stop().expect("a stop").cause, StopCause::Missing, "{error:?}");
        // A new process: the two replicas know neither row nor birth nor even the format, and nothing is created.
        tens(&keyspace.connect().await, name).await.unwrap_err();
    }
    // All replicas answer again, and two of them know nothing. An operator who only runs `init` again gets no further.
    keyspace.init(3).await;
    let given = match tens(&keyspace.connect().await, name).await {
        Ok(sequence) => sequence.next_id().await,
        Err(error) => Err(error),
    };
    match given {
        // The one that knows was asked each time: what is given now lies beyond what was given.
        Ok(id) => assert!(id > 10, "{id}"),
        Err(error) => assert!(error.stop().is_some(), "{error:?}"),
    }
    keyspace.drop().await;
}

fn datacenter(keyspace: &Keyspace) -> String {
    let state = keyspace.session.get_cluster_state();
    state.get_nodes_info()[0].datacenter.clone().unwrap()
}

/// Never created, and opened without leave to create: an error that says how.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_an_unknown_sequence_is_not_found() {
    let keyspace = Keyspace::create(3).await;
    let error = Sequence::open(&keyspace.connect().await, "nobody").await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    keyspace.drop().await;
}
