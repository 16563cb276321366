//! Which store, which password: option over environment over file, and never a secret in sight.

use insta::assert_snapshot;

use crate::world::{World, exists};

#[test]
fn without_a_store_there_is_a_file_in_the_data_folder() {
    let world = World::bare();
    assert_snapshot!(world.run(&["alloc", "orders"]), @"
    exit 1
    --- stderr
    note: no store is given, so this uses the file [FOLDER]/data/lseq/lseq.db; for a cluster, set LSEQ_STORE=cassandra://HOST/KEYSPACE
    error: sequence `orders` does not exist in sqlite:[FOLDER]/data/lseq/lseq.db

    hint: create it with `lseq create orders`, or see `lseq list`
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--create"]), @"
    exit 0
    --- stdout
    1
    --- stderr
    note: no store is given, so this uses the file [FOLDER]/data/lseq/lseq.db; for a cluster, set LSEQ_STORE=cassandra://HOST/KEYSPACE
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "-q"]), @"
    exit 0
    --- stdout
    2
    ");
    assert_snapshot!(world.run(&["alloc", "orders", "--json"]), @r#"
    exit 0
    --- stdout
    {"id":3}
    --- stderr
    {"note":"no store is given, so this uses the file [FOLDER]/data/lseq/lseq.db; for a cluster, set LSEQ_STORE=cassandra://HOST/KEYSPACE"}
    "#);
    assert!(exists(&world.path("data/lseq/lseq.db")));
    let home = world.path("home").display().to_string();
    let world = world.without("XDG_DATA_HOME").with("HOME", &home);
    assert_snapshot!(world.run(&["alloc", "orders", "--create"]), @"
    exit 0
    --- stdout
    1
    --- stderr
    note: no store is given, so this uses the file [FOLDER]/home/.local/share/lseq/lseq.db; for a cluster, set LSEQ_STORE=cassandra://HOST/KEYSPACE
    ");
    assert!(exists(&world.path("home/.local/share/lseq/lseq.db")));
    let world = world.with("XDG_DATA_HOME", "relative").without("HOME");
    assert_snapshot!(world.run(&["alloc", "orders"]), @"
    exit 2
    --- stderr
    error: no store is given, and neither XDG_DATA_HOME nor HOME says where to keep a file

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
}

#[test]
fn an_option_wins_over_the_environment_and_that_over_the_file() {
    let world = World::bare();
    world.write("lseq.toml", "store = 'sqlite:file.db'\ntimeout = '5s'\n");
    let config = ["alloc", "orders", "--create", "--config", "lseq.toml"];
    world.done(&config);
    assert!(exists(&world.path("file.db")));
    let world = world.with("LSEQ_STORE", "sqlite:environment.db");
    world.done(&config);
    assert!(exists(&world.path("environment.db")));
    world.done(&[&config[..], &["--store", "sqlite:option.db"]].concat());
    assert!(exists(&world.path("option.db")));
    let world = world.without("LSEQ_STORE").with("LSEQ_CONFIG", "lseq.toml");
    assert_eq!(world.done(&["alloc", "orders"]), "2\n");
    let world = world.without("LSEQ_CONFIG");
    let note = world.run(&["list"]);
    assert!(note.contains("no store is given"), "no file is read unless it is named: {note}");
}

#[test]
fn an_empty_variable_is_a_mistake() {
    let world = World::bare();
    for name in ["LSEQ_STORE", "LSEQ_CONFIG"] {
        let world = World::bare().with(name, "");
        let text = world.run(&["list"]);
        assert!(text.starts_with("exit 2\n"), "{text}");
        assert!(text.contains(&format!("error: {name} is set but empty\n\nhint: ")), "{text}");
    }
    for name in ["LSEQ_PASSWORD", "LSEQ_PASSWORD_FILE"] {
        let world = World::bare().with(name, "").with("LSEQ_STORE", "cassandra://127.0.0.1/shop");
        let text = world.run(&["list"]);
        assert!(text.contains(&format!("error: {name} is set but empty")), "{text}");
    }
    assert_snapshot!(world.run(&["list", "--store", ""]), @"
    exit 2
    --- stderr
    error: --store is empty

    hint: a store is sqlite:FILE, cassandra://HOST/KEYSPACE or scylla://HOST/KEYSPACE
    ");
}

#[test]
fn a_wrong_configuration_is_one_clear_line() {
    let world = World::bare();
    for (text, expected) in [
        ("stor = 'x'", "lseq.toml, line 1: unknown key `stor`"),
        ("\n\ntimeout = 10", "lseq.toml, line 3: `timeout` must be a text in quotes"),
        ("timeout = 'soon'", "lseq.toml, line 1: `timeout`: write a time as in"),
        ("store = 'x", "lseq.toml, line 1: not TOML: "),
        ("store = ''", "lseq.toml, line 1: `store` is empty"),
        ("[store]\nurl = 'x'", "lseq.toml, line 1: `store` must be a text"),
        ("password = 'a'\npassword_file = 'b'", "both `password` and `password_file`"),
        ("store = 'x'\nstore = 'y'", "lseq.toml, line 2: not TOML: duplicate key"),
    ] {
        world.write("lseq.toml", text);
        let shown = world.run(&["list", "--config", "lseq.toml"]);
        assert!(shown.starts_with("exit 2\n--- stderr\nerror: "), "{shown}");
        assert!(shown.contains(expected), "{text}: {shown}");
        assert!(
            shown.contains("\n\nhint: its keys are store, password, password_file and timeout"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 5, "{shown}");
    }
    assert_snapshot!(world.run(&["list", "--config", "absent.toml"]), @"
    exit 2
    --- stderr
    error: can't read the configuration file absent.toml
    caused by: No such file or directory (os error 2)

    hint: --config and LSEQ_CONFIG name a TOML file; leave them out to use none
    ");
    assert_snapshot!(world.run(&["list", "--config", "."]), @"
    exit 2
    --- stderr
    error: can't read the configuration file .
    caused by: Is a directory (os error 21)

    hint: --config and LSEQ_CONFIG name a TOML file; leave them out to use none
    ");
}

#[test]
fn hints_mean_the_store_that_was_named() {
    let world = World::bare();
    world.write("a b.toml", "store = 'sqlite:ids.db'\n");
    world.done(&["init", "--store", "sqlite:ids.db"]);
    let shown = world.run(&["alloc", "orders", "--store", "sqlite:ids.db"]);
    assert!(shown.contains("`lseq --store sqlite:ids.db create orders`"), "{shown}");
    let shown = world.run(&["alloc", "orders", "--config", "a b.toml"]);
    assert!(shown.contains("`lseq --config 'a b.toml' create orders`"), "{shown}");
    // A name that looks like an option names no store.
    let shown = world.run(&["--store=sqlite:ids.db", "alloc", "--", "--store=x"]);
    assert!(shown.contains("`lseq --store sqlite:ids.db create -- --store=x`"), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_unicode_is_a_path() {
    use std::os::unix::ffi::OsStrExt as _;

    let world = World::bare();
    let mut command = world.command(&["list", "--config"]);
    let output = command.arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read the configuration file"), "{errors}");
}

#[test]
fn a_password_in_an_argument_is_refused_and_never_repeated() {
    let world = World::bare();
    let url = "cassandra://shop:s3cret@127.0.0.1:1/shop";
    assert_snapshot!(world.run(&["list", "--store", url]), @"
    exit 2
    --- stderr
    error: the store's URL holds a password, which process lists and shell histories would show

    hint: set LSEQ_PASSWORD, LSEQ_PASSWORD_FILE or `password` in the file named by --config, and write cassandra://USER@HOST/KEYSPACE (any other @ is written %40)
    ");
    world.write("lseq.toml", &format!("store = '{url}'"));
    let with_environment = World::bare().with("LSEQ_STORE", url);
    for shown in [
        world.run(&["list", "--store", url, "-vvv"]),
        world.run(&["list", "--json", "--store", url]),
        world.run(&["list", "--config", "lseq.toml", "-vvv"]),
        with_environment.run(&["list", "-vvv"]),
        world.run(&[url]),
        world.run(&["list", url]),
        world.run(&["list", "--json", url]),
        world.run(&["list", &format!("--stor={url}")]),
        world.run(&["list", "--timeout", url]),
        world.run(&["list", "--limit", url]),
        world.run(&["alloc", "orders", "--count", url]),
        world.run(&["create", "orders", "--type", url]),
        world.run(&["completions", url]),
        world.run(&["man", url]),
        world.run(&["list", "--config", url]),
        world.run(&["list", "--store", "cassandra://shop:s3cret/x?y#z@127.0.0.1:1/shop"]),
        world.run(&["list", "--store", "cassandra://127.0.0.1:1/shop?password=s3cret"]),
    ] {
        assert!(shown.starts_with("exit 2\n--- stderr\n"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn a_password_comes_from_one_place() {
    let world = World::bare().with("LSEQ_STORE", "cassandra://shop@127.0.0.1:1/shop");
    let both = world.with("LSEQ_PASSWORD", "s3cret").with("LSEQ_PASSWORD_FILE", "secret");
    assert_snapshot!(both.run(&["list"]), @"
    exit 2
    --- stderr
    error: both LSEQ_PASSWORD and LSEQ_PASSWORD_FILE are set

    hint: unset the one that is not meant
    ");
    let file = both.without("LSEQ_PASSWORD");
    assert_snapshot!(file.run(&["list"]), @"
    exit 2
    --- stderr
    error: the password file secret can't be read
    caused by: No such file or directory (os error 2)

    hint: it holds the password and nothing else
    ");
    file.write("secret", "\n");
    assert_snapshot!(file.run(&["list"]), @"
    exit 2
    --- stderr
    error: the password file secret is empty

    hint: it holds the password and nothing else
    ");
    file.write("secret", "s3cret\nanother\n");
    assert_snapshot!(file.run(&["list"]), @"
    exit 2
    --- stderr
    error: the password file secret has more than one line

    hint: it holds the password and nothing else
    ");
    // A file needs none, and one that is meant for a cluster does no harm.
    let embedded = file.without("LSEQ_STORE").with("LSEQ_STORE", "sqlite:ids.db");
    embedded.done(&["create", "orders"]);
}

/// A pipe that nobody writes to was waited for without end.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_if_it_ends_in_time_and_not_waited_for_if_it_does_not() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let world = World::bare();
    for pipe in ["silent", "late"] {
        assert!(Command::new("mkfifo").arg(world.path(pipe)).status().unwrap().success());
    }
    assert_snapshot!(world.run(&["list", "--config", "silent", "--timeout", "300ms"]), @"
    exit 2
    --- stderr
    error: can't read the configuration file silent
    caused by: its end has not come for 300ms: does nobody write to it? --timeout waits longer

    hint: --config and LSEQ_CONFIG name a TOML file; leave them out to use none
    ");
    let store = ["--store", "cassandra://shop@127.0.0.1:1/shop", "--timeout", "300ms"];
    let protected =
        World::bare().with("LSEQ_PASSWORD_FILE", world.path("silent").to_str().unwrap());
    let shown = protected.run(&[&["list"][..], &store].concat());
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(shown.contains("caused by: its end has not come for 300ms"), "{shown}");
    let shown = world.run(&["list", "--config", "/dev/zero"]);
    assert!(shown.contains("caused by: it is larger than 64 KiB"), "{shown}");

    // As `--config <(...)`, whose writer may take its time.
    let text = "store = 'sqlite:ids.db'\n";
    let reader = world.spawn(&["alloc", "orders", "--create", "--config", "late"]);
    std::fs::write(world.path("late"), text).unwrap();
    assert_eq!(reader.wait_with_output().unwrap().stdout, b"1\n");
    let mut command = world.command(&["alloc", "orders", "--config", "/dev/stdin"]);
    let mut reader = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    reader.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert_eq!(reader.wait_with_output().unwrap().stdout, b"2\n");
}
