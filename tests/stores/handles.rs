//! Several handles on one store, which take its calls in turn.

use std::sync::atomic::{AtomicUsize, Ordering};

use lamport_seq::SequenceName;
use lamport_seq::store::{Change, Listed, Row, Store, StoreFuture, Swapped};
use tokio::time::Instant;
use uuid::Uuid;

/// A store that gives each call to the next of its handles, as clients that know nothing of each other would.
pub(crate) struct Handles<S> {
    handles: Vec<S>,
    calls: AtomicUsize,
}

impl<S> Handles<S> {
    pub(crate) fn new(handles: impl Into<Vec<S>>) -> Self {
        Self { handles: handles.into(), calls: AtomicUsize::new(0) }
    }

    fn next(&self) -> &S {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        &self.handles[call % self.handles.len()]
    }
}

impl<S: Store> Store for Handles<S> {
    fn location(&self) -> String {
        self.next().location()
    }

    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()> {
        self.next().check(deadline)
    }

    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>> {
        self.next().read(name, deadline)
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        self.next().read_birth(name, deadline)
    }

    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool> {
        self.next().confirm_absent(name, deadline)
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.next().write_birth(name, created, replaces, deadline)
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.next().insert(name, row, deadline)
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.next().swap(name, expected, change, deadline)
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        self.next().list(after, limit, deadline)
    }
}
