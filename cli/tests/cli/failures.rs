//! A store that fails: the exit code tells whether anything was changed.

use std::process::Command;

use insta::assert_snapshot;

use crate::world::{World, ids};

#[test]
fn a_busy_store_has_changed_nothing() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let other = rusqlite::Connection::open(world.path("ids.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_snapshot!(world.run(&["alloc", "orders", "--timeout", "300ms"]), @"
    exit 4
    --- stderr
    error: sqlite:[FOLDER]/ids.db was not available for [TIME]
    caused by: [FOLDER]/ids.db is locked by another process
    caused by: Error code 5: database is locked

    hint: who has it open? `fuser -v FILE` tells
    ");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.done(&["alloc", "orders"]), "1\n");
}

/// A file that must not grow stands for a disk that fails while a transaction is being committed.
#[test]
fn an_unknown_outcome_has_an_exit_code_of_its_own() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let lseq =
        world.command(&["alloc", "orders", "--count", "40", "--block", "1", "--timeout", "2s"]);
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    limited.arg(lseq.get_program()).args(lseq.get_args());
    let limited = world.at_home(limited).output().unwrap();
    let given = ids(&limited.stdout);
    assert!((1..40).contains(&given.len()), "{given:?}");
    let errors = String::from_utf8(limited.stderr).unwrap();
    assert_eq!(limited.status.code(), Some(3), "{errors}");
    let errors = errors.replace(&format!("only {} of", given.len()), "only [N] of");
    assert_snapshot!(world.filtered(&errors), @"
    error: only [N] of 40 ids were given
    caused by: sqlite:[FOLDER]/ids.db: it is not known whether the last write was applied; what it reserved is burned
    caused by: [FOLDER]/ids.db can't be read or written while a transaction was being committed
    caused by: Error code 778: disk I/O error

    hint: is the disk full? does the system's log tell of errors of the disk?
    ");
    // What was printed is valid, and is not given again.
    let next = ids(world.done(&["alloc", "orders"]).as_bytes());
    assert!(next > vec![*given.last().unwrap()], "{given:?}, then {next:?}");
}
