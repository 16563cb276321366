//! What all clones of a [`Sequence`](crate::Sequence) share: the buffer, and one reservation in flight.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::flight::{Boarding, Flight, Landing, Runway};
use crate::range::IdRange;
use crate::reserve::{Protocol, Request, Reservation};
use crate::store::Row;
use crate::tape::Gift;
use crate::timestamp::LamportTimestamp;

/// How one generator reserves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Ids that one refill asks for.
    pub(crate) block_size: u64,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    /// The largest jump that the application consents to (S12).
    pub(crate) max_jump: Option<u64>,
}

/// How long after its deadline a flight is given up: a store ends by its deadline or soon after.
const OVERDUE: Duration = Duration::from_secs(1);
/// The pause after a flight that ended without a word, by a panic or with its runtime.
const LOST_FLIGHT_PAUSE: Duration = Duration::from_millis(5);

/// One incarnation of one generator.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) protocol: Protocol,
    pub(crate) policy: Policy,
    opened: Row,
    buffer: Mutex<Buffer>,
    runway: Arc<Runway>,
    closed: AtomicBool,
}

impl Generator {
    pub(crate) fn new(protocol: Protocol, policy: Policy, opened: Row) -> Self {
        let buffer = Mutex::new(Buffer::new(opened.timestamp, opened.definition()));
        let (runway, closed) = (Arc::default(), AtomicBool::new(false));
        Self { protocol, policy, opened, buffer, runway, closed }
    }

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The buffer, if ids may be given: not stopped (S5), not closed, and beyond the shared floor (S14).
    pub(crate) fn open_buffer(&self) -> Result<MutexGuard<'_, Buffer>, Error> {
        let mut buffer = self.lock();
        let register = self.protocol.register();
        if self.closed.load(Ordering::Acquire) {
            let sequence = register.sequence.clone();
            return Err(Error::Closed { sequence });
        }
        let spared = cfg!(planted_bug = "stop-spares-buffer") && buffer.len() > 0;
        if let Err(stop) = register.check().or_else(|stop| if spared { Ok(()) } else { Err(stop) })
        {
            // S5: what is buffered is burned.
            buffer.burn_all();
            return Err(stop.into());
        }
        if let Some(floor) = register.floor() {
            buffer.observe(LamportTimestamp::new(floor, uuid::Uuid::nil()));
        }
        Ok(buffer)
    }

    /// The buffer, whatever its state, to look at.
    pub(crate) fn peek(&self) -> MutexGuard<'_, Buffer> {
        self.lock()
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let mut buffer = self.lock();
        buffer.burn_all();
        self.protocol.tape().closed();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn is_refilling(&self) -> bool {
        self.runway.is_busy()
    }

    /// The furthest row that was seen.
    pub(crate) fn mark(&self) -> Row {
        self.protocol.register().mark().unwrap_or(self.opened)
    }

    /// Takes from the buffer, refilling it as often as it takes until the deadline.
    ///
    /// `missing` says how many ids the buffer lacks for what `take` wants.
    pub(crate) async fn take<T: Gift>(
        self: &Arc<Self>,
        take: impl Fn(&mut Buffer) -> Result<T, u64>,
    ) -> Result<T, Error> {
        let began = self.protocol.tape().now();
        let mut waiting = Waiting::new(self.policy.timeout);
        loop {
            let missing = match take(&mut *self.open_buffer()?) {
                Ok(taken) => {
                    self.protocol.tape().gave(&taken, began);
                    return Ok(taken);
                }
                Err(missing) => missing,
            };
            let overdue = waiting.deadline + OVERDUE;
            let (landing, overdue) = match self.runway.board(overdue) {
                Boarding::Another(landing, overdue) => (landing, overdue),
                Boarding::Mine(flight, landing) => {
                    self.spawn_refill(flight, missing, waiting.deadline);
                    (landing, overdue)
                }
            };
            match self.landed(landing, overdue, &mut waiting).await? {
                Some(Err(error)) if error.is_retryable() || error.is_unknown() => {
                    waiting.last = Some(error);
                }
                Some(landing) => landing?,
                None => {}
            }
        }
    }

    /// S11: a task of its own, so that a caller who gives up can't drop a conditional write half way.
    fn spawn_refill(self: &Arc<Self>, flight: Flight, missing: u64, deadline: Instant) {
        let request = self.refill_request(missing);
        let generator = self.clone();
        tokio::spawn(async move {
            let reserved = generator.protocol.reserve(request, deadline).await;
            let landing = reserved.map(|block| generator.put(block, &flight));
            flight.land(landing);
        });
    }

    fn refill_request(&self, missing: u64) -> Request {
        let mark = self.mark();
        let modest = mark.definition().modest(mark.timestamp.value);
        // S12: near the end a block is no larger than what needs no consent.
        let wanted = self.policy.block_size.min(modest).max(missing).max(1);
        let floor = Some(self.lock().last().value);
        Request { wanted, least: 1, floor, max_jump: Some(u64::MAX) }
    }

    fn put(&self, block: Reservation, flight: &Flight) {
        let mut buffer = self.lock();
        if flight.is_current() && !self.is_closed() {
            buffer.put(block);
            #[cfg(planted_bug = "cancelled-block-reused")]
            if !flight.is_awaited() {
                buffer.put_again(block);
            }
        } else {
            buffer.burn(block.range.len());
        }
    }

    /// One contiguous range straight from the store, all or nothing.
    pub(crate) async fn reserve(self: &Arc<Self>, count: u64) -> Result<IdRange, Error> {
        let began = self.protocol.tape().now();
        let mut waiting = Waiting::new(self.policy.timeout);
        loop {
            let floor = self.open_buffer()?.last().value;
            let flight = match self.runway.board(waiting.deadline + OVERDUE) {
                Boarding::Mine(flight, _) => flight,
                Boarding::Another(landing, overdue) => {
                    self.landed(landing, overdue, &mut waiting).await?;
                    continue;
                }
            };
            let max_jump = self.policy.max_jump;
            let request = Request { wanted: count, least: count, floor: Some(floor), max_jump };
            let (generator, deadline) = (self.clone(), waiting.deadline);
            let task = tokio::spawn(async move {
                let reserved = generator.protocol.reserve(request, deadline).await;
                flight.land(Ok(()));
                reserved
            });
            let reservation = match task.await {
                Ok(reserved) => reserved?,
                // It panicked: the next try is as good as the first, until the deadline.
                Err(_) => {
                    tokio::time::sleep(LOST_FLIGHT_PAUSE).await;
                    waiting.check(self)?;
                    continue;
                }
            };
            let mut buffer = self.open_buffer()?;
            // S14: what was observed meanwhile counts at the moment of handing out.
            if reservation.range.beyond(buffer.last().value) == Some(reservation.range) {
                buffer.bypass(reservation);
                self.protocol.tape().gave(&reservation.range, began);
                return Ok(reservation.range);
            }
            buffer.burn(reservation.range.len());
        }
    }

    /// Waits for a flight's end, the time when it is overdue, or this caller's deadline, whichever comes first.
    async fn landed(
        &self,
        mut landing: broadcast::Receiver<Landing>,
        overdue: Instant,
        waiting: &mut Waiting,
    ) -> Result<Option<Landing>, Error> {
        waiting.check(self)?;
        let until = overdue.min(waiting.deadline);
        match tokio::time::timeout_at(until, landing.recv()).await {
            Ok(Ok(landing)) => Ok(Some(landing)),
            // It ended without a word: a panic, or its runtime has gone (S11).
            Ok(Err(_)) => {
                tokio::time::sleep(LOST_FLIGHT_PAUSE).await;
                Ok(None)
            }
            Err(_) => waiting.check(self).map(|()| None),
        }
    }
}

/// One caller's patience (S13).
struct Waiting {
    began: Instant,
    deadline: Instant,
    last: Option<Error>,
}

impl Waiting {
    fn new(timeout: Duration) -> Self {
        let began = Instant::now();
        Self { began, deadline: began + timeout, last: None }
    }

    fn check(&mut self, generator: &Generator) -> Result<(), Error> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(self.timed_out(generator)) }
    }

    /// The error at this caller's own deadline; a reservation that failed by then says why.
    fn timed_out(&mut self, generator: &Generator) -> Error {
        let register = generator.protocol.register();
        let cause = self.last.take().or_else(|| {
            let outage = generator.protocol.health().outage()?;
            Some(Error::Unavailable {
                location: register.location.clone(),
                waited: outage.since.elapsed(),
                source: Some(outage.cause),
            })
        });
        let (sequence, waited) = (register.sequence.clone(), self.began.elapsed());
        Error::TimedOut { sequence, waited, source: cause.map(Arc::new) }
    }
}
