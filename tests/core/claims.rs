//! Whose a range is: S1, S2, S3 and S7.

use std::sync::Arc;
use std::time::Duration;

use lamport_seq::store::{Row, WriteTimes};
use lamport_seq::testing::Entropy;
use lamport_seq::{Error, LamportTimestamp, StopCause, Verify};
use uuid::Uuid;

use crate::faulty::{Fault, FaultyStore, orders, stored, tens};

#[tokio::test(start_paused = true)]
async fn s1_an_applied_write_whose_answer_was_lost_is_used_once() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::AnswerLost]);
    for id in 1..=11 {
        assert_eq!(sequence.next_id().await.unwrap(), id);
    }
    assert_eq!(store.swaps(), 2, "one write for each block, none repeated");
}

#[tokio::test(start_paused = true)]
async fn s1_a_clean_false_is_never_claimed_whatever_the_row_says() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Denied]);
    assert_eq!(
        sequence.next_id().await.unwrap(),
        11,
        "1..=10 is a gap, though the row shows our uuid"
    );
}

#[tokio::test(start_paused = true)]
async fn s2_every_attempt_has_a_uuid_of_its_own_and_the_tag_of_its_generator() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).tag(*b"tagged").await.unwrap();
    store.next_swaps([Fault::RequestLost, Fault::Refused, Fault::AnswerLost, Fault::Overtaken]);
    for _ in 0..30 {
        sequence.next_id().await.unwrap();
    }
    let mut attempts = store.attempts();
    assert!(attempts.iter().all(|attempt| attempt.as_bytes().starts_with(b"tagged")));
    let sent = attempts.len();
    attempts.sort();
    attempts.dedup();
    assert_eq!((attempts.len(), sent), (sent, store.swaps() as usize));
}

/// Two generators with one tag, forced to the same interleaving: both read 0, both write 0 -> 10.
#[tokio::test(start_paused = true)]
async fn s2_two_generators_with_one_tag_never_share_a_range() {
    let store = FaultyStore::new();
    let (first, second) = (store.handle(), store.handle());
    let first = tens(&first).tag([7; 6]).await.unwrap();
    let second = tens(&second).tag([7; 6]).await.unwrap();
    store.delay_swaps(100);
    store.next_swaps([Fault::AnswerLost, Fault::RequestLost]);
    let (a, b) = tokio::join!(first.next_id(), second.next_id());
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(a.abs_diff(b) >= 10, "{a} and {b} are of two blocks");
}

/// Planted: a source of randomness that repeats itself makes S2 fail, so the test above can fail.
#[tokio::test(start_paused = true)]
async fn s2_is_what_keeps_them_apart() {
    struct Stuck;
    impl Entropy for Stuck {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), String> {
            bytes.fill(1);
            Ok(())
        }
    }
    let store = FaultyStore::new();
    let first = tens(&store.handle()).entropy(Arc::new(Stuck)).await.unwrap();
    let second = tens(&store.handle()).entropy(Arc::new(Stuck)).await.unwrap();
    store.delay_swaps(100);
    store.next_swaps([Fault::AnswerLost, Fault::RequestLost]);
    let (a, b) = tokio::join!(first.next_id(), second.next_id());
    assert_eq!(a.unwrap(), b.unwrap(), "one uuid for two attempts is one range for two clients");
}

/// A peek may show anything: an old timestamp, one that another replica never had, one of another life of the row.
#[tokio::test(start_paused = true)]
async fn s4_a_peek_decides_nothing() {
    for value in [i64::MIN, -5, 0, 15, 1_000_000, i64::MAX] {
        let store = FaultyStore::new();
        store.delay_swaps(10);
        let sequence = tens(&store.handle()).await.unwrap();
        assert_eq!(sequence.next_id().await.unwrap(), 1);
        store.show_at_peeks(LamportTimestamp::new(value, Uuid::from_u128(8)));
        store.next_swaps([Fault::Overtaken]);
        let ids = collect(&sequence, 20).await;
        let expected: Vec<_> = (2..=10).chain(21..=31).collect();
        assert_eq!(ids, expected, "11 to 20 are another's, and a peek showed {value}");
        assert!(store.peeks() > 0, "nobody has peeked");
    }
}

#[tokio::test(start_paused = true)]
async fn s3_a_lost_request_is_dropped_and_its_range_stays_unclaimed() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::RequestLost]);
    assert_eq!(
        sequence.next_id().await.unwrap(),
        1,
        "nothing was applied, so 1..=10 is free again"
    );
    assert_eq!(store.swaps(), 2);
}

/// The write lands after a clean serial read has shown that it had not.
#[tokio::test(start_paused = true)]
async fn s3_a_write_that_lands_after_a_clean_read_is_never_claimed() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Late]);
    let ids: Vec<_> = collect(&sequence, 20).await;
    assert_eq!(ids, (11..=30).collect::<Vec<_>>(), "1..=10 landed late and is a gap");
}

#[tokio::test(start_paused = true)]
async fn s3_if_the_read_back_gets_no_answer_the_range_is_burned_and_the_error_is_unknown() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::AnswerLost]);
    store.fail_reads(true);
    let error = sequence.reserve(10).await.unwrap_err();
    assert!(error.is_unknown() && !error.is_retryable(), "{error:?}");
    store.fail_reads(false);
    assert_eq!(sequence.next_id().await.unwrap(), 11);
}

/// The first write may still land when the deadline passes, whatever failed after it.
#[tokio::test(start_paused = true)]
async fn s3_a_write_in_doubt_stays_in_doubt_at_the_deadline() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps(std::iter::once(Fault::RequestLost).chain([Fault::Refused; 1000]));
    let error = sequence.reserve(10).await.unwrap_err();
    assert!(error.is_unknown(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn s7_applied_but_not_in_the_row_is_a_stop() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Shadowed]);
    let error = sequence.next_id().await.unwrap_err();
    let cause = &error.stop().unwrap().cause;
    assert!(matches!(cause, StopCause::Shadowed { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s7_without_verification_the_same_fault_gives_a_duplicate() {
    let store = FaultyStore::new();
    let first = tens(&store.handle()).verify(Verify::OnDoubt).await.unwrap();
    let second = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Shadowed]);
    assert_eq!(first.next_id().await.unwrap(), second.next_id().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn s7_an_applied_write_that_cannot_be_confirmed_is_burned() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    sequence.next_id().await.unwrap();
    store.fail_reads(true);
    let error = sequence.reserve(5).await.unwrap_err();
    assert!(matches!(error, Error::Unknown { .. }), "{error:?}");
    store.fail_reads(false);
    assert_eq!(sequence.reserve(5).await.unwrap().first(), 16, "11..=15 is burned");
}

/// What a call gives that reads its write back, where the row has these write times.
async fn read_back(written: WriteTimes) -> Result<i64, Error> {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    // The answer is lost, so that the row that is read is the one that the test has put there.
    store.next_swaps([Fault::AnswerLost]);
    store.delay_swaps(50);
    store.fail_reads(true);
    let call = tokio::spawn({
        let sequence = sequence.clone();
        async move { sequence.next_id().await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let row = stored(&store).await;
    store.memory.tamper(&orders(), Some(Row { written: Some(written), ..row }));
    store.fail_reads(false);
    call.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn s7_write_times_tell_of_a_plain_write() {
    for (value_us, node_us) in [(Some(5), Some(6)), (None, Some(6)), (Some(6), None)] {
        let error = read_back(WriteTimes { value_us, node_us }).await.unwrap_err();
        let cause = &error.stop().unwrap().cause;
        assert!(matches!(cause, StopCause::PlainWrite(_)), "{cause:?}");
    }
}

/// It would stop everybody, for as long as the clock was ahead.
#[tokio::test(start_paused = true)]
async fn s7_a_node_whose_clock_is_ahead_stops_nobody() {
    let far = Some(i64::MAX / 2);
    assert_eq!(read_back(WriteTimes { value_us: far, node_us: far }).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn conflicts_cost_another_attempt_and_no_id() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Overtaken, Fault::Overtaken]);
    assert_eq!(sequence.next_id().await.unwrap(), 21);
}

async fn collect(sequence: &lamport_seq::Sequence, count: usize) -> Vec<i64> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(sequence.next_id().await.unwrap());
    }
    ids
}
