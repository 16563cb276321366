//! What a store in a file must do beyond the suite: rule S16.

mod damage;
mod gone;
mod locks;
mod opening;
mod processes;

use std::time::Duration;

use lamport_seq::store::sqlite::SqliteStore;
use lamport_seq::store::{Change, Row, Store, StoreError, StoreErrorKind, Swapped};
use lamport_seq::{Definition, LamportTimestamp, SequenceName};
use tokio::time::Instant;
use uuid::Uuid;

fn name() -> SequenceName {
    "orders".parse().unwrap()
}

fn within(millis: u64) -> Instant {
    Instant::now() + Duration::from_millis(millis)
}

fn soon() -> Instant {
    within(10_000)
}

fn fresh() -> Row {
    Row::unused(Definition::default(), Uuid::from_u128(7))
}

fn move_to(value: i64) -> Change {
    let node = Uuid::from_u128(value.unsigned_abs().into());
    Change::Move { to: LamportTimestamp::new(value, node) }
}

/// Inserts the register of [`name`].
async fn insert(store: &SqliteStore) -> Row {
    let answer = store.insert(&name(), &fresh(), soon()).await;
    assert_eq!(answer.unwrap(), Swapped::Applied);
    fresh()
}

/// A swap that is applied, and the register after it.
async fn swap(store: &SqliteStore, row: Row, value: i64) -> Row {
    let answer = store.swap(&name(), &row, move_to(value), soon()).await;
    assert_eq!(answer.unwrap(), Swapped::Applied);
    row.changed(move_to(value))
}

async fn read(store: &SqliteStore) -> Result<Option<Row>, StoreError> {
    store.read(&name(), soon()).await
}

#[track_caller]
fn assert_error<T>(result: Result<T, StoreError>, kind: StoreErrorKind, message: &str) {
    let Err(error) = result else {
        panic!("this must fail with {kind:?}, `{message}`");
    };
    assert_eq!(error.kind(), kind, "{error} ({error:?})");
    let text = error.to_string();
    assert!(text.contains(message), "`{text}` does not say `{message}`");
    assert!(error.hint().is_some(), "`{text}` has no hint");
}
