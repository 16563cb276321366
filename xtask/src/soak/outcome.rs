//! What a run gave, as a table, as JSON and as a verdict.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::clients::Runs;
use super::kind::Kind;
use super::tally::Stall;

/// Longer than this no sequence may give nothing after a fault is over.
const PROGRESS_LIMIT: Duration = Duration::from_secs(10);
/// In so much time each kind of fault has to come once, and in any run.
const FAULT_EVERY: Duration = Duration::from_secs(200);

/// All that is known of a run.
pub(super) struct Outcome {
    pub(super) command: String,
    pub(super) seed: u64,
    pub(super) duration: Duration,
    pub(super) clients: u16,
    pub(super) sequences: u16,
    pub(super) nemesis: Vec<Kind>,
    /// What each node said of its settings.
    pub(super) settings: Vec<String>,
    /// Faults that were seen to happen.
    pub(super) faults: BTreeMap<Kind, u64>,
    /// How far ahead of its time a row was written, at most.
    pub(super) written_ahead: Duration,
    pub(super) runs: Runs,
    /// What `lseq check --json` said.
    pub(super) check: Value,
    pub(super) conflicts: u64,
    /// How many sequences gave ids.
    pub(super) active: usize,
    /// How far the sequences have come together.
    pub(super) reserved: u64,
    pub(super) after_heal: Option<Stall>,
    pub(super) longest: Option<Stall>,
    /// Why the run ended early, if it did.
    pub(super) cut_short: Option<String>,
}

impl Outcome {
    fn summary(&self, name: &str) -> u64 {
        self.check["summary"][name].as_u64().unwrap_or(0)
    }

    fn violations(&self) -> u64 {
        let found = self.check["found"].as_object();
        found.map_or(0, |found| found.values().filter_map(Value::as_u64).sum())
    }

    /// Ids that were reserved and never given.
    fn burned(&self) -> u64 {
        self.reserved.saturating_sub(self.summary("ids"))
    }

    fn attempts(&self) -> u64 {
        self.summary("reserved") + self.summary("failed") + self.summary("unknown")
    }

    /// How often each kind has to come in a run of this length.
    fn faults_least(&self) -> u64 {
        (self.duration.as_secs() / FAULT_EVERY.as_secs()).max(1)
    }

    /// Why the run has failed: nothing, if it has not. That nothing went wrong is not enough: something must have been tried.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        problems.extend(self.cut_short.clone());
        for complaint in &self.runs.complaints {
            if !self.cut_short.as_ref().is_some_and(|it| it.contains(complaint)) {
                problems.push(complaint.clone());
            }
        }
        if self.violations() > 0 {
            problems.push(format!("{} violations", self.violations()));
            let shown = self.check["violations"].as_array().into_iter().flatten().take(5);
            problems.extend(
                shown.map(|violation| {
                    format!("{}: {}", violation["property"], violation["problem"])
                }),
            );
        }
        if self.summary("stops") > 0 {
            problems.push(format!(
                "{} stops, and nothing was done that is one's cause",
                self.summary("stops")
            ));
        }
        for kind in &self.nemesis {
            let happened = self.faults.get(kind).copied().unwrap_or(0);
            let least = self.faults_least();
            if happened < least {
                problems.push(format!("{} happened {happened} times, not {least}", kind.as_str()));
            }
        }
        if self.summary("unknown") == 0 {
            problems.push("no outcome was unknown: the faults met nobody".to_owned());
        }
        if self.active < usize::from(self.sequences) {
            problems.push(format!("only {} of {} sequences gave ids", self.active, self.sequences));
        }
        match &self.after_heal {
            Some(stall) if stall.lasted > PROGRESS_LIMIT => problems.push(format!(
                "no progress for {:.1} s: {}",
                stall.lasted.as_secs_f64(),
                stall.what
            )),
            _ => {}
        }
        problems
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let runs = &self.runs;
        let stall = |stall: &Option<Stall>| {
            stall.as_ref().map_or_else(
                || "-".to_owned(),
                |it| format!("{:.2} s ({})", it.lasted.as_secs_f64(), it.what),
            )
        };
        let mut lines = vec![("command", self.command.clone()), ("seed", self.seed.to_string())];
        lines.extend(self.settings.iter().map(|line| ("settings", line.clone())));
        lines.extend([
            ("client processes", format!("{} at a time, {} in all", self.clients, runs.started)),
            (
                "how they ended",
                format!(
                    "{} done, {} unknown (3), {} unavailable (4), {} killed",
                    runs.done, runs.unknown, runs.unavailable, runs.killed
                ),
            ),
            ("sequences", self.sequences.to_string()),
            ("events", self.summary("events").to_string()),
            ("attempts", self.attempts().to_string()),
            ("reservations", self.summary("reserved").to_string()),
            ("conflicts", self.conflicts.to_string()),
            ("unknown outcomes", self.summary("unknown").to_string()),
            ("ids given", self.summary("ids").to_string()),
            ("ids burned", self.burned().to_string()),
            ("stops", self.summary("stops").to_string()),
        ]);
        lines.extend(self.faults.iter().map(|(kind, count)| (kind.as_str(), count.to_string())));
        if self.nemesis.contains(&Kind::Clock) {
            lines.push(("written ahead", format!("{} s", self.written_ahead.as_secs())));
        }
        lines.extend([
            ("longest after a heal", stall(&self.after_heal)),
            ("longest at any time", stall(&self.longest)),
            ("violations", self.violations().to_string()),
        ]);
        lines
    }

    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.lines() {
            // Writing to a String does not fail.
            let _ = writeln!(text, "{name:<22}  {value}");
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let stall = |stall: &Option<Stall>| {
            stall.as_ref().map(|it| json!({"seconds": it.lasted.as_secs_f64(), "what": it.what}))
        };
        let faults: BTreeMap<_, _> =
            self.faults.iter().map(|(kind, count)| (kind.as_str(), count)).collect();
        let problems = self.problems();
        json!({
            "command": self.command,
            "seed": self.seed,
            "duration_s": self.duration.as_secs(),
            "settings": self.settings,
            "clients": self.clients,
            "sequences": self.sequences,
            "runs": {
                "started": self.runs.started, "done": self.runs.done, "unknown": self.runs.unknown,
                "unavailable": self.runs.unavailable, "killed": self.runs.killed,
            },
            "attempts": self.attempts(),
            "conflicts": self.conflicts,
            "unknown": self.summary("unknown"),
            "ids": self.summary("ids"),
            "burned": self.burned(),
            "faults": faults,
            "written_ahead_s": self.written_ahead.as_secs(),
            "longest_after_heal": stall(&self.after_heal),
            "longest": stall(&self.longest),
            "violations": self.violations(),
            "check": self.check["summary"],
            "passed": problems.is_empty(),
            "problems": problems,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Outcome {
        let nemesis = vec![Kind::Kill, Kind::Pause];
        Outcome {
            command: "cargo xtask soak".to_owned(),
            seed: 1,
            duration: Duration::from_secs(20 * 60),
            clients: 2,
            sequences: 2,
            faults: nemesis.iter().map(|kind| (*kind, 6)).collect(),
            nemesis,
            settings: Vec::new(),
            written_ahead: Duration::ZERO,
            runs: Runs::default(),
            check: json!({
                "violations": [], "found": {},
                "summary": {"ids": 90, "reserved": 10, "failed": 5, "unknown": 2, "stops": 0},
            }),
            conflicts: 5,
            active: 2,
            reserved: 100,
            after_heal: Some(Stall { lasted: Duration::from_secs(1), what: "s1".to_owned() }),
            longest: None,
            cut_short: None,
        }
    }

    fn problem(change: impl FnOnce(&mut Outcome)) -> String {
        let mut outcome = good();
        change(&mut outcome);
        outcome.problems().join("; ")
    }

    #[test]
    fn a_run_in_which_something_was_tried_and_nothing_broke_passes() {
        assert_eq!(good().problems(), Vec::<String>::new());
        assert_eq!(good().burned(), 10);
        assert_eq!(good().json()["passed"], true);
    }

    #[test]
    fn everything_that_must_not_be_is_a_problem() {
        assert!(problem(|it| it.check["found"] = json!({"unique": 1})).contains("1 violations"));
        assert!(problem(|it| it.check["summary"]["stops"] = json!(1)).contains("1 stops"));
        let stalled =
            Some(Stall { lasted: Duration::from_secs(11), what: "s1 after kill".to_owned() });
        assert!(
            problem(|it| it.after_heal = stalled).contains("no progress for 11.0 s: s1 after kill")
        );
        assert!(
            problem(|it| it.runs.complaints.push("client 1: bad".to_owned())).contains("client 1")
        );
        assert!(
            problem(|it| it.cut_short = Some("interrupted".to_owned())).contains("interrupted")
        );
    }

    #[test]
    fn a_run_in_which_too_little_happened_fails() {
        assert!(
            problem(|it| it.check["summary"]["unknown"] = json!(0))
                .contains("no outcome was unknown")
        );
        assert!(
            problem(|it| *it.faults.get_mut(&Kind::Kill).unwrap() = 5)
                .contains("kill happened 5 times, not 6")
        );
        assert!(problem(|it| it.faults.clear()).contains("pause happened 0 times"));
        assert!(problem(|it| it.active = 1).contains("only 1 of 2 sequences"));
        assert_eq!(
            problem(|it| {
                it.duration = Duration::from_secs(60);
                it.faults.insert(Kind::Kill, 1);
            }),
            ""
        );
    }
}
