//! What operators do.

use lamport_seq::testing::MemoryStore;
use lamport_seq::{Advance, Catalog, Definition, Error, Sequence, SequenceName, StoreHandle};

fn catalog() -> (Catalog, StoreHandle) {
    let store = StoreHandle::new(MemoryStore::new());
    (Catalog::new(&store), store)
}

#[tokio::test]
async fn creating_twice_is_refused_and_if_missing_is_not() {
    let (catalog, _) = catalog();
    let definition = Definition::builder().start_value(100).build().unwrap();
    let info = catalog.create("s", definition).await.unwrap();
    assert_eq!((info.timestamp.value, info.remaining()), (99, i64::MAX.unsigned_abs() - 99));
    assert!(matches!(catalog.create("s", definition).await, Err(Error::AlreadyExists { .. })));
    assert!(!catalog.create_if_missing("s", definition).await.unwrap());
    let other = catalog.create_if_missing("s", Definition::default()).await;
    assert!(matches!(other, Err(Error::DefinitionMismatch { .. })), "{other:?}");
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let (catalog, store) = catalog();
    for error in [
        catalog.get("s").await.unwrap_err(),
        catalog.advance("s", Advance::above(1)).await.unwrap_err(),
        catalog.alter("s", None, Some(5)).await.unwrap_err(),
        catalog.drop("s").await.unwrap_err(),
        catalog.advance("s", Advance::above(1).recreate(Definition::default())).await.unwrap_err(),
        Sequence::open(&store, "s").await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_advance_only_goes_forward_and_keeps_to_the_grid() {
    let (catalog, _) = catalog();
    let sevens = Definition::builder().start_value(3).increment_by(7).build().unwrap();
    catalog.create("s", sevens).await.unwrap();
    let dry = catalog.advance("s", Advance::above(20).dry_run()).await.unwrap();
    assert_eq!(catalog.get("s").await.unwrap().timestamp.value, -4, "a dry run changes nothing");
    let real = catalog.advance("s", Advance::above(20)).await.unwrap();
    assert_eq!(dry, real);
    assert_eq!((real.before, real.after, real.next), (Some(-4), 17, Some(24)));
    let node = catalog.get("s").await.unwrap().timestamp.node;
    let back = catalog.advance("s", Advance::above(5)).await.unwrap();
    assert_eq!((back.before, back.after), (Some(17), 17));
    let info = catalog.get("s").await.unwrap();
    assert_eq!(info.timestamp.node, node, "S4: what changes nothing writes nothing");
}

#[tokio::test]
async fn s12_an_advance_far_away_needs_consent() {
    let (catalog, _) = catalog();
    let int = Definition::builder().int().build().unwrap();
    catalog.create("s", int).await.unwrap();
    let far = Advance::above(100_000_000);
    let refused = catalog.advance("s", far).await;
    assert!(matches!(refused, Err(Error::JumpTooFar { .. })), "{refused:?}");
    catalog.advance("s", far.max_jump(100_000_000)).await.unwrap();
    let beyond = catalog.advance("s", Advance::above(i64::MAX)).await;
    assert!(matches!(beyond, Err(Error::InvalidOption(_))), "{beyond:?}");
}

#[tokio::test]
async fn s10_bounds_only_widen() {
    let (catalog, store) = catalog();
    let small = Definition::builder().max_value(10).build().unwrap();
    catalog.create("s", small).await.unwrap();
    let sequence = Sequence::open(&store, "s").await.unwrap();
    sequence.next_ids(10).await.unwrap();
    let before = catalog.get("s").await.unwrap().timestamp;
    let narrower = catalog.alter("s", None, Some(9)).await;
    assert!(matches!(narrower, Err(Error::NotWider { .. })), "{narrower:?}");
    assert_eq!(catalog.alter("s", None, Some(12)).await.unwrap().max_value(), 12);
    assert_eq!(catalog.get("s").await.unwrap().timestamp, before, "S4: alter touches neither");
    assert_eq!(sequence.next_id().await.unwrap(), 11, "a live generator goes on");
}

#[tokio::test]
async fn a_list_pages_through_every_name() {
    let (catalog, _) = catalog();
    let names = ["Orders", "a\"b", "naïve", "o'brien", "orders"];
    for name in names {
        catalog.create(name, Definition::default()).await.unwrap();
    }
    let mut listed: Vec<SequenceName> = Vec::new();
    loop {
        let page = catalog.list(listed.last(), 2).await.unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|info| info.unwrap().name));
    }
    listed.sort();
    assert_eq!(listed.iter().map(SequenceName::as_str).collect::<Vec<_>>(), names);
}

#[tokio::test]
async fn five_names_that_look_alike_are_five_sequences() {
    let (_, store) = catalog();
    for name in ["Orders", "orders", "o'brien", "a\"b", "naïve"] {
        let sequence =
            Sequence::open(&store, name).create_if_missing(Definition::default()).await.unwrap();
        assert_eq!(sequence.next_id().await.unwrap(), 1);
    }
}
