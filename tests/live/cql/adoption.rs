//! A table that was made by hand, in the published form of three columns.

use lamport_seq::store::{Change, Row, Store, Swapped};
use uuid::Uuid;

use super::{at, deadline, empty, init, name, run, table, value_in_the_way};

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_table_made_by_hand_is_adopted() {
    let store = empty().await;
    let counters = table(&store, "counters");
    run(
        &store,
        &format!("CREATE TABLE {counters} (name text PRIMARY KEY, node uuid, value bigint)"),
    )
    .await;
    run(
        &store,
        &format!("INSERT INTO {counters} (name, value) VALUES ('orders', 41) IF NOT EXISTS"),
    )
    .await;
    run(
        &store,
        &format!("INSERT INTO {counters} (name, node) VALUES ('torn', uuid()) IF NOT EXISTS"),
    )
    .await;

    let error = store.check(deadline()).await.unwrap_err();
    assert!(error.hint().unwrap().contains("--adopt"), "{error}");
    assert_eq!(init(&store, true).await, 1, "one row can have a birth");
    assert_eq!(init(&store, true).await, 0, "births are written once");
    store.check(deadline()).await.unwrap();

    let orders = name("orders");
    assert!(store.read_birth(&orders, deadline()).await.unwrap().is_some());
    let row = store.read(&orders, deadline()).await.unwrap().unwrap();
    assert_eq!(row.timestamp, at(41, 0));
    assert_eq!((row.created, row.definition), (None, None));

    let to = at(50, 1);
    let moved = store.swap(&orders, &row, Change::Move { to }, deadline()).await;
    assert_eq!(moved.unwrap(), Swapped::Applied);
    // The row that was made by hand had no node to compare, and without it there is no hint.
    let late = store.swap(&orders, &row, Change::Move { to }, deadline()).await;
    assert_eq!(value_in_the_way(late), None);

    let row = row.changed(Change::Move { to });
    let stranger = Row { timestamp: at(50, 9), ..row };
    let late = store.swap(&orders, &stranger, Change::Move { to: at(60, 2) }, deadline()).await;
    assert_eq!(value_in_the_way(late), Some(50), "the same value by another hand");
    let retired = store.swap(&orders, &row, Change::Retire, deadline()).await;
    assert_eq!(retired.unwrap(), Swapped::Applied);
    let (to, created) = (at(60, 2), Uuid::from_u128(3));
    let revived = store.swap(&orders, &row, Change::Revive { to, created }, deadline()).await;
    assert_eq!(revived.unwrap(), Swapped::Applied);
    let row = store.read(&orders, deadline()).await.unwrap().unwrap();
    assert_eq!((row.timestamp, row.created), (to, Some(created)));
    assert!(row.definition.is_some() && !row.retired);

    let error = store.read(&name("torn"), deadline()).await.unwrap_err();
    assert_eq!(error.to_string(), "its value is null");
}
