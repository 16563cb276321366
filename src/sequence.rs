//! A sequence, as applications hold it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::buffer::Buffer;
use crate::builder::SequenceBuilder;
use crate::definition::{Definition, InvalidName, SequenceName};
use crate::error::Error;
use crate::generator::Generator;
use crate::range::IdRange;
use crate::runtime;
use crate::stop::Stop;
use crate::store::{StoreError, StoreHandle};
use crate::timestamp::LamportTimestamp;

/// A generator of one sequence's ids.
///
/// Ids are reserved from the store in blocks and handed out from memory. Clones share one generator: its buffer,
/// its order and its one reservation in flight; they are cheap, and can be used from any number of tasks,
/// threads and runtimes at once. Ids of one generator only move in the sequence's direction. Ids of two
/// generators never meet, and say nothing about which was given first.
///
/// What is buffered when the last clone is dropped, or the process ends, is burned: a gap, never a duplicate.
///
/// The async methods run on a tokio runtime with time enabled, and panic elsewhere; code without one has
/// [`blocking_next_id`](Self::blocking_next_id).
///
/// # Example: ids without a server
///
#[cfg_attr(feature = "testing", doc = "```")]
#[cfg_attr(not(feature = "testing"), doc = "```ignore")]
/// use lamport_seq::{Definition, Sequence, StoreHandle, testing::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), lamport_seq::Error> {
/// let store = StoreHandle::new(MemoryStore::new());
/// let orders = Sequence::open(&store, "orders")
///     .block_size(100)
///     .create_if_missing(Definition::default())
///     .await?;
/// assert_eq!(orders.next_id().await?, 1);
/// assert_eq!(orders.try_next_id().unwrap(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Sequence {
    generator: Arc<Generator>,
}

impl Sequence {
    /// Starts opening the sequence `name` in `store`; await the builder, or call one of its `open` methods.
    pub fn open<N>(store: &StoreHandle, name: N) -> SequenceBuilder
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        SequenceBuilder::new(store.clone(), name.try_into().map_err(Into::into))
    }

    pub(crate) fn from_generator(generator: Generator) -> Self {
        Self { generator: Arc::new(generator) }
    }

    /// The next id. From memory as long as there are buffered ids; otherwise it waits for a reservation.
    ///
    /// A reservation costs one conditional write and one serial read, and one more of each for every conflict.
    /// Callers who wait at the same time share one.
    ///
    /// # Errors
    ///
    /// [`Error::Exhausted`], [`Error::Stopped`], [`Error::Closed`], [`Error::Refused`]: for good; nothing was
    /// changed. [`Error::TimedOut`] at this caller's deadline: no id was given; what is being reserved goes to the
    /// next caller.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no id and repeats none: the reservation goes on in a task of its own.
    pub async fn next_id(&self) -> Result<i64, Error> {
        self.generator.take(|buffer| buffer.next().ok_or(1)).await
    }

    /// The next id, if there is one in memory. Never waits and sends nothing.
    ///
    /// # Errors
    ///
    /// [`TryNextError::Empty`]: none is buffered; [`next_id`](Self::next_id) gets more. The other variants are
    /// for good. Nothing was changed.
    pub fn try_next_id(&self) -> Result<i64, TryNextError> {
        let began = self.generator.protocol.tape().now();
        let mut buffer = self.generator.open_buffer().map_err(|error| match error {
            Error::Stopped(stop) => TryNextError::Stopped(stop),
            _ => TryNextError::Closed,
        })?;
        if let Some(id) = buffer.next() {
            self.generator.protocol.tape().gave(&id, began);
            return Ok(id);
        }
        let last = buffer.last().value;
        drop(buffer);
        let mark = self.generator.mark();
        let definition = mark.definition();
        let base = definition.furthest(mark.timestamp.value, last);
        Err(if definition.remaining(base) == 0 {
            TryNextError::Exhausted
        } else {
            TryNextError::Empty
        })
    }

    /// The next `count` ids, as few ranges as the buffered blocks allow; all or none. `count` may be 0.
    ///
    /// # Errors
    ///
    /// As [`next_id`](Self::next_id); [`Error::Exhausted`] also if some ids are left, but fewer than `count`: they
    /// stay for smaller calls. [`Error::JumpTooFar`] for a `count` over 1,000,000 ids that is more than a hundredth
    /// of what is left, unless [`max_jump`](SequenceBuilder::max_jump) allows it (S12).
    ///
    /// # Cancel safety
    ///
    /// As [`next_id`](Self::next_id).
    pub async fn next_ids(&self, count: u64) -> Result<Vec<IdRange>, Error> {
        self.consent(count)?;
        let lacking = |buffer: &mut Buffer| {
            buffer.next_many(count).ok_or_else(|| count.saturating_sub(buffer.len()))
        };
        let taken = self.generator.take(lacking).await;
        taken.map_err(|error| match error {
            Error::Exhausted { sequence, end, .. } => {
                Error::Exhausted { sequence, end, left: self.generator.peek().len(), wanted: count }
            }
            other => other,
        })
    }

    /// Reserves exactly `count` ids as one range, straight from the store, all or nothing.
    ///
    /// The range is durable and no other client ever gets it. It lies beyond what this generator has buffered,
    /// which is burned, so that its ids go on moving in one direction: use a generator of its own for bulk
    /// ranges. Costs one conditional write and one serial read, and one more of each for every conflict.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] for 0 ids, [`Error::Exhausted`], [`Error::JumpTooFar`], [`Error::Contended`],
    /// [`Error::Unavailable`]: nothing was changed. [`Error::Unknown`]: a range may have been reserved; it is
    /// burned, never handed out. [`Error::Stopped`] and [`Error::Closed`] are for good.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may burn one range. It never causes a duplicate.
    pub async fn reserve(&self, count: u64) -> Result<IdRange, Error> {
        if count == 0 {
            return Err(Error::InvalidOption(
                "a range has at least 1 id, 0 were asked for".to_owned(),
            ));
        }
        self.generator.reserve(count).await
    }

    /// [`next_id`](Self::next_id) for code without a runtime: blocks this thread.
    ///
    /// An id that is buffered is given at once. Otherwise the wait is done on a thread that the library starts
    /// for itself. Inside a runtime it blocks the executor's thread, for as long as the timeout allows.
    ///
    /// # Errors
    ///
    /// As [`next_id`](Self::next_id).
    ///
    /// # Panics
    ///
    /// If the operating system has no thread to give.
    pub fn blocking_next_id(&self) -> Result<i64, Error> {
        if let Ok(id) = self.try_next_id() {
            return Ok(id);
        }
        let sequence = self.clone();
        runtime::block_on(async move { sequence.next_id().await })
    }

    /// Makes sure that every id given from now on lies beyond `seen`: a timestamp of another generator, or an id.
    ///
    /// This is Lamport's rule for a received message, and orders this generator after the other (S14). Nothing is
    /// sent. What is buffered up to `seen` is burned, so it may cost up to a block and the next call a
    /// reservation; [`burned`](Self::burned) counts it.
    ///
    /// # Errors
    ///
    /// [`Error::JumpTooFar`] if it would use up over 1,000,000 ids and a hundredth of what is left, unless
    /// [`max_jump`](SequenceBuilder::max_jump) allows it (S12). [`Error::Stopped`], [`Error::Closed`]. Nothing was
    /// changed.
    pub fn observe(&self, seen: impl Into<LamportTimestamp>) -> Result<(), Error> {
        let began = self.generator.protocol.tape().now();
        let seen = seen.into();
        let mark = self.generator.mark();
        let definition = mark.definition();
        let (value, left) = (mark.timestamp.value, definition.remaining(mark.timestamp.value));
        let ids = left - definition.remaining(definition.furthest(seen.value, value));
        let consented = self.generator.policy.max_jump.is_some_and(|consent| ids <= consent);
        if definition.is_leap(value, ids) && !consented {
            return Err(Error::JumpTooFar { sequence: self.name().clone(), ids, left });
        }
        let mut buffer = self.generator.open_buffer()?;
        buffer.observe(seen);
        self.generator.protocol.tape().observed(seen, began);
        Ok(())
    }

    /// The furthest timestamp that this generator has given or observed; before that, the row's when it was opened.
    ///
    /// Send it along with a message, and let the receiver [`observe`](Self::observe) it.
    pub fn timestamp(&self) -> LamportTimestamp {
        self.generator.peek().last()
    }

    /// How many ids this sequence has left, by what this client knows: not yet reserved by anybody, or buffered here.
    pub fn remaining(&self) -> u64 {
        let mark = self.generator.mark();
        let buffer = self.generator.peek();
        let definition = mark.definition();
        let base = definition.furthest(mark.timestamp.value, buffer.last().value);
        definition.remaining(base).saturating_add(buffer.len())
    }

    /// How many ids are in memory.
    pub fn buffered(&self) -> u64 {
        self.generator.peek().len()
    }

    /// How many ids this generator has reserved that will never be given, as far as it knows.
    pub fn burned(&self) -> u64 {
        self.generator.peek().burned()
    }

    /// What the sequence is named.
    pub fn name(&self) -> &SequenceName {
        self.generator.protocol.name()
    }

    /// What the sequence is, as it was read last.
    pub fn definition(&self) -> Definition {
        self.generator.mark().definition()
    }

    /// How this generator is, for a readiness probe. Sends nothing.
    pub fn state(&self) -> State {
        if let Err(stop) = self.generator.protocol.register().check() {
            return State::Stopped { cause: stop };
        }
        if self.generator.is_closed() {
            return State::Closed;
        }
        if let Some(outage) = self.generator.protocol.health().outage() {
            return State::Degraded { since: outage.since.into_std(), cause: outage.cause };
        }
        if self.generator.is_refilling() { State::Refilling } else { State::Ready }
    }

    /// Fills the buffer, so that the next call need not wait. Does nothing if there is an id in it.
    ///
    /// # Errors
    ///
    /// As [`next_id`](Self::next_id).
    ///
    /// # Cancel safety
    ///
    /// As [`next_id`](Self::next_id).
    pub async fn warm_up(&self) -> Result<(), Error> {
        self.generator.take(|buffer| if buffer.len() > 0 { Ok(()) } else { Err(1) }).await
    }

    /// Closes this generator and all its clones: every further call is [`Error::Closed`], what is buffered is burned.
    pub fn close(&self) {
        self.generator.close();
    }

    /// Whether this generator may use up `count` ids at once: always up to 1,000,000 or a hundredth of what is left,
    /// beyond that if [`max_jump`](SequenceBuilder::max_jump) allows it (S12). Sends nothing.
    ///
    /// For a caller who takes many ids in small reservations, and must be asked once for all of them.
    ///
    /// # Errors
    ///
    /// [`Error::JumpTooFar`]: consent is needed. Nothing was changed.
    pub fn consent(&self, count: u64) -> Result<(), Error> {
        let mark = self.generator.mark();
        let value = mark.timestamp.value;
        let consented = self.generator.policy.max_jump.is_some_and(|consent| count <= consent);
        if mark.definition().is_leap(value, count) && !consented {
            let left = mark.definition().remaining(value);
            return Err(Error::JumpTooFar { sequence: self.name().clone(), ids: count, left });
        }
        Ok(())
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("name", self.name()).finish_non_exhaustive()
    }
}

/// Why [`Sequence::try_next_id`] gave no id. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TryNextError {
    /// None is in memory; [`Sequence::next_id`] reserves more.
    #[error("no id is buffered")]
    Empty,
    /// The sequence has none left.
    #[error("the sequence is exhausted")]
    Exhausted,
    /// The sequence has stopped for good (S5).
    #[error(transparent)]
    Stopped(Arc<Stop>),
    /// The generator was closed.
    #[error("the sequence was closed")]
    Closed,
}

/// How a generator is, for a readiness probe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum State {
    /// The last statement succeeded, and none is under way.
    Ready,
    /// A reservation is under way.
    Refilling,
    /// The store does not answer as it should. Buffered ids are given all the same.
    Degraded {
        /// Since when.
        since: Instant,
        /// What it said last.
        cause: StoreError,
    },
    /// It has stopped for good (S5).
    Stopped {
        /// Why.
        cause: Arc<Stop>,
    },
    /// It was closed.
    Closed,
}
