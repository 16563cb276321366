//! Ids given after an observation, or after an advance through the handle, lie beyond it (S14).

use super::findings::{At, Findings};
use super::ledger::Ledger;
use super::report::Property;
use super::step::{Checker, Given, Step, Table, give};

/// Ids up to here are not given any more.
#[derive(Clone, Copy, Debug)]
struct Floor {
    position: i64,
    what: &'static str,
    /// Calls that begin after this are bound.
    since: u64,
    /// The generator that observed or advanced.
    by: u32,
    at: At,
}

#[derive(Debug, Default)]
pub(super) struct Observations {
    /// A generator is bound from its observation's line on: its lines have the order in which it works.
    own: Table<Option<Floor>>,
    /// What an advance demands of the others on its handle, it demands of calls that begin later.
    shared: Table<Vec<Floor>>,
}

impl Checker for Observations {
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings) {
        match *step {
            Step::Observe { generator, floor, at, .. } => {
                let own = self.own.at(generator);
                if own.is_none_or(|own| floor > own.position) {
                    *own = Some(Floor {
                        position: floor,
                        what: "observe",
                        since: 0,
                        by: generator,
                        at,
                    });
                }
            }
            Step::Advance { generator, floor, ended, at } => {
                let register = ledger.generators[generator as usize].register;
                let shared = self.shared.at(register);
                if shared.last().is_none_or(|last| floor > last.position) {
                    shared.push(Floor {
                        position: floor,
                        what: "advance",
                        since: ended,
                        by: generator,
                        at,
                    });
                }
            }
            Step::Give(given) => self.give(ledger, &given, findings),
            _ => {}
        }
    }
}

impl Observations {
    fn give(&mut self, ledger: &Ledger, given: &Given, findings: &mut Findings) {
        let generator = &ledger.generators[given.generator as usize];
        let not_beyond = |floor: &&Floor| given.first <= floor.position;
        let own = self.own.at(given.generator).as_ref().filter(not_beyond);
        let shared = self.shared.at(generator.register);
        let binding = shared.iter().rev().find(|floor| floor.since < given.begin);
        let Some(floor) = own.or(binding.filter(not_beyond)) else { return };
        findings.add(Property::Observe, generator.sequence, || {
            let sequence = &ledger.sequences[generator.sequence as usize];
            let id = sequence.id(floor.position);
            let what = floor.what;
            let problem = format!("{} came after {what} {id}", give(ledger, given));
            let cause = ledger.witness(floor.by, floor.at.line, format!("{what} {id}"));
            (problem, [cause, ledger.witness(given.generator, given.line, give(ledger, given))])
        });
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
        observe 1 50
        give 1 51
    ";

    #[test]
    fn ids_beyond_what_was_observed_are_right() {
        assert_clean(ONE);
    }

    #[test]
    fn s14_an_id_up_to_what_was_observed_is_found() {
        for id in [2, 50] {
            assert_eq!(
                found(Property::Observe, &ONE.replace("give 1 51", &format!("give 1 {id}"))),
                [format!(
                    "observe: sequence `orders`: give {id} came after observe 50: \
                     observe 50 by a/1 at h:6; give {id} by a/1 at h:7"
                )]
            );
        }
    }

    #[test]
    fn s14_what_lies_behind_an_earlier_observation_lowers_nothing() {
        let again = ONE.replace("give 1 51", "observe 1 7\ngive 1 49");
        assert_eq!(found(Property::Observe, &again).len(), 1);
    }

    #[test]
    fn an_observation_binds_the_generator_that_made_it_alone() {
        let sibling = ONE.replace("open 1", "open 1 handle 1\nopen 2 handle 1");
        let sibling = sibling.replace("observe 1", "reserve 2 #2 100 -> 200\nok #2\nobserve 2");
        assert_clean(&sibling.replace("give 1 51", "give 1 2"));
    }

    const ADVANCED: &str = "
        process a
        open 1 handle 1
        open 2 handle 1
        open 3 handle 3
        reserve 1 #1 0 -> 100
        ok #1
        reserve 3 #2 100 -> 200
        ok #2
        advance 2 150
        reserve 1 #3 200 -> 300
        ok #3
        give 3 101
        give 1 201
    ";

    #[test]
    fn an_advance_binds_the_generators_of_its_handle_and_no_others() {
        assert_clean(ADVANCED);
    }

    #[test]
    fn an_id_from_a_buffer_below_an_advance_is_found() {
        assert_eq!(
            found(Property::Observe, &ADVANCED.replace("give 1 201", "give 1 1")),
            ["observe: sequence `orders`: give 1 came after advance 150: \
              advance 150 by a/2 at h:9; give 1 by a/1 at h:13"]
        );
        assert_clean(&ADVANCED.replace("give 1 201", "give 1 1 since 80"));
    }
}
