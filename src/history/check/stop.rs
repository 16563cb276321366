//! Nothing is given after a stop, buffered or not, by any generator of its handle; nor after a close (S5).

use super::findings::{At, Findings};
use super::ledger::Ledger;
use super::report::Property;
use super::step::{Checker, Given, Step, Table, give};

#[derive(Debug, Default)]
pub(super) struct Stops {
    /// The first stop of each handle, by the generator that noticed.
    stopped: Table<Option<(u64, u32, At)>>,
    closed: Table<Option<At>>,
}

impl Checker for Stops {
    fn step(&mut self, ledger: &Ledger, step: &Step, findings: &mut Findings) {
        match *step {
            Step::Stop { generator, time, at, .. } => {
                let register = ledger.generators[generator as usize].register;
                self.stopped.at(register).get_or_insert((time, generator, at));
            }
            Step::Close { generator, at } => {
                self.closed.at(generator).get_or_insert(at);
            }
            Step::Give(given) => self.give(ledger, &given, findings),
            _ => {}
        }
    }
}

impl Stops {
    fn give(&mut self, ledger: &Ledger, given: &Given, findings: &mut Findings) {
        let generator = &ledger.generators[given.generator as usize];
        // A call that began before the stop may have its id already.
        let stopped = self.stopped.at(generator.register).filter(|(time, ..)| *time < given.begin);
        let closed = self.closed.at(given.generator).map(|at| (given.generator, at, "close"));
        let Some((by, at, what)) = stopped.map(|(_, by, at)| (by, at, "stop")).or(closed) else {
            return;
        };
        findings.add(Property::Stop, generator.sequence, || {
            let problem = format!("{} came after a {what}", give(ledger, given));
            let end = ledger.witness(by, at.line, what.to_owned());
            (problem, [end, ledger.witness(given.generator, given.line, give(ledger, given))])
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::Property;
    use crate::history::check::script::{assert_clean, found};

    const STOPPED: &str = "
        process a
        open 1 handle 1
        open 2 handle 1
        open 3 handle 3
        reserve 1 #1 0 -> 10
        ok #1
        reserve 2 #2 10 -> 20
        ok #2
        reserve 3 #3 20 -> 30
        ok #3
        give 1 1
        nemesis #4 row_deleted
        ok #4
        stop 2 missing
        give 3 21
    ";

    #[test]
    fn a_stop_is_final_on_its_own_handle() {
        assert_clean(STOPPED);
    }

    #[test]
    fn s5_a_buffered_id_of_a_generator_of_the_same_handle_is_found() {
        assert_eq!(
            found(Property::Stop, &STOPPED.replace("give 3 21", "give 1 2")),
            ["stop: sequence `orders`: give 2 came after a stop: \
              stop by a/2 at h:14; give 2 by a/1 at h:15"]
        );
    }

    #[test]
    fn a_call_that_began_before_the_stop_may_end_after_it() {
        assert_clean(&STOPPED.replace("give 3 21", "give 1 2 since 139"));
    }

    #[test]
    fn another_sequence_of_the_handle_goes_on() {
        let other = STOPPED.replace("open 1 handle 1", "open 1 handle 1 of invoices");
        assert_clean(&other.replace("give 3 21", "give 1 2"));
    }

    #[test]
    fn a_closed_generator_gives_nothing_and_its_siblings_do() {
        let closed = STOPPED.replace("give 1 1\n", "close 1\n").replace("give 3 21", "give 3 22");
        assert_clean(&closed);
        assert_eq!(
            found(Property::Stop, &closed.replace("close 1\n", "close 1\ngive 1 1\n")),
            ["stop: sequence `orders`: give 1 came after a close: \
              close by a/1 at h:11; give 1 by a/1 at h:12"]
        );
    }
}
