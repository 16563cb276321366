//! Logs and colour.

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
