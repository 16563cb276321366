//! A store whose network, servers and clients go wrong by chance, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use super::chance::Chance;
use crate::definition::SequenceName;
use crate::store::{
    Change, Listed, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped, WriteTimes,
};
use crate::testing::MemoryStore;
use crate::timestamp::LamportTimestamp;

/// How long a connection waits for an answer, if the caller does not give up before.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// How often, in a thousand calls, something goes wrong with one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The request never arrives.
    pub request_lost: u32,
    /// It is carried out, and the answer never arrives.
    pub answer_lost: u32,
    /// It is carried out so late that the caller has given up and may have read the row meanwhile.
    pub late: u32,
    /// It takes long, and may come to the caller's deadline.
    pub slow: u32,
    /// A server says that it was not carried out, which is true.
    pub refused: u32,
}

/// A cluster of servers, simulated: what they hold, and what goes wrong. Clones share it.
///
/// It runs on one thread with tokio's paused clock, and is the same for the same seed. A client talks to it through a
/// [`SimulatedConnection`] of its own.
#[derive(Clone, Debug)]
pub struct SimulatedStore(Arc<Servers>);

#[derive(Debug)]
struct Servers {
    memory: MemoryStore,
    chance: Chance,
    weather: Mutex<Weather>,
}

#[derive(Debug, Default)]
struct Weather {
    faults: Faults,
    away_until: Option<Instant>,
    /// Every row that was ever there: what a replica may show that lags, and what a backup may hold.
    past: BTreeMap<SequenceName, Vec<Row>>,
    /// Rows that a plain write from the future has shadowed: conditional writes are applied, and don't show.
    shadowed: BTreeSet<SequenceName>,
    happened: BTreeMap<&'static str, u64>,
}

impl SimulatedStore {
    /// An empty store without faults.
    pub fn new(chance: Chance) -> Self {
        let (memory, weather) = (MemoryStore::new(), Mutex::default());
        Self(Arc::new(Servers { memory, chance, weather }))
    }

    /// A connection for one client.
    pub fn connect(&self) -> SimulatedConnection {
        SimulatedConnection(Arc::new(Client {
            servers: self.0.clone(),
            dead: AtomicBool::new(false),
            paused_until: Mutex::new(None),
            panics: AtomicU32::new(0),
        }))
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.0.weather().faults = faults;
    }

    /// No server answers before `until`.
    pub fn go_away(&self, until: Instant) {
        let mut weather = self.0.weather();
        weather.away_until = Some(until);
        weather.count("outage");
    }

    /// Nothing goes wrong any more. What was done to rows stays.
    pub fn heal(&self) {
        let mut weather = self.0.weather();
        weather.faults = Faults::default();
        weather.away_until = None;
    }

    /// The rows that there ever were of this name, in order; the last is the one that is there now.
    pub fn past(&self, name: &SequenceName) -> Vec<Row> {
        self.0.weather().past.get(name).cloned().unwrap_or_default()
    }

    /// Sets the row back to one that was there: a restore.
    pub fn restore(&self, name: &SequenceName, row: Row) {
        self.0.tamper(name, Some(row));
    }

    /// Takes the row away: a `DELETE`, a `TRUNCATE`, a TTL.
    pub fn delete(&self, name: &SequenceName) {
        self.0.tamper(name, None);
    }

    /// Writes the row without a condition and with a timestamp of the future, which shadows whatever comes after.
    pub fn write_plainly(&self, name: &SequenceName, row: Row) {
        self.0.weather().shadowed.insert(name.clone());
        self.0.tamper(name, Some(row));
    }

    /// How often what has gone wrong.
    pub fn happened(&self) -> BTreeMap<&'static str, u64> {
        self.0.weather().happened.clone()
    }
}

impl Weather {
    fn count(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }
}

impl Servers {
    fn weather(&self) -> MutexGuard<'_, Weather> {
        self.weather.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tamper(&self, name: &SequenceName, row: Option<Row>) {
        self.memory.tamper(name, row);
        if let Some(row) = row {
            self.weather().past.entry(name.clone()).or_default().push(row);
        }
    }

    /// Keeps what a write has made of a row.
    async fn remember(&self, name: &SequenceName) {
        if let Ok(Some(row)) = self.memory.read(name, Instant::now()).await {
            self.weather().past.entry(name.clone()).or_default().push(row);
        }
    }

    async fn swap(
        &self,
        name: &SequenceName,
        expected: &Row,
        change: Change,
    ) -> Result<Swapped, StoreError> {
        let now = Instant::now();
        if self.weather().shadowed.contains(name) {
            let row = self.memory.read(name, now).await?;
            let admitted = row.is_some_and(|row| row.admits(change, expected));
            let unless = Swapped::NotApplied { found: row.map(|row| row.timestamp) };
            return Ok(if admitted { Swapped::Applied } else { unless });
        }
        let swapped = self.memory.swap(name, expected, change, now).await?;
        if swapped == Swapped::Applied {
            self.remember(name).await;
        }
        Ok(swapped)
    }

    /// What becomes of one call: how long the request is under way, and how long the answer, if it comes.
    fn fate(&self) -> Fate {
        let mut weather = self.weather();
        let Faults { request_lost, answer_lost, late, slow, refused } = weather.faults;
        let short = || self.chance.millis(0..=5);
        if weather.away_until.is_some_and(|until| Instant::now() < until) {
            let lost = Fate { request: None, answer: None, refused: false };
            return if self.chance.happens(500) { lost } else { Fate { refused: true, ..lost } };
        }
        let happens = |weather: &mut Weather, what, chance| {
            let happens = chance > 0 && self.chance.happens(chance);
            if happens {
                weather.count(what);
            }
            happens
        };
        if happens(&mut weather, "refused", refused) {
            return Fate { request: None, answer: None, refused: true };
        }
        if happens(&mut weather, "request lost", request_lost) {
            return Fate { request: None, answer: None, refused: false };
        }
        let mut fate = Fate { request: Some(short()), answer: Some(short()), refused: false };
        if happens(&mut weather, "answer lost", answer_lost) {
            fate.answer = None;
        }
        if happens(&mut weather, "late", late) {
            fate.request = Some(REQUEST_TIMEOUT + self.chance.millis(0..=8000));
        } else if happens(&mut weather, "slow", slow) {
            fate.request = Some(self.chance.millis(20..=2500));
        }
        fate
    }
}

#[derive(Clone, Copy, Debug)]
struct Fate {
    request: Option<Duration>,
    answer: Option<Duration>,
    refused: bool,
}

/// One client's connection to a [`SimulatedStore`]. Clones share it.
#[derive(Clone, Debug)]
pub struct SimulatedConnection(Arc<Client>);

#[derive(Debug)]
struct Client {
    servers: Arc<Servers>,
    dead: AtomicBool,
    paused_until: Mutex<Option<Instant>>,
    panics: AtomicU32,
}

impl SimulatedConnection {
    /// So many of a thousand conditional writes panic, as a store with a bug does.
    pub fn panic(&self, in_a_thousand: u32) {
        self.0.panics.store(in_a_thousand, Ordering::SeqCst);
    }

    /// The client is killed: nothing that it was doing ever goes on. What it has sent still arrives.
    pub fn kill(&self) {
        self.0.dead.store(true, Ordering::SeqCst);
        self.0.servers.weather().count("crash");
    }

    /// The client stands still: no answer reaches it before `until`, whatever its deadlines are.
    pub fn pause(&self, until: Instant) {
        *self.0.paused_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        self.0.servers.weather().count("pause");
    }

    /// Sends one request, at most once, and waits for its answer.
    fn call<T, F>(
        &self,
        deadline: Instant,
        carry_out: impl FnOnce(Arc<Servers>) -> F,
    ) -> StoreFuture<'_, T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let work = carry_out(self.0.servers.clone());
        Box::pin(async move {
            let answer = self.sent(deadline, work).await;
            let paused = *self.0.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(until) = paused.filter(|until| Instant::now() < *until) {
                tokio::time::sleep_until(until).await;
            }
            self.stand_if_dead().await;
            answer
        })
    }

    async fn stand_if_dead(&self) {
        if self.0.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    async fn sent<T, F>(&self, deadline: Instant, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        self.stand_if_dead().await;
        let Fate { request, answer, refused } = self.0.servers.fate();
        if refused {
            tokio::time::sleep(Duration::from_millis(1)).await;
            return Err(StoreError::new(StoreErrorKind::NotApplied, "no server took it"));
        }
        let (sender, receiver) = oneshot::channel();
        if let Some(request) = request {
            // A task of its own: what is under way arrives, whatever becomes of the client.
            tokio::spawn(async move {
                tokio::time::sleep(request).await;
                let done = work.await;
                if let Some(answer) = answer {
                    tokio::time::sleep(answer).await;
                    // A client that has gone hears nothing.
                    drop(sender.send(done));
                }
            });
        }
        let until = deadline.min(Instant::now() + REQUEST_TIMEOUT);
        match tokio::time::timeout_at(until, receiver).await {
            Ok(Ok(done)) => done,
            // A connection that is cut is noticed at once, one that is silent in time.
            Ok(Err(_)) | Err(_) => Err(StoreError::new(StoreErrorKind::Unknown, "no answer came")),
        }
    }
}

impl Store for SimulatedConnection {
    fn location(&self) -> String {
        "simulated:".to_owned()
    }

    fn check(&self, _: Instant) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>> {
        let name = name.clone();
        self.call(deadline, |servers| async move {
            let row = servers.memory.read(&name, Instant::now()).await?;
            let at = Some(1);
            let written = Some(WriteTimes { value_us: at, node_us: at });
            Ok(row.map(|row| Row { written, ..row }))
        })
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        let name = name.clone();
        self.call(deadline, |servers| async move {
            servers.memory.read_birth(&name, Instant::now()).await
        })
    }

    /// One of the rows that were there, or none: it asks a replica that may lag.
    fn peek<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> {
        let name = name.clone();
        Some(self.call(deadline, |servers| async move {
            let lag = if servers.chance.happens(300) { servers.chance.number(1..=5) } else { 0 };
            let lag = usize::try_from(lag).unwrap_or_default();
            let weather = servers.weather();
            let past = weather.past.get(&name);
            Ok(past.and_then(|past| past.iter().rev().nth(lag)).map(|row| row.timestamp))
        }))
    }

    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool> {
        let name = name.clone();
        self.call(deadline, |servers| async move {
            servers.memory.confirm_absent(&name, Instant::now()).await
        })
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        let name = name.clone();
        self.call(deadline, move |servers| async move {
            servers.memory.write_birth(&name, created, replaces, Instant::now()).await
        })
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        let (name, row) = (name.clone(), *row);
        self.call(deadline, move |servers| async move {
            let inserted = servers.memory.insert(&name, &row, Instant::now()).await?;
            if inserted == Swapped::Applied {
                servers.remember(&name).await;
            }
            Ok(inserted)
        })
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        let servers = &self.0.servers;
        let panics = self.0.panics.load(Ordering::SeqCst);
        if panics > 0 && servers.chance.happens(panics) {
            servers.weather().count("panic");
            // No hook prints it: it is meant.
            std::panic::resume_unwind(Box::new("the store panics, as it was told"));
        }
        let (name, expected) = (name.clone(), *expected);
        self.call(
            deadline,
            move |servers| async move { servers.swap(&name, &expected, change).await },
        )
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        let after = after.cloned();
        self.call(deadline, move |servers| async move {
            servers.memory.list(after.as_ref(), limit, Instant::now()).await
        })
    }
}
