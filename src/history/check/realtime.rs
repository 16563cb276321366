//! Ids of a strict sequence have the order of the calls, over all clients (S15): if one call ended before another
//! began, its ids come first.
//!
//! Where two clients share no clock, one thing is known to be before another only by its cause: a row, or a timestamp,
//! that names an attempt was read after that attempt was sent.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::epochs::Epochs;
use super::findings::Findings;
use super::ledger::{Generator, Ledger, index};
use super::report::Property;
use super::reservations::Outcome;
use super::step::{Checker, Given, Step};
use super::timeline::{Call, Edge, Moment, disorders};

#[derive(Debug, Default)]
pub(super) struct RealTime {
    /// By sequence and clock. An id that lies in no reservation is a violation already, and is not kept.
    given: BTreeMap<(u32, u32), Vec<Call>>,
    attempts: HashMap<Uuid, u32>,
    /// Timestamps that were observed: the sequence, the attempt that they name, and when.
    observed: Vec<(u32, Uuid, Moment)>,
}

impl Checker for RealTime {
    fn step(&mut self, ledger: &Ledger, step: &Step, _: &mut Findings) {
        match *step {
            Step::Give(given) if ledger.is_strict(given.generator) => {
                let Given { generator, first, last, begin, end, line, reservation } = given;
                let Some(reservation) = reservation else { return };
                let Generator { sequence, at, .. } = ledger.generators[generator as usize];
                let calls = self.given.entry((sequence, ledger.clock_of(at))).or_default();
                calls.push(Call { begin, end, first, last, reservation, line });
            }
            Step::Sent { reservation, attempt }
                if ledger.is_strict(ledger.reservations[reservation as usize].generator) =>
            {
                self.attempts.insert(attempt, reservation);
            }
            Step::Observe { generator, attempt: Some(attempt), began, at, .. }
                if ledger.is_strict(generator) =>
            {
                let sequence = ledger.generators[generator as usize].sequence;
                let moment = Moment { clock: ledger.clock_of(at), time: began };
                self.observed.push((sequence, attempt, moment));
            }
            _ => {}
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        for sequence in 0..index(ledger.sequences.len()) {
            let epochs = Epochs::of(ledger, sequence);
            for (epoch, calls) in self.by_epoch(ledger, sequence, &epochs) {
                let edges = match ledger.clocks.len() {
                    1 => Vec::new(),
                    _ => self.edges(ledger, sequence, &epochs, epoch),
                };
                disorders(calls, &edges, |before, after| {
                    report(ledger, sequence, before, after, findings);
                });
            }
        }
    }
}

/// Calls by clock.
type Calls = BTreeMap<u32, Vec<Call>>;

impl RealTime {
    /// The calls of a sequence by epoch; those whose epoch is not known are left out.
    fn by_epoch(
        &mut self,
        ledger: &Ledger,
        sequence: u32,
        epochs: &Epochs,
    ) -> BTreeMap<u32, Calls> {
        let mut by_epoch: BTreeMap<u32, Calls> = BTreeMap::new();
        while let Some(entry) = self.given.first_entry()
            && entry.key().0 == sequence
        {
            let ((_, clock), calls) = entry.remove_entry();
            if epochs.is_one() {
                by_epoch.entry(0).or_default().insert(clock, calls);
                continue;
            }
            for call in calls {
                if let Some(epoch) = epochs.reservation(ledger, call.reservation) {
                    by_epoch.entry(epoch).or_default().entry(clock).or_default().push(call);
                }
            }
        }
        by_epoch
    }

    /// What is known of the order of moments of different clocks.
    fn edges(&self, ledger: &Ledger, sequence: u32, epochs: &Epochs, epoch: u32) -> Vec<Edge> {
        let clock = |generator: u32| ledger.clock_of(ledger.generators[generator as usize].at);
        let own = |generator: u32| ledger.generators[generator as usize].sequence == sequence;
        let sent = |number: u32| {
            let reservation = &ledger.reservations[number as usize];
            Moment { clock: clock(reservation.generator), time: reservation.begin }
        };
        let numbered = || (0..).zip(&ledger.reservations).filter(|(_, r)| own(r.generator));
        // Within an epoch at most one attempt took the row to a value.
        let done = numbered().filter(|(number, reservation)| {
            reservation.outcome == Outcome::Ok && epochs.reservation(ledger, *number) == Some(epoch)
        });
        let took: HashMap<i64, u32> = done.map(|(number, r)| (r.last, number)).collect();
        let sights = numbered().map(|(number, r)| (took.get(&r.old), sent(number)));
        let opened = (0..).zip(&ledger.generators).filter(|(_, g)| g.sequence == sequence).map(
            |(number, g)| (took.get(&g.value), Moment { clock: clock(number), time: g.opened }),
        );
        let observed = self.observed.iter().filter(|(its, ..)| *its == sequence);
        let observed = observed.map(|(_, attempt, moment)| (self.attempts.get(attempt), *moment));
        let known = sights.chain(opened).chain(observed);
        let edges = known.filter_map(|(from, to)| Some(Edge { from: sent(*from?), to }));
        edges.filter(|edge| edge.from.clock != edge.to.clock).collect()
    }
}

impl Ledger {
    fn is_strict(&self, generator: u32) -> bool {
        self.sequence_of(generator).definition.strict
    }
}

fn report(ledger: &Ledger, sequence: u32, before: &Call, after: &Call, findings: &mut Findings) {
    findings.add(Property::RealTime, sequence, || {
        let id = |position| ledger.sequences[sequence as usize].id(position);
        let shown = |call: &Call| {
            let generator = ledger.reservations[call.reservation as usize].generator;
            ledger.witness(generator, call.line, format!("give {}", id(call.first)))
        };
        let (first, last) = (id(after.first), id(before.last));
        let problem = format!("{first} was given by a call that began after {last} had been given");
        (problem, [shown(before), shown(after)])
    });
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const STRICT: &str = "
        process a
        open 1 strict
        reserve 1 #1 0 -> 5
        ok #1
        give 1 1
        process b
        open 1 strict
        reserve 1 #1 5 -> 10
        ok #1
        give 1 6
        process a
        open 1 strict
        reserve 1 #1 10 -> 15
        ok #1
        give 1 11
    ";

    #[test]
    fn ids_in_the_order_of_their_calls_are_right() {
        assert_clean(STRICT);
    }

    #[test]
    fn s15_a_buffered_id_that_comes_too_late_is_found_and_both_calls_are_named() {
        let buffered = "
            process a
            open 1 strict
            reserve 1 #1 0 -> 5
            ok #1
            open 2 strict
            reserve 2 #2 5 -> 10
            ok #2
            give 2 6
            give 1 1
        ";
        assert_eq!(
            found(Property::RealTime, buffered),
            [
                "real_time: sequence `orders`: 1 was given by a call that began after 6 had been given: \
              give 6 by a/2 at h:8; give 1 by a/1 at h:9"
            ]
        );
        assert_clean(&buffered.replace("give 1 1", "give 1 1 since 80"));
        assert_clean(&buffered.replace("strict", ""));
    }

    /// Times of two hosts say nothing, so that what looks late may be early.
    #[test]
    fn times_of_two_clocks_are_not_compared() {
        let late = "
            process b clock b
            open 1 strict
            reserve 1 #1 5 -> 10
            ok #1
            give 1 6
            process a clock a
            open 1 strict
            reserve 1 #1 0 -> 5
            ok #1
            give 1 1
        ";
        assert_clean(late);
        assert_eq!(found(Property::RealTime, &late.replace("clock a", "clock b")).len(), 1);
    }

    /// `b` has read the row that `a` wrote after it had given 6, so what `b` gives to later calls lies beyond 6.
    #[test]
    fn what_was_read_was_written_before_also_on_another_host() {
        let caused = "
            process a clock a
            open 1 strict
            open 2 strict
            reserve 2 #1 0 -> 5
            ok #1
            reserve 1 #2 5 -> 10
            ok #2
            give 1 6
            reserve 1 #3 10 -> 15 attempt 77
            ok #3
            process b clock b
            open 1 strict value 0
            LEARN
            reserve 1 #1 BEFORE -> 30
            ok #1
            give 1 GIVEN
            process c clock a
            open 1 strict
        ";
        let learn = |learn: &str, before: &str, given: &str| {
            let script = caused.replace("LEARN", learn).replace("BEFORE", before);
            found(Property::RealTime, &script.replace("GIVEN", given))
        };
        let expected =
            ["real_time: sequence `orders`: 3 was given by a call that began after 6 had \
                         been given: give 6 by a/1 at h:8; give 3 by b/1 at h:16"];
        assert_eq!(learn("reserve 1 #9 15 -> 20", "2", "3"), expected, "by its attempt");
        assert_eq!(learn("open 2 strict value 15", "2", "3"), expected, "by opening");
        assert_eq!(learn("observe 1 1 attempt 77", "2", "3"), expected, "by a timestamp");
        assert_eq!(learn("observe 1 1", "2", "3"), [""; 0], "an id alone has no cause");
        assert_eq!(learn("reserve 1 #9 10 -> 20", "2", "3"), [""; 0], "6 was not given yet");
        assert_eq!(learn("reserve 1 #9 15 -> 20", "15", "16"), [""; 0], "beyond it");
    }

    #[test]
    fn the_order_begins_anew_with_an_epoch() {
        let restored = "
            process a
            open 1 strict
            reserve 1 #1 0 -> 5
            ok #1
            give 1 1
            nemesis #2 restore
            ok #2
            open 2 strict
            reserve 2 #3 0 -> 5
            ok #3
            give 2 1
        ";
        assert_clean(restored);
        assert_eq!(found(Property::RealTime, &restored.replace("restore", "kill")).len(), 1);
    }
}
