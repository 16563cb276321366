//! No two claimed reservations of an epoch overlap (S1).
//!
//! One of unknown outcome of which no id was given accuses nobody: it may have happened or not.

use super::epochs::Epochs;
use super::findings::Findings;
use super::ledger::{Ledger, index};
use super::overlaps::{Interval, overlaps};
use super::report::Property;
use super::step::{Checker, Step, reserve};

#[derive(Debug, Default)]
pub(super) struct Ranges;

#[derive(Debug)]
struct Claimed {
    epoch: u32,
    old: i64,
    last: i64,
    number: u32,
}

impl Interval for Claimed {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    /// It begins after the old value, which is before its last.
    fn ends(&self) -> (i64, i64) {
        (self.old.saturating_add(1), self.last)
    }
}

impl Checker for Ranges {
    fn step(&mut self, _: &Ledger, _: &Step, _: &mut Findings) {}

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        let epochs: Vec<_> =
            (0..ledger.sequences.len()).map(|s| Epochs::of(ledger, index(s))).collect();
        let mut claimed: Vec<Vec<Claimed>> = epochs.iter().map(|_| Vec::new()).collect();
        for (number, reservation) in ledger.reservations.iter().enumerate() {
            let sequence = ledger.generators[reservation.generator as usize].sequence as usize;
            if !reservation.is_claimed() {
                continue;
            }
            let number = index(number);
            match epochs[sequence].reservation(ledger, number) {
                Some(epoch) => {
                    let (old, last) = (reservation.old, reservation.last);
                    claimed[sequence].push(Claimed { epoch, old, last, number });
                }
                None => findings.unplaced(),
            }
        }
        for (sequence, claimed) in claimed.iter_mut().enumerate() {
            overlaps(claimed, |one, other, position| {
                findings.add(Property::Ranges, index(sequence), || {
                    let id = ledger.sequences[sequence].id(position);
                    let shown = |claimed: &Claimed| {
                        let reservation = &ledger.reservations[claimed.number as usize];
                        let what = reserve(ledger, claimed.number);
                        ledger.witness(reservation.generator, reservation.sent, what)
                    };
                    (format!("two reservations overlap, from {id} on"), [shown(one), shown(other)])
                });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found, report};

    const TWO: &str = "
        process a
        open 1
        reserve 1 #1 0 -> 100
        ok #1
        process b
        open 1
        reserve 1 #1 100 -> 200
        ok #1
    ";

    #[test]
    fn neighbours_are_right() {
        assert_clean(TWO);
    }

    #[test]
    fn s1_two_ranges_that_overlap_are_found_and_both_lines_are_named() {
        assert_eq!(
            found(Property::Ranges, &TWO.replace("100 -> 200", "50 -> 200")),
            ["ranges: sequence `orders`: two reservations overlap, from 51 on: \
              reserve 0 -> 100 by a/1 at h:3; reserve 50 -> 200 by b/1 at h:7"]
        );
    }

    #[test]
    fn s3_one_of_unknown_outcome_or_that_failed_accuses_nobody() {
        let same = TWO.replace("100 -> 200", "0 -> 100");
        assert_eq!(found(Property::Ranges, &same).len(), 1);
        for end in ["info", "fail"] {
            assert_clean(&same.replacen("ok", end, 1));
        }
        assert_clean(&same.replacen("ok #1", "close 1", 1));
    }

    #[test]
    fn s3_one_of_unknown_outcome_is_claimed_by_giving_of_it() {
        let claimed =
            TWO.replace("100 -> 200", "0 -> 100").replacen("ok #1", "info #1\ngive 1 7", 1);
        assert_eq!(found(Property::Ranges, &claimed).len(), 1);
    }

    #[test]
    fn one_that_overlaps_a_restore_is_in_no_epoch_and_is_counted() {
        let under_way = "
            process a
            open 1
            reserve 1 #1 0 -> 100
            nemesis #2 restore
            ok #2
            ok #1
            open 2
            reserve 2 #3 0 -> 100
            ok #3
        ";
        assert_clean(under_way);
        assert_eq!(report(under_way).summary.unplaced, 1);
        let meanwhile = "
            process a
            open 1
            open 2
            nemesis #2 restore
            reserve 1 #1 0 -> 100
            ok #2
            ok #1
            reserve 2 #3 0 -> 100
            ok #3
        ";
        assert_clean(meanwhile);
        assert_eq!(report(meanwhile).summary.unplaced, 1, "sent before the restore was over");
        let elsewhere = under_way.replace("nemesis", "process n clock d\nnemesis");
        let elsewhere = elsewhere.replace("ok #1\n", "").replace("open 2", "process b\nopen 2");
        assert_clean(&elsewhere);
        assert_eq!(report(&elsewhere).summary.unplaced, 1, "no common clock");
    }
}
