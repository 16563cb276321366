//! A row behaves as one linearizable register.

use lamport_seq::store::{Change, Store, Swapped};
use lamport_seq::{Definition, SequenceName};
use uuid::Uuid;

use super::{at, deadline, fresh, name, store, untimed, value_in_the_way};

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_register_goes_through_its_whole_life() {
    let store = store().await;
    let orders = name("orders");
    assert!(store.confirm_absent(&orders, deadline()).await.unwrap());
    assert_eq!(store.read(&orders, deadline()).await.unwrap(), None);
    assert_eq!(store.read_birth(&orders, deadline()).await.unwrap(), None);

    let birth = Uuid::from_u128(7);
    let birthing = store.write_birth(&orders, birth, None, deadline()).await;
    assert_eq!(birthing.unwrap(), Swapped::Applied);
    let again = store.write_birth(&orders, Uuid::from_u128(8), None, deadline()).await;
    assert_eq!(value_in_the_way(again), None);
    assert_eq!(store.read_birth(&orders, deadline()).await.unwrap(), Some(birth));
    assert!(!store.confirm_absent(&orders, deadline()).await.unwrap());

    let row = fresh(Definition::builder().int().build().unwrap());
    assert_eq!(store.insert(&orders, &row, deadline()).await.unwrap(), Swapped::Applied);
    let twice = store.insert(&orders, &row, deadline()).await;
    assert_eq!(value_in_the_way(twice), Some(0));
    let found = store.read(&orders, deadline()).await.unwrap();
    assert_eq!(untimed(found), Some(row));
    let written = found.unwrap().written.unwrap();
    assert!(written.value_us.is_some() && written.value_us == written.node_us);

    let to = at(100, 1);
    let moved = store.swap(&orders, &row, Change::Move { to }, deadline()).await;
    assert_eq!(moved.unwrap(), Swapped::Applied);
    let late = store.swap(&orders, &row, Change::Move { to: at(200, 2) }, deadline()).await;
    assert_eq!(value_in_the_way(late), Some(100));
    let row = row.changed(Change::Move { to });
    assert_eq!(untimed(store.read(&orders, deadline()).await.unwrap()), Some(row));

    let definition = Definition::default();
    let widened = store.swap(&orders, &row, Change::Widen { definition }, deadline()).await;
    assert_eq!(widened.unwrap(), Swapped::Applied);
    let again = store.swap(&orders, &row, Change::Widen { definition }, deadline()).await;
    assert_eq!(value_in_the_way(again), None);
    let row = row.changed(Change::Widen { definition });

    let retired = store.swap(&orders, &row, Change::Retire, deadline()).await;
    assert_eq!(retired.unwrap(), Swapped::Applied);
    let row = row.changed(Change::Retire);
    assert_eq!(untimed(store.read(&orders, deadline()).await.unwrap()), Some(row));

    let (to, created) = (at(500, 3), Uuid::from_u128(9));
    let reborn = store.write_birth(&orders, created, Some(birth), deadline()).await;
    assert_eq!(reborn.unwrap(), Swapped::Applied);
    let revived = store.swap(&orders, &row, Change::Revive { to, created }, deadline()).await;
    assert_eq!(revived.unwrap(), Swapped::Applied);
    let row = row.changed(Change::Revive { to, created });
    assert_eq!(untimed(store.read(&orders, deadline()).await.unwrap()), Some(row));
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_missing_row_is_never_made_by_a_swap() {
    let store = store().await;
    let nobody = name("nobody");
    let row = fresh(Definition::default());
    let adopted = lamport_seq::store::Row { created: None, definition: None, ..row };
    for expected in [row, adopted] {
        for change in [
            Change::Move { to: at(1, 1) },
            Change::Retire,
            Change::Revive { to: at(1, 1), created: Uuid::from_u128(9) },
        ] {
            let swapped = store.swap(&nobody, &expected, change, deadline()).await;
            assert_eq!(value_in_the_way(swapped), None, "{change:?}");
        }
    }
    let widen = Change::Widen { definition: Definition::default() };
    let swapped = store.swap(&nobody, &row, widen, deadline()).await;
    assert_eq!(value_in_the_way(swapped), None);
    assert_eq!(store.read(&nobody, deadline()).await.unwrap(), None);
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_one_of_many_swaps_wins_each_value() {
    let store = store().await;
    let orders = name("orders");
    let row = fresh(Definition::default());
    store.insert(&orders, &row, deadline()).await.unwrap();
    let clients = (1..=8).map(|client: u128| {
        let (store, orders) = (store.clone(), orders.clone());
        tokio::spawn(async move {
            let mut won = Vec::new();
            while won.len() < 20 {
                let seen = store.read(&orders, deadline()).await.unwrap().unwrap();
                let to = at(seen.timestamp.value + 1, client * 1000 + won.len() as u128);
                match store.swap(&orders, &seen, Change::Move { to }, deadline()).await {
                    Ok(Swapped::Applied) => won.push(to.value),
                    Ok(Swapped::NotApplied { .. }) => {}
                    // S3: if it was applied, the value is lost to everybody.
                    Err(error) => eprintln!("{error}"),
                }
            }
            won
        })
    });
    let mut won = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        won.extend(client.await.unwrap());
    }
    let values = won.len();
    won.sort_unstable();
    won.dedup();
    assert_eq!(won.len(), values, "a value was won twice");
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_names_are_bound_and_never_spliced() {
    let store = store().await;
    let names =
        ["Orders", "orders", "o'brien", "a\"b", "naïve", "; DROP TABLE x; --", "?"].map(name);
    for (value, sequence) in (1..).zip(&names) {
        let row = fresh(Definition::builder().start_value(value).build().unwrap());
        store.insert(sequence, &row, deadline()).await.unwrap();
    }
    for (value, sequence) in (1..).zip(&names) {
        let row = store.read(sequence, deadline()).await.unwrap().unwrap();
        assert_eq!(row.definition().start_value(), value, "{sequence}");
    }
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_list_is_paged_by_name() {
    let store = store().await;
    let mut expected: Vec<_> = (0..25).map(|n| name(&format!("sequence {n}"))).collect();
    for sequence in &expected {
        store.insert(sequence, &fresh(Definition::default()), deadline()).await.unwrap();
    }
    let mut listed: Vec<SequenceName> = Vec::new();
    loop {
        let page = store.list(listed.last(), 10, deadline()).await.unwrap();
        assert!(page.len() <= 10);
        if page.is_empty() {
            break;
        }
        for line in page {
            assert_eq!(line.row.unwrap().timestamp.value, 0);
            listed.push(line.name);
        }
    }
    listed.sort();
    expected.sort();
    assert_eq!(listed, expected);
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_both_ends_of_a_bigint_are_stored() {
    let store = store().await;
    for (sequence, value) in [("min", i64::MIN), ("max", i64::MAX)] {
        let sequence = name(sequence);
        let row = fresh(Definition::default());
        store.insert(&sequence, &row, deadline()).await.unwrap();
        let to = at(value, u128::MAX);
        store.swap(&sequence, &row, Change::Move { to }, deadline()).await.unwrap();
        let found = store.read(&sequence, deadline()).await.unwrap().unwrap();
        assert_eq!(found.timestamp, to);
    }
}
