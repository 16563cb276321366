//! What the users of other sequences have reported, and what is right here. A test is named for the report's story.
//!
//! Of the other reports that we know, the tests are elsewhere:
//!
//! | report | story | test |
//! |---|---|---|
//! | JAVA-819, gocql#1075, CASSANDRA-9328, cadence#91 | an answer is lost or mistaken; a driver sends again | `tests/live/faults.rs`, on the wire |
//! | scylladb#25602, yugabyte-db#399 | a write lands after a clean read | `live_s3_a_request_that_is_late_is_never_claimed` |
//! | gocqlx#221, gocql#612 | answers of other shapes | `src/store/cql/rows.rs` |
//! | gocql#1277, gocqlx#98, cockroach#21354, gim#32, JanusGraph#418 | a missing row is made anew | `s6_*` in `birth.rs`, `live_s4_s6_*` |
//! | cassandra-lock#8, reaper#977 | LOCAL_SERIAL by mistake | `s8_*` in `src/store/cql/statements.rs`, and on the wire |
//! | titan#992, titan#82 | after an outage nobody asks again | `s13_while_the_store_is_away_*`, `tests/live/outages.rs` |
//! | scylladb#16261, #13078, gocql#690 | many clients time out on each other | `live_eight_processes_share_one_sequence`, `cargo xtask contention` |
//! | kafka-journal#532 | a plain write shadows all that comes | `live_s7_a_plain_write_from_the_future_is_a_stop` |
//! | titan#446, JanusGraph#2400, ClickHouse#2207 | two threads claim by one identity | `s2_*` in `claims.rs` |
//! | atlasdb#996, #2988, james-project#4745 | applied, and the client hears of a timeout | `s1_*`, `s3_*` in `claims.rs` |
//! | duckdb#2678, #3361, ydb#19535, snazy/cseq | overflow at the ends of a bigint | `s12_*` in `edges.rs` |
//! | vitess#17183, weasel#100, pgbelt#548 | quoting and case of names | clause `names_are_registers_of_their_own`, `cli/tests/cli/sequences.rs` |
//! | tinyid#47 | a late block is served after a newer one | `a_late_block_is_never_served_after_a_newer_one` in `src/buffer.rs` |
//! | scalar-jepsen#29 | a checker takes unknown for failed | `s3_*` in `src/history/check` |
//! | uid-generator#100 | ids run out and nobody is warned | `lseq status --fail-above` in `cli/tests/cli/sequences.rs` |

use std::collections::BTreeSet;
use std::time::Duration;

use lamport_seq::{Advance, Catalog, Definition, Error, Sequence, SequenceBuilder, StoreHandle};

use crate::faulty::{FaultyStore, orders, stored};

fn open(handle: &StoreHandle, block: u64) -> SequenceBuilder {
    Sequence::open(handle, orders()).block_size(block).create_if_missing(Definition::default())
}

async fn take(sequence: &Sequence, count: usize) -> Vec<i64> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(sequence.next_id().await.unwrap());
    }
    ids
}

/// matrixone#25887: an end that is inclusive here and exclusive there gives ids that nobody has reserved.
#[tokio::test(start_paused = true)]
async fn a_block_of_one_and_a_block_of_ten_are_all_given_and_no_more() {
    let store = FaultyStore::new();
    let (a, b) = (open(&store.handle(), 1).await.unwrap(), open(&store.handle(), 1).await.unwrap());
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.extend([a.next_id().await.unwrap(), b.next_id().await.unwrap()]);
    }
    assert!(ids.into_iter().eq(1..=6));
    let store = FaultyStore::new();
    let ten = open(&store.handle(), 10).await.unwrap();
    assert_eq!(take(&ten, 10).await, (1..=10).collect::<Vec<_>>());
    assert_eq!(store.swaps(), 1);
    let none = open(&store.handle(), 0).await.unwrap_err();
    assert!(matches!(none, Error::InvalidOption(_)), "{none:?}");
}

/// tidb#46444: a client that ends writes its stale mark back.
#[tokio::test(start_paused = true)]
async fn a_client_that_closes_gives_nothing_back() {
    let store = FaultyStore::new();
    let (a, b) =
        (open(&store.handle(), 100).await.unwrap(), open(&store.handle(), 100).await.unwrap());
    take(&a, 10).await;
    assert_eq!(b.next_id().await.unwrap(), 101);
    let swaps = store.swaps();
    a.close();
    drop(a);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((stored(&store).await.timestamp.value, store.swaps()), (200, swaps));
    let c = open(&store.handle(), 100).await.unwrap();
    assert_eq!(c.next_id().await.unwrap(), 201);
}

/// cockroach#71135, yugabyte-db#16497: a cache goes on below the value that an operator has set.
#[tokio::test(start_paused = true)]
async fn an_advance_reaches_what_is_buffered() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let sequence = open(&handle, 100).await.unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 1);
    Catalog::new(&handle).advance(orders(), Advance::above(500)).await.unwrap();
    assert_eq!(sequence.next_id().await.unwrap(), 501);
    // tidb#2285, tidb#24123: rows imported by hand. Only ever forward, so an import below changes nothing.
    let advanced = Catalog::new(&handle).advance(orders(), Advance::above(150)).await.unwrap();
    assert_eq!(advanced.before, Some(advanced.after));
    assert_eq!(sequence.next_id().await.unwrap(), 502);
}

/// yugabyte-db#5869: CYCLE with a cache as large as the range. There is no CYCLE here: an id would come twice.
#[tokio::test(start_paused = true)]
async fn a_sequence_that_has_come_to_its_end_does_not_begin_again() {
    let store = FaultyStore::new();
    let four = Definition::builder().max_value(4).build().unwrap();
    let sequence = Sequence::open(&store.handle(), orders())
        .block_size(5)
        .create_if_missing(four)
        .await
        .unwrap();
    assert_eq!(take(&sequence, 4).await, [1, 2, 3, 4]);
    for _ in 0..5 {
        assert!(sequence.next_id().await.unwrap_err().is_exhausted());
    }
}

/// postgres-x2#283, duckdb#3361: a falling sequence starts again from the wrong side after a crash.
#[tokio::test(start_paused = true)]
async fn a_falling_sequence_goes_on_below_its_lost_block() {
    let store = FaultyStore::new();
    let falling = Definition::builder().increment_by(-1).build().unwrap();
    let open =
        || Sequence::open(&store.handle(), orders()).block_size(2000).create_if_missing(falling);
    assert_eq!(take(&open().await.unwrap(), 2).await, [-1, -2]);
    assert_eq!(open().await.unwrap().next_id().await.unwrap(), -2001);
}

/// Leaf#48: a burst larger than what is buffered is an error.
#[tokio::test(start_paused = true)]
async fn a_burst_larger_than_the_buffer_waits_and_gets_its_ids() {
    for callers in [21, 1000] {
        let store = FaultyStore::new();
        store.delay_swaps(3);
        let sequence = open(&store.handle(), 10).await.unwrap();
        let calls: Vec<_> = (0..callers)
            .map(|_| {
                let sequence = sequence.clone();
                tokio::spawn(async move { sequence.next_id().await.unwrap() })
            })
            .collect();
        let mut ids = BTreeSet::new();
        for call in calls {
            ids.insert(call.await.unwrap());
        }
        assert!(ids.into_iter().eq(1..=callers));
    }
}

/// hapi-fhir#8090, matrixone#27119: callers line up behind one slow refill, each for as long as all before it.
#[tokio::test(start_paused = true)]
async fn callers_behind_a_slow_refill_time_out_at_their_own_deadlines_and_send_nothing() {
    let store = FaultyStore::new();
    let patience = Duration::from_millis(100);
    let sequence = open(&store.handle(), 92).timeout(patience).await.unwrap();
    sequence.warm_up().await.unwrap();
    let before = store.swaps();
    store.delay_swaps(2000);
    let began = tokio::time::Instant::now();
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let sequence = sequence.clone();
            tokio::spawn(async move { sequence.next_id().await })
        })
        .collect();
    let mut given = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => given += 1,
            Err(error) => assert!(matches!(error, Error::TimedOut { .. }), "{error:?}"),
        }
    }
    assert_eq!((given, store.swaps() - before), (92, 1));
    assert!(began.elapsed() < 2 * patience, "{:?}", began.elapsed());
    tokio::time::sleep(Duration::from_secs(5)).await;
    store.delay_swaps(0);
    assert!(sequence.next_id().await.unwrap() > 92);
}

/// uyuni#6587, hibernate HHH-15118: two clients of one sequence have other ideas of its block size.
#[tokio::test(start_paused = true)]
async fn clients_of_other_block_sizes_share_a_sequence() {
    let store = FaultyStore::new();
    let (fifty, one) =
        (open(&store.handle(), 50).await.unwrap(), open(&store.handle(), 1).await.unwrap());
    let mut ids = Vec::new();
    for _ in 0..120 {
        ids.extend([fifty.next_id().await.unwrap(), one.next_id().await.unwrap()]);
    }
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
}
