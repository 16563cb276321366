//! One reservation in flight, whatever happens to it: S11 and S13.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lamport_seq::{Catalog, Definition, Error, Sequence, State, TryNextError};
use tokio::time::Instant;

use crate::faulty::{Fault, FaultyStore, tens};

#[tokio::test(start_paused = true)]
async fn s11_a_thousand_callers_share_one_reservation() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).block_size(1000).await.unwrap();
    store.delay_swaps(200);
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let sequence = sequence.clone();
            tokio::spawn(async move { sequence.next_id().await.unwrap() })
        })
        .collect();
    let mut ids = Vec::new();
    for call in calls {
        ids.push(call.await.unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=1000).collect::<Vec<_>>());
    assert_eq!(store.swaps(), 1);
}

/// A burst that is larger than the buffer waits for refills; it is no error.
#[tokio::test(start_paused = true)]
async fn a_burst_larger_than_the_block_is_served_whole() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let sequence = sequence.clone();
            tokio::spawn(async move { sequence.next_id().await.unwrap() })
        })
        .collect();
    let mut ids = Vec::new();
    for call in calls {
        ids.push(call.await.unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=1000).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn s11_a_panic_in_a_refill_does_not_stop_the_next() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Panic]);
    assert_eq!(sequence.next_id().await.unwrap(), 1);
    store.next_swaps([Fault::Panic]);
    assert_eq!(sequence.reserve(3).await.unwrap().first(), 11);
}

#[test]
fn s11_a_runtime_that_goes_away_in_a_refill_does_not_stop_the_next() {
    let store = FaultyStore::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let sequence = first.block_on(async { tens(&store.handle()).await.unwrap() });
    store.next_swaps([Fault::Hang]);
    let gave_up = first.block_on(async {
        tokio::time::timeout(Duration::from_millis(50), sequence.next_id()).await
    });
    assert!(gave_up.is_err(), "the refill hangs");
    assert!(matches!(sequence.state(), State::Refilling));
    drop(first);
    assert_eq!(runtime().block_on(sequence.next_id()).unwrap(), 1);
}

/// A runtime that is still there but is not driven any more: its refill is given up once it is overdue.
#[test]
fn s11_a_runtime_that_stands_still_does_not_stop_the_next_for_ever() {
    let store = FaultyStore::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let still = runtime();
    let handle = store.handle();
    let sequence =
        still.block_on(async { tens(&handle).timeout(Duration::from_millis(200)).await.unwrap() });
    store.next_swaps([Fault::Hang]);
    let timed_out = still.block_on(sequence.next_id()).unwrap_err();
    assert!(timed_out.is_retryable(), "{timed_out:?}");
    let other = runtime();
    let began = Instant::now();
    let id = loop {
        match other.block_on(sequence.next_id()) {
            Ok(id) => break id,
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
        assert!(began.elapsed() < Duration::from_secs(10));
    };
    assert_eq!(id, 1);
    drop(still);
}

#[tokio::test(start_paused = true)]
async fn s11_a_caller_that_gives_up_loses_no_id_and_repeats_none() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.delay_swaps(100);
    let mut ids = Vec::new();
    for patience_ms in (0..300).step_by(7) {
        let call = sequence.next_id();
        if let Ok(id) = tokio::time::timeout(Duration::from_millis(patience_ms), call).await {
            ids.push(id.unwrap());
        }
        let reserve = sequence.reserve(3);
        if let Ok(range) = tokio::time::timeout(Duration::from_millis(patience_ms), reserve).await {
            ids.extend(range.unwrap());
        }
    }
    assert!(ids.len() > 50, "{}", ids.len());
    assert!(ids.is_sorted_by(|a, b| a < b), "each once, in order: {ids:?}");
}

#[tokio::test(start_paused = true)]
async fn s13_while_the_store_is_away_errors_come_at_the_deadline_and_afterwards_it_works() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    sequence.next_ids(10).await.unwrap();
    store.set_away(true);
    for _ in 0..30 {
        let began = Instant::now();
        let error = sequence.next_id().await.unwrap_err();
        assert!(error.is_retryable() && !error.is_unknown(), "{error:?}");
        let Error::TimedOut { source: Some(cause), .. } = &error else { panic!("{error:?}") };
        assert!(matches!(**cause, Error::Unavailable { .. }), "{cause:?}");
        assert_eq!(began.elapsed().as_secs(), 2);
        assert!(matches!(sequence.state(), State::Degraded { .. }));
    }
    store.set_away(false);
    assert_eq!(sequence.next_id().await.unwrap(), 11, "no restart is needed");
    assert!(matches!(sequence.state(), State::Ready));
}

#[tokio::test(start_paused = true)]
async fn s13_a_client_that_starts_while_the_store_is_away_waits_for_it_until_its_deadline() {
    let store = FaultyStore::new();
    store.set_away(true);
    let began = Instant::now();
    let error = tens(&store.handle()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    let back = async || {
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.set_away(false);
    };
    let handle = store.handle();
    let (opened, ()) = tokio::join!(tens(&handle), back());
    assert_eq!(opened.unwrap().next_id().await.unwrap(), 1);

    store.set_away(true);
    let handle = store.handle();
    let catalog = Catalog::new(&handle);
    let (listed, ()) = tokio::join!(catalog.list(None, 10), back());
    assert_eq!(listed.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn s13_a_store_that_never_answers_costs_a_caller_its_own_deadline() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.next_swaps([Fault::Hang]);
    let began = Instant::now();
    let (first, second) = tokio::join!(sequence.next_id(), async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        (sequence.next_id().await, began.elapsed())
    });
    assert!(first.unwrap_err().is_retryable());
    let (second, at) = second;
    assert_eq!(second.unwrap(), 1, "the second caller starts anew when the first is overdue");
    assert!(at <= Duration::from_millis(3500), "{at:?}");
}

#[tokio::test(start_paused = true)]
async fn ids_in_memory_are_given_while_the_store_is_away() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    sequence.warm_up().await.unwrap();
    store.set_away(true);
    let (mut served, mut failed) = (0, 0);
    for _ in 0..12 {
        match sequence.next_id().await {
            Ok(_) => served += 1,
            Err(_) => failed += 1,
        }
    }
    assert_eq!((served, failed), (10, 2));
}

#[tokio::test(start_paused = true)]
async fn waiting_never_happens_in_try_next_id() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    assert!(matches!(sequence.try_next_id(), Err(TryNextError::Empty)));
    assert_eq!(store.swaps(), 0);
    sequence.warm_up().await.unwrap();
    assert_eq!(sequence.try_next_id().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_closed_generator_gives_nothing_and_its_sibling_goes_on() {
    let store = FaultyStore::new();
    let handle = store.handle();
    let (closed, open) = (tens(&handle).await.unwrap(), tens(&handle).await.unwrap());
    closed.next_id().await.unwrap();
    closed.clone().close();
    assert!(matches!(closed.next_id().await, Err(Error::Closed { .. })));
    assert!(matches!(closed.try_next_id(), Err(TryNextError::Closed)));
    assert!(matches!(closed.reserve(1).await, Err(Error::Closed { .. })));
    assert!(matches!(closed.state(), State::Closed));
    assert_eq!(open.next_id().await.unwrap(), 11);
}

#[test]
fn code_without_a_runtime_gets_ids_too() {
    let store = FaultyStore::new();
    let opened = Sequence::open(&store.handle(), "s")
        .block_size(3)
        .create_if_missing(Definition::default())
        .open_blocking();
    let sequence = opened.unwrap();
    let ids: Vec<_> = (0..10).map(|_| sequence.blocking_next_id().unwrap()).collect();
    assert_eq!(ids, (1..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn many_tasks_and_runtimes_share_one_generator() {
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).block_size(7).await.unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let sequence = sequence.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(async {
                    let mut ids = Vec::new();
                    for _ in 0..500 {
                        ids.push(sequence.next_id().await.unwrap());
                    }
                    ids
                })
            })
        })
        .collect();
    let mut ids: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=2000).collect::<Vec<_>>());
}

/// Everything that is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn s13_an_outage_is_one_log_line_at_its_start_and_one_at_its_end() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let store = FaultyStore::new();
    let sequence = tens(&store.handle()).await.unwrap();
    store.set_away(true);
    for _ in 0..30 {
        assert!(sequence.next_id().await.is_err());
    }
    store.set_away(false);
    sequence.next_id().await.unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].contains("does not answer as it should"), "{log}");
    assert!(lines[1].contains("answers again after 60"), "{log}");
}
