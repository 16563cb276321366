//! What a client does when the row is not what it knows: S4, S5 and S10.

use std::time::Duration;

use lamport_seq::store::Row;
use lamport_seq::{Definition, Error, LamportTimestamp, Sequence, State, StopCause, TryNextError};
use uuid::Uuid;

use crate::faulty::{FaultyStore, orders, stored, tens};

/// Uses up the first block, changes the row, and returns why the next call stopped.
async fn stopped_by(tamper: impl FnOnce(Row) -> Option<Row>) -> StopCause {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    sequence.next_ids(10).await.unwrap();
    store.memory.tamper(&orders(), tamper(stored(&store).await));
    let error = sequence.next_id().await.unwrap_err();
    error.stop().unwrap().cause.clone()
}

fn at(row: Row, value: i64) -> Row {
    Row { timestamp: LamportTimestamp::new(value, Uuid::from_u128(1)), ..row }
}

#[tokio::test(start_paused = true)]
async fn s4_a_row_set_back_is_a_stop() {
    let cause = stopped_by(|row| Some(at(row, 3))).await;
    assert!(matches!(cause, StopCause::Regressed { .. }), "{cause:?}");
}

/// Set back, and advanced again by another client to the very value that this client knows: only the node tells.
#[tokio::test(start_paused = true)]
async fn s4_the_same_value_by_another_hand_is_a_stop() {
    let cause = stopped_by(|row| Some(at(row, row.timestamp.value))).await;
    assert!(matches!(cause, StopCause::Regressed { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s4_a_missing_row_is_a_stop() {
    assert_eq!(stopped_by(|_| None).await, StopCause::Missing);
}

#[tokio::test(start_paused = true)]
async fn s4_a_row_of_another_birth_is_a_stop() {
    let cause = stopped_by(|row| Some(Row { created: Some(Uuid::max()), ..row })).await;
    assert!(matches!(cause, StopCause::Recreated { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s10_another_definition_is_a_stop_and_a_wider_one_is_not() {
    let store = FaultyStore::new();
    let narrow = Definition::builder().max_value(15).build().unwrap();
    let handle = store.handle();
    let open = || Sequence::open(&handle, "orders").block_size(10);
    let sequence = open().create_if_missing(narrow).await.unwrap();
    sequence.next_ids(15).await.unwrap();
    assert!(sequence.next_id().await.unwrap_err().is_exhausted());
    let wide = Definition::builder().max_value(100).build().unwrap();
    let row = Row { definition: Some(wide), ..stored(&store).await };
    store.memory.tamper(&orders(), Some(row));
    assert_eq!(sequence.next_id().await.unwrap(), 16, "what was exhausted goes on when widened");
    let other = Definition::builder().increment_by(2).build().unwrap();
    sequence.next_ids(9).await.unwrap();
    let row = Row { definition: Some(other), ..at(stored(&store).await, 40) };
    store.memory.tamper(&orders(), Some(row));
    let error = sequence.next_id().await.unwrap_err();
    let cause = &error.stop().unwrap().cause;
    assert!(matches!(cause, StopCause::Redefined { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s5_a_stop_reaches_every_generator_of_the_handle_and_burns_what_is_buffered() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let idle = tens(&handle).await.unwrap();
    assert_eq!(idle.next_id().await.unwrap(), 1);
    let busy = tens(&handle).await.unwrap();
    busy.next_ids(10).await.unwrap();
    store.memory.tamper(&orders(), None);
    let first = busy.next_id().await.unwrap_err().to_string();
    assert!(idle.buffered() > 0);
    assert!(matches!(idle.try_next_id(), Err(TryNextError::Stopped(_))));
    assert_eq!((idle.buffered(), idle.burned()), (0, 9));
    for error in [
        idle.next_id().await.unwrap_err(),
        idle.next_ids(2).await.unwrap_err(),
        idle.reserve(2).await.unwrap_err(),
        idle.observe(5000).unwrap_err(),
        idle.warm_up().await.unwrap_err(),
        tens(&handle).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), first, "the same error from every call");
    }
    assert!(matches!(idle.state(), State::Stopped { .. }));
}

#[tokio::test(start_paused = true)]
async fn s5_not_below_refuses_a_row_that_is_behind() {
    let store = FaultyStore::new();
    tens(&store.handle()).await.unwrap().next_ids(10).await.unwrap();
    let opened = tens(&store.handle()).not_below(11).await;
    assert!(matches!(opened, Err(Error::Behind { value: 10, not_below: 11, .. })), "{opened:?}");
    tens(&store.handle()).not_below(10).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn s10_opening_with_another_definition_is_refused() {
    let store = FaultyStore::new();
    tens(&store.handle()).await.unwrap();
    let other = Definition::builder().start_value(2).build().unwrap();
    let opened = tens(&store.handle()).create_if_missing(other).await;
    assert!(matches!(opened, Err(Error::DefinitionMismatch { .. })), "{opened:?}");
}

#[tokio::test(start_paused = true)]
async fn s10_a_row_without_definition_goes_one_by_one_or_not_at_all() {
    let store = FaultyStore::new();
    tens(&store.handle()).await.unwrap();
    let row = Row { definition: None, created: None, ..at(stored(&store).await, -7) };
    store.memory.tamper(&orders(), Some(row));
    let twos = Definition::builder().increment_by(2).build().unwrap();
    let opened = tens(&store.handle()).expect(twos).await;
    assert!(matches!(opened, Err(Error::DefinitionMismatch { .. })), "{opened:?}");
    let plain = tens(&store.handle()).expect(Definition::default()).await.unwrap();
    assert_eq!(plain.next_id().await.unwrap(), -6);
}

/// Set back by a plain write to before its start, the row would give ids that lie out of the sequence's bounds.
/// Found by a simulated world.
#[tokio::test(start_paused = true)]
async fn s9_a_row_whose_value_lies_before_the_start_gives_no_ids() {
    let falling = Definition::builder().increment_by(-1).build().unwrap();
    for (definition, value) in [(Definition::default(), -7), (falling, 1)] {
        let store = FaultyStore::new();
        tens(&store.handle()).create_if_missing(definition).await.unwrap();
        store.memory.tamper(&orders(), Some(at(stored(&store).await, value)));
        let error = tens(&store.handle()).create_if_missing(definition).await.unwrap_err();
        let cause = &error.stop().unwrap().cause;
        assert!(matches!(cause, StopCause::Corrupt(_)), "{cause:?}");
        assert_eq!(stored(&store).await.timestamp.value, value, "nothing was changed");
    }
}

/// A write is under way when a sibling takes the row on, a backup is restored, the write is applied to what it expects,
/// and another client has taken the row further than ever before anybody looks: the sibling gave those ids before.
/// Found by a simulated world.
#[tokio::test(start_paused = true)]
async fn s4_a_write_that_lands_in_a_restored_row_gives_no_ids_that_a_sibling_gave() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let (slow, quick) = (tens(&handle).await.unwrap(), tens(&handle).await.unwrap());
    slow.reserve(10).await.unwrap();
    let backup = stored(&store).await;
    store.delay_swaps(100);
    let call = tokio::spawn({
        let slow = slow.clone();
        async move { slow.reserve(5).await }
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    store.delay_swaps(0);
    let given = quick.reserve(20).await.unwrap();
    assert_eq!((given.first(), given.last()), (11, 30));
    store.memory.tamper(&orders(), Some(backup));
    store.fail_reads(true);
    tokio::time::sleep(Duration::from_millis(150)).await;
    let landed = stored(&store).await;
    assert_eq!(landed.timestamp.value, 15, "the write has found what it expected");
    store.memory.tamper(&orders(), Some(at(landed, 115)));
    store.fail_reads(false);
    let range = call.await.unwrap().unwrap();
    assert!(range.first() > 115, "{range} was given before");
}
