//! What clauses are made of: names and rows of their own, and calls that must have an answer.

use std::fmt::Debug;
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use uuid::Uuid;

use crate::definition::{Definition, DefinitionBuilder, SequenceName};
use crate::store::{Change, Row, Store, StoreError, Swapped};
use crate::timestamp::LamportTimestamp;

/// Long enough for a cluster of real servers on a laptop.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn deadline() -> Instant {
    Instant::now() + TIMEOUT
}

/// A name that was never used before; `about` tells a reader of the table which clause left it.
pub(super) fn fresh_name(about: &str) -> SequenceName {
    name(format!("conformance {about} {}", fresh_uuid().simple()))
}

pub(super) fn name(text: impl Into<Box<str>>) -> SequenceName {
    must(SequenceName::new(text), "a name of the suite")
}

pub(super) fn fresh_uuid() -> Uuid {
    let mut bytes = [0; 16];
    must(getrandom::fill(&mut bytes), "randomness");
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The row of a sequence that nothing was reserved from.
pub(super) fn fresh_row() -> Row {
    Row::unused(Definition::default(), fresh_uuid())
}

/// A timestamp as an attempt of its own writes it.
pub(super) fn at(value: i64) -> LamportTimestamp {
    LamportTimestamp::new(value, fresh_uuid())
}

/// A move to `value` by an attempt of its own.
pub(super) fn move_to(value: i64) -> Change {
    Change::Move { to: at(value) }
}

pub(super) fn defined(builder: DefinitionBuilder) -> Definition {
    must(builder.build(), "a definition of the suite")
}

/// A new register of a name of its own.
pub(super) async fn inserted(store: &dyn Store, about: &str, row: Row) -> SequenceName {
    let name = fresh_name(about);
    let answer = insert(store, &name, &row).await;
    assert_eq!(answer, Swapped::Applied, "inserting the register of a new name");
    name
}

/// What the store holds, without the times of writing, which not every store knows.
pub(super) async fn read(store: &dyn Store, name: &SequenceName) -> Option<Row> {
    let row = answer(store.read(name, deadline()).await, "read")?;
    Some(Row { written: None, ..row })
}

pub(super) async fn read_birth(store: &dyn Store, name: &SequenceName) -> Option<Uuid> {
    answer(store.read_birth(name, deadline()).await, "read_birth")
}

pub(super) async fn confirm_absent(store: &dyn Store, name: &SequenceName) -> bool {
    answer(store.confirm_absent(name, deadline()).await, "confirm_absent")
}

pub(super) async fn write_birth(
    store: &dyn Store,
    name: &SequenceName,
    created: Uuid,
    replaces: Option<Uuid>,
) -> Swapped {
    answer(store.write_birth(name, created, replaces, deadline()).await, "write_birth")
}

pub(super) async fn insert(store: &dyn Store, name: &SequenceName, row: &Row) -> Swapped {
    answer(store.insert(name, row, deadline()).await, "insert")
}

pub(super) async fn swap(
    store: &dyn Store,
    name: &SequenceName,
    expected: &Row,
    change: Change,
) -> Swapped {
    answer(store.swap(name, expected, change, deadline()).await, "swap")
}

/// A swap that must be applied, and what it must leave behind.
pub(super) async fn apply(
    store: &dyn Store,
    name: &SequenceName,
    expected: &Row,
    change: Change,
) -> Row {
    assert_eq!(
        swap(store, name, expected, change).await,
        Swapped::Applied,
        "{change:?} of {expected:?}"
    );
    let changed = expected.changed(change);
    assert_eq!(read(store, name).await, Some(changed), "what is read after {change:?} was applied");
    changed
}

/// A swap that must not be applied, and must leave `holds` as it is.
pub(super) async fn reject(
    store: &dyn Store,
    name: &SequenceName,
    expected: &Row,
    change: Change,
    holds: &Row,
) {
    assert_not_applied(swap(store, name, expected, change).await, Some(holds.timestamp));
    assert_eq!(
        read(store, name).await,
        Some(*holds),
        "what is read after {change:?} was not applied"
    );
}

/// Asserts that a write was not applied, and that its hint, if there is one, is `current`.
pub(super) fn assert_not_applied(answer: Swapped, current: Option<LamportTimestamp>) {
    let Swapped::NotApplied { found: hint } = answer else {
        panic!("{answer:?}, where nothing may be applied");
    };
    assert!(
        hint.is_none() || hint == current,
        "the hint is {hint:?}, the current timestamp {current:?}"
    );
}

pub(super) fn answer<T>(answer: Result<T, StoreError>, call: &str) -> T {
    match answer {
        Ok(answer) => answer,
        Err(error) => panic!("{call} failed, {:?}: {error} ({error:?})", error.kind()),
    }
}

fn must<T, E: Debug>(result: Result<T, E>, what: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error:?}"),
    }
}

/// Calls `call` with 0, 1 and so on below `callers`, all at once, each on a thread of its own.
pub(super) fn at_once<T: Send, F: Future<Output = T>>(
    callers: u32,
    call: impl Fn(u32) -> F + Sync,
) -> Vec<T> {
    let (runtime, start) = (Handle::current(), Barrier::new(callers as usize));
    let run = |caller| {
        start.wait();
        runtime.block_on(call(caller))
    };
    let run = &run;
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..callers).map(|caller| scope.spawn(move || run(caller))).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, T>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    })
}
