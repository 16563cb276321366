//! One reservation in flight per generator (S11).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::error::Error;

/// What those who wait for a flight learn at its end.
pub(crate) type Landing = Result<(), Error>;

/// The place in which at most one flight is under way.
#[derive(Debug, Default)]
pub(crate) struct Runway {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    started: u64,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    number: u64,
    overdue: Instant,
    /// Those who wait are woken in the order in which they came.
    landing: broadcast::Receiver<Landing>,
}

/// The right to have a reservation in flight. However its holder ends, by return, panic or with its runtime,
/// dropping it lets the next one start (S11).
#[derive(Debug)]
pub(crate) struct Flight {
    runway: Arc<Runway>,
    number: u64,
    landing: broadcast::Sender<Landing>,
}

/// What a caller who wants to fly gets.
#[derive(Debug)]
pub(crate) enum Boarding {
    /// The flight is the caller's to make; the receiver tells of its end.
    Mine(Flight, broadcast::Receiver<Landing>),
    /// Another flight is under way, of which the receiver tells the end; it is given up when it is overdue.
    Another(broadcast::Receiver<Landing>, Instant),
}

impl Runway {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.lock().current.is_some()
    }

    /// Starts a flight that has to be over by `overdue`, unless another is under way.
    ///
    /// One that is overdue is given up: its runtime stands still. What it may bring after all is burned.
    pub(crate) fn board(self: &Arc<Self>, overdue: Instant) -> Boarding {
        let mut state = self.lock();
        if let Some(current) = state.current.as_ref().filter(|c| Instant::now() < c.overdue) {
            return Boarding::Another(current.landing.resubscribe(), current.overdue);
        }
        state.started += 1;
        let number = state.started;
        let (sender, landing) = broadcast::channel(1);
        state.current = Some(Current { number, overdue, landing: sender.subscribe() });
        Boarding::Mine(Flight { runway: self.clone(), number, landing: sender }, landing)
    }
}

impl Flight {
    /// Whether this flight has not been given up as overdue.
    pub(crate) fn is_current(&self) -> bool {
        self.runway.lock().current.as_ref().is_some_and(|current| current.number == self.number)
    }

    /// Whether a caller waits for it, beside the runway.
    #[cfg(planted_bug = "cancelled-block-reused")]
    pub(crate) fn is_awaited(&self) -> bool {
        self.landing.receiver_count() > 1
    }

    /// Ends the flight and tells all who wait for it.
    pub(crate) fn land(self, landing: Result<(), Error>) {
        // The place is free before anybody hears of it, so that who hears of it can start.
        self.leave();
        // Nobody may be waiting any more.
        drop(self.landing.send(landing));
    }

    fn leave(&self) {
        let mut state = self.runway.lock();
        if state.current.as_ref().is_some_and(|current| current.number == self.number) {
            state.current = None;
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // S11: the guard. The sender goes with it, which wakes those who wait.
        self.leave();
    }
}
