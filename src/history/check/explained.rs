//! Every id lies in a reservation that the generator which gave it has, or may have (S1).

use std::collections::HashMap;

use super::findings::Findings;
use super::ledger::{Ledger, index};
use super::report::Property;
use super::reservations::{Outcome, Reservation};
use super::step::{Checker, Given, Step, give, reserve};

#[derive(Debug, Default)]
pub(super) struct Explained {
    /// The first ids that were given of a reservation of which it was not known whether it was done.
    trusting: HashMap<u32, Given>,
}

impl Checker for Explained {
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings) {
        match step {
            Step::Give(given) => match given.reservation {
                None => report(ledger, given, || without(ledger, given), findings),
                Some(number) => {
                    if ledger.reservations[number as usize].outcome != Outcome::Ok {
                        self.trusting.entry(number).or_insert(*given);
                    }
                }
            },
            Step::Ended { reservation } => {
                let Some(given) = self.trusting.remove(reservation) else { return };
                if ledger.reservations[*reservation as usize].outcome == Outcome::Fail {
                    report(ledger, &given, || Some(*reservation), findings);
                }
            }
            _ => {}
        }
    }
}

/// The latest reservation of the generator that would hold the ids, had it not failed.
fn without(ledger: &Ledger, given: &Given) -> Option<u32> {
    let holds = |r: &&Reservation| {
        r.generator == given.generator && r.old < given.first && given.last <= r.last
    };
    let found = ledger.reservations.iter().rev().position(|r| holds(&r))?;
    Some(index(ledger.reservations.len() - 1 - found))
}

fn report(
    ledger: &Ledger,
    given: &Given,
    failed: impl FnOnce() -> Option<u32>,
    findings: &mut Findings,
) {
    let sequence = ledger.generators[given.generator as usize].sequence;
    findings.add(Property::Explained, sequence, || {
        let what = give(ledger, given);
        let mut witnesses = vec![ledger.witness(given.generator, given.line, what.clone())];
        let Some(number) = failed() else {
            return (format!("{what} lies in no reservation of its generator"), witnesses);
        };
        let failed = &ledger.reservations[number as usize];
        let (generator, line) = (failed.generator, failed.sent);
        let reservation = ledger.witness(generator, line, reserve(ledger, number));
        witnesses.insert(0, reservation);
        (format!("{what} lies in a reservation that failed"), witnesses)
    });
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
        give 1 2 to 100
    ";

    #[test]
    fn ids_of_an_own_reservation_are_right() {
        assert_clean(ONE);
    }

    #[test]
    fn an_id_beyond_the_range_and_one_before_it_are_found() {
        let rest = "lies in no reservation of its generator";
        assert_eq!(
            found(Property::Explained, &ONE.replace("give 1 1", "give 1 0")),
            [format!("explained: sequence `orders`: give 0 {rest}: give 0 by a/1 at h:5")]
        );
        let beyond = found(Property::Explained, &ONE.replace("to 100", "to 101"));
        assert_eq!(
            beyond,
            [format!(
                "explained: sequence `orders`: give 2 to 101 {rest}: give 2 to 101 by a/1 at h:6"
            )]
        );
    }

    #[test]
    fn an_id_that_another_generator_reserved_is_found() {
        let other = ONE.replace("open 1", "open 1\nopen 2").replace("give 1 1", "give 2 1");
        assert_eq!(found(Property::Explained, &other).len(), 1);
    }

    /// The history of a checker that took a timeout for a failure.
    #[test]
    fn s3_ids_of_an_unknown_reservation_are_right_and_of_a_failed_one_are_not() {
        let reserved = "
            process a
            open 1
            reserve 1 #1 0 -> 100
            info #1
            give 1 1 to 5
        ";
        assert_clean(reserved);
        for outside in ["0 to 5", "1 to 101"] {
            let outside = reserved.replace("1 to 5", outside);
            assert_eq!(found(Property::Explained, &outside).len(), 1, "{outside}");
        }
        assert_eq!(
            found(Property::Explained, &reserved.replace("info", "fail")),
            ["explained: sequence `orders`: give 1 to 5 lies in a reservation that failed: \
              reserve 0 -> 100 by a/1 at h:3; give 1 to 5 by a/1 at h:5"]
        );
    }

    #[test]
    fn ids_given_while_it_is_under_way_stand_and_fall_with_it() {
        let early = "
            process a
            open 1
            reserve 1 #1 0 -> 100
            give 1 1
            ok #1
        ";
        assert_clean(early);
        assert_clean(&early.replace("ok #1", "close 1"));
        let failed = found(Property::Explained, &early.replace("ok", "fail"));
        assert_eq!(
            failed,
            ["explained: sequence `orders`: give 1 lies in a reservation that failed: \
              reserve 0 -> 100 by a/1 at h:3; give 1 by a/1 at h:4"]
        );
    }

    #[test]
    fn an_older_reservation_explains_as_well_as_the_newest() {
        let reserve = |i| format!("reserve 1 #{i} {} -> {}\nok #{i}\n", i * 10, i * 10 + 10);
        let many = (0..9).map(reserve).collect::<Vec<_>>().concat();
        let history = format!("process a\nopen 1\n{many}give 1 15\ngive 1 31 to 40\ngive 1 85");
        assert_clean(&history);
        let over = history.replace("31 to 40", "31 to 41");
        assert_eq!(found(Property::Explained, &over).len(), 1, "one line, one reservation");
    }
}
