//! A store in memory whose next answers a test decides.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lamport_seq::store::{
    Change, Listed, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped,
};
use lamport_seq::testing::MemoryStore;
use lamport_seq::{
    Definition, LamportTimestamp, Sequence, SequenceBuilder, SequenceName, StoreHandle,
};
use tokio::time::Instant;
use uuid::Uuid;

/// What becomes of one swap.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Carried out as asked.
    None,
    /// Applied, and the answer is lost.
    AnswerLost,
    /// Not applied, and nobody knows.
    RequestLost,
    /// Unknown, and applied only when the next but one call comes: after a clean read.
    Late,
    /// Certainly not applied.
    Refused,
    /// Not applied, though the answer says so.
    Shadowed,
    /// Applied, though the answer says not.
    Denied,
    /// Applied by somebody else first: an unrelated client takes ten ids.
    Overtaken,
    /// The store's code panics.
    Panic,
    /// No answer ever.
    Hang,
}

#[derive(Default)]
struct Script {
    swaps: Mutex<VecDeque<Fault>>,
    late: Mutex<Option<(u32, SequenceName, Row, Change)>>,
    peek: Mutex<Option<LamportTimestamp>>,
    peek_count: AtomicU32,
    away: AtomicBool,
    reads_fail: AtomicBool,
    swap_delay_ms: AtomicU32,
    swap_count: AtomicU32,
    attempts: Mutex<Vec<Uuid>>,
}

/// Clones share contents and script.
#[derive(Clone, Default)]
pub(crate) struct FaultyStore {
    pub(crate) memory: MemoryStore,
    script: Arc<Script>,
}

impl FaultyStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The fates of the next swaps; later ones meet with no fault.
    pub(crate) fn next_swaps(&self, faults: impl IntoIterator<Item = Fault>) {
        self.script.swaps.lock().unwrap().extend(faults);
    }

    /// What peeks show from now on, true or not.
    pub(crate) fn show_at_peeks(&self, timestamp: LamportTimestamp) {
        *self.script.peek.lock().unwrap() = Some(timestamp);
    }

    pub(crate) fn peeks(&self) -> u32 {
        self.script.peek_count.load(Ordering::SeqCst)
    }

    pub(crate) fn set_away(&self, away: bool) {
        self.script.away.store(away, Ordering::SeqCst);
    }

    pub(crate) fn fail_reads(&self, fail: bool) {
        self.script.reads_fail.store(fail, Ordering::SeqCst);
    }

    pub(crate) fn delay_swaps(&self, delay_ms: u32) {
        self.script.swap_delay_ms.store(delay_ms, Ordering::SeqCst);
    }

    pub(crate) fn swaps(&self) -> u32 {
        self.script.swap_count.load(Ordering::SeqCst)
    }

    /// The uuids of all attempts that were sent, in order.
    pub(crate) fn attempts(&self) -> Vec<Uuid> {
        self.script.attempts.lock().unwrap().clone()
    }

    pub(crate) fn handle(&self) -> StoreHandle {
        StoreHandle::new(self.clone())
    }

    async fn row(&self, name: &SequenceName) -> Option<Row> {
        self.memory.read(name, Instant::now()).await.unwrap()
    }

    /// Lets an overdue write land, if it was waiting for this call.
    async fn land_late(&self) {
        let due = {
            let mut late = self.script.late.lock().unwrap();
            match late.as_mut() {
                Some((0, ..)) => late.take(),
                Some((calls, ..)) => {
                    *calls -= 1;
                    None
                }
                None => None,
            }
        };
        if let Some((_, name, row, change)) = due {
            self.memory.swap(&name, &row, change, Instant::now()).await.unwrap();
        }
    }

    fn check_there(&self) -> Result<(), StoreError> {
        if self.script.away.load(Ordering::SeqCst) {
            return Err(ordered(StoreErrorKind::NotApplied));
        }
        Ok(())
    }

    async fn overtake(&self, name: &SequenceName) {
        let row = self.row(name).await.unwrap();
        let to = LamportTimestamp::new(row.timestamp.value + 10, Uuid::from_u128(9));
        self.memory.swap(name, &row, Change::Move { to }, Instant::now()).await.unwrap();
    }

    async fn faulty_swap(
        &self,
        name: &SequenceName,
        row: &Row,
        change: Change,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        self.script.swap_count.fetch_add(1, Ordering::SeqCst);
        if let Change::Move { to } = change {
            self.script.attempts.lock().unwrap().push(to.node);
        }
        let delay = self.script.swap_delay_ms.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(delay.into())).await;
        self.check_there()?;
        self.land_late().await;
        let fault = self.script.swaps.lock().unwrap().pop_front().unwrap_or(Fault::None);
        let apply = || self.memory.swap(name, row, change, deadline);
        match fault {
            Fault::None => apply().await,
            Fault::AnswerLost => {
                apply().await?;
                Err(ordered(StoreErrorKind::Unknown))
            }
            Fault::RequestLost => Err(ordered(StoreErrorKind::Unknown)),
            Fault::Late => {
                *self.script.late.lock().unwrap() = Some((1, name.clone(), *row, change));
                Err(ordered(StoreErrorKind::Unknown))
            }
            Fault::Refused => Err(ordered(StoreErrorKind::NotApplied)),
            Fault::Shadowed => Ok(Swapped::Applied),
            Fault::Denied => {
                apply().await?;
                Ok(Swapped::NotApplied { found: None })
            }
            Fault::Overtaken => {
                self.overtake(name).await;
                apply().await
            }
            Fault::Panic => panic!("a panic that the test ordered"),
            Fault::Hang => std::future::pending().await,
        }
    }
}

fn ordered(kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, "a fault that the test ordered")
}

impl Store for FaultyStore {
    fn location(&self) -> String {
        "faulty:".to_owned()
    }

    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.check_there()?;
            self.memory.check(deadline).await
        })
    }

    fn peek<'a>(
        &'a self,
        _: &'a SequenceName,
        _: Instant,
    ) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> {
        let shown = *self.script.peek.lock().unwrap();
        shown?;
        self.script.peek_count.fetch_add(1, Ordering::SeqCst);
        Some(Box::pin(async move { Ok(shown) }))
    }

    fn read<'a>(&'a self, name: &'a SequenceName, _: Instant) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            self.check_there()?;
            if self.script.reads_fail.load(Ordering::SeqCst) {
                return Err(ordered(StoreErrorKind::Unknown));
            }
            let row = self.row(name).await;
            self.land_late().await;
            Ok(row)
        })
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        self.memory.read_birth(name, deadline)
    }

    fn confirm_absent<'a>(&'a self, name: &'a SequenceName, at: Instant) -> StoreFuture<'a, bool> {
        self.memory.confirm_absent(name, at)
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.memory.write_birth(name, created, replaces, deadline)
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        self.memory.insert(name, row, deadline)
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(self.faulty_swap(name, expected, change, deadline))
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        Box::pin(async move {
            self.check_there()?;
            self.memory.list(after, limit, deadline).await
        })
    }
}

/// The name that most tests use.
pub(crate) fn orders() -> SequenceName {
    SequenceName::new("orders").unwrap()
}

/// A generator of blocks of ten, created on demand.
pub(crate) fn tens(store: &StoreHandle) -> SequenceBuilder {
    Sequence::open(store, "orders")
        .block_size(10)
        .timeout(Duration::from_secs(2))
        .create_if_missing(Definition::default())
}

/// The row as it is in the store.
pub(crate) async fn stored(store: &FaultyStore) -> Row {
    store.row(&orders()).await.unwrap()
}
