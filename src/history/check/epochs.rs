//! Epochs: between two restores or plain writes ids are unique, across one nothing is promised.

use super::ledger::{Ledger, index};
use super::reservations::{Outcome, Reservation};

/// The epochs of one sequence.
#[derive(Debug)]
pub(super) struct Epochs {
    /// What begins them: the clock, and from when to when it was done.
    borders: Vec<(u32, u64, u64)>,
}

impl Epochs {
    pub(super) fn of(ledger: &Ledger, sequence: u32) -> Self {
        let borders = ledger.troubles_of(sequence).filter(|t| t.fault.begins_epoch());
        let borders = borders.map(|t| (ledger.clock_of(t.at), t.began, t.ended));
        Self { borders: borders.collect() }
    }

    /// Whether there is only one.
    pub(super) fn is_one(&self) -> bool {
        self.borders.is_empty()
    }

    /// The epoch of a reservation, and of its ids, whenever they are given: that in which the row was moved.
    ///
    /// `None` if it may have been in one or another, since it overlaps a border or there is no common clock.
    pub(super) fn reservation(&self, ledger: &Ledger, number: u32) -> Option<u32> {
        if self.is_one() {
            return Some(0);
        }
        let reservation: &Reservation = &ledger.reservations[number as usize];
        let clock = ledger.clock_of(ledger.generators[reservation.generator as usize].at);
        // Where nothing is known of the outcome, the row may still be moved.
        let open = reservation.outcome == Outcome::Open;
        let end = if open { u64::MAX } else { reservation.end };
        let before = |&&(its, _, ended): &&_| its == clock && ended < reservation.begin;
        let after = |&&(its, began, _): &&_| its == clock && began > end;
        let (before, after) =
            (self.borders.iter().filter(before).count(), self.borders.iter().filter(after).count());
        (before + after == self.borders.len()).then(|| index(before))
    }
}
