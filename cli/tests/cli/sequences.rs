//! What operators do: create, status, list, advance, alter, drop.

use insta::assert_snapshot;

use crate::world::{World, exists};

#[test]
fn a_file_is_made_once() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["init", "--dry-run"]), @"
    exit 0
    --- stdout
    would be created: [FOLDER]/ids.db
    ");
    assert!(!exists(&world.path("ids.db")));
    assert_snapshot!(world.run(&["init"]), @"
    exit 0
    --- stdout
    created: [FOLDER]/ids.db
    ");
    assert!(exists(&world.path("ids.db")));
    assert_snapshot!(world.run(&["init", "--json"]), @r#"
    exit 0
    --- stdout
    {"file":"[FOLDER]/ids.db","created":false}
    "#);
    assert_snapshot!(world.run(&["init", "--rf", "3"]), @"
    exit 2
    --- stderr
    error: a file has no replicas, and no table that was made by hand

    hint: --rf, --replication and --adopt are for cassandra:// and scylla://
    ");
    assert_snapshot!(world.run(&["init", "--replication", "3"]), @"
    exit 2
    --- stderr
    error: invalid value '3' for '--replication <DC=N,...>': write DATACENTER=N, as in dc1=3,dc2=3

    hint: `lseq init --help` says more
    ");
    assert_snapshot!(world.run(&["init", "--replication", "dc1=3,dc2"]), @"
    exit 2
    --- stderr
    error: invalid value 'dc1=3,dc2' for '--replication <DC=N,...>': replication `dc1=3,dc2`: write a number of replicas, as 3, or one for each datacenter, as dc1=3,dc2=3

    hint: `lseq init --help` says more
    ");
    assert_snapshot!(world.run(&["init", "--rf", "0"]), @"
    exit 2
    --- stderr
    error: invalid value '0' for '--rf <N>': write a whole number, at least 1

    hint: `lseq init --help` says more
    ");
    assert_snapshot!(world.run(&["list"]), @"exit 0");
}

#[test]
fn rows_that_are_no_sequences_are_shown() {
    let world = World::embedded();
    for name in ["a", "b", "c"] {
        world.done(&["create", name]);
    }
    let tampered = rusqlite::Connection::open(world.path("ids.db")).unwrap();
    tampered.execute("UPDATE counters SET max_value = NULL WHERE name = 'b'", ()).unwrap();
    tampered.execute("DELETE FROM counters WHERE name = 'c'", ()).unwrap();
    drop(tampered);
    assert_snapshot!(world.run(&["list"]), @"
    exit 1
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                       0  9223372036854775807       0 %  -        a
                       -                    -         -  corrupt  b: some columns of its definition are null, and some are not
    --- stderr
    error: 1 sequence is corrupt

    hint: something else has written their rows: find out what, and see docs/operations.md
    ");
    assert_snapshot!(world.run(&["list", "--json"]), @r#"
    exit 1
    --- stdout
    {"sequence":"a","value":0,"node":"00000000-0000-0000-0000-000000000000","tag":null,"start_value":1,"increment_by":1,"min_value":1,"max_value":9223372036854775807,"strict":false,"defined":true,"retired":false,"remaining":9223372036854775807,"used_percent":0.0}
    {"sequence":"b","corrupt":"some columns of its definition are null, and some are not"}
    --- stderr
    {"error":"1 sequence is corrupt","causes":[],"hint":"something else has written their rows: find out what, and see docs/operations.md","exit":1}
    "#);
    assert_snapshot!(world.run(&["status", "b"]), @"
    exit 1
    --- stderr
    error: sequence `b` in sqlite:[FOLDER]/ids.db has stopped: its row is corrupt: the row of sequence `b` can't be used: some columns of its definition are null, and some are not; ids that were buffered are burned

    hint: stop its clients, find out what wrote the row, and mend its columns by hand with a conditional update: no command touches a row that is not a sequence's (docs/protocol.md has the columns)
    ");
    assert_snapshot!(world.run(&["status", "c"]), @"
    exit 1
    --- stderr
    error: sequence `c` in sqlite:[FOLDER]/ids.db has stopped: its row is missing (was it deleted, truncated, expired or not restored?); ids that were buffered are burned

    hint: find the largest id in your data, then `lseq advance --above N --recreate c` with N beyond it, and restart the clients
    ");
    assert_snapshot!(world.run(&["alloc", "c", "--create", "--timeout", "1s"]), @"
    exit 1
    --- stderr
    error: sequence `c` in sqlite:[FOLDER]/ids.db has stopped: its row is missing (was it deleted, truncated, expired or not restored?); ids that were buffered are burned

    hint: find the largest id in your data, then `lseq advance --above N --recreate c` with N beyond it, and restart the clients
    ");
    assert_snapshot!(world.run(&["advance", "c", "--above", "500", "--recreate", "--max", "900", "--dry-run"]), @"
    exit 0
    --- stdout
    c: no row -> 500, next id 501, created anew
    --- stderr
    note: nothing was changed: this was a dry run
    ");
    assert_snapshot!(world.run(&["advance", "c", "--above", "500", "--recreate", "--max", "900"]), @"
    exit 0
    --- stdout
    c: no row -> 500, next id 501, created anew
    --- stderr
    note: clients that knew the old one have stopped: restart them
    ");
    assert_eq!(world.done(&["alloc", "c"]), "501\n");
}

#[test]
fn a_sequence_is_created_once() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["create", "orders", "--start", "5001", "--type", "int"]), @"
    exit 0
    --- stdout
    created orders: start 5001 increment 1 min 1 max 2147483647
    ");
    assert_snapshot!(world.run(&["create", "orders"]), @"
    exit 1
    --- stderr
    error: sequence `orders` exists already in sqlite:[FOLDER]/ids.db

    hint: `lseq status orders` shows it; `--if-not-exists` accepts an equal one
    ");
    assert_snapshot!(world.run(&["create", "orders", "--start", "5001", "--type", "int", "--if-not-exists"]), @"
    exit 0
    --- stdout
    found orders: start 5001 increment 1 min 1 max 2147483647
    ");
    assert_snapshot!(world.run(&["create", "orders", "--if-not-exists"]), @"
    exit 1
    --- stderr
    error: sequence `orders` is defined as start 5001 increment 1 min 1 max 2147483647, not as start 1 increment 1 min 1 max 9223372036854775807

    hint: a definition is immutable, but `lseq alter --max N orders` widens its bounds; otherwise open it as it is stored
    ");
    assert_snapshot!(world.run(&["create", "js", "--type", "js", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"js","created":true,"start_value":1,"increment_by":1,"min_value":1,"max_value":9007199254740991,"strict":false}
    "#);
}

#[test]
fn definitions_that_cannot_be_are_refused_in_words() {
    let world = World::embedded();
    assert_snapshot!(
        world.run(&["create", "x", "--start", "-9223372036854775808", "--min", "-9223372036854775808"]), @"
    exit 2
    --- stderr
    error: start_value -9223372036854775808 with increment_by 1 can't be stored: a new sequence's row holds start_value - increment_by, which is no bigint; start at least one increment later

    hint: the words and defaults are those of PostgreSQL's CREATE SEQUENCE: `lseq create --help`
    ");
    assert_snapshot!(world.run(&["create", "x", "--increment", "0"]), @"
    exit 2
    --- stderr
    error: increment_by must not be 0

    hint: the words and defaults are those of PostgreSQL's CREATE SEQUENCE: `lseq create --help`
    ");
    assert_snapshot!(world.run(&["create", "x", "--min", "5", "--max", "5"]), @"
    exit 2
    --- stderr
    error: min_value 5 must be less than max_value 5

    hint: the words and defaults are those of PostgreSQL's CREATE SEQUENCE: `lseq create --help`
    ");
    assert_snapshot!(world.run(&["create", "x", "--start", "0"]), @"
    exit 2
    --- stderr
    error: start_value 0 is not between min_value 1 and max_value 9223372036854775807

    hint: the words and defaults are those of PostgreSQL's CREATE SEQUENCE: `lseq create --help`
    ");
    assert_snapshot!(world.run(&["create", "x", "--max", "9223372036854775808"]), @"
    exit 2
    --- stderr
    error: invalid value '9223372036854775808' for '--max <ID>': number too large to fit in target type

    hint: `lseq create --help` says more
    ");
    assert_snapshot!(world.run(&["create", "x", "--max", "9", "--type", "int"]), @"
    exit 2
    --- stderr
    error: the argument '--max <ID>' cannot be used with '--type <TYPE>'

    hint: usage is `lseq create --max <ID> <NAME>`; `lseq create --help` says more
    ");
    assert_snapshot!(world.run(&["create", "x", "--type", "long"]), @"
    exit 2
    --- stderr
    error: invalid value 'long' for '--type <TYPE>' [possible values: int, bigint, js]

    hint: `lseq create --help` says more
    ");
    assert!(!exists(&world.path("ids.db")), "nothing is half created");
}

#[test]
fn status_tells_all() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    assert_snapshot!(world.run(&["status", "orders"]), @"
    exit 0
    --- stdout
    sequence     orders
    value        0
    last writer  nobody yet
    definition   start 1 increment 1 min 1 max 9223372036854775807
    remaining    9223372036854775807
    used         0 %
    ");
    world.done(&["alloc", "orders", "--count", "10"]);
    assert_snapshot!(world.run(&["status", "orders"]), @"
    exit 0
    --- stdout
    sequence     orders
    value        10
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 9223372036854775807
    remaining    9223372036854775797
    used         < 0.01 %
    ");
    assert_snapshot!(world.run(&["status", "orders", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"orders","value":10,"node":"[UUID]","tag":"[TAG]","start_value":1,"increment_by":1,"min_value":1,"max_value":9223372036854775807,"strict":false,"defined":true,"retired":false,"remaining":9223372036854775797,"used_percent":1.0842021724855044e-16}
    "#);
    assert_snapshot!(world.run(&["status", "ordres"]), @"
    exit 1
    --- stderr
    error: sequence `ordres` does not exist in sqlite:[FOLDER]/ids.db

    hint: create it with `lseq create ordres`, or see `lseq list`
    ");
}

#[test]
fn a_sequence_that_runs_out_is_noticed() {
    let world = World::embedded();
    world.done(&["create", "few", "--max", "10"]);
    world.done(&["alloc", "few", "--count", "8"]);
    assert_snapshot!(world.run(&["status", "few", "--fail-above", "80"]), @"
    exit 0
    --- stdout
    sequence     few
    value        8
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 10
    remaining    2
    used         80.00 %
    ");
    assert_snapshot!(world.run(&["status", "few", "--fail-above", "79.9%"]), @"
    exit 1
    --- stdout
    sequence     few
    value        8
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 10
    remaining    2
    used         80.00 %
    --- stderr
    error: sequence `few` has used 80.00 % of its ids, 2 are left

    hint: `lseq alter --max N few` widens it, if the column that takes the ids can hold more
    ");
    world.done(&["alloc", "few"]);
    assert_snapshot!(world.run(&["status", "few"]), @"
    exit 0
    --- stdout
    sequence     few
    value        9
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 10
    remaining    1
    used         90.00 %
    --- stderr
    warning: sequence `few` has used 90.00 % of its ids, 1 are left
    ");
    assert_snapshot!(world.run(&["status", "few", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"few","value":9,"node":"[UUID]","tag":"[TAG]","start_value":1,"increment_by":1,"min_value":1,"max_value":10,"strict":false,"defined":true,"retired":false,"remaining":1,"used_percent":90.0}
    --- stderr
    {"warning":"sequence `few` has used 90.00 % of its ids, 1 are left"}
    "#);
    assert_snapshot!(world.run(&["status", "few", "--quiet"]), @"
    exit 0
    --- stdout
    sequence     few
    value        9
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 10
    remaining    1
    used         90.00 %
    ");
    world.done(&["alloc", "few"]);
    assert_snapshot!(world.run(&["status", "few", "--fail-above", "99"]), @"
    exit 1
    --- stdout
    sequence     few
    value        10
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 10
    remaining    0
    used         100 %
    --- stderr
    error: sequence `few` has used 100 % of its ids, 0 are left

    hint: `lseq alter --max N few` widens it, if the column that takes the ids can hold more
    ");
}

#[test]
fn names_are_told_apart_byte_by_byte() {
    let world = World::embedded();
    let names =
        ["Orders", "orders", "o'brien", "a\"b", "naïve", "two words", "`seq`", "-x", "日本"];
    for (index, name) in names.iter().enumerate() {
        let start = (index * 1000 + 1).to_string();
        world.done(&["create", "--start", &start, "--", name]);
    }
    for (index, name) in names.iter().enumerate() {
        assert_eq!(world.done(&["alloc", "--", name]), format!("{}\n", index * 1000 + 1), "{name}");
    }
    assert_snapshot!(world.run(&["list"]), @r#"
    exit 0
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                    7001  9223372036854768806  < 0.01 %  -        -x
                       1  9223372036854775806  < 0.01 %  -        Orders
                    6001  9223372036854769806  < 0.01 %  -        `seq`
                    3001  9223372036854772806  < 0.01 %  -        a"b
                    4001  9223372036854771806  < 0.01 %  -        naïve
                    2001  9223372036854773806  < 0.01 %  -        o'brien
                    1001  9223372036854774806  < 0.01 %  -        orders
                    5001  9223372036854770806  < 0.01 %  -        two words
                    8001  9223372036854767806  < 0.01 %  -        日本
    "#);
    assert_snapshot!(world.run(&["list", "--prefix", "o", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"o'brien","value":2001,"node":"[UUID]","tag":"[TAG]","start_value":2001,"increment_by":1,"min_value":1,"max_value":9223372036854775807,"strict":false,"defined":true,"retired":false,"remaining":9223372036854773806,"used_percent":1.0842021724855047e-17}
    {"sequence":"orders","value":1001,"node":"[UUID]","tag":"[TAG]","start_value":1001,"increment_by":1,"min_value":1,"max_value":9223372036854775807,"strict":false,"defined":true,"retired":false,"remaining":9223372036854774806,"used_percent":1.0842021724855046e-17}
    "#);
}

#[test]
fn a_list_is_as_long_as_it_is_told() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["list"]), @"
    exit 1
    --- stderr
    error: sqlite:ids.db refuses
    caused by: [FOLDER]/ids.db does not exist

    hint: is the path right? creating a sequence makes the file
    ");
    world.done(&["create", "a1"]);
    world.done(&["create", "b1", "--max", "9"]);
    world.done(&["create", "b2"]);
    world.done(&["alloc", "b1", "--count", "9"]);
    world.done(&["drop", "b2", "--yes"]);
    assert_snapshot!(world.run(&["list"]), @"
    exit 0
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                       0  9223372036854775807       0 %  -        a1
                       9                    0     100 %  -        b1
                       0  9223372036854775807       0 %  dropped  b2
    ");
    assert_snapshot!(world.run(&["list", "--prefix", "b", "--limit", "1"]), @"
    exit 0
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                       9                    0     100 %  -        b1
    ");
    assert_snapshot!(world.run(&["list", "--prefix", "z"]), @"exit 0");
    assert_snapshot!(world.run(&["list", "--limit", "0"]), @"
    exit 2
    --- stderr
    error: invalid value '0' for '--limit <N>': write a whole number, at least 1

    hint: `lseq list --help` says more
    ");
}

#[test]
fn advance_only_goes_forward() {
    let world = World::embedded();
    world.done(&["create", "orders", "--increment", "10"]);
    assert_snapshot!(world.run(&["advance", "orders", "--above", "55", "--dry-run"]), @"
    exit 0
    --- stdout
    orders: -9 -> 51, next id 61
    --- stderr
    note: nothing was changed: this was a dry run
    ");
    assert_snapshot!(world.run(&["advance", "orders", "--above", "55"]), @"
    exit 0
    --- stdout
    orders: -9 -> 51, next id 61
    --- stderr
    note: ids that running clients have buffered may be lower; restart those that must not give them
    ");
    assert_snapshot!(world.run(&["advance", "orders", "--above", "7", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"orders","before":51,"after":51,"next":61,"changed":false,"recreated":false,"dry_run":false}
    --- stderr
    {"note":"it was there already: nothing was changed"}
    "#);
    assert_eq!(world.done(&["alloc", "orders"]), "61\n");
    assert_snapshot!(world.run(&["advance", "orders", "--above", "5000000000000000000"]), @"
    exit 1
    --- stderr
    error: sequence `orders` has 922337203685477574 ids left, and this would use 499999999999999993 of them at once

    hint: it can't be undone; say `--yes` (or set `max_jump`) if it is meant
    ");
    assert_snapshot!(world.run(&["advance", "orders", "--above", "5000000000000000000", "--yes", "-q"]), @"
    exit 0
    --- stdout
    orders: 61 -> 4999999999999999991, next id 5000000000000000001
    ");
    assert_snapshot!(world.run(&["advance", "orders", "--above", "60", "--max", "5"]), @"
    exit 2
    --- stderr
    error: a definition goes with --recreate only

    hint: `lseq alter` widens the bounds of a sequence that is there
    ");
    world.done(&["create", "down", "--increment", "-1"]);
    assert_snapshot!(world.run(&["advance", "down", "--above", "-5", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"down","before":0,"after":-5,"next":-6,"changed":true,"recreated":false,"dry_run":false}
    --- stderr
    {"note":"ids that running clients have buffered may be lower; restart those that must not give them"}
    "#);
}

#[test]
fn bounds_only_widen() {
    let world = World::embedded();
    world.done(&["create", "few", "--max", "3"]);
    world.done(&["alloc", "few", "--count", "3"]);
    assert_snapshot!(world.run(&["alter", "few", "--max", "4"]), @"
    exit 0
    --- stdout
    few: start 1 increment 1 min 1 max 3 -> start 1 increment 1 min 1 max 4
    ");
    assert_eq!(world.done(&["alloc", "few"]), "4\n");
    assert_snapshot!(world.run(&["alter", "few", "--max", "3"]), @"
    exit 1
    --- stderr
    error: the bounds of sequence `few` can only be widened: they are start 1 increment 1 min 1 max 4

    hint: bounds only ever move outward; a sequence of another name can have others
    ");
    assert_snapshot!(world.run(&["alter", "few", "--type", "int", "--json"]), @r#"
    exit 0
    --- stdout
    {"sequence":"few","before":{"start_value":1,"increment_by":1,"min_value":1,"max_value":4,"strict":false},"after":{"start_value":1,"increment_by":1,"min_value":1,"max_value":2147483647,"strict":false},"changed":true}
    "#);
    assert_snapshot!(world.run(&["alter", "few", "--type", "int"]), @"
    exit 0
    --- stdout
    few: start 1 increment 1 min 1 max 2147483647 -> start 1 increment 1 min 1 max 2147483647
    --- stderr
    note: it was so already: nothing was changed
    ");
    assert_snapshot!(world.run(&["alter", "few", "--min", "-5"]), @"
    exit 0
    --- stdout
    few: start 1 increment 1 min 1 max 2147483647 -> start 1 increment 1 min -5 max 2147483647
    ");
    assert_snapshot!(world.run(&["alter", "few"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided: <--min <ID>|--max <ID>|--type <TYPE>>

    hint: usage is `lseq alter <--min <ID>|--max <ID>|--type <TYPE>> <NAME>`; `lseq alter --help` says more
    ");
    assert_snapshot!(world.run(&["alter", "few", "--type", "int", "--max", "9"]), @"
    exit 2
    --- stderr
    error: the argument '--type <TYPE>' cannot be used with '--max <ID>'

    hint: usage is `lseq alter <--min <ID>|--max <ID>|--type <TYPE>> <NAME>`; `lseq alter --help` says more
    ");
    world.done(&["create", "down", "--increment", "-1", "--min", "-9"]);
    assert_snapshot!(world.run(&["alter", "down", "--type", "bigint"]), @"
    exit 0
    --- stdout
    down: start -1 increment -1 min -9 max -1 -> start -1 increment -1 min -9223372036854775808 max -1
    ");
}

#[test]
fn a_dropped_name_comes_back_only_beyond_its_old_value() {
    let world = World::embedded();
    world.done(&["create", "o'brien"]);
    world.done(&["alloc", "o'brien", "--count", "100"]);
    assert_snapshot!(world.run(&["drop", "o'brien"]), @r"
    exit 1
    --- stderr
    error: dropping sequence `o'brien` stops all its clients, and brings its name back only beyond 100

    hint: `lseq drop --yes 'o'\''brien'` does it
    ");
    assert_snapshot!(world.run(&["drop", "o'brien", "--yes"]), @"
    exit 0
    --- stdout
    dropped o'brien at 100
    ");
    assert_snapshot!(world.run(&["drop", "o'brien", "--yes"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` in sqlite:[FOLDER]/ids.db has stopped: it was dropped; ids that were buffered are burned

    hint: a dropped name comes back only beyond its old value: `lseq advance --above N --recreate 'o'\''brien'` with N beyond every id ever given
    ");
    assert_snapshot!(world.run(&["alloc", "o'brien"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` in sqlite:[FOLDER]/ids.db has stopped: it was dropped; ids that were buffered are burned

    hint: a dropped name comes back only beyond its old value: `lseq advance --above N --recreate 'o'\''brien'` with N beyond every id ever given
    ");
    assert_snapshot!(world.run(&["create", "o'brien"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` in sqlite:[FOLDER]/ids.db has stopped: it was dropped; ids that were buffered are burned

    hint: a dropped name comes back only beyond its old value: `lseq advance --above N --recreate 'o'\''brien'` with N beyond every id ever given
    ");
    assert_snapshot!(world.run(&["status", "o'brien"]), @"
    exit 0
    --- stdout
    sequence     o'brien
    value        100
    last writer  [TAG]
    definition   start 1 increment 1 min 1 max 9223372036854775807
    remaining    9223372036854775707
    used         < 0.01 %
    state        dropped
    ");
    assert_snapshot!(world.run(&["advance", "o'brien", "--above", "50"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` in sqlite:[FOLDER]/ids.db has stopped: it was dropped; ids that were buffered are burned

    hint: a dropped name comes back only beyond its old value: `lseq advance --above N --recreate 'o'\''brien'` with N beyond every id ever given
    ");
    assert_snapshot!(world.run(&["advance", "o'brien", "--above", "50", "--recreate"]), @"
    exit 0
    --- stdout
    o'brien: 100 -> 100, next id 101, created anew
    --- stderr
    note: clients that knew the old one have stopped: restart them
    ");
    assert_eq!(world.done(&["alloc", "o'brien"]), "101\n");
    assert_snapshot!(world.run(&["drop", "nobody", "--yes"]), @"
    exit 1
    --- stderr
    error: sequence `nobody` does not exist in sqlite:[FOLDER]/ids.db

    hint: create it with `lseq create nobody`, or see `lseq list`
    ");
}
