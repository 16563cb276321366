//! The protocol: how a range of ids becomes this client's own. No I/O here but the store's.
//!
//! A reservation is one conditional write of the sequence's Lamport timestamp, and a serial read that confirms
//! it. docs/protocol.md has the statements, docs/design.md the rules that are cited here and why they are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::definition::SequenceName;
use crate::effort::Effort;
use crate::error::Error;
use crate::health::Health;
use crate::identity::Identity;
use crate::pace::Pace;
use crate::range::IdRange;
use crate::register::Register;
use crate::stop::{Stop, StopCause};
use crate::store::{
    Change, Opened, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped, WriteTimes,
};
use crate::tape::{Note, Recording, Tape};
use crate::timestamp::LamportTimestamp;

/// Whether an applied write is confirmed by a read (S7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verify {
    /// Every write is confirmed by a serial read: a plain write or a roll-back of the row is noticed before an
    /// id is given.
    #[default]
    Always,
    /// Only a write of unknown outcome is followed by a read. This saves one serial read per reservation and gives
    /// up the cross-check: if something writes the row without a condition, or a replica loses its state, ids are
    /// given twice and nobody is told. Safe only where neither can happen.
    OnDoubt,
}

/// One client of one sequence: it carries out the protocol, one attempt at a time.
#[derive(Debug)]
pub(crate) struct Protocol {
    store: Arc<dyn Store>,
    register: Arc<Register>,
    identity: Identity,
    verify: Verify,
    health: Health,
    pace: Pace,
    tape: Tape,
    warned_of_clocks: AtomicBool,
}

/// What to write over a row, and what that gives to the caller.
#[derive(Debug)]
pub(crate) enum Plan<T> {
    /// Moves the value on.
    Move { value: i64, gives: T },
    /// Writes nothing (S4: a write that would not move the value is not made).
    Keep(T),
}

/// A range that is this client's own, and the attempt that reserved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) range: IdRange,
    pub(crate) node: uuid::Uuid,
}

impl std::fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.location())
    }
}

impl Protocol {
    pub(crate) fn new(opened: Opened, identity: Identity, verify: Verify) -> Self {
        let Opened { store, register } = opened;
        let health = Health::new(register.clone());
        let (pace, tape) = (Pace::default(), Tape::default());
        let warned_of_clocks = AtomicBool::new(false);
        Self { store, register, identity, verify, health, pace, tape, warned_of_clocks }
    }

    /// Records what this incarnation does, from now on; `began` is when opening it began.
    pub(crate) fn record(&mut self, recording: &Recording, opened: &Row, began: u64) {
        self.tape = self.register.reel.open(recording, &self.register, opened, began);
    }

    pub(crate) fn tape(&self) -> &Tape {
        &self.tape
    }

    pub(crate) fn register(&self) -> &Arc<Register> {
        &self.register
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) fn name(&self) -> &SequenceName {
        &self.register.sequence
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Reserves `wanted` ids beyond `floor`: at least `least` of them, fewer than `wanted` only at the sequence's end.
    pub(crate) async fn reserve(
        &self,
        request: Request,
        deadline: Instant,
    ) -> Result<Reservation, Error> {
        let plan = |row: &Row| request.plan(&self.register, row);
        let (range, timestamp) = self.propose(plan, deadline).await?;
        Ok(Reservation { range, node: timestamp.node })
    }

    /// Moves the row as `plan` says, however often another client is first. Gives the row's new timestamp too.
    pub(crate) async fn propose<T>(
        &self,
        plan: impl Fn(&Row) -> Result<Plan<T>, Error>,
        deadline: Instant,
    ) -> Result<(T, LamportTimestamp), Error> {
        let mut effort = Effort::until(deadline);
        let mut row = match self.register.mark() {
            Some(mark) => mark,
            None => self.read_row(&mut effort).await?,
        };
        let mut fresh = false;
        self.await_turn(&mut row, &mut effort).await?;
        loop {
            self.register.check()?;
            row = self.register.latest(row);
            let (value, gives) = match plan(&row) {
                Ok(Plan::Move { value, gives }) => (value, gives),
                Ok(Plan::Keep(gives)) if fresh => return Ok((gives, row.timestamp)),
                Err(error) if fresh => return Err(error),
                // What is remembered of the row may be old: only what is read now says no.
                Ok(Plan::Keep(_)) | Err(_) => {
                    row = self.read_row(&mut effort).await?;
                    fresh = true;
                    continue;
                }
            };
            fresh = false;
            // S2: a uuid of its own for every attempt.
            let target = LamportTimestamp::new(value, self.identity.attempt()?);
            let mut note = self.tape.sent(row.timestamp.value, target);
            let attempted = self.attempt(&row, target, &mut effort, &mut note).await;
            note.end(matches!(attempted, Ok(Attempt::Ours)));
            match attempted? {
                Attempt::Ours => return Ok((gives, target)),
                Attempt::Stale { newer } => {
                    effort.check(&self.register)?;
                    row = newer;
                    self.await_turn(&mut row, &mut effort).await?;
                }
                Attempt::Lost => {
                    effort.wait(&self.identity, &self.register).await?;
                    row = self.read_row(&mut effort).await?;
                    fresh = true;
                }
            }
        }
    }

    /// Waits for this client's turn, and learns as cheaply as can be what `row` has come to meanwhile: a write that
    /// can only lose would hold up the others.
    async fn await_turn(&self, row: &mut Row, effort: &mut Effort) -> Result<(), Error> {
        if !self.pace.wait(&self.identity, effort.deadline).await {
            return Ok(());
        }
        match self.store.peek(self.name(), effort.deadline) {
            Some(peek) => {
                // Without an answer the write that follows will tell.
                if let Some(found) = peek.await.ok().flatten() {
                    self.pace.saw(found.node, &self.identity);
                    *row = hinted(row, found).unwrap_or(*row);
                }
            }
            None => *row = self.read_row(effort).await?,
        }
        Ok(())
    }

    /// One conditional write, and what became of it.
    async fn attempt(
        &self,
        row: &Row,
        target: LamportTimestamp,
        effort: &mut Effort,
        note: &mut Note,
    ) -> Result<Attempt, Error> {
        let name = &self.register.sequence;
        let change = Change::Move { to: target };
        let began = Instant::now();
        match self.store.swap(name, row, change, effort.deadline).await {
            Ok(Swapped::Applied) => {
                self.health.succeeded();
                self.pace.won(began.elapsed());
                // S1: the first of the two proofs. S4: an applied write raises the mark.
                if !self.register.judge_written(row, row.changed(change))? {
                    effort.note_doubt(
                        "the write was applied, and the row was seen beyond it before the answer came",
                    );
                    return Ok(Attempt::Lost);
                }
                if self.verify == Verify::Always && !cfg!(planted_bug = "no-cross-check") {
                    self.cross_check(target, effort).await?;
                }
                Ok(Attempt::Ours)
            }
            Ok(Swapped::NotApplied { found }) => {
                note.conflict();
                self.health.succeeded();
                effort.conflicts = effort.conflicts.saturating_add(1);
                self.pace.lost();
                if cfg!(planted_bug = "clean-false-claimed") {
                    return Ok(Attempt::Ours);
                }
                let found = found.inspect(|found| self.pace.saw(found.node, &self.identity));
                if cfg!(planted_bug = "hint-raises-mark") {
                    // As one does who looks at the value alone: a mark is a pair.
                    let value = found.map_or(row.timestamp.value, |found| found.value);
                    let timestamp = LamportTimestamp::new(value, row.timestamp.node);
                    self.register.raise(Row { timestamp, ..*row });
                }
                // S1: a clean `false` is never claimed.
                Ok(match found.and_then(|found| hinted(row, found)) {
                    Some(newer) => Attempt::Stale { newer },
                    None => Attempt::Lost,
                })
            }
            Err(error) => {
                note.failed(error.kind());
                self.failed_attempt(error, target, effort).await
            }
        }
    }

    async fn failed_attempt(
        &self,
        error: StoreError,
        target: LamportTimestamp,
        effort: &mut Effort,
    ) -> Result<Attempt, Error> {
        self.health.failed(&error);
        let unknown = error.kind() == StoreErrorKind::Unknown;
        effort.note_write(error, &self.register)?;
        if !unknown {
            return Ok(Attempt::Lost);
        }
        // S3: unknown is not failed. Read back, and claim only by S1.
        let found = self.read_row(effort).await?;
        if found.timestamp == target
            || cfg!(planted_bug = "node-alone") && found.timestamp.node == target.node
            || cfg!(planted_bug = "unknown-claimed") && found.timestamp.value < target.value
        {
            // S1: the second proof, this very attempt's uuid and its value in a SERIAL read.
            self.check_write_times(&found)?;
            return Ok(Attempt::Ours);
        }
        // S3: it may still land, and is never claimed: the range is dropped for ever.
        Ok(Attempt::Stale { newer: found })
    }

    /// S7: after `applied = true` the row must show this attempt or a value further on.
    async fn cross_check(
        &self,
        target: LamportTimestamp,
        effort: &mut Effort,
    ) -> Result<(), Error> {
        effort.note_doubt("the write was applied, and the read that confirms it got no answer");
        let sent = self.register.mark();
        let found = self.read_register(effort).await?;
        let found = self.register.judge_applied(target, sent.as_ref(), found)?;
        Ok(self.check_write_times(&found)?)
    }

    /// S7: the two halves were written together.
    fn check_write_times(&self, row: &Row) -> Result<(), Arc<Stop>> {
        let Some(WriteTimes { value_us, node_us }) = row.written else { return Ok(()) };
        if value_us == node_us {
            self.warn_of_clocks(value_us.unwrap_or_default());
            return Ok(());
        }
        let at = |us: Option<i64>| {
            us.map_or_else(|| "never".to_owned(), |us| format!("{us} us after 1970"))
        };
        let evidence = format!("value at {}, node at {}", at(value_us), at(node_us));
        Err(self.register.stop(StopCause::PlainWrite(evidence)))
    }

    /// Says once that a clock is wrong. No reason to stop: a node that is ahead writes rows that are sound, and a plain
    /// write from the future shadows the next write, which the cross-check notices.
    fn warn_of_clocks(&self, written_us: i64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let limit = i64::try_from((now + MAX_AHEAD).as_micros()).unwrap_or(i64::MAX);
        if written_us > limit && !self.warned_of_clocks.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                sequence = %self.name(), location = %self.register.location, written_us,
                "the row was written more than a minute ahead of this machine's clock: look at the clocks of the \
                 store's nodes, and for writes with a timestamp of their own"
            );
        }
    }

    /// Reads the row until it answers or the deadline passes, and judges it (S4).
    async fn read_row(&self, effort: &mut Effort) -> Result<Row, Error> {
        let sent = self.register.mark();
        let found = self.read_register(effort).await?;
        let sent = if cfg!(planted_bug = "mark-on-arrival") { self.register.mark() } else { sent };
        #[cfg(planted_bug = "missing-recreated")]
        let found = self.recreated(sent, found, effort).await?;
        let row = self.register.judge(sent.as_ref(), found)?;
        self.pace.saw(row.timestamp.node, &self.identity);
        Ok(row)
    }

    async fn read_register(&self, effort: &mut Effort) -> Result<Option<Row>, Error> {
        self.ask(effort, |p, deadline| p.store.read(p.name(), deadline)).await
    }

    /// A planted bug: a row that is missing is made anew.
    #[cfg(planted_bug = "missing-recreated")]
    async fn recreated(
        &self,
        sent: Option<Row>,
        found: Option<Row>,
        effort: &mut Effort,
    ) -> Result<Option<Row>, Error> {
        let (None, Some(Row { created: Some(created), definition: Some(definition), .. })) =
            (found, sent)
        else {
            return Ok(found);
        };
        let anew = Row::unused(definition, created);
        drop(self.store.insert(self.name(), &anew, effort.deadline).await);
        self.read_register(effort).await
    }

    /// A read, repeated until it answers or the deadline passes: it changes nothing.
    pub(crate) async fn ask<'a, T>(
        &'a self,
        effort: &mut Effort,
        read: impl Fn(&'a Self, Instant) -> StoreFuture<'a, T>,
    ) -> Result<T, Error> {
        loop {
            match read(self, effort.deadline).await {
                Ok(answer) => {
                    self.health.succeeded();
                    return Ok(answer);
                }
                Err(error) => {
                    self.health.failed(&error);
                    effort.note_read(error, &self.register)?;
                }
            }
            effort.wait(&self.identity, &self.register).await?;
        }
    }

    /// Reads the row for somebody who knows nothing of it yet: `None` is an answer.
    pub(crate) async fn look(&self, deadline: Instant) -> Result<Option<Row>, Error> {
        let mut effort = Effort::until(deadline);
        let sent = self.register.mark();
        match self.read_register(&mut effort).await? {
            None if sent.is_none() => Ok(None),
            found => Ok(Some(self.register.judge(sent.as_ref(), found)?)),
        }
    }
}

/// S4: a hint says where to try next and raises no mark. It is used only where it lies ahead, since a row that went
/// back needs a serial read to be judged.
fn hinted(row: &Row, found: LamportTimestamp) -> Option<Row> {
    let ahead = row.definition().is_beyond(found.value, row.timestamp.value);
    ahead.then_some(Row { timestamp: found, ..*row })
}

/// What became of one attempt.
enum Attempt {
    /// The range is this client's own (S1).
    Ours,
    /// It is not, and never will be handed out; the row is `newer` by now, as a read or a hint (S4) tells.
    Stale { newer: Row },
    /// It is not, and never will be handed out. The row has to be read before the next attempt.
    Lost,
}

/// What a caller wants reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// How many ids, if there are as many.
    pub(crate) wanted: u64,
    /// With fewer than this many left it is refused.
    pub(crate) least: u64,
    /// Ids up to here are not wanted (S14).
    pub(crate) floor: Option<i64>,
    /// The largest jump that was consented to (S12).
    pub(crate) max_jump: Option<u64>,
}

impl Request {
    /// The range to reserve over `row`. S14: the old value stays as it was learnt, the ids start beyond the floor.
    fn plan(&self, register: &Register, row: &Row) -> Result<Plan<IdRange>, Error> {
        let definition = row.definition();
        let value = row.timestamp.value;
        let base = self.floor.map_or(value, |floor| definition.furthest(value, floor));
        let left = definition.remaining(base);
        let sequence = || register.sequence.clone();
        let Some(range) = definition.ids_after(base, self.wanted).filter(|_| left >= self.least)
        else {
            let (end, wanted) = (definition.end(), self.least);
            return Err(Error::Exhausted { sequence: sequence(), end, left, wanted });
        };
        // S12: what is skipped counts as well as what is taken.
        let before = definition.remaining(value);
        let ids = before - definition.remaining(range.last());
        if definition.is_leap(value, ids) && self.max_jump.is_none_or(|consent| ids > consent) {
            return Err(Error::JumpTooFar { sequence: sequence(), ids, left: before });
        }
        Ok(Plan::Move { value: range.last(), gives: range })
    }
}

/// How far ahead of this machine's clock a write time may be without a word.
const MAX_AHEAD: Duration = Duration::from_secs(60);
