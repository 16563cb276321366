//! A client process: it opens generators, calls them at random, is killed, and starts again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::paper::Paper;
use super::store::SimulatedConnection;
use super::world::World;
use crate::error::Error;
use crate::history::Recorder;
use crate::sequence::Sequence;
use crate::store::StoreHandle;

/// Within this time after everything has healed, whoever has not stopped gives an id. The longest timeout of a
/// generator, what a late write may take, and twice the largest window of waits.
const GIVES_AGAIN: Duration = Duration::from_secs(30);

/// A generator, and which of the world's sequences it is of.
#[derive(Clone)]
struct Opened {
    number: usize,
    sequence: Sequence,
}

/// Lives of one client, one after the other, until the world has healed.
pub(super) async fn live(world: Arc<World>, name: String, paper: Paper) {
    loop {
        let recorder = match paper.recorder(&name, world.chance.uuid(), &world.ticks) {
            Ok(recorder) => recorder,
            Err(error) => return world.is_stuck(format!("{name} can't record: {error}")),
        };
        let connection = world.store.connect();
        let handle = StoreHandle::new(connection.clone());
        let generators = open(&world, &handle, &recorder).await;
        if world.chance.happens(150) {
            connection.panic(100);
        }
        if !world.is_healed() {
            run(&world, &connection, &generators).await;
        }
        connection.panic(0);
        if world.is_healed() {
            for generator in &generators {
                gives_again(&world, &name, generator).await;
            }
            return;
        }
        if world.chance.happens(400) {
            for generator in &generators {
                generator.sequence.close();
            }
        }
        // The process ends, in the middle of whatever it was doing.
        connection.kill();
        paper.end();
        drop(generators);
        tokio::time::sleep(world.chance.millis(0..=3000)).await;
    }
}

/// Opens one to three generators on one handle; those that can't be opened are left out.
async fn open(world: &Arc<World>, handle: &StoreHandle, recorder: &Recorder) -> Vec<Opened> {
    let last = u64::try_from(world.sequences.len()).unwrap_or(1) - 1;
    let mut generators = Vec::new();
    for _ in 0..world.chance.number(1..=3) {
        let number = usize::try_from(world.chance.number(0..=last)).unwrap_or_default();
        let (name, _) = &world.sequences[number];
        let builder = Sequence::open(handle, name.clone())
            .block_size(world.chance.number(1..=20))
            .timeout(world.chance.millis(300..=10_000))
            .entropy(Arc::new(world.chance.clone()))
            .record(recorder);
        loop {
            match builder.clone().await {
                Ok(sequence) => break generators.push(Opened { number, sequence }),
                // Nothing is opened under faults, or of a sequence that has gone.
                Err(error) if !world.is_healed() || is_final(&error) => break,
                Err(error) if Instant::now() > world.heals + GIVES_AGAIN => {
                    break world.is_stuck(format!("`{name}` can't be opened: {error:?}"));
                }
                Err(_) => {}
            }
        }
    }
    generators
}

/// Calls the generators from a few tasks, for a while.
async fn run(world: &Arc<World>, connection: &SimulatedConnection, generators: &[Opened]) {
    let mut callers = JoinSet::new();
    for generator in generators {
        for _ in 0..world.chance.number(1..=2) {
            callers.spawn(call(world.clone(), generator.clone()));
        }
    }
    let until = (Instant::now() + world.chance.millis(200..=15_000)).min(world.heals);
    if world.chance.happens(200) {
        connection.pause(Instant::now() + world.chance.millis(10..=12_000));
    }
    let all = async { while callers.join_next().await.is_some() {} };
    // Who is late is cut off in the middle.
    drop(tokio::time::timeout_at(until, all).await);
}

/// Calls of one task, until the world heals or the sequence gives no more.
async fn call(world: Arc<World>, generator: Opened) {
    let Opened { number, sequence } = generator;
    let chance = &world.chance;
    while !world.is_healed() {
        let called = match chance.number(0..=99) {
            0..45 => sequence.next_id().await.map(drop),
            45..65 => {
                drop(sequence.try_next_id());
                Ok(())
            }
            65..73 => sequence.next_ids(chance.number(0..=12)).await.map(drop),
            73..79 => sequence.reserve(chance.number(1..=12)).await.map(drop),
            79..85 => {
                world.tell(number, sequence.timestamp());
                world.hear(number).map_or(Ok(()), |seen| sequence.observe(seen))
            }
            85..88 => sequence.warm_up().await,
            88..95 => {
                // Dropped in the middle.
                drop(timeout(chance.millis(0..=15), sequence.next_id()).await);
                Ok(())
            }
            95 => {
                lose_runtime(&sequence);
                Ok(())
            }
            _ => {
                tokio::time::sleep(chance.millis(0..=2000)).await;
                Ok(())
            }
        };
        match called {
            Err(error) if is_final(&error) => return,
            Ok(()) if chance.happens(300) => tokio::time::sleep(chance.millis(0..=50)).await,
            Ok(()) | Err(_) => {}
        }
        tokio::task::yield_now().await;
    }
}

/// A reservation is begun on a runtime that goes away before anything of it is done.
fn lose_runtime(sequence: &Sequence) {
    let Ok(other) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return;
    };
    {
        let _inside = other.enter();
        let begun = pin!(sequence.next_id());
        let _ = begun.poll(&mut Context::from_waker(Waker::noop()));
    }
    other.shutdown_background();
}

/// Nothing that this generator is asked ever succeeds again.
fn is_final(error: &Error) -> bool {
    matches!(
        error,
        Error::Stopped(_) | Error::Closed { .. } | Error::Exhausted { .. } | Error::NotFound { .. }
    )
}

async fn gives_again(world: &World, client: &str, generator: &Opened) {
    let until = world.heals.max(Instant::now()) + GIVES_AGAIN;
    let mut last = None;
    while Instant::now() < until {
        match generator.sequence.next_id().await {
            Ok(_) => return,
            Err(error) if is_final(&error) => return,
            Err(error) => last = Some(error),
        }
    }
    let name = generator.sequence.name();
    world.is_stuck(format!(
        "{client} gets no id of `{name}` {GIVES_AGAIN:?} after all is well: {last:?}"
    ));
}
