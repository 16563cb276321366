//! No reservation starts from a value that is behind what its handle has seen (S4).
//!
//! This is what holds across a restore: whoever has seen the row further on must not go on from where it is now.

use std::collections::HashMap;

use super::findings::Findings;
use super::ledger::Ledger;
use super::report::Property;
use super::reservations::Outcome;
use super::step::{Checker, Step, Table, reserve};

/// How far a handle has seen the row, and by which line.
#[derive(Clone, Copy, Debug)]
struct Mark {
    position: i64,
    generator: u32,
    line: u32,
    /// The reservation that took it there; none where it was seen when opening.
    reservation: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: Table<Option<Mark>>,
    /// Reservations that are behind the mark of when they were sent. They must not succeed.
    suspects: HashMap<u32, Mark>,
}

impl Checker for Marks {
    fn step(&mut self, ledger: &Ledger, step: &Step, _: &mut Findings) {
        match *step {
            Step::Open { generator } => {
                let opened = &ledger.generators[generator as usize];
                let (position, line) = (opened.value, opened.at.line);
                self.raise(ledger, Mark { position, generator, line, reservation: None });
            }
            Step::Sent { reservation, .. } => {
                let sent = &ledger.reservations[reservation as usize];
                let register = ledger.generators[sent.generator as usize].register;
                if let Some(mark) = self.marks.at(register).filter(|m| sent.old < m.position) {
                    self.suspects.insert(reservation, mark);
                }
            }
            Step::Ended { reservation } => {
                let ended = &ledger.reservations[reservation as usize];
                if ended.outcome == Outcome::Ok {
                    let (position, generator, line) = (ended.last, ended.generator, ended.sent);
                    let reservation = Some(reservation);
                    self.raise(ledger, Mark { position, generator, line, reservation });
                } else if ended.outcome == Outcome::Fail {
                    self.suspects.remove(&reservation);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        let mut suspects: Vec<_> = self.suspects.drain().collect();
        suspects.sort_unstable_by_key(|(number, _)| *number);
        for (number, mark) in suspects {
            let claimed = &ledger.reservations[number as usize];
            if !claimed.is_claimed() {
                continue;
            }
            let sequence = ledger.generators[claimed.generator as usize].sequence;
            findings.add(Property::Marks, sequence, || {
                let id = |position| ledger.sequences[sequence as usize].id(position);
                let (old, seen) = (id(claimed.old), id(mark.position));
                let problem =
                    format!("a reservation starts from {old}, behind {seen}, which was seen");
                let seen = mark.reservation.map_or("open".to_owned(), |r| reserve(ledger, r));
                let seen = ledger.witness(mark.generator, mark.line, seen);
                let behind = reserve(ledger, number);
                (problem, [seen, ledger.witness(claimed.generator, claimed.sent, behind)])
            });
        }
    }
}

impl Marks {
    fn raise(&mut self, ledger: &Ledger, seen: Mark) {
        let mark = self.marks.at(ledger.generators[seen.generator as usize].register);
        if mark.is_none_or(|mark| seen.position > mark.position) {
            *mark = Some(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const RESTORED: &str = "
        process a
        open 1 handle 1
        reserve 1 #1 0 -> 500
        ok #1
        nemesis #2 restore
        ok #2
        open 2 handle 2 value 300
        reserve 2 #3 300 -> 600
        ok #3
        reserve 1 #4 600 -> 700
        ok #4
        give 1 601
    ";

    #[test]
    fn who_has_not_seen_more_goes_on_after_a_restore() {
        assert_clean(RESTORED);
    }

    #[test]
    fn s4_who_has_seen_more_must_not_go_on_from_a_row_that_went_back() {
        let back = RESTORED.replace("300 -> 600", "300 -> 400").replace("600 -> 700", "400 -> 700");
        assert_eq!(
            found(Property::Marks, &back),
            [
                "marks: sequence `orders`: a reservation starts from 400, behind 500, which was seen: \
              reserve 0 -> 500 by a/1 at h:3; reserve 400 -> 700 by a/1 at h:10"
            ]
        );
    }

    #[test]
    fn s4_a_generator_of_the_same_handle_has_seen_it_too() {
        let shared = RESTORED.replace("handle 2", "handle 1");
        assert_eq!(found(Property::Marks, &shared).len(), 1);
        let opened = RESTORED.replace("value 300", "value 400");
        assert_eq!(
            found(Property::Marks, &opened),
            [
                "marks: sequence `orders`: a reservation starts from 300, behind 400, which was seen: \
              open by a/2 at h:7; reserve 300 -> 600 by a/2 at h:8"
            ]
        );
    }

    #[test]
    fn s1_trying_is_no_claim() {
        let back = RESTORED.replace("600 -> 700", "400 -> 700").replace("give 1 601", "");
        assert_eq!(found(Property::Marks, &back).len(), 1);
        for end in ["fail", "info"] {
            let tried = back.replace("ok #4", &format!("{end} #4"));
            assert_eq!(found(Property::Marks, &tried), [""; 0], "{end}");
        }
        let claimed = back.replace("ok #4", "info #4\ngive 1 601");
        assert_eq!(found(Property::Marks, &claimed).len(), 1);
    }
}
