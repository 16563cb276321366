//! Whatever is wrong is one clear line with a hint, in time, and nothing is half created.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::world::{World, exists};

#[test]
fn wrong_arguments() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["alloc", "orders", "--cout", "3"]), @"
    exit 2
    --- stderr
    error: unexpected argument '--cout' found

    hint: a similar argument exists: '--count'
    hint: usage is `lseq alloc --count <N> <NAME>`; `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--count", "0"]), @"
    exit 2
    --- stderr
    error: invalid value '0' for '--count <N>': write a whole number, at least 1

    hint: `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--count", "-1"]), @"
    exit 2
    --- stderr
    error: invalid value '-1' for '--count <N>': write a whole number, at least 1

    hint: `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--count"]), @"
    exit 2
    --- stderr
    error: a value is required for '--count <N>' but none was supplied

    hint: `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--block", "9999999999"]), @"
    exit 2
    --- stderr
    error: invalid value '9999999999' for '--block <N>': a block has at most 1073741824 ids

    hint: `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--range", "--block", "5"]), @"
    exit 2
    --- stderr
    error: the argument '--range' cannot be used with '--block <N>'

    hint: usage is `lseq alloc --range <NAME>`; `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided: <NAME>

    hint: usage is `lseq alloc <NAME>`; `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "invoices"]), @"
    exit 2
    --- stderr
    error: unexpected argument 'invoices' found

    hint: usage is `lseq alloc [OPTIONS] <NAME>`; `lseq alloc --help` says more
    ");
    assert_snapshot!(world.run(&["aloc", "orders"]), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'aloc'

    hint: a similar subcommand exists: 'alloc'
    hint: usage is `lseq [OPTIONS] <COMMAND>`; `lseq --help` says more
    ");
    assert_snapshot!(world.run(&["advance", "orders"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided: --above <ID>

    hint: usage is `lseq advance --above <ID> <NAME>`; `lseq advance --help` says more
    ");
    assert_snapshot!(world.run(&["list", "--timeout", "10"]), @"
    exit 2
    --- stderr
    error: invalid value '10' for '--timeout <TIME>': write a time as in 500ms, 10s, 1m30s or 1h

    hint: `lseq list --help` says more
    ");
    assert_snapshot!(world.run(&["list", "--timeout", "2h"]), @"
    exit 2
    --- stderr
    error: invalid value '2h' for '--timeout <TIME>': a time lies between 1ms and 1h

    hint: `lseq list --help` says more
    ");
    assert_snapshot!(world.run(&["list", "-q", "-v"]), @"
    exit 2
    --- stderr
    error: the argument '--quiet' cannot be used with '--verbose...'

    hint: usage is `lseq list --quiet`; `lseq list --help` says more
    ");
    assert_snapshot!(world.run(&["status", "orders", "--fail-above", "101"]), @"
    exit 2
    --- stderr
    error: invalid value '101' for '--fail-above <PERCENT>': a share is a number from 0 to 100

    hint: `lseq status --help` says more
    ");
    assert_snapshot!(world.run(&["completions", "dos"]), @"
    exit 2
    --- stderr
    error: invalid value 'dos' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]

    hint: `lseq completions --help` says more
    ");
    assert_snapshot!(world.run(&["man", "aloc"]), @"
    exit 2
    --- stderr
    error: there is no subcommand `aloc`

    hint: they are init, create, alloc, status, list, advance, alter, drop, check, completions, man
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--json", "--cout", "3"]), @r#"
    exit 2
    --- stderr
    {"error":"unexpected argument '--cout' found","causes":[],"hint":"a similar argument exists: '--count'; usage is `lseq alloc --json --count <N> <NAME>`; `lseq alloc --help` says more","exit":2}
    "#);
    assert!(!exists(&world.path("ids.db")));
}

#[test]
fn wrong_names() {
    let world = World::embedded();
    assert_snapshot!(world.run(&["create", ""]), @"
    exit 2
    --- stderr
    error: a sequence's name is 1 to 255 bytes long; this one is empty

    hint: any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters
    ");
    assert_snapshot!(world.run(&["create", "a\tb"]), @"
    exit 2
    --- stderr
    error: a sequence's name has no control characters; this one holds U+0009

    hint: any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters
    ");
    assert_snapshot!(world.run(&["create", "cafe\u{301}"]), @r#"
    exit 2
    --- stderr
    error: a sequence's name is in Unicode form NFC; "cafe\u{301}" is not: two spellings would look the same

    hint: any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters
    "#);
    assert_snapshot!(world.run(&["create", &"x".repeat(256)]), @"
    exit 2
    --- stderr
    error: a sequence's name is 1 to 255 bytes long; this one has 256 bytes

    hint: any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters
    ");
    assert_snapshot!(world.run(&["create", "-x"]), @"
    exit 2
    --- stderr
    error: unexpected argument '-x' found

    hint: to pass '-x' as a value, use '-- -x'
    hint: usage is `lseq create [OPTIONS] <NAME>`; `lseq create --help` says more
    ");
    assert_snapshot!(world.run(&["status", "", "--json"]), @r#"
    exit 2
    --- stderr
    {"error":"a sequence's name is 1 to 255 bytes long; this one is empty","causes":[],"hint":"any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters","exit":2}
    "#);
    assert!(!exists(&world.path("ids.db")));
}

#[test]
fn wrong_stores() {
    let world = World::bare();
    world.write(
        "text.db",
        "this is no database, and long enough that it could be one ........................",
    );
    assert_snapshot!(world.run(&["list", "--store", "postgres://host/ids"]), @"
    exit 2
    --- stderr
    error: no store has the URL scheme `postgres:`; this build knows sqlite:FILE, cassandra://HOST/KEYSPACE and scylla://HOST/KEYSPACE

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
    assert_snapshot!(world.run(&["list", "--store", "ids.db"]), @"
    exit 2
    --- stderr
    error: the store's URL begins with no scheme; this build knows sqlite:FILE, cassandra://HOST/KEYSPACE and scylla://HOST/KEYSPACE

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
    assert_snapshot!(world.run(&["list", "--store", "sqlite:"]), @"
    exit 2
    --- stderr
    error: the store's URL names no file; write sqlite:FILE

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
    assert_snapshot!(world.run(&["list", "--store", "sqlite:."]), @"
    exit 1
    --- stderr
    error: sqlite:. refuses
    caused by: [FOLDER] is a folder

    hint: name a file in it, as in `sqlite:[FOLDER]/ids.db`
    ");
    assert_snapshot!(world.run(&["list", "--store", "sqlite:absent.db"]), @"
    exit 1
    --- stderr
    error: sqlite:absent.db refuses
    caused by: [FOLDER]/absent.db does not exist

    hint: is the path right? creating a sequence makes the file
    ");
    assert_snapshot!(world.run(&["create", "x", "--store", "sqlite:absent/ids.db"]), @"
    exit 1
    --- stderr
    error: sqlite:absent/ids.db refuses
    caused by: the folder [FOLDER]/absent does not exist

    hint: make it with `mkdir -p [FOLDER]/absent`
    ");
    assert_snapshot!(world.run(&["create", "x", "--store", "sqlite:text.db"]), @"
    exit 1
    --- stderr
    error: sqlite:text.db refuses
    caused by: [FOLDER]/text.db is not a SQLite database
    caused by: Error code 26: file is not a database

    hint: is the path right? if sequences were in this file, restore it from a backup, then move every sequence beyond each id ever given: `lseq --store sqlite:text.db advance NAME --above N`
    ");
    assert_snapshot!(world.run(&["list", "--store", "cassandra://127.0.0.1"]), @"
    exit 2
    --- stderr
    error: the store URL names no keyspace: write cassandra://[user@]host[:port][,host...]/keyspace[?name=value&...]

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
    assert_snapshot!(world.run(&["list", "--store", "scylla://127.0.0.1/shop?datacentre=x"]), @"
    exit 2
    --- stderr
    error: parameter 1 of the store URL is not known: the known ones are dc, tls, ca, cert, key, prefix, request_timeout, map

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
    assert!(!exists(&world.path("absent.db")));
}

#[test]
fn a_cluster_that_is_not_there() {
    let world = World::bare();
    let began = Instant::now();
    assert_snapshot!(world.run(&["list", "--store", "cassandra://127.0.0.1:1/shop", "--timeout", "2s"]), @"
    exit 4
    --- stderr
    error: cassandra://127.0.0.1:1/shop was not available for [TIME]
    caused by: can't connect
    caused by: connection refused

    hint: is the cluster up, and are host and port right?
    ");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let json = world.run(&[
        "list",
        "--store",
        "cassandra://127.0.0.1:1/shop",
        "--timeout",
        "1s",
        "--json",
    ]);
    assert!(json.contains("\"exit\":4"), "{json}");
}

#[test]
fn a_cluster_that_says_nothing() {
    let world = World::bare();
    // Connections are taken by the system, and nobody ever answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("cassandra://{}/shop", silent.local_addr().unwrap());
    for command in [&["list"][..], &["init"], &["alloc", "orders", "--create"]] {
        let began = Instant::now();
        let shown = world.run(&[command, &["--store", &url, "--timeout", "2s"]].concat());
        assert!(shown.starts_with("exit 4\n"), "{shown}");
        assert!(shown.contains("\n\nhint: "), "{shown}");
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
}

#[test]
fn a_file_of_a_later_version() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let later = rusqlite::Connection::open(world.path("ids.db")).unwrap();
    later.execute_batch("PRAGMA user_version = 2").unwrap();
    drop(later);
    assert_snapshot!(world.run(&["alloc", "orders"]), @"
    exit 1
    --- stderr
    error: sqlite:ids.db refuses
    caused by: [FOLDER]/ids.db has tables of format 2, and this version of lamport-seq knows format 1

    hint: use the version of lamport-seq that made the file, or a later one
    ");
}

#[test]
fn a_wrong_log_filter() {
    let world = World::embedded().with("RUST_LOG", "lamport_seq=loud");
    assert_snapshot!(world.run(&["list"]), @r#"
    exit 2
    --- stderr
    error: RUST_LOG does not say what to log
    caused by: error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5

    hint: write a level, or module=level, as in RUST_LOG=lamport_seq=debug
    "#);
}
