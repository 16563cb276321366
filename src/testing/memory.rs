//! A store in the memory of one process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use uuid::Uuid;

use crate::definition::SequenceName;
use crate::store::{Change, Listed, Row, Store, StoreFuture, Swapped};

/// Sequences in the memory of this process, gone with it: for tests only, and so it has no URL (S16).
///
/// Clones share their contents, as two connections to one server do.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Tables>>);

#[derive(Debug, Default)]
struct Tables {
    births: BTreeMap<SequenceName, Uuid>,
    counters: BTreeMap<SequenceName, Row>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The register as it is, for tests that tamper with it. `None` takes it away, which no client ever does.
    pub fn tamper(&self, name: &SequenceName, row: Option<Row>) {
        let mut tables = self.lock();
        match row {
            Some(row) => tables.counters.insert(name.clone(), row),
            None => tables.counters.remove(name),
        };
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer<'a, T>(
        &'a self,
        ask: impl FnOnce(&mut Tables) -> T + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { Ok(ask(&mut self.lock())) })
    }
}

impl Store for MemoryStore {
    fn location(&self) -> String {
        "memory:".to_owned()
    }

    fn check(&self, _deadline: Instant) -> StoreFuture<'_, ()> {
        self.answer(|_| ())
    }

    fn read<'a>(&'a self, name: &'a SequenceName, _: Instant) -> StoreFuture<'a, Option<Row>> {
        self.answer(move |tables| tables.counters.get(name).copied())
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        _: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        self.answer(move |tables| tables.births.get(name).copied())
    }

    fn confirm_absent<'a>(&'a self, name: &'a SequenceName, _: Instant) -> StoreFuture<'a, bool> {
        self.answer(move |tables| {
            !tables.counters.contains_key(name) && !tables.births.contains_key(name)
        })
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        _: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.answer(move |tables| {
            if tables.births.get(name).copied() != replaces {
                return Swapped::NotApplied { found: None };
            }
            tables.births.insert(name.clone(), created);
            Swapped::Applied
        })
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        _: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.answer(move |tables| match tables.counters.entry(name.clone()) {
            Entry::Occupied(there) => Swapped::NotApplied { found: Some(there.get().timestamp) },
            Entry::Vacant(place) => {
                place.insert(*row);
                Swapped::Applied
            }
        })
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        _: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.answer(move |tables| match tables.counters.get_mut(name) {
            Some(row) if row.admits(change, expected) => {
                *row = row.changed(change);
                Swapped::Applied
            }
            row => Swapped::NotApplied { found: row.map(|row| row.timestamp) },
        })
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        _: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        self.answer(move |tables| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let rows = tables.counters.range::<SequenceName, _>((from, Bound::Unbounded));
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            rows.take(limit)
                .map(|(name, row)| Listed { name: name.clone(), row: Ok(*row) })
                .collect()
        })
    }
}
