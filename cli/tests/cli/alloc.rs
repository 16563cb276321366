//! Ids on standard output: at the edges of a sequence, in every shape, and into a pipe that breaks.

use std::io::{BufRead as _, BufReader};

use insta::assert_snapshot;

use crate::world::{World, finish, ids};

#[test]
fn ids_come_one_a_line() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["alloc", "orders", "--create", "--count", "3"]), @"
    exit 0
    --- stdout
    1
    2
    3
    ");
    assert_snapshot!(world.run(&["alloc", "orders"]), @"
    exit 0
    --- stdout
    4
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--count", "2", "--json"]), @r#"
    exit 0
    --- stdout
    {"id":5}
    {"id":6}
    "#);
}

#[test]
fn a_range_is_one_line() {
    let world = World::embedded();
    world.done(&["create", "evens", "--start", "2", "--increment", "2"]);
    assert_snapshot!(world.run(&["alloc", "evens", "--range", "--count", "10"]), @"
    exit 0
    --- stdout
    2 20 2
    ");
    assert_snapshot!(world.run(&["alloc", "evens", "--range", "--count", "10", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"evens","first":22,"last":40,"increment":2,"count":10}
    "#);
    world.done(&["create", "plain"]);
    assert_snapshot!(world.run(&["alloc", "plain", "--range", "--count", "1000000"]), @"
    exit 0
    --- stdout
    1 1000000
    ");
    assert_snapshot!(world.run(&["alloc", "plain", "--range"]), @"
    exit 0
    --- stdout
    1000001 1000001
    ");
}

#[test]
fn the_last_bigint_is_an_id_and_nothing_comes_after_it() {
    let world = World::embedded();
    world.done(&["create", "last", "--start", "9223372036854775804"]);
    assert_snapshot!(world.run(&["alloc", "last", "--count", "10"]), @"
    exit 1
    --- stdout
    9223372036854775804
    9223372036854775805
    9223372036854775806
    9223372036854775807
    --- stderr
    error: only 4 of 10 ids were given
    caused by: sequence `last` is exhausted: 0 ids are left before its end 9223372036854775807, 6 were asked for

    hint: no bigint lies beyond its end: only a sequence of another name gives more ids
    ");
    assert_snapshot!(world.run(&["alloc", "last"]), @"
    exit 1
    --- stderr
    error: sequence `last` is exhausted: 0 ids are left before its end 9223372036854775807, 1 were asked for

    hint: no bigint lies beyond its end: only a sequence of another name gives more ids
    ");
}

#[test]
fn a_falling_sequence_ends_at_its_minimum() {
    let world = World::embedded();
    world.done(&["create", "down", "--increment", "-1", "--start", "-1", "--min", "-3"]);
    assert_snapshot!(world.run(&["alloc", "down", "--count", "9"]), @"
    exit 1
    --- stdout
    -1
    -2
    -3
    --- stderr
    error: only 3 of 9 ids were given
    caused by: sequence `down` is exhausted: 0 ids are left before its end -3, 6 were asked for

    hint: `lseq alter --max N down` (`--min` for a falling one) widens it, if the column that takes the ids can hold more
    ");
    world.done(&["create", "deep", "--increment", "-1"]);
    assert_eq!(world.done(&["alloc", "deep", "--count", "3"]), "-1\n-2\n-3\n");
    world.done(&["create", "floor", "--increment", "-1", "--start", "-9223372036854775806"]);
    assert_snapshot!(world.run(&["alloc", "floor", "--count", "9"]), @"
    exit 1
    --- stdout
    -9223372036854775806
    -9223372036854775807
    -9223372036854775808
    --- stderr
    error: only 3 of 9 ids were given
    caused by: sequence `floor` is exhausted: 0 ids are left before its end -9223372036854775808, 6 were asked for

    hint: no bigint lies beyond its end: only a sequence of another name gives more ids
    ");
}

#[test]
fn a_block_larger_than_what_is_left_gives_what_is_left() {
    let world = World::embedded();
    world.done(&["create", "few", "--max", "3"]);
    assert_snapshot!(world.run(&["alloc", "few", "--count", "9", "--block", "2"]), @"
    exit 1
    --- stdout
    1
    2
    3
    --- stderr
    error: only 3 of 9 ids were given
    caused by: sequence `few` is exhausted: 0 ids are left before its end 3, 2 were asked for

    hint: `lseq alter --max N few` (`--min` for a falling one) widens it, if the column that takes the ids can hold more
    ");
}

#[test]
fn a_range_is_all_or_nothing() {
    let world = World::embedded();
    world.done(&["create", "few", "--max", "3"]);
    assert_snapshot!(world.run(&["alloc", "few", "--range", "--count", "4"]), @"
    exit 1
    --- stderr
    error: sequence `few` is exhausted: 3 ids are left before its end 3, 4 were asked for

    hint: `lseq alter --max N few` (`--min` for a falling one) widens it, if the column that takes the ids can hold more
    ");
    assert_snapshot!(world.run(&["alloc", "few", "--range", "--count", "3"]), @"
    exit 0
    --- stdout
    1 3
    ");
    assert_snapshot!(world.run(&["alloc", "few", "--range", "--json"]), @r#"
    exit 1
    --- stderr
    {"error":"sequence `few` is exhausted: 0 ids are left before its end 3, 1 were asked for","causes":[],"hint":"`lseq alter --max N few` (`--min` for a falling one) widens it, if the column that takes the ids can hold more","exit":1}
    "#);
}

#[test]
fn it_reserves_exactly_what_it_prints() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    for (count, block) in [("10", "1"), ("10", "3"), ("10", "10"), ("10", "1000")] {
        world.done(&["alloc", "orders", "--count", count, "--block", block]);
    }
    assert_eq!(world.done(&["alloc", "orders"]), "41\n");
}

#[test]
fn large_shares_need_consent() {
    let world = World::embedded();
    world.done(&["create", "small", "--max", "5000000"]);
    assert_snapshot!(world.run(&["alloc", "small", "--count", "1000001", "--block", "10"]), @"
    exit 1
    --- stderr
    error: sequence `small` has 5000000 ids left, and this would use 1000001 of them at once

    hint: it can't be undone; say `--yes` (or set `max_jump`) if it is meant
    ");
    assert_snapshot!(world.run(&["alloc", "small", "--count", "1000001", "--range"]), @"
    exit 1
    --- stderr
    error: sequence `small` has 5000000 ids left, and this would use 1000001 of them at once

    hint: it can't be undone; say `--yes` (or set `max_jump`) if it is meant
    ");
    assert_eq!(
        world.done(&["alloc", "small", "--count", "1000001", "--range", "--yes"]),
        "1 1000001\n"
    );
    let rest = world.output(&["alloc", "small", "--count", "9000000", "--yes"]);
    assert_eq!(rest.status.code(), Some(1));
    assert!(ids(&rest.stdout).into_iter().eq(1_000_002..=5_000_000));
}

#[test]
fn a_sequence_that_is_there_is_taken_as_it_is() {
    let world = World::embedded();
    world.done(&["create", "orders", "--start", "5001"]);
    assert_eq!(world.done(&["alloc", "orders", "--create"]), "5001\n");
}

#[test]
fn without_the_sequence_there_is_a_hint() {
    let world = World::embedded();
    world.done(&["create", "other"]);
    assert_snapshot!(world.run(&["alloc", "o'brien"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` does not exist in sqlite:[FOLDER]/ids.db

    hint: create it with `lseq create 'o'\''brien'`, or see `lseq list`
    ");
    assert_snapshot!(world.run(&["alloc", "--", "-x"]), @"
    exit 1
    --- stderr
    error: sequence `-x` does not exist in sqlite:[FOLDER]/ids.db

    hint: create it with `lseq create -- -x`, or see `lseq list`
    ");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let mut child = world.spawn(&["alloc", "orders", "--count", "5000000", "--block", "100000"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let read: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    assert_eq!(read, ["1", "2", "3"]);
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // What was in the pipe, and one block.
    let next: i64 = world.done(&["alloc", "orders"]).trim().parse().unwrap();
    assert!(next <= 200_001, "{next}");
}

#[test]
fn a_disk_that_is_full_is_told() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let mut command = world.command(&["alloc", "orders", "--count", "5"]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    error: ids were reserved that can't be printed; they are burned
    caused by: standard output can't be written
    caused by: No space left on device (os error 28)

    hint: make room, and run it again: the ids that come then are new
    ");
}

#[test]
fn many_ids_take_little_memory() {
    let status = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/status"));
    if status(std::process::id()).is_err() {
        return;
    }
    let world = World::embedded();
    let arguments = ["alloc", "orders", "--create", "--count", "30000000"];
    let mut child = world.command(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut peak: u64 = 0;
    while child.try_wait().unwrap().is_none() {
        let text = status(child.id()).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    assert!((1..40 * 1024).contains(&peak), "{peak} KiB");
}

#[test]
fn output_of_any_length_is_complete() {
    let world = World::embedded();
    let output = finish(world.spawn(&["alloc", "orders", "--create", "--count", "2500001"]));
    assert!(output.status.success());
    assert!(ids(&output.stdout).into_iter().eq(1..=2_500_001));
}
