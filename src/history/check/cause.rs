//! Every stop has a cause in the history: a sequence that stops for nothing is down for nothing.

use super::findings::{At, Findings};
use super::ledger::{Ledger, Trouble};
use super::report::Property;
use super::step::{Checker, Step};
use crate::history::fault::Cause;

#[derive(Debug, Default)]
pub(super) struct Causes {
    stops: Vec<Noticed>,
}

#[derive(Debug)]
struct Noticed {
    generator: u32,
    cause: Cause,
    time: u64,
    at: At,
}

impl Checker for Causes {
    fn step(&mut self, _: &Ledger, step: &Step, _: &mut Findings) {
        if let Step::Stop { generator, cause, time, at } = *step {
            self.stops.push(Noticed { generator, cause, time, at });
        }
    }

    fn finish(&mut self, ledger: &Ledger, findings: &mut Findings) {
        for stop in &self.stops {
            let sequence = ledger.generators[stop.generator as usize].sequence;
            if ledger.troubles_of(sequence).any(|trouble| stop.is_explained_by(trouble, ledger)) {
                continue;
            }
            findings.add(Property::Cause, sequence, || {
                let cause = stop.cause;
                let problem =
                    format!("it stopped ({cause}) and nothing in the history explains it");
                (problem, [ledger.witness(stop.generator, stop.at.line, "stop".to_owned())])
            });
        }
    }
}

impl Noticed {
    /// What began after the stop explains nothing; without a common clock it is not known which was first.
    fn is_explained_by(&self, trouble: &Trouble, ledger: &Ledger) -> bool {
        let comparable = ledger.clock_of(trouble.at) == ledger.clock_of(self.at);
        let began_after = comparable && trouble.began > self.time;
        trouble.fault.explains(self.cause) && !began_after
    }
}

#[cfg(test)]
mod tests {
    use crate::history::check::script::{assert_clean, found, source};
    use crate::history::check::{Options, Property, check};

    const STOPPED: &str = "
        process a
        open 1
        nemesis #1 restore
        ok #1
        stop 1 regressed
    ";

    #[test]
    fn a_stop_after_what_explains_it_is_right() {
        assert_clean(STOPPED);
        assert_clean(&STOPPED.replace("ok #1", "close 1"));
        for (fault, cause) in [
            ("row_deleted", "missing"),
            ("plain_write", "shadowed"),
            ("drop", "retired"),
            ("recreate", "recreated"),
            ("restore", "gone"),
        ] {
            assert_clean(&STOPPED.replace("restore", fault).replace("regressed", cause));
        }
    }

    #[test]
    fn a_stop_for_nothing_is_found() {
        let expected = ["cause: sequence `orders`: it stopped (regressed) and nothing in the \
                         history explains it: stop by a/1 at h:5"];
        for instead in ["kill", "pause", "clock", "row_deleted", "restore of invoices"] {
            let other = STOPPED.replace("restore", instead);
            assert_eq!(found(Property::Cause, &other), expected, "{instead}");
        }
        assert_eq!(found(Property::Cause, &STOPPED.replace("ok #1", "fail #1")), expected);
    }

    #[test]
    fn what_comes_later_explains_nothing_where_clocks_tell() {
        let later = |clock: &str| {
            format!(
                "process a\nopen 1\nstop 1 regressed\nprocess n {clock}\nnemesis #1 restore\nok #1"
            )
        };
        assert_eq!(found(Property::Cause, &later("clock c")).len(), 1);
        assert_clean(&later("clock d"));
    }

    #[test]
    fn a_production_run_records_no_faults_and_may_say_so() {
        let stopped = source("h", "process a\nopen 1\nstop 1 regressed");
        assert!(!check(std::slice::from_ref(&stopped), Options::default()).unwrap().is_clean());
        let options = Options::default().allow_unexplained_stops();
        assert!(check(&[stopped], options).unwrap().is_clean());
    }
}
