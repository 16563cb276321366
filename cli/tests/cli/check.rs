//! Histories: what `lseq alloc` records, what `lseq check` says of it, and of what is no history.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::world::{World, assert_distinct, finish, ids, wait_until};

/// A run of a process on a clock of the test's own, with one generator and a block of ten ids.
fn run_of(client: &str, run: u32, old: i64) -> String {
    let value = old + 10;
    let lines = [
        format!(
            r#"{{"process":{{"format":1,"client":"{client}","run":"00000000-0000-8000-8000-00000000000{run}","boot_id":"b","time_namespace":"n"}}}}"#
        ),
        format!(
            r#"{{"open":{{"g":1,"h":1,"sequence":"orders","definition":{{"start_value":1,"increment_by":1,"min_value":1,"max_value":99}},"value":{old},"t":1}}}}"#
        ),
        format!(
            r#"{{"reserve":{{"g":1,"n":1,"attempt":"00000000-0000-8000-8000-0000000000a{run}","old":{old},"value":{value},"t":2}}}}"#
        ),
        r#"{"ok":{"n":1,"t":3}}"#.to_owned(),
    ];
    lines.join("\n") + "\n"
}

fn give(id: i64, time: u64) -> String {
    format!("{{\"give\":{{\"g\":1,\"id\":{id},\"t\":{time}}}}}\n")
}

/// Two clients, of which each gives two ids of its own.
fn two_clients(world: &World) {
    world.write("a.jsonl", &(run_of("web-1", 1, 0) + &give(1, 4) + &give(2, 5)));
    world.write("b.jsonl", &(run_of("web-2", 2, 10) + &give(11, 4) + &give(12, 5)));
}

#[test]
fn all_files_are_one_history() {
    let world = World::bare();
    two_clients(&world);
    assert_snapshot!(world.run(&["check", "a.jsonl", "b.jsonl"]), @"
    exit 0
    --- stdout
    12 events of 2 runs: 4 ids of 1 sequence given by 2 generators
    2 reservations, 0 failed, 0 unknown; 0 faults, 0 stops
    0 violations
    ");
    assert_snapshot!(world.run(&["check", "a.jsonl", "b.jsonl", "--json"]), @r#"
    exit 0
    --- stdout
    {"violations":[],"found":{},"torn":[],"summary":{"events":12,"processes":2,"generators":2,"sequences":1,"gives":4,"ids":4,"reserved":2,"reserved_ids":20,"failed":0,"unknown":0,"observed":0,"stops":0,"faults":{},"unplaced":0}}
    "#);
}

#[test]
fn a_violation_names_the_lines_that_show_it() {
    let world = World::bare();
    two_clients(&world);
    world.write("b.jsonl", &(run_of("web-2", 2, 10) + &give(2, 4) + &give(12, 5)));
    assert_snapshot!(world.run(&["check", "a.jsonl", "b.jsonl"]), @"
    exit 1
    --- stdout
    unique: sequence `orders`: 2 was given twice: give 2 by web-1/1 at a.jsonl:6; give 2 by web-2/1 at b.jsonl:5
    explained: sequence `orders`: give 2 lies in no reservation of its generator: give 2 by web-2/1 at b.jsonl:5
    12 events of 2 runs: 4 ids of 1 sequence given by 2 generators
    2 reservations, 0 failed, 0 unknown; 0 faults, 0 stops
    2 violations
    ");
    assert_snapshot!(world.run(&["check", "b.jsonl", "a.jsonl", "--json"]), @r#"
    exit 1
    --- stdout
    {"violations":[{"property":"unique","sequence":"orders","problem":"2 was given twice","operations":[{"operation":"give 2","client":"web-2","generator":1,"file":"b.jsonl","line":5},{"operation":"give 2","client":"web-1","generator":1,"file":"a.jsonl","line":6}]},{"property":"explained","sequence":"orders","problem":"give 2 lies in no reservation of its generator","operations":[{"operation":"give 2","client":"web-2","generator":1,"file":"b.jsonl","line":5}]}],"found":{"unique":1,"explained":1},"torn":[],"summary":{"events":12,"processes":2,"generators":2,"sequences":1,"gives":4,"ids":4,"reserved":2,"reserved_ids":20,"failed":0,"unknown":0,"observed":0,"stops":0,"faults":{},"unplaced":0}}
    "#);
}

/// A reader that has seen enough must not make a failed check a good one.
#[test]
fn a_violation_is_one_though_nobody_reads_of_it() {
    let world = World::bare();
    two_clients(&world);
    world.write("b.jsonl", &(run_of("web-2", 2, 0) + &give(2, 4)));
    for (files, exit) in [(&["a.jsonl", "b.jsonl"][..], 1), (&["a.jsonl"], 0)] {
        let mut check = world.command(&[&["check"], files].concat());
        let mut check = check.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(check.stdout.take());
        let output = finish(check);
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn a_stop_needs_a_cause_unless_no_faults_were_recorded() {
    let world = World::bare();
    let stop = "{\"stop\":{\"g\":1,\"cause\":\"regressed\",\"t\":9}}\n";
    world.write("a.jsonl", &(run_of("web-1", 1, 0) + stop));
    assert_snapshot!(world.run(&["check", "a.jsonl"]), @"
    exit 1
    --- stdout
    cause: sequence `orders`: it stopped (regressed) and nothing in the history explains it: stop by web-1/1 at a.jsonl:5
    5 events of 1 run: 0 ids of 1 sequence given by 1 generator
    1 reservation, 0 failed, 0 unknown; 0 faults, 1 stop
    1 violation
    ");
    world.done(&["check", "a.jsonl", "--allow-unexplained-stops"]);
}

#[test]
fn what_is_no_history_is_one_line_with_a_hint() {
    let world = World::bare();
    std::fs::create_dir(world.path("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success());
    world.write("empty", "");
    world.write("words", "id,at\n1,2\n");
    world.write("json", "{\"id\":7}\n");
    world.write("long", &"x".repeat(10_000_000));
    world.write("headless", &give(1, 4));
    let elf = std::fs::read(env!("CARGO_BIN_EXE_lseq")).unwrap();
    std::fs::write(world.path("binary"), &elf[..200_000]).unwrap();
    let format = run_of("a", 1, 0).replace("\"format\":1", "\"format\":2");
    world.write("later", &format);
    assert_snapshot!(world.run(&["check"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided: <FILE>...

    hint: usage is `lseq check <FILE>...`; `lseq check --help` says more
    ");
    assert_snapshot!(world.run(&["check", "missing"]), @"
    exit 2
    --- stderr
    error: can't read missing
    caused by: No such file or directory (os error 2)

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "folder"]), @"
    exit 2
    --- stderr
    error: can't read folder
    caused by: it is a folder

    hint: name the files in it, as in `FOLDER/*.jsonl`
    ");
    assert_snapshot!(world.run(&["check", "pipe"]), @"
    exit 2
    --- stderr
    error: can't read pipe
    caused by: it is no regular file, and may have to be read twice

    hint: write what comes through it to a file, and check that
    ");
    assert_snapshot!(world.run(&["check", "empty"]), @"
    exit 2
    --- stderr
    error: there is nothing to check: no event is in any of these files

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "words"]), @"
    exit 2
    --- stderr
    error: words:1: expected value at column 1

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "json"]), @"
    exit 2
    --- stderr
    error: json:1: unknown variant `id`, expected one of `process`, `open`, `reserve`, `ok`, `fail`, `info`, `give`, `observe`, `advance`, `stop`, `close`, `alter`, `nemesis` at column 5

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "binary"]), @"
    exit 2
    --- stderr
    error: binary:1: expected value at column 1

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "long"]), @"
    exit 2
    --- stderr
    error: long:1: the line is too long for an event

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "headless"]), @"
    exit 2
    --- stderr
    error: headless:1: the first line of a history says which process it is of

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "later"]), @"
    exit 2
    --- stderr
    error: later:1: the format is 2, this version reads 1

    hint: a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes
    ");
    assert_snapshot!(world.run(&["check", "missing", "--json"]), @r#"
    exit 2
    --- stderr
    {"error":"can't read missing","causes":["No such file or directory (os error 2)"],"hint":"a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes","exit":2}
    "#);
    world.write("a.jsonl", &run_of("web-1", 1, 0));
    assert_snapshot!(world.run(&["check", "a.jsonl", "./a.jsonl"]), @"
    exit 2
    --- stderr
    error: ./a.jsonl:1: this run is in a.jsonl already: is a file given twice?

    hint: name each file once
    ");
    assert_snapshot!(world.run(&["check", "a.jsonl", "empty"]), @"
    exit 0
    --- stdout
    4 events of 1 run: 0 ids of 1 sequence given by 1 generator
    1 reservation, 0 failed, 0 unknown; 0 faults, 0 stops
    0 violations
    --- stderr
    note: empty is empty
    ");
}

#[test]
fn a_line_is_torn_at_the_end_of_a_run_only() {
    let world = World::bare();
    let (one, next) = (run_of("web-1", 1, 0) + &give(1, 4), run_of("web-1", 2, 10) + &give(11, 4));
    let torn = &one[..one.len() - 7];
    world.write("end", torn);
    assert_snapshot!(world.run(&["check", "end"]), @"
    exit 0
    --- stdout
    4 events of 1 run: 0 ids of 1 sequence given by 1 generator
    1 reservation, 0 failed, 0 unknown; 0 faults, 0 stops
    0 violations
    --- stderr
    note: end:5 was cut off by a crash; not judged
    ");
    world.write("restarted", &format!("{torn}\n{next}"));
    assert_snapshot!(world.run(&["check", "restarted"]), @"
    exit 0
    --- stdout
    9 events of 2 runs: 1 id of 1 sequence given by 2 generators
    2 reservations, 0 failed, 0 unknown; 0 faults, 0 stops
    0 violations
    --- stderr
    note: restarted:5 was cut off by a crash; not judged
    ");
    world.write("middle", &format!("{torn}\n{}", give(2, 5)));
    assert_snapshot!(world.run(&["check", "middle"]), @"
    exit 2
    --- stderr
    error: middle:5: the line ends too soon

    hint: only the last line of a run may be cut off: was the file edited, or did two processes write to it?
    ");
    world.write("garbage", &format!("{one}garbage"));
    assert_snapshot!(world.run(&["check", "garbage"]), @"
    exit 2
    --- stderr
    error: garbage:6: expected value at column 1

    hint: only the last line of a run may be cut off: was the file edited, or did two processes write to it?
    ");
}

#[test]
fn what_alloc_records_is_a_clean_history_and_a_new_run_appends_to_it() {
    let world = World::embedded();
    let recorded = ["alloc", "orders", "--create", "--count", "7", "--block", "3"];
    let history = ["--history", "h.jsonl"];
    assert_eq!(
        ids(world.done(&[&recorded[..], &history].concat()).as_bytes()),
        [1, 2, 3, 4, 5, 6, 7]
    );
    assert_eq!(world.done(&[&["alloc", "orders", "--range"][..], &history].concat()), "8 8\n");
    // One that was not recorded is a gap.
    world.done(&["alloc", "orders"]);
    // A run was killed while it wrote a line.
    let mut file = OpenOptions::new().append(true).open(world.path("h.jsonl")).unwrap();
    file.write_all(b"{\"give\":{\"g\"").unwrap();
    assert_eq!(world.done(&[&["alloc", "orders"][..], &history].concat()), "10\n");
    assert_snapshot!(world.run(&["check", "h.jsonl"]), @"
    exit 0
    --- stdout
    22 events of 3 runs: 9 ids of 1 sequence given by 4 generators
    5 reservations, 0 failed, 0 unknown; 0 faults, 0 stops
    0 violations
    --- stderr
    note: h.jsonl:18 was cut off by a crash; not judged
    ");
}

/// Processes side by side, each with a file of its own, which are killed and started again.
#[test]
fn every_id_that_was_printed_is_in_the_history_of_its_process() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let mut printed = Vec::new();
    let size = |client: u64| {
        std::fs::metadata(world.path(&format!("{client}.jsonl"))).map_or(0, |file| file.len())
    };
    for _ in 0..2 {
        let before: Vec<_> = (0..3).map(size).collect();
        let alloc = |client: u64| {
            let history = format!("{client}.jsonl");
            world.spawn(&[
                "alloc",
                "orders",
                "--count",
                "1000000",
                "--block",
                "20",
                "--history",
                &history,
            ])
        };
        let mut running: Vec<_> = (0..3).map(alloc).collect();
        wait_until("all have recorded some blocks", || {
            (0..3).zip(&before).all(|(client, before)| size(client) > before + 5000)
        });
        for child in &mut running {
            child.kill().unwrap();
        }
        for child in running {
            printed.extend(ids(&finish(child).stdout));
        }
    }
    assert!(printed.len() > 500, "{} ids say little", printed.len());
    assert_distinct(printed.clone());
    let report = world.done(&["check", "0.jsonl", "1.jsonl", "2.jsonl", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["summary"]["processes"], 6);
    let recorded = report["summary"]["ids"].as_u64().unwrap();
    // Printing is by blocks: at most one of each run was recorded and not printed whole.
    let range = printed.len() as u64..=printed.len() as u64 + 6 * 20;
    assert!(range.contains(&recorded), "{recorded} recorded, {} printed", printed.len());
}

#[test]
fn a_history_that_can_not_be_written_gives_no_ids() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    assert_snapshot!(world.run(&["alloc", "orders", "--history", "nowhere/h.jsonl"]), @"
    exit 2
    --- stderr
    error: can't record to nowhere/h.jsonl
    caused by: No such file or directory (os error 2)

    hint: a history is a regular file in a folder that exists, and is appended to
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--history", "."]), @"
    exit 2
    --- stderr
    error: can't record to .
    caused by: Is a directory (os error 21)

    hint: a history is a regular file in a folder that exists, and is appended to
    ");
    let held = std::fs::File::create(world.path("held")).unwrap();
    held.lock().unwrap();
    assert_snapshot!(world.run(&["alloc", "orders", "--history", "held"]), @"
    exit 2
    --- stderr
    error: can't record to held
    caused by: another recorder has this file

    hint: each process that runs at the same time needs a file of its own; `lseq check` takes many
    ");
    assert_eq!(world.done(&["alloc", "orders"]), "1\n", "nothing was reserved");
}

/// A file that must not grow stands for a disk that is full.
#[test]
fn an_id_that_can_not_be_recorded_is_not_printed() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    // Other runs have left room for a few blocks; the store's own files stay far below the limit.
    let limit = 512 * 512;
    let run = |run: usize| {
        format!(
            "{{\"process\":{{\"format\":1,\"client\":\"a\",\"run\":\"{run:032x}\",\"boot_id\":\"b\",\"time_namespace\":\"n\"}}}}\n"
        )
    };
    let before: String = (0..(limit - 3000) / run(0).len()).map(run).collect();
    world.write("h.jsonl", &before);
    let lseq = world.command(&[
        "alloc",
        "orders",
        "--count",
        "100000",
        "--block",
        "1",
        "--history",
        "h.jsonl",
    ]);
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 512; exec \"$0\" \"$@\""]);
    limited.arg(lseq.get_program()).args(lseq.get_args());
    let limited = world.at_home(limited).output().unwrap();
    let errors = String::from_utf8(limited.stderr).unwrap();
    assert_eq!(limited.status.code(), Some(3), "{errors}");
    let given = ids(&limited.stdout);
    assert!(given.len() > 2, "{given:?}");
    let errors = errors.replace(&format!("only {} of", given.len()), "only [N] of");
    assert_snapshot!(world.filtered(&errors), @"
    error: only [N] of 100000 ids were given
    caused by: ids were reserved that can't be recorded; they are burned
    caused by: can't write the history h.jsonl: File too large (os error 27)

    hint: make room, and run it again: the ids that come then are new
    ");
    let report: serde_json::Value =
        serde_json::from_str(&world.done(&["check", "h.jsonl", "--json"])).unwrap();
    assert!(report["summary"]["ids"].as_u64().unwrap() >= given.len() as u64);
}
