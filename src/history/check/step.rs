//! What an event means to the checkers, and what a checker is.

use uuid::Uuid;

use super::findings::{At, Findings};
use super::ledger::{Ledger, index};
use crate::history::fault::Cause;

/// An event in the ledger's numbers; ids and floors are positions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// It means nothing but what the ledger holds now.
    Nothing,
    Open {
        generator: u32,
    },
    Sent {
        reservation: u32,
        attempt: Uuid,
    },
    Ended {
        reservation: u32,
    },
    Give(Given),
    Observe {
        generator: u32,
        floor: i64,
        attempt: Option<Uuid>,
        began: u64,
        at: At,
    },
    Advance {
        generator: u32,
        floor: i64,
        ended: u64,
        at: At,
    },
    Stop {
        generator: u32,
        cause: Cause,
        time: u64,
        at: At,
    },
    Close {
        generator: u32,
        at: At,
    },
}

/// Ids that were given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) generator: u32,
    pub(super) first: i64,
    pub(super) last: i64,
    /// The reservation that holds them.
    pub(super) reservation: Option<u32>,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) line: u32,
}

/// One property.
///
/// It sees the events of each process in their order, one process after the other, and at the end all of the ledger.
pub(super) trait Checker {
    /// Judges an event.
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings);

    /// Judges what only the whole history shows.
    fn finish(&mut self, _ledger: &Ledger, _findings: &mut Findings) {}
}

/// A value for each of the ledger's numbers; those that were never set have the default.
#[derive(Debug, Default)]
pub(super) struct Table<T>(Vec<T>);

impl<T: Default + Clone> Table<T> {
    pub(super) fn at(&mut self, number: u32) -> &mut T {
        let number = number as usize;
        if number >= self.0.len() {
            self.0.resize(number + 1, T::default());
        }
        &mut self.0[number]
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().enumerate().map(|(number, value)| (index(number), value))
    }
}

/// What a caller got, as a violation shows it.
pub(super) fn give(ledger: &Ledger, given: &Given) -> String {
    let sequence = ledger.sequence_of(given.generator);
    let (first, last) = (sequence.id(given.first), sequence.id(given.last));
    if first == last { format!("give {first}") } else { format!("give {first} to {last}") }
}

/// A reservation, as a violation shows it.
pub(super) fn reserve(ledger: &Ledger, reservation: u32) -> String {
    let reservation = &ledger.reservations[reservation as usize];
    let sequence = ledger.sequence_of(reservation.generator);
    format!("reserve {} -> {}", sequence.id(reservation.old), sequence.id(reservation.last))
}
