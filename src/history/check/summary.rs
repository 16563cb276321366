//! Counts what a history holds.

use super::findings::Findings;
use super::ledger::Ledger;
use super::reservations::Outcome;
use super::step::{Checker, Step};

#[derive(Debug, Default)]
pub(super) struct Tally {
    gives: u64,
    ids: u64,
    observed: u64,
    stops: u64,
}

impl Checker for Tally {
    fn step(&mut self, ledger: &Ledger, step: &Step, _: &mut Findings) {
        match step {
            Step::Give(given) => {
                self.gives += 1;
                let more = steps(ledger, given.generator, given.first, given.last);
                self.ids = self.ids.saturating_add(more).saturating_add(1);
            }
            Step::Observe { .. } | Step::Advance { .. } => self.observed += 1,
            Step::Stop { .. } => self.stops += 1,
            _ => {}
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        let Self { gives, ids, observed, stops } = *self;
        let summary = findings.summary();
        (summary.gives, summary.ids) = (gives, ids);
        (summary.observed, summary.stops) = (observed, stops);
        summary.processes = ledger.processes.len() as u64;
        summary.generators = ledger.generators.len() as u64;
        summary.sequences = ledger.sequences.len() as u64;
        for reservation in &ledger.reservations {
            match reservation.outcome {
                Outcome::Ok => {
                    let (old, last) = (reservation.old, reservation.last);
                    summary.reserved += 1;
                    let ids = steps(ledger, reservation.generator, old, last);
                    summary.reserved_ids = summary.reserved_ids.saturating_add(ids);
                }
                Outcome::Fail => summary.failed += 1,
                Outcome::Open | Outcome::Info => summary.unknown += 1,
            }
        }
        for trouble in &ledger.troubles {
            *summary.faults.entry(trouble.fault.to_string()).or_default() += 1;
        }
    }
}

/// How many steps it is from one position to a later one.
fn steps(ledger: &Ledger, generator: u32, from: i64, to: i64) -> u64 {
    to.abs_diff(from) / ledger.sequence_of(generator).step()
}

#[cfg(test)]
mod tests {
    use crate::history::check::script::report;

    #[test]
    fn it_counts_what_there_is() {
        let summary = report(
            "
            process a
            open 1 by 2
            open 2 of invoices
            reserve 1 #1 -1 -> 9
            ok #1
            reserve 2 #2 0 -> 10
            info #2
            reserve 2 #3 0 -> 10
            fail #3
            reserve 2 #4 0 -> 10
            give 1 1
            give 1 3 to 7
            observe 1 8
            advance 2 8
            nemesis #5 restore
            nemesis #6 kill
            ok #6
            nemesis #7 kill
            stop 1 regressed
            ",
        )
        .summary;
        assert_eq!((summary.events, summary.processes), (19, 1));
        assert_eq!((summary.generators, summary.sequences), (2, 2));
        assert_eq!((summary.gives, summary.ids), (2, 4));
        assert_eq!((summary.reserved, summary.reserved_ids), (1, 5));
        assert_eq!((summary.failed, summary.unknown), (1, 2));
        assert_eq!((summary.observed, summary.stops), (2, 1));
        let faults = summary.faults.into_iter().collect::<Vec<_>>();
        assert_eq!(faults, [("kill".to_owned(), 2), ("restore".to_owned(), 1)]);
    }

    /// Several runs that each reserve all there is add up to more than there is.
    #[test]
    fn it_counts_no_further_than_it_can() {
        let all = "min -9223372036854775808 max 9223372036854775807 value -9223372036854775808";
        let one = format!(
            "open 1 {all}
            reserve 1 #1 -9223372036854775808 -> 9223372036854775807
            ok #1
            give 1 -9223372036854775808 to 9223372036854775807
            "
        );
        let summary = report(&format!("process a\n{one}process b\n{one}")).summary;
        assert_eq!((summary.ids, summary.reserved_ids), (u64::MAX, u64::MAX));
    }
}
