//! What the clients and the operator of one simulation share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::chance::Chance;
use super::paper::Ticks;
use super::store::SimulatedStore;
use crate::definition::{Definition, SequenceName};
use crate::timestamp::LamportTimestamp;

/// One simulated world.
#[derive(Debug)]
pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) store: SimulatedStore,
    pub(super) ticks: Ticks,
    pub(super) sequences: Vec<(SequenceName, Definition)>,
    /// Until when things go wrong.
    pub(super) heals: Instant,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    /// Timestamps that clients have told each other, by sequence.
    told: Vec<(usize, LamportTimestamp)>,
    stuck: Vec<String>,
}

/// How many timestamps are remembered.
const TOLD: usize = 16;

impl World {
    pub(super) fn new(
        chance: Chance,
        store: SimulatedStore,
        sequences: Vec<(SequenceName, Definition)>,
        lasts: Duration,
    ) -> Self {
        let (ticks, notes) = (Ticks::default(), Mutex::default());
        Self { chance, store, ticks, sequences, heals: Instant::now() + lasts, notes }
    }

    pub(super) fn is_healed(&self) -> bool {
        Instant::now() >= self.heals
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client sends its timestamp to whoever listens.
    pub(super) fn tell(&self, sequence: usize, timestamp: LamportTimestamp) {
        let mut notes = self.notes();
        if notes.told.len() == TOLD {
            notes.told.remove(0);
        }
        notes.told.push((sequence, timestamp));
    }

    /// A timestamp that a client of this sequence has sent.
    pub(super) fn hear(&self, sequence: usize) -> Option<LamportTimestamp> {
        let told: Vec<_> =
            self.notes().told.iter().filter(|(of, _)| *of == sequence).map(|(_, t)| *t).collect();
        self.chance.of(&told).copied()
    }

    /// Something does not go on that should.
    pub(super) fn is_stuck(&self, what: String) {
        self.notes().stuck.push(what);
    }

    pub(super) fn stuck(&self) -> Vec<String> {
        self.notes().stuck.clone()
    }
}
