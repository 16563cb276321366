//! The ids of a generator only move in the sequence's direction.

use super::findings::Findings;
use super::ledger::Ledger;
use super::report::Property;
use super::step::{Checker, Given, Step, Table, give};

#[derive(Debug, Default)]
pub(super) struct Order {
    latest: Table<Option<Given>>,
}

impl Checker for Order {
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings) {
        let Step::Give(given) = step else { return };
        let latest = self.latest.at(given.generator);
        if let Some(before) = latest.filter(|before| given.first <= before.last) {
            let sequence = ledger.generators[given.generator as usize].sequence;
            findings.add(Property::Order, sequence, || {
                let (before, after) = (&before, given);
                let shown = |given: &Given| {
                    ledger.witness(given.generator, given.line, give(ledger, given))
                };
                let problem =
                    format!("{} came after {}", give(ledger, after), give(ledger, before));
                (problem, [shown(before), shown(after)])
            });
        }
        // The furthest, so that one id out of place does not accuse all that follow it.
        if latest.is_none_or(|before| given.last > before.last) {
            *latest = Some(*given);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const ONE: &str = "
        process a
        open 1
        reserve 1 #1 0 -> 100
        ok #1
        give 1 1
        give 1 50
        give 1 70 to 80
    ";

    #[test]
    fn gaps_are_right() {
        assert_clean(ONE);
    }

    #[test]
    fn ids_that_go_back_are_found_and_those_after_them_are_not_accused() {
        assert_eq!(
            found(Property::Order, &ONE.replace("give 1 50", "give 1 60\ngive 1 50")),
            ["order: sequence `orders`: give 50 came after give 60: \
              give 60 by a/1 at h:6; give 50 by a/1 at h:7"]
        );
        let inside = format!("{ONE}give 1 75");
        assert_eq!(found(Property::Order, &inside).len(), 1);
    }

    #[test]
    fn a_falling_sequence_goes_down() {
        let falling = "
            process a
            open 1 by -1 from -1 min -100 max -1
            reserve 1 #1 0 -> -10
            ok #1
            give 1 -1
            give 1 -2
        ";
        assert_clean(falling);
        let up = falling.replace("give 1 -1", "give 1 -3");
        assert_eq!(found(Property::Order, &up).len(), 1);
    }

    #[test]
    fn two_generators_have_no_order() {
        assert_clean(
            "
            process a
            open 1
            open 2
            reserve 1 #1 0 -> 10
            ok #1
            reserve 2 #2 10 -> 20
            ok #2
            give 2 11
            give 1 1
        ",
        );
    }
}
