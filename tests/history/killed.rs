//! An id that anybody has seen is in the history, also if the process was killed in the next instant.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use lamport_seq::history::event::{Event, Process};
use lamport_seq::history::{Options, Recorder, Source, check};
use lamport_seq::{Definition, LamportTimestamp};
use uuid::Uuid;

const FILE: &str = "LSEQ_TEST_KILLED_HISTORY";

/// Not a test of its own: the process that [`kills`](an_id_is_in_the_history_before_anybody_sees_it) starts.
#[test]
fn victim() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let recorder = Recorder::to_file_as(file, Process::current("victim")).unwrap();
    let own = recorder.open(recorder.handle(), "orders", &Definition::default(), 0, 0);
    own.reserve(0, LamportTimestamp::new(i64::MAX, Uuid::from_u128(7))).ok();
    let mut out = std::io::stdout().lock();
    for id in 1.. {
        own.give(id, own.now());
        writeln!(out, "given {id}").unwrap();
    }
}

#[test]
fn an_id_is_in_the_history_before_anybody_sees_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("h.jsonl");
    let (mut seen, runs) = (0, 5);
    for run in 0..runs {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::victim", "--nocapture"])
            .env(FILE, &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let given = |line: &String| line.strip_prefix("given ").and_then(|id| id.parse().ok());
        let wanted = 1000 + run * 137;
        let reached = lines.by_ref().map_while(Result::ok).find(|l| given(l) == Some(wanted));
        assert!(reached.is_some());
        victim.kill().unwrap();
        let rest = lines.map_while(Result::ok);
        let last: i64 = rest.filter_map(|line| given(&line)).last().unwrap_or(wanted);
        victim.wait().unwrap();
        seen += u64::try_from(last).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let events = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let given = events.filter(|event| matches!(event, Event::Give(_))).count() as u64;
    assert!(given >= seen, "{given} ids in the history, {seen} were seen");
    let report = check(&[Source::file(&file)], Options::default()).unwrap();
    assert_eq!(report.summary.processes, 5, "each run appends");
    assert_eq!(report.summary.ids, given);
    // All five runs start from 0, as if the row had been rolled back four times.
    assert!(!report.is_clean());
}
