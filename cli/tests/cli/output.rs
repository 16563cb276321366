//! Logs and colour.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn logs_go_to_standard_error_as_told() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    for arguments in [&["alloc", "orders"][..], &["alloc", "orders", "-q"]] {
        let output = world.output(arguments);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
    let output = world.output(&["alloc", "orders", "-vvv"]);
    assert_eq!(output.stdout, b"3\n");
    // RUST_LOG wins, over -v and -q alike.
    let world = world.with("RUST_LOG", "off");
    let output = world.output(&["alloc", "orders", "-vvv"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn there_is_no_colour_where_nobody_watches() {
    let world = World::embedded();
    for arguments in
        [&["list"][..], &["--help"], &["alloc"], &["alloc", "orders", "--create"], &["list"]]
    {
        let shown = world.run(arguments);
        assert!(!shown.contains('\x1b'), "{shown:?}");
    }
}

#[test]
fn logs_are_json_where_everything_is() {
    let absent = ["--store", "cassandra://127.0.0.1:1/shop", "--timeout", "300ms"];
    let output = World::bare().output(&[&["list", "--json", "-vvv"][..], &absent].concat());
    let lines = String::from_utf8(output.stderr).unwrap();
    assert!(lines.lines().count() > 1, "something is logged: {lines}");
    for line in lines.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_log = object["level"].is_string() && object["message"].is_string();
        assert!(is_log || object["error"].is_string(), "{line}");
    }
}

/// `orders` and another name that looks like it could not be told apart.
#[test]
fn what_can_not_be_seen_in_a_name_is_escaped_for_people_and_left_to_json() {
    let world = World::embedded();
    for name in ["or\u{200b}ders", "a\u{202e}b", "naïve o'brien", "two  blanks"] {
        world.done(&["create", name]);
    }
    assert_snapshot!(world.run(&["list"]), @r"
    exit 0
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                       0  9223372036854775807       0 %  -        a\u{202e}b
                       0  9223372036854775807       0 %  -        naïve o'brien
                       0  9223372036854775807       0 %  -        or\u{200b}ders
                       0  9223372036854775807       0 %  -        two  blanks
    ");
    assert_snapshot!(world.run(&["create", "a\u{202e}b"]), @r"
    exit 1
    --- stderr
    error: sequence `a\u{202e}b` exists already in sqlite:[FOLDER]/ids.db

    hint: `lseq status 'a\u{202e}b'` shows it; `--if-not-exists` accepts an equal one
    ");
    let shown = world.run(&["status", "or\u{200b}ders"]);
    assert!(shown.contains("sequence     or\\u{200b}ders\n"), "{shown}");
    let shown = world.run(&["status", "two  blanks there"]);
    assert!(shown.contains("error: sequence `two  blanks there` does not exist"), "{shown}");
    let shown = world.run(&["al\u{202e}loc"]);
    assert!(shown.contains(r"error: unrecognized subcommand 'al\u{202e}loc'"), "{shown}");
    let shown = world.run(&["status", "or\u{200b}ders", "--json"]);
    assert!(shown.contains("\"sequence\":\"or\u{200b}ders\""), "{shown}");
}
