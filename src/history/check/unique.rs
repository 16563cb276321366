//! No id is given twice within an epoch.
//!
//! Ids that a generator gives one after another from one reservation are kept as one run, so that what is kept
//! grows with the reservations and not with the ids.

use super::epochs::Epochs;
use super::findings::{Findings, Sought, Witness};
use super::ledger::{Ledger, index};
use super::overlaps::{Interval, overlaps};
use super::report::Property;
use super::step::{Checker, Given, Step, Table};

#[derive(Debug, Default)]
pub(super) struct Unique {
    runs: Table<Vec<Run>>,
    /// The place of each generator's latest run.
    latest: Table<Option<u32>>,
}

#[derive(Clone, Debug)]
struct Run {
    first: i64,
    last: i64,
    generator: u32,
    /// The reservation, until all is read; then the epoch. [`UNPLACED`] if there is none.
    reservation: u32,
    from: u32,
    until: u32,
}

const UNPLACED: u32 = u32::MAX;

impl Interval for Run {
    fn epoch(&self) -> u32 {
        self.reservation
    }

    fn ends(&self) -> (i64, i64) {
        (self.first, self.last)
    }
}

impl Checker for Unique {
    fn step(&mut self, ledger: &Ledger, step: &Step, _: &mut Findings) {
        let Step::Give(given) = step else { return };
        let Given { generator, first, last, line, .. } = *given;
        let sequence = ledger.generators[generator as usize].sequence;
        let reservation = given.reservation.unwrap_or(UNPLACED);
        let runs = self.runs.at(sequence);
        let latest = self.latest.at(generator);
        let step = ledger.sequences[sequence as usize].step();
        if let Some(run) = latest.map(|latest| &mut runs[latest as usize])
            && run.reservation == reservation
            && run.last.checked_add_unsigned(step) == Some(first)
        {
            (run.last, run.until) = (last, line);
            return;
        }
        *latest = Some(index(runs.len()));
        runs.push(Run { first, last, generator, reservation, from: line, until: line });
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        for sequence in 0..index(ledger.sequences.len()) {
            let epochs = Epochs::of(ledger, sequence);
            let mut runs = std::mem::take(self.runs.at(sequence));
            runs.retain_mut(|run| match run.placed(&epochs, ledger) {
                Some(epoch) => {
                    run.reservation = epoch;
                    true
                }
                None => false,
            });
            overlaps(&mut runs, |one, other, position| {
                findings.add(Property::Unique, sequence, || {
                    let id = ledger.sequences[sequence as usize].id(position);
                    let shown = |run: &Run| run.witness(ledger, id);
                    (format!("{id} was given twice"), [shown(one), shown(other)])
                });
            });
        }
    }
}

impl Run {
    /// Its epoch; an id that no reservation explains is in the only one there is, if there is only one.
    fn placed(&self, epochs: &Epochs, ledger: &Ledger) -> Option<u32> {
        if self.reservation == UNPLACED {
            return epochs.is_one().then_some(0);
        }
        epochs.reservation(ledger, self.reservation)
    }

    fn witness(&self, ledger: &Ledger, id: i64) -> Witness {
        let witness = ledger.witness(self.generator, self.from, format!("give {id}"));
        let sought = (self.until > self.from).then_some(Sought { id, until: self.until });
        Witness { sought, ..witness }
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const TWO_CLIENTS: &str = "
        process a
        open 1
        reserve 1 #1 0 -> 5
        ok #1
        give 1 1
        give 1 2
        give 1 3
        process b
        open 1
        reserve 1 #1 5 -> 10
        ok #1
        give 1 6
        give 1 7
    ";

    #[test]
    fn ids_of_two_clients_that_never_meet_are_right() {
        assert_clean(TWO_CLIENTS);
    }

    #[test]
    fn an_id_given_by_two_clients_is_found_and_both_lines_are_named() {
        assert_eq!(
            found(Property::Unique, &TWO_CLIENTS.replace("give 1 7", "give 1 2")),
            ["unique: sequence `orders`: 2 was given twice: \
              give 2 by a/1 at h:6; give 2 by b/1 at h:13"]
        );
    }

    #[test]
    fn an_id_given_twice_by_one_generator_is_found() {
        let twice = TWO_CLIENTS.replace("give 1 7", "give 1 6");
        assert_eq!(found(Property::Unique, &twice).len(), 1);
    }

    #[test]
    fn a_range_that_holds_an_id_given_elsewhere_is_found() {
        let range = TWO_CLIENTS.replace("give 1 7", "give 1 2 to 7");
        assert_eq!(
            found(Property::Unique, &range)[0],
            "unique: sequence `orders`: 2 was given twice: \
             give 2 by a/1 at h:6; give 2 by b/1 at h:13"
        );
    }

    #[test]
    fn two_sequences_have_ids_of_their_own() {
        let other =
            TWO_CLIENTS.replacen("open 1", "open 1 of invoices", 1).replace("5 -> 10", "0 -> 10");
        assert_clean(&other);
    }

    #[test]
    fn a_falling_sequence_gives_each_id_once_too() {
        let falling = "
            process a
            open 1 by -2 from -1 min -100 max -1 value 1
            reserve 1 #1 1 -> -5
            ok #1
            give 1 -1
            give 1 -3 to -5
        ";
        assert_clean(falling);
        let twice = falling.replace("give 1 -1", "give 1 -3");
        assert_eq!(
            found(Property::Unique, &twice),
            ["unique: sequence `orders`: -3 was given twice: \
              give -3 by a/1 at h:5; give -3 by a/1 at h:6"]
        );
    }

    #[test]
    fn across_a_restore_nothing_is_promised_and_within_each_epoch_it_is() {
        let restored = "
            process a
            open 1
            reserve 1 #1 0 -> 5
            ok #1
            give 1 1
            nemesis #2 restore
            ok #2
            open 2 value 0
            reserve 2 #3 0 -> 5
            ok #3
            give 2 1
            give 1 2
        ";
        assert_clean(restored);
        for no_border in ["kill", "row_deleted"] {
            let other = restored.replace("restore", no_border);
            assert_eq!(found(Property::Unique, &other).len(), 1, "{no_border}");
        }
        let other = restored.replace("restore", "restore of invoices");
        assert_eq!(found(Property::Unique, &other).len(), 1, "another sequence's");
        let again = restored.replace("give 1 2", "give 1 2\ngive 2 1");
        assert_eq!(found(Property::Unique, &again).len(), 1, "twice after it");
    }
}
