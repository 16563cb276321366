//! Every id lies within the definition's bounds and on its grid; a definition changes in nothing but its bounds.

use super::findings::Findings;
use super::ledger::{Generator, Ledger, Sequence, index};
use super::report::Property;
use super::reservations::Outcome;
use super::step::{Checker, Given, Step, Table, give, reserve};
use crate::history::event::Shape;

/// The ids of a generator that are nearest to the ends. The bounds may yet be widened in what is still to be read.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    lowest: Given,
    highest: Given,
}

#[derive(Debug, Default)]
pub(super) struct Bounds {
    extremes: Table<Option<Extremes>>,
}

impl Checker for Bounds {
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings) {
        match *step {
            Step::Open { generator } => check_definition(ledger, generator, findings),
            Step::Give(given) => {
                let extremes = self.extremes.at(given.generator);
                let extremes = extremes.get_or_insert(Extremes { lowest: given, highest: given });
                if given.first < extremes.lowest.first {
                    extremes.lowest = given;
                }
                if given.last > extremes.highest.last {
                    extremes.highest = given;
                }
                check_grid(ledger, &given, findings);
            }
            _ => {}
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        for (generator, extremes) in self.extremes.numbered() {
            let Some(Extremes { lowest, highest }) = *extremes else { continue };
            let sequence = ledger.sequence_of(generator);
            if !sequence.holds(lowest.first) {
                outside(ledger, &lowest, findings);
            }
            if !sequence.holds(highest.last) {
                outside(ledger, &highest, findings);
            }
        }
        for (number, reservation) in ledger.reservations.iter().enumerate() {
            let generator = &ledger.generators[reservation.generator as usize];
            let sequence = &ledger.sequences[generator.sequence as usize];
            if reservation.outcome == Outcome::Ok && !sequence.holds(reservation.last) {
                findings.add(Property::Bounds, generator.sequence, || {
                    let what = reserve(ledger, index(number));
                    let problem = format!("{what} ends outside {}", sequence.bounds());
                    (problem, [ledger.witness(reservation.generator, reservation.sent, what)])
                });
            }
        }
    }
}

impl Sequence {
    fn holds(&self, position: i64) -> bool {
        (self.definition.min_value..=self.definition.max_value).contains(&self.id(position))
    }

    fn bounds(&self) -> String {
        format!("{} to {}", self.definition.min_value, self.definition.max_value)
    }

    /// Whether an id is a whole number of steps from the start.
    fn is_on_grid(&self, position: i64) -> bool {
        let distance = i128::from(self.id(position)) - i128::from(self.definition.start_value);
        self.step() == 1 || distance % i128::from(self.step()) == 0
    }
}

fn outside(ledger: &Ledger, given: &Given, findings: &mut Findings) {
    let number = ledger.generators[given.generator as usize].sequence;
    findings.add(Property::Bounds, number, || {
        let what = give(ledger, given);
        let problem =
            format!("{what} lies outside {}", ledger.sequence_of(given.generator).bounds());
        (problem, [ledger.witness(given.generator, given.line, what)])
    });
}

fn check_grid(ledger: &Ledger, given: &Given, findings: &mut Findings) {
    let sequence = ledger.sequence_of(given.generator);
    if sequence.is_on_grid(given.first) && sequence.is_on_grid(given.last) {
        return;
    }
    let number = ledger.generators[given.generator as usize].sequence;
    findings.add(Property::Bounds, number, || {
        let (start, step) = (sequence.definition.start_value, sequence.definition.increment_by);
        let what = give(ledger, given);
        let problem = format!("{what} is not reached from {start} in steps of {step}");
        (problem, [ledger.witness(given.generator, given.line, what)])
    });
}

/// S10: start, increment and strictness never change.
fn check_definition(ledger: &Ledger, generator: u32, findings: &mut Findings) {
    let Generator { definition: own, sequence, at, .. } = &ledger.generators[generator as usize];
    let first = &ledger.sequences[*sequence as usize].definition;
    let immutable = |shape: &Shape| (shape.start_value, shape.increment_by, shape.strict);
    if immutable(own) != immutable(first) {
        findings.add(Property::Bounds, *sequence, || {
            let problem = "it was opened with another start, increment or strictness than before";
            (problem.to_owned(), [ledger.witness(generator, at.line, "open".to_owned())])
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const SEVENS: &str = "
        process a
        open 1 from 3 by 7 min 1 max 24 value -4
        reserve 1 #1 -4 -> 24
        ok #1
        give 1 3
        give 1 10 to 24
    ";

    #[test]
    fn ids_up_to_the_bound_and_on_the_grid_are_right() {
        assert_clean(SEVENS);
    }

    #[test]
    fn an_id_off_the_grid_is_found() {
        assert_eq!(
            found(Property::Bounds, &SEVENS.replace("give 1 3", "give 1 4")),
            ["bounds: sequence `orders`: give 4 is not reached from 3 in steps of 7: \
              give 4 by a/1 at h:5"]
        );
    }

    #[test]
    fn s12_a_last_range_that_is_not_clipped_is_found_when_reserved_and_when_given() {
        let unclipped = SEVENS.replace("-4 -> 24", "-4 -> 31").replace("to 24", "to 31");
        assert_eq!(
            found(Property::Bounds, &unclipped),
            [
                "bounds: sequence `orders`: give 10 to 31 lies outside 1 to 24: \
                 give 10 to 31 by a/1 at h:6",
                "bounds: sequence `orders`: reserve -4 -> 31 ends outside 1 to 24: \
                 reserve -4 -> 31 by a/1 at h:3",
            ]
        );
    }

    #[test]
    fn s10_bounds_may_be_widened_at_any_time_and_nothing_else_may_change() {
        let unclipped = SEVENS.replace("-4 -> 24", "-4 -> 31").replace("to 24", "to 31");
        assert_clean(&unclipped.replace("give 1 3", "give 1 3\nalter orders 1 40"));
        assert_clean(&format!("{unclipped}\nopen 2 from 3 by 7 min 1 max 40"));
        let other = SEVENS.replace("give 1 3", "open 2 from 4 by 7 max 24\ngive 1 3");
        assert_eq!(
            found(Property::Bounds, &other),
            [
                "bounds: sequence `orders`: it was opened with another start, increment or strictness \
              than before: open by a/2 at h:5"
            ]
        );
    }

    #[test]
    fn the_ends_of_a_bigint_are_ids_too() {
        assert_clean("
            process a
            open 1 from -9223372036854775807 by 1 min -9223372036854775808 max 9223372036854775807 value -9223372036854775808
            reserve 1 #1 -9223372036854775808 -> 9223372036854775807
            ok #1
            give 1 -9223372036854775807 to 9223372036854775807
        ");
    }
}
