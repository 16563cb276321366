//! Lost, late and mistaken answers between a client and a real cluster: S1, S2, S3, S8.

use std::sync::Arc;
use std::time::Duration;

use lamport_seq::Sequence;
use scylla_cql::Consistency;
use scylla_cql::frame::response::error::{DbError, WriteType};
use scylla_proxy::{Reaction, RequestReaction, ResponseFrame, ResponseReaction, ResponseRule};

use crate::support::{Keyspace, distinct, tens};
use crate::wire::{TAG, Wire, is_answer};

const IMPATIENT: Duration = Duration::from_millis(700);

/// The answer is turned into this error, though the write was applied.
fn mistaken(error: DbError) -> ResponseReaction {
    ResponseReaction::transform_frame(Arc::new(move |frame: ResponseFrame| {
        ResponseFrame::forged_error(frame.params, error.clone(), None).unwrap()
    }))
}

fn write_timeout(write_type: WriteType) -> DbError {
    DbError::WriteTimeout { consistency: Consistency::Serial, received: 1, required: 2, write_type }
}

/// Every way in which the answer to an applied write can be lost.
fn lost_answers() -> Vec<(&'static str, ResponseReaction)> {
    let unavailable =
        DbError::Unavailable { consistency: Consistency::Quorum, required: 2, alive: 1 };
    let write_failure = DbError::WriteFailure {
        consistency: Consistency::Serial,
        received: 1,
        required: 2,
        numfailures: 1,
        write_type: WriteType::Cas,
    };
    vec![
        ("dropped", ResponseReaction::drop_frame()),
        ("connection cut", ResponseReaction::drop_connection()),
        ("WriteTimeout CAS", mistaken(write_timeout(WriteType::Cas))),
        ("WriteTimeout SIMPLE", mistaken(write_timeout(WriteType::Simple))),
        ("Unavailable QUORUM", mistaken(unavailable)),
        ("WriteFailure", mistaken(write_failure)),
        ("ServerError", mistaken(DbError::ServerError)),
        ("Overloaded", mistaken(DbError::Overloaded)),
        ("0x1700", mistaken(DbError::Other(0x1700))),
    ]
}

/// JAVA-819, CASSANDRA-9328, gocql#1075 and their like: the write was applied, and nobody says so.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s1_s3_an_applied_write_whose_answer_is_lost_is_used_once() {
    let keyspace = Keyspace::create(3).await;
    let mut wire = Wire::tap(&keyspace, IMPATIENT).await;
    let direct = keyspace.connect().await;
    for (index, (what, reaction)) in lost_answers().into_iter().enumerate() {
        let name = format!("lost {index}");
        let sequence = tens(&wire.store, &name).tag(TAG).await.unwrap();
        assert_eq!(sequence.next_id().await.unwrap(), 1, "{what}");
        assert_eq!(wire.attempts().len(), 1, "{what}");
        wire.set_answer_fault(Some(&ResponseRule(is_answer(1), reaction)));
        let ids: Vec<_> = take(&sequence, 19).await;
        assert_eq!(ids, (2..=20).collect::<Vec<_>>(), "{what}: the range was found to be ours");
        wire.set_answer_fault(None);
        let attempts = wire.attempts();
        assert_eq!(attempts.values().collect::<Vec<_>>(), [&1], "{what}: one attempt, sent once");
        let other = tens(&direct, &name).await.unwrap().next_id().await.unwrap();
        assert_eq!(other, 21, "{what}: no range was taken twice");
    }
    keyspace.drop().await;
}

/// The same, and another client reserves before the first one has read the row back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s1_s3_a_lost_answer_that_another_client_has_overtaken_is_burned() {
    let keyspace = Keyspace::create(3).await;
    let mut wire = Wire::tap(&keyspace, IMPATIENT).await;
    let direct = keyspace.connect().await;
    let sequence = tens(&wire.store, "overtaken").tag(TAG).await.unwrap();
    let rival = tens(&direct, "overtaken").await.unwrap();
    let mut ids = vec![sequence.next_id().await.unwrap()];
    ids.extend(take(&sequence, 9).await);
    wire.set_answer_fault(Some(&ResponseRule(is_answer(1), ResponseReaction::drop_frame())));
    // While the client waits for an answer that was dropped, the rival goes on.
    let (next, overtook) = tokio::join!(sequence.next_id(), async {
        tokio::time::sleep(IMPATIENT / 2).await;
        take(&rival, 10).await
    });
    assert_eq!(overtook, (21..=30).collect::<Vec<_>>(), "11..=20 was reserved by the lost answer");
    assert_eq!(next.unwrap(), 31, "and is burned");
    ids.extend(overtook);
    ids.extend(take(&sequence, 30).await);
    distinct(ids);
    assert!(wire.attempts().values().all(|sent| *sent == 1));
    keyspace.drop().await;
}

/// scylladb#25602: the write lands after a clean serial read has shown that it had not.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s3_a_request_that_is_late_is_never_claimed() {
    let keyspace = Keyspace::create(3).await;
    let mut wire = Wire::tap(&keyspace, IMPATIENT).await;
    let direct = keyspace.connect().await;
    let sequence = tens(&wire.store, "late").tag(TAG).await.unwrap();
    let rival = tens(&direct, "late").await.unwrap();
    let mut ids = take(&sequence, 10).await;
    wire.set_request_fault(Some((1, RequestReaction::delay(Duration::from_secs(2)))));
    ids.extend(take(&sequence, 10).await);
    tokio::time::sleep(Duration::from_secs(3)).await;
    ids.extend(take(&rival, 30).await);
    ids.extend(take(&sequence, 30).await);
    distinct(ids);
    let attempts = wire.attempts();
    assert!(attempts.len() > 3, "the late ones were given up: {}", attempts.len());
    assert!(attempts.values().all(|sent| *sent == 1), "and none was sent again");
    keyspace.drop().await;
}

/// scylladb#7258: at a serial level, before any effect; the next attempt is another one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s2_s8_an_attempt_that_was_refused_is_not_sent_again() {
    let keyspace = Keyspace::create(3).await;
    let mut wire = Wire::tap(&keyspace, IMPATIENT).await;
    let sequence = tens(&wire.store, "refused").tag(TAG).await.unwrap();
    let unavailable =
        DbError::Unavailable { consistency: Consistency::Serial, required: 2, alive: 1 };
    wire.set_request_fault(Some((1, RequestReaction::forge_with_error(unavailable))));
    assert_eq!(take(&sequence, 10).await, (1..=10).collect::<Vec<_>>(), "nothing was burned");
    let attempts = wire.attempts();
    assert!(attempts.len() >= 2, "{}", attempts.len());
    assert!(attempts.values().all(|sent| *sent == 1), "the driver repeats nothing");
    keyspace.drop().await;
}

/// Titan#446: two refills that share their identity, both going 1 -> 101.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s2_two_generators_with_one_tag_never_share_a_range() {
    let keyspace = Keyspace::create(3).await;
    let (first, second) = (keyspace.connect().await, keyspace.connect().await);
    for round in 0..20 {
        let name = format!("twins {round}");
        let open = |store| tens(store, &name).block_size(100).tag(TAG);
        let (first, second) = (open(&first).await.unwrap(), open(&second).await.unwrap());
        let (a, b) = tokio::join!(first.next_id(), second.next_id());
        let mut firsts = [a.unwrap(), b.unwrap()];
        firsts.sort_unstable();
        assert_eq!(firsts, [1, 101]);
        distinct(take(&first, 99).await.into_iter().chain(take(&second, 99).await));
    }
    keyspace.drop().await;
}

async fn take(sequence: &Sequence, count: usize) -> Vec<i64> {
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        ids.push(sequence.next_id().await.unwrap());
    }
    ids
}
