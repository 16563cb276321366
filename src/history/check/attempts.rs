//! No two attempts share a uuid (S2): a row that shows it would prove nothing.

use uuid::Uuid;

use super::findings::Findings;
use super::ledger::Ledger;
use super::report::Property;
use super::step::{Checker, Step, reserve};

#[derive(Debug, Default)]
pub(super) struct Attempts {
    sent: Vec<(Uuid, u32)>,
}

impl Checker for Attempts {
    fn step(&mut self, _: &Ledger, step: &Step, _: &mut Findings) {
        if let Step::Sent { reservation, attempt } = *step {
            self.sent.push((attempt, reservation));
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        self.sent.sort_unstable();
        for pair in self.sent.windows(2) {
            let [(attempt, one), (next, other)] = *pair else { continue };
            if attempt != next {
                continue;
            }
            let reservation = |number: u32| &ledger.reservations[number as usize];
            let sequence = ledger.generators[reservation(one).generator as usize].sequence;
            findings.add(Property::Attempts, sequence, || {
                let shown = |number: u32| {
                    let (generator, sent) =
                        (reservation(number).generator, reservation(number).sent);
                    ledger.witness(generator, sent, reserve(ledger, number))
                };
                (format!("two attempts share the uuid {attempt}"), [shown(one), shown(other)])
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    #[test]
    fn s2_attempts_that_share_a_uuid_are_found_whatever_became_of_them() {
        let two = "
            process a
            open 1
            open 2
            reserve 1 #1 0 -> 100 attempt 7
            reserve 2 #2 0 -> 100 attempt 8
            ok #1
            fail #2
        ";
        assert_clean(two);
        assert_eq!(
            found(Property::Attempts, &two.replace("attempt 8", "attempt 7")),
            ["attempts: sequence `orders`: two attempts share the uuid \
              00000000-0000-0000-0000-000000000007: \
              reserve 0 -> 100 by a/1 at h:4; reserve 0 -> 100 by a/2 at h:5"]
        );
    }
}
