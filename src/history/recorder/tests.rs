//! What is written, and what is there when writing ends early.

use std::sync::atomic::AtomicUsize;

use uuid::Uuid;

use super::*;
use crate::history::event::How;
use crate::history::{Cause, Options, Source, check};
use crate::range::IdRange;
use crate::timestamp::LamportTimestamp;

/// A writer that a test can look into, with room for so many bytes.
#[derive(Clone, Default)]
struct Paper {
    written: Arc<Mutex<Vec<u8>>>,
    writes: Arc<AtomicUsize>,
    room: Option<usize>,
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.written.lock().unwrap();
        let room = self.room.map_or(bytes.len(), |room| room - written.len());
        if room == 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"));
        }
        let some = room.min(bytes.len());
        written.extend_from_slice(&bytes[..some]);
        self.writes.fetch_add(1, Ordering::Relaxed);
        Ok(some)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.written.lock().unwrap().clone()).unwrap()
    }
}

fn process(client: &'static str) -> Process<'static> {
    let run = Uuid::from_u128(1);
    Process { run, boot_id: "b".into(), time_namespace: "n".into(), ..Process::current(client) }
}

fn recorder(paper: &Paper) -> Recorder {
    let time = AtomicU64::new(0);
    let clock = move || time.fetch_add(1, Ordering::Relaxed);
    Recorder::to_writer(paper.clone(), process("a"), clock).unwrap()
}

fn target(value: i64) -> LamportTimestamp {
    LamportTimestamp::new(value, Uuid::from_u128(7))
}

fn record(recorder: &Recorder) {
    let definition = Definition::builder().max_value(99).build().unwrap();
    let own = recorder.open(recorder.handle(), "orders", &definition, 0, recorder.now());
    own.reserve(0, target(10)).ok();
    own.reserve(10, target(20)).fail("conflict");
    own.reserve(10, target(20)).info("timeout");
    let began = own.now();
    own.give(1, began);
    let ranges = [IdRange::new(2, 4, 1).unwrap(), IdRange::new(5, 5, 1).unwrap()];
    own.give_ranges(How::NextIds, &ranges, own.now());
    own.observe(target(6), own.now());
    own.observe(7.into(), own.now());
    own.advance(8);
    recorder.alter("orders", &definition);
    recorder.nemesis(&Fault::Restore, Some("orders"), Some("node 2")).ok();
    recorder.nemesis(&Fault::Other("kill".into()), None, None).info("no answer");
    own.stop(Cause::Regressed);
    own.close();
}

/// This is the format as it is documented; a change of it is a new version.
#[test]
fn each_event_is_one_line() {
    let paper = Paper::default();
    record(&recorder(&paper));
    let attempt = r#""attempt":"00000000-0000-0000-0000-000000000007""#;
    let expected = [
        r#"{"process":{"format":1,"client":"a","run":"00000000-0000-0000-0000-000000000001","boot_id":"b","time_namespace":"n"}}"#,
        r#"{"open":{"g":1,"h":1,"sequence":"orders","definition":{"start_value":1,"increment_by":1,"min_value":1,"max_value":99},"value":0,"d":1,"t":1}}"#,
        &format!(r#"{{"reserve":{{"g":1,"n":1,{attempt},"old":0,"value":10,"t":2}}}}"#),
        r#"{"ok":{"n":1,"t":3}}"#,
        &format!(r#"{{"reserve":{{"g":1,"n":2,{attempt},"old":10,"value":20,"t":4}}}}"#),
        r#"{"fail":{"n":2,"why":"conflict","t":5}}"#,
        &format!(r#"{{"reserve":{{"g":1,"n":3,{attempt},"old":10,"value":20,"t":6}}}}"#),
        r#"{"info":{"n":3,"why":"timeout","t":7}}"#,
        r#"{"give":{"g":1,"id":1,"d":1,"t":9}}"#,
        r#"{"give":{"g":1,"id":2,"to":4,"how":"next_ids","d":1,"t":11}}"#,
        r#"{"give":{"g":1,"id":5,"how":"next_ids","d":1,"t":11}}"#,
        &format!(r#"{{"observe":{{"g":1,"id":6,{attempt},"d":1,"t":13}}}}"#),
        r#"{"observe":{"g":1,"id":7,"d":1,"t":15}}"#,
        r#"{"advance":{"g":1,"id":8,"t":16}}"#,
        r#"{"alter":{"sequence":"orders","min_value":1,"max_value":99,"t":17}}"#,
        r#"{"nemesis":{"n":4,"fault":"restore","sequence":"orders","target":"node 2","t":18}}"#,
        r#"{"ok":{"n":4,"t":19}}"#,
        r#"{"nemesis":{"n":5,"fault":"kill","t":20}}"#,
        r#"{"info":{"n":5,"why":"no answer","t":21}}"#,
        r#"{"stop":{"g":1,"cause":"regressed","t":22}}"#,
        r#"{"close":{"g":1,"t":23}}"#,
    ];
    let text = paper.text();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    for line in text.lines() {
        let event: Event<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn one_call_is_one_write() {
    let paper = Paper::default();
    let recorder = recorder(&paper);
    let own = recorder.open(1, "orders", &Definition::default(), 0, 0);
    let before = paper.writes.load(Ordering::Relaxed);
    let ranges = [IdRange::new(2, 4, 1).unwrap(), IdRange::new(5, 5, 1).unwrap()];
    own.give_ranges(How::NextIds, &ranges, 0);
    assert_eq!(paper.writes.load(Ordering::Relaxed), before + 1);
    assert!(paper.text().ends_with("}}\n"), "and it is not kept back");
}

/// A full disk ends the recording and nothing else; what is there is a history.
#[test]
fn a_write_that_fails_ends_the_history_and_not_the_ids() {
    let whole = Paper::default();
    record(&recorder(&whole));
    for room in [300, 301, 302, 500, whole.text().len() - 1] {
        let paper = Paper { room: Some(room), ..Paper::default() };
        let recorder = recorder(&paper);
        record(&recorder);
        assert_eq!(recorder.failure(), Some("no space left"));
        assert_eq!(paper.text(), whole.text()[..room]);
        let source = Source::bytes("h", paper.text().into_bytes());
        check(&[source], Options::default()).unwrap();
    }
}

#[test]
fn lines_of_many_threads_are_whole_and_in_the_order_of_their_times() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.jsonl");
    let recorder = Recorder::to_file(&path).unwrap();
    let definition = Definition::default();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (recorder, definition) = (&recorder, &definition);
            threads.spawn(move || {
                let own = recorder.open(recorder.handle(), "orders", definition, 0, 0);
                let first = thread * 1000;
                let node = Uuid::from_u128(u128::try_from(thread).unwrap());
                own.reserve(first, LamportTimestamp::new(first + 1000, node)).ok();
                for id in first + 1..=first + 1000 {
                    own.give(id, own.now());
                }
            });
        }
    });
    assert_eq!(recorder.failure(), None);
    let report = check(&[Source::file(&path)], Options::default()).unwrap();
    assert_eq!(report.violations, []);
    assert_eq!((report.summary.ids, report.summary.generators), (4000, 4));
}

#[test]
fn a_file_is_appended_to_by_one_process_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.jsonl");
    let first = Recorder::to_file_as(&path, Process::current("a")).unwrap();
    let second = Recorder::to_file(&path).unwrap_err();
    assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
    drop(first);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"give\":{\"g\"").unwrap();
    drop(Recorder::to_file_as(&path, Process::current("b")).unwrap());
    let report = check(&[Source::file(&path)], Options::default()).unwrap();
    assert_eq!((report.torn.len(), report.summary.processes), (1, 2));
}
