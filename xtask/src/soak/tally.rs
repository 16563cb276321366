//! What the clients' histories hold that `lseq check` does not count: conflicts, and when ids were reserved.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use lamport_seq::history::event::Event;

/// The reason that a recorder gives for an attempt that another client forestalled.
const CONFLICT: &str = "conflict";

/// Counts over any number of histories.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Attempts that another client forestalled.
    pub(super) conflicts: u64,
    /// When a reservation succeeded, by sequence; sorted by [`Tally::settle`].
    reserved: BTreeMap<String, Vec<u64>>,
}

/// A time in which a sequence gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stall {
    pub(super) lasted: Duration,
    /// Which sequence, and after what.
    pub(super) what: String,
}

impl Tally {
    pub(super) fn read(&mut self, path: &Path) -> anyhow::Result<()> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        let mut run = Run::default();
        for line in BufReader::new(file).split(b'\n') {
            // What a kill has torn is no event; that all else is one, `lseq check` has seen.
            let line = line?;
            if let Ok(event) = serde_json::from_slice::<Event<'_>>(&line) {
                self.count(&event, &mut run);
            }
        }
        Ok(())
    }

    fn count(&mut self, event: &Event<'_>, run: &mut Run) {
        match event {
            Event::Process(_) => *run = Run::default(),
            Event::Open(open) => {
                run.sequences.insert(open.generator, open.sequence.to_string());
            }
            Event::Reserve(reserve) => {
                run.attempts.insert(reserve.operation, reserve.generator);
            }
            Event::Ok(end) => {
                let generator = run.attempts.remove(&end.operation);
                if let Some(sequence) = generator.and_then(|it| run.sequences.get(&it)) {
                    self.reserved.entry(sequence.clone()).or_default().push(end.time);
                }
            }
            Event::Fail(end) if end.why.as_deref() == Some(CONFLICT) => self.conflicts += 1,
            _ => {}
        }
    }

    /// To be called when all is read, and before anything is asked.
    pub(super) fn settle(&mut self) {
        self.reserved.values_mut().for_each(|times| times.sort_unstable());
    }

    /// How many sequences gave anything at all.
    pub(super) fn sequences(&self) -> usize {
        self.reserved.len()
    }

    /// The longest time from one of `moments` to the next reservation of a sequence; to `end`, if there is none.
    pub(super) fn longest_after(&self, moments: &[(u64, String)], end: u64) -> Option<Stall> {
        let stalls = moments.iter().flat_map(|(moment, what)| {
            self.reserved.iter().map(move |(sequence, times)| {
                let next = times.partition_point(|time| time < moment);
                let next = times.get(next).copied().unwrap_or(end);
                let lasted = Duration::from_nanos(next.saturating_sub(*moment));
                Stall { lasted, what: format!("{sequence} after {what}") }
            })
        });
        stalls.max_by_key(|stall| stall.lasted)
    }

    /// The longest time between two reservations of a sequence, faults or not.
    pub(super) fn longest(&self) -> Option<Stall> {
        let stalls = self.reserved.iter().flat_map(|(sequence, times)| {
            times.windows(2).map(move |pair| {
                let lasted = Duration::from_nanos(pair[1] - pair[0]);
                Stall { lasted, what: sequence.clone() }
            })
        });
        stalls.max_by_key(|stall| stall.lasted)
    }
}

/// Numbers hold for one run of a process.
#[derive(Default)]
struct Run {
    sequences: HashMap<u32, String>,
    attempts: HashMap<u64, u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = r#"{"process":{"format":1,"client":"a","run":"00000000-0000-8000-8000-000000000001","boot_id":"b","time_namespace":"n"}}"#;

    fn open(generator: u32, sequence: &str) -> String {
        format!(
            r#"{{"open":{{"g":{generator},"h":1,"sequence":"{sequence}","definition":{{"start_value":1,"increment_by":1,"min_value":1,"max_value":9}},"value":0,"t":1}}}}"#
        )
    }

    fn reserve(generator: u32, operation: u64) -> String {
        format!(
            r#"{{"reserve":{{"g":{generator},"n":{operation},"attempt":"00000000-0000-8000-8000-00000000000a","old":0,"value":5,"t":2}}}}"#
        )
    }

    fn ok(operation: u64, time: u64) -> String {
        format!(r#"{{"ok":{{"n":{operation},"t":{time}}}}}"#)
    }

    fn tally(lines: &[String]) -> Tally {
        let file =
            std::env::temp_dir().join(format!("tally-{}-{}", std::process::id(), lines.len()));
        std::fs::write(&file, lines.join("\n")).unwrap();
        let mut tally = Tally::default();
        tally.read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        tally.settle();
        tally
    }

    #[test]
    fn the_next_reservation_of_each_sequence_counts_and_the_longest_is_named() {
        let second = 1_000_000_000;
        let tally = tally(&[
            PROCESS.to_owned(),
            open(1, "s1"),
            open(2, "s2"),
            reserve(1, 1),
            ok(1, second),
            reserve(2, 2),
            ok(2, 2 * second),
            PROCESS.to_owned(),
            open(1, "s2"),
            reserve(1, 1),
            ok(1, 7 * second),
        ]);
        assert_eq!(tally.sequences(), 2);
        let heals = [(second, "kill".to_owned()), (3 * second, "pause".to_owned())];
        let stall = tally.longest_after(&heals[..1], 9 * second).unwrap();
        assert_eq!((stall.lasted.as_secs(), &*stall.what), (1, "s2 after kill"));
        // s1 has given nothing after the second fault, up to the end.
        let stall = tally.longest_after(&heals, 9 * second).unwrap();
        assert_eq!((stall.lasted.as_secs(), &*stall.what), (6, "s1 after pause"));
        assert_eq!(tally.longest().unwrap().lasted.as_secs(), 5);
    }

    #[test]
    fn only_conflicts_are_conflicts_and_torn_lines_are_skipped() {
        let tally = tally(&[
            PROCESS.to_owned(),
            open(1, "s1"),
            reserve(1, 1),
            r#"{"fail":{"n":1,"why":"conflict","t":3}}"#.to_owned(),
            reserve(1, 2),
            r#"{"fail":{"n":2,"why":"not applied","t":4}}"#.to_owned(),
            r#"{"reserve":{"g":1,"n":3,"att"#.to_owned(),
        ]);
        assert_eq!(tally.conflicts, 1);
    }
}
