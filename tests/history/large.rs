//! Ten million events in one file: how long a check takes, how much memory, and whether one wrong id is found.
//!
//! ```text
//! cargo test --release --no-default-features --features history --test history -- --ignored --nocapture --test-threads 1
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use lamport_seq::history::event::{End, Event, Give, How, Open, Process, Reserve, Shape};
use lamport_seq::history::{Options, Property, Report, Source, check};
use uuid::Uuid;

const GENERATORS: u32 = 8;
const SMALL: u64 = 100_000;
const LARGE: u64 = 10_000_000;

/// What a file is like.
#[derive(Clone, Copy)]
struct Plan {
    events: u64,
    /// Ids a reservation has.
    block: i64,
    /// How many of them are not given after each that is.
    burn: i64,
    strict: bool,
    /// The line whose id is replaced by the first id that was ever given.
    wrong: Option<u32>,
}

const BLOCKS: Plan = Plan { events: LARGE, block: 1000, burn: 0, strict: false, wrong: None };

/// Writes events, one after another, each a microsecond after the one before.
struct Pen {
    out: BufWriter<File>,
    lines: u64,
}

impl Pen {
    fn write(&mut self, event: impl FnOnce(u64) -> Event<'static>) {
        self.lines += 1;
        serde_json::to_writer(&mut self.out, &event(self.lines * 1000)).unwrap();
        self.out.write_all(b"\n").unwrap();
    }
}

/// Generators that take turns, each with a block of its own. The line of the first id.
fn write(path: &Path, plan: Plan) -> u32 {
    let mut pen = Pen { out: BufWriter::new(File::create(path).unwrap()), lines: 0 };
    pen.write(|_| Event::Process(Process::current("a")));
    for generator in 1..=GENERATORS {
        pen.write(|time| open(generator, plan.strict, time));
    }
    let (mut value, mut first_line) = (0, 0);
    let mut buffers = vec![(1, 0); GENERATORS as usize];
    'events: loop {
        for (buffer, generator) in buffers.iter_mut().zip(1..) {
            if buffer.0 > buffer.1 {
                let operation = pen.lines;
                pen.write(|time| {
                    let attempt = Uuid::from_u128(u128::from(operation));
                    let (old, value) = (value, value + plan.block);
                    Event::Reserve(Reserve { generator, operation, attempt, old, value, time })
                });
                pen.write(|time| Event::Ok(End { operation, why: None, time }));
                *buffer = (value + 1, value + plan.block);
                value += plan.block;
            }
            let line = u32::try_from(pen.lines + 1).unwrap();
            let id = if plan.wrong == Some(line) { 1 } else { buffer.0 };
            if buffer.0 == 1 {
                first_line = line;
            }
            buffer.0 += 1 + plan.burn;
            pen.write(|time| {
                Event::Give(Give { generator, id, to: None, how: How::NextId, duration: 850, time })
            });
            if pen.lines >= plan.events {
                break 'events;
            }
        }
    }
    pen.out.flush().unwrap();
    first_line
}

fn open(generator: u32, strict: bool, time: u64) -> Event<'static> {
    let definition = Shape {
        start_value: 1,
        increment_by: 1.try_into().unwrap(),
        min_value: 1,
        max_value: i64::MAX,
        strict,
    };
    let sequence = "orders".into();
    Event::Open(Open { generator, handle: 1, sequence, definition, value: 0, duration: 0, time })
}

struct Measured {
    report: Report,
    first_line: u32,
    took: Duration,
    /// Without what other processes took meanwhile.
    on_cpu: Duration,
    /// The most memory that this process ever had.
    peak_mib: u64,
}

fn measure(plan: Plan) -> Measured {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.jsonl");
    let first_line = write(&path, plan);
    let (began, before) = (Instant::now(), on_cpu());
    let report = check(&[Source::file(&path)], Options::default()).unwrap();
    let (took, on_cpu) = (began.elapsed(), on_cpu().saturating_sub(before));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: Option<u64> = peak.and_then(|p| p.trim().trim_end_matches(" kB").parse().ok());
    Measured { report, first_line, took, on_cpu, peak_mib: kib.unwrap_or(0) >> 10 }
}

/// How long this thread has run.
fn on_cpu() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = times.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn assert_found(report: &Report, lines: [u32; 2]) {
    let mut violations = report.violations.iter();
    let unique = violations.find(|violation| violation.property == Property::Unique).unwrap();
    assert_eq!(unique.problem, "1 was given twice");
    assert_eq!(unique.operations.iter().map(|shown| shown.line).collect::<Vec<_>>(), lines);
    assert_eq!(report.found[&Property::Unique], 1);
}

#[test]
fn one_wrong_id_is_found_in_a_file_of_any_kind_and_its_line_is_named() {
    for (block, burn, strict) in [(1000, 0, false), (1, 0, false), (1000, 1, false), (50, 0, true)]
    {
        let right = Plan { events: SMALL, block, burn, strict, wrong: None };
        let report = measure(right).report;
        assert!(!report.found.contains_key(&Property::Unique));
        assert_eq!(report.is_clean(), !strict, "buffered ids of several generators are not strict");
        // A line that gives an id in each of them.
        let wrong = 60_003;
        let Measured { report, first_line, .. } = measure(Plan { wrong: Some(wrong), ..right });
        assert_found(&report, [first_line, wrong]);
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn large(name: &str, plan: Plan) -> Report {
    let Measured { report, took, on_cpu, peak_mib, .. } = measure(plan);
    let events = report.summary.events;
    println!("{name}: {events} events in {took:.2?}, {on_cpu:.2?} of CPU, at most {peak_mib} MiB");
    // A machine that is busy with something else proves nothing.
    assert!(cfg!(debug_assertions) || on_cpu < Duration::from_secs(10), "{on_cpu:?}");
    assert!(peak_mib < 1024, "{peak_mib} MiB");
    report
}

#[test]
#[ignore = "writes a file of 600 MB; a figure of a release build"]
fn ten_million_events_in_blocks() {
    assert!(large("blocks of 1000", BLOCKS).is_clean());
}

#[test]
#[ignore = "writes a file of 600 MB; a figure of a release build"]
fn ten_million_events_with_one_wrong_id() {
    let wrong = 7_000_003;
    let report = large("one wrong id", Plan { wrong: Some(wrong), ..BLOCKS });
    for violation in &report.violations {
        println!("{violation}");
    }
    assert_found(&report, [12, wrong]);
}

#[test]
#[ignore = "writes a file of 900 MB; a figure of a release build"]
fn ten_million_events_with_a_reservation_for_each_id() {
    assert!(large("blocks of 1", Plan { block: 1, ..BLOCKS }).is_clean());
}

#[test]
#[ignore = "writes a file of 600 MB; a figure of a release build"]
fn ten_million_events_of_which_no_two_ids_are_neighbours() {
    assert!(large("every other id", Plan { burn: 1, ..BLOCKS }).is_clean());
}

#[test]
#[ignore = "writes a file of 600 MB; a figure of a release build"]
fn ten_million_events_of_a_strict_sequence() {
    let report = large("strict", Plan { strict: true, ..BLOCKS });
    assert_eq!(report.found.keys().collect::<Vec<_>>(), [&Property::RealTime]);
}
