//! Lamport's rule for a received timestamp: S14.

use lamport_seq::{Advance, Catalog, Definition, Sequence};

use crate::faulty::{FaultyStore, stored, tens};

#[tokio::test(start_paused = true)]
async fn s14_ids_after_an_observation_lie_beyond_it() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    sequence.next_id().await.unwrap();
    sequence.observe(5).unwrap();
    assert_eq!((sequence.next_id().await.unwrap(), sequence.burned()), (6, 4));
    sequence.observe(1234).unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 1235);
    assert_eq!(stored(&store).await.timestamp.value, 1244, "the old value was learnt from the row");
    sequence.observe(7).unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 1236, "what lies behind changes nothing");
}

#[tokio::test(start_paused = true)]
async fn s14_an_observation_keeps_to_the_grid() {
    let store = FaultyStore::new();
    let sevens = Definition::builder().start_value(3).increment_by(7).build().unwrap();
    let sequence = Sequence::open(&store.handle(), "s").create_if_missing(sevens).await.unwrap();
    sequence.observe(20).unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 24);
    let falling = Definition::builder().increment_by(-5).build().unwrap();
    let sequence = Sequence::open(&store.handle(), "f").create_if_missing(falling).await.unwrap();
    sequence.observe(-20).unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), -21);
}

#[tokio::test(start_paused = true)]
async fn s14_an_observation_reaches_a_reservation_that_is_under_way() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.delay_swaps(100);
    let (reserved, ()) = tokio::join!(sequence.reserve(3), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        sequence.observe(500).unwrap();
    });
    assert_eq!(reserved.unwrap().first(), 501);
    let (id, ()) = tokio::join!(sequence.next_id(), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        sequence.observe(1000).unwrap();
    });
    assert_eq!(id.unwrap(), 1001);
}

#[tokio::test(start_paused = true)]
async fn timestamps_order_two_generators() {
    let store = FaultyStore::new();
    let (sender, receiver) =
        (tens(&store.handle()).await.unwrap(), tens(&store.handle()).await.unwrap());
    receiver.next_id().await.unwrap();
    let sent = sender.next_id().await.unwrap();
    assert_eq!(sender.timestamp().value, sent);
    receiver.observe(sender.timestamp()).unwrap();
    assert!(receiver.next_id().await.unwrap() > sent);
}

#[tokio::test(start_paused = true)]
async fn an_observation_raises_no_mark() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let sequence = tens(&handle).await.unwrap();
    sequence.observe(900_000).unwrap();
    let sibling = tens(&handle).await.unwrap();
    assert_eq!(sibling.next_id().await.unwrap(), 1, "S4: only what was read raises it");
}

/// A cache that goes on giving what was below a `setval` is what users of every peer complain of.
#[tokio::test(start_paused = true)]
async fn an_advance_reaches_the_generators_of_its_handle() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let sequence = tens(&handle).await.unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 1);
    Catalog::new(&handle).advance("orders", Advance::above(499)).await.unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_reserved_range_lies_beyond_what_was_buffered() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 1);
    let range = sequence.reserve(5).await.unwrap();
    assert_eq!((range.first(), range.last()), (11, 15));
    assert_eq!((sequence.next_id().await.unwrap(), sequence.burned()), (16, 9));
}
