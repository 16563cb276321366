//! A store that counts what becomes of its conditional writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lamport_seq::store::cql::CqlStore;
use lamport_seq::store::{Change, Listed, Row, Store, StoreErrorKind, StoreFuture, Swapped};
use lamport_seq::{LamportTimestamp, SequenceName};
use tokio::time::Instant;
use uuid::Uuid;

/// How many conditional writes were sent, lost against another, and not answered.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    attempts: AtomicU64,
    conflicts: AtomicU64,
    unknown: AtomicU64,
}

impl Counts {
    pub(crate) fn reset(&self) {
        for count in [&self.attempts, &self.conflicts, &self.unknown] {
            count.store(0, Relaxed);
        }
    }

    pub(crate) fn read(&self) -> (u64, u64, u64) {
        (self.attempts.load(Relaxed), self.conflicts.load(Relaxed), self.unknown.load(Relaxed))
    }
}

pub(crate) struct Counted {
    store: CqlStore,
    counts: Arc<Counts>,
}

impl Counted {
    pub(crate) fn new(store: CqlStore, counts: Arc<Counts>) -> Self {
        Self { store, counts }
    }
}

#[rustfmt::skip] // One line a method: each but one hands its call on.
impl Store for Counted {
    fn location(&self) -> String { self.store.location() }
    fn check(&self, by: Instant) -> StoreFuture<'_, ()> { self.store.check(by) }
    fn read<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, Option<Row>> { self.store.read(name, by) }
    fn peek<'a>(&'a self, name: &'a SequenceName, by: Instant) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> { self.store.peek(name, by) }
    fn read_birth<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, Option<Uuid>> { self.store.read_birth(name, by) }
    fn confirm_absent<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, bool> { self.store.confirm_absent(name, by) }
    fn write_birth<'a>(&'a self, name: &'a SequenceName, created: Uuid, replaces: Option<Uuid>, by: Instant) -> StoreFuture<'a, Swapped> { self.store.write_birth(name, created, replaces, by) }
    fn insert<'a>(&'a self, name: &'a SequenceName, row: &'a Row, by: Instant) -> StoreFuture<'a, Swapped> { self.store.insert(name, row, by) }
    fn swap<'a>(&'a self, name: &'a SequenceName, expected: &'a Row, change: Change, by: Instant) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let swapped = self.store.swap(name, expected, change, by).await;
            self.counts.attempts.fetch_add(1, Relaxed);
            match &swapped {
                Ok(Swapped::NotApplied { .. }) => _ = self.counts.conflicts.fetch_add(1, Relaxed),
                Err(error) if error.kind() == StoreErrorKind::Unknown => _ = self.counts.unknown.fetch_add(1, Relaxed),
                Ok(Swapped::Applied) | Err(_) => {}
            }
            swapped
        })
    }
    fn list<'a>(&'a self, after: Option<&'a SequenceName>, limit: u32, by: Instant) -> StoreFuture<'a, Vec<Listed>> { self.store.list(after, limit, by) }
}
