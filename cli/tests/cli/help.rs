//! What the command says of itself.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn the_version() {
    let shown = World::bare().run(&["--version"]);
    assert_eq!(shown, format!("exit 0\n--- stdout\nlseq {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_command() {
    assert_snapshot!(World::bare().run(&["--help"]), @r#"
    exit 0
    --- stdout
    Unique integer ids from Apache Cassandra, ScyllaDB or an embedded file.

    No id is ever printed twice, by any number of processes and machines on one store. Ids that were
    reserved and not printed are burned: a gap, never a duplicate.

    Usage: lseq [OPTIONS] <COMMAND>

    Commands:
      init         Create what the sequences live in: keyspace and tables, or a file
      create       Create a sequence
      alloc        Reserve ids and print them
      status       Show how far a sequence has come
      list         List the sequences
      advance      Move a sequence on, so that all its ids lie beyond a given one
      alter        Widen the bounds of a sequence
      drop         Drop a sequence for good
      check        Check recorded histories: that no id was given twice, and all else that is promised
      completions  Print a completion script for a shell
      man          Print a manual page, or write all of them to a folder

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Global options:
          --store <URL>
              Where the sequences live [env: LSEQ_STORE]

          --config <FILE>
              Read store, password, password_file and timeout from this TOML file [env: LSEQ_CONFIG]

          --timeout <TIME>
              How long to wait for the store, as in 500ms, 10s or 2m, up to 1h [default: 10s, init 1m]

          --json
              Print one JSON object a line

      -v, --verbose...
              Log more on standard error: -v, -vv or -vvv

      -q, --quiet
              No notes, no warnings, no progress on standard error: only errors

    Stores:
      sqlite:FILE                               a file, shared safely by the processes of one machine
      cassandra://[USER@]HOST[:PORT][,HOST...]/KEYSPACE[?dc=..&tls=..&ca=..]
      scylla://...                              alike
      With none given, ids come from lseq/lseq.db in the user's data folder.

    Environment (an option wins over it, and it wins over the file named by --config):
      LSEQ_STORE                                the store's URL
      LSEQ_CONFIG                               the configuration file
      LSEQ_PASSWORD, LSEQ_PASSWORD_FILE         the password, or a file that holds it
      RUST_LOG                                  what is logged; wins over -v
      NO_COLOR                                  no colour
      XDG_DATA_HOME                             the user's data folder, ~/.local/share by default

    Configuration (--config FILE; none is read unless it is named, paths start where the command does):
      store = "cassandra://shop@10.0.0.1/ids?dc=dc1"
      password = "..."                          or password_file = "/run/secrets/lseq"
      timeout = "10s"

    Exit codes:
      0  done
      1  refused, or a check found a violation
      2  bad arguments, environment or configuration
      3  outcome unknown: ids may be burned, never given twice
      4  store unavailable or busy, nothing was changed

    With --json, standard output has one JSON object a line (`lseq COMMAND --help` says which), and
    every error, warning and note on standard error is one too:
    {"error":..,"causes":[..],"hint":..,"exit":N}, {"warning":..}, {"note":..}. So is every line that
    -v or RUST_LOG logs: {"timestamp":..,"level":..,"message":..,"target":..}, and what belongs to it.
    "#);
    let bare = World::bare().run(&[]);
    assert!(bare.starts_with("exit 2\n--- stderr\nUnique integer ids"), "{bare}");
}

#[test]
fn init() {
    assert_snapshot!(own_help("init"), @r#"
    exit 0
    --- stdout
    Create what the sequences live in: keyspace and tables, or a file

    Prints the CQL that it runs. Running it again is fine: what is there stays as it is. It waits up to
    a minute unless --timeout says otherwise.

    Usage: lseq init [OPTIONS]

    Options:
          --rf <N>
              How many replicas each datacenter of a new keyspace has; 3 survive the loss of one

          --replication <DC=N,...>
              How many replicas a new keyspace has in which datacenter, as in dc1=3,dc2=3

          --adopt
              Take over a table `counters` that was made by hand, as (name text, node uuid, value
              bigint)

          --dry-run
              Only print what would be run

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: {"statement":"CQL","dry_run":..} for each statement; for a file
    {"file":..,"created":..}.
    "#);
}

#[test]
fn create() {
    assert_snapshot!(own_help("create"), @r#"
    exit 0
    --- stdout
    Create a sequence

    Words and defaults are those of PostgreSQL's CREATE SEQUENCE: a rising sequence starts at 1, a
    falling one at -1. The definition is immutable, but that `lseq alter` widens its bounds.

    Usage: lseq create [OPTIONS] <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
      -h, --help
              Print help (see a summary with '-h')

    Definition:
          --start <ID>
              The first id [default: the minimum of a rising sequence, the maximum of a falling one]

          --increment <N>
              The distance from one id to the next; negative for a falling sequence [default: 1]

          --min <ID>
              The smallest id [default: 1, or the type's smallest for a falling sequence]

          --max <ID>
              The largest id [default: the type's largest, or -1 for a falling sequence]

          --type <TYPE>
              What the ids must fit into [default: bigint]

              Possible values:
              - int:    32 bits: up to 2147483647
              - bigint: 64 bits: up to 9223372036854775807
              - js:     What a JavaScript number holds exactly: up to 9007199254740991

          --if-not-exists
              Accept a sequence that is there already, if it is defined alike

    [global options]

    With --json: {"sequence":..,"created":true,"start_value":..,"increment_by":..,"min_value":..,
    "max_value":..,"strict":false}
    "#);
}

#[test]
fn alloc() {
    assert_snapshot!(own_help("alloc"), @r#"
    exit 0
    --- stdout
    Reserve ids and print them

    Prints ids one a line, and nothing that was not reserved: what was printed before an error is valid.
    It reserves exactly what it prints. If fewer ids are left than asked for, those are printed and it
    exits with 1. A reader that goes away, as `head` does, ends it quietly with 0; what was reserved and
    not read is burned, one block at most. A line counts with its line feed.

    Usage: lseq alloc [OPTIONS] <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
          --count <N>
              How many ids
              
              [default: 1]

          --block <N>
              How many ids to reserve at a time [default: all, up to a million]

          --create
              Create the sequence with the defaults, if there is none

          --range
              Print one line `FIRST LAST`, and the increment if it is not 1; all ids or none

          --yes
              Consent to use more than a million ids and a hundredth of what is left, which can't be
              undone

          --history <FILE>
              Record to this file, for `lseq check`, every id before it is printed; appends to what is
              there

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: {"id":N} for every id; with --range
    {"sequence":..,"first":..,"last":..,"increment":..,"count":..}.
    "#);
}

#[test]
fn status() {
    assert_snapshot!(own_help("status"), @r#"
    exit 0
    --- stdout
    Show how far a sequence has come

    From 90 % on it warns. The tag names the generator that wrote last; it is drawn when a generator
    opens.

    Usage: lseq status [OPTIONS] <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
          --fail-above <PERCENT>
              Exit with 1 if more than this share of the ids is used, 0 to 100

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: {"sequence":..,"value":..,"node":..,"tag":..,"start_value":..,"increment_by":..,
    "min_value":..,"max_value":..,"strict":..,"defined":..,"retired":..,"remaining":..,
    "used_percent":..}. tag is null as long as nobody has reserved; defined is false in an adopted
    table.
    "#);
}

#[test]
fn list() {
    assert_snapshot!(own_help("list"), @r#"
    exit 0
    --- stdout
    List the sequences

    In the store's own order, dropped ones too. A row that is no sequence's is shown as corrupt, and
    makes it exit with 1 at the end.

    Usage: lseq list [OPTIONS]

    Options:
          --prefix <TEXT>
              Only sequences whose name begins like this

          --limit <N>
              Stop after this many sequences

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: one object per sequence, as `lseq status` prints, or {"sequence":..,"corrupt":..}.
    "#);
}

#[test]
fn advance() {
    assert_snapshot!(own_help("advance"), @r#"
    exit 0
    --- stdout
    Move a sequence on, so that all its ids lie beyond a given one

    Only ever forward, aligned to the increment; prints the value before and after. Ids that other
    processes have buffered may be lower, and are still given: restart those that must not.

    Usage: lseq advance [OPTIONS] --above <ID> <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
          --above <ID>
              The id beyond which all further ids lie

          --dry-run
              Only say what would be done

          --yes
              Consent to use more than a million ids and a hundredth of what is left, which can't be
              undone

          --recreate
              Bring back a sequence that was dropped or has lost its row; clients that knew the old one
              stop
              
              A dropped one keeps its definition. One without a row gets the definition that the flags
              give.

      -h, --help
              Print help (see a summary with '-h')

    Definition:
          --start <ID>
              The first id [default: the minimum of a rising sequence, the maximum of a falling one]

          --increment <N>
              The distance from one id to the next; negative for a falling sequence [default: 1]

          --min <ID>
              The smallest id [default: 1, or the type's smallest for a falling sequence]

          --max <ID>
              The largest id [default: the type's largest, or -1 for a falling sequence]

          --type <TYPE>
              What the ids must fit into [default: bigint]

              Possible values:
              - int:    32 bits: up to 2147483647
              - bigint: 64 bits: up to 9223372036854775807
              - js:     What a JavaScript number holds exactly: up to 9007199254740991

    [global options]

    With --json: {"sequence":..,"before":..,"after":..,"next":..,"changed":..,"recreated":..,
    "dry_run":..}. before is null if there was no row, next is null if no id is left.
    "#);
}

#[test]
fn alter() {
    assert_snapshot!(own_help("alter"), @r#"
    exit 0
    --- stdout
    Widen the bounds of a sequence

    Bounds only ever move outward; nothing else of a definition can be changed. Prints it before and
    after. Restart clients that expect the old one.

    Usage: lseq alter [OPTIONS] <--min <ID>|--max <ID>|--type <TYPE>> <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
          --min <ID>
              The smallest id

          --max <ID>
              The largest id

          --type <TYPE>
              The end of what the ids must fit into: the largest of a rising sequence, the smallest of a
              falling one

              Possible values:
              - int:    32 bits: up to 2147483647
              - bigint: 64 bits: up to 9223372036854775807
              - js:     What a JavaScript number holds exactly: up to 9007199254740991

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: {"sequence":..,"before":DEFINITION,"after":DEFINITION,"changed":..} with DEFINITION
    {"start_value":..,"increment_by":..,"min_value":..,"max_value":..,"strict":..}.
    "#);
}

#[test]
fn drop() {
    assert_snapshot!(own_help("drop"), @r#"
    exit 0
    --- stdout
    Drop a sequence for good

    It refuses everything from then on, and its clients stop. Its row stays, so that no id can come
    again: the name comes back only beyond its old value, by `lseq advance --recreate`.

    Usage: lseq drop [OPTIONS] <NAME>

    Arguments:
      <NAME>
              The sequence

    Options:
          --yes
              Consent to what can't be undone

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: what `lseq status` prints, "retired":true.
    "#);
}

#[test]
fn check() {
    assert_snapshot!(own_help("check"), @r#"
    exit 0
    --- stdout
    Check recorded histories: that no id was given twice, and all else that is promised

    All files are judged as one history of one store. Prints each violation with the lines that show it,
    and how much there was to judge. Exits with 1 if there is a violation, and with 2 if a file can't be
    read or is no history.

    Usage: lseq check [OPTIONS] <FILE>...

    Arguments:
      <FILE>...
              Histories, as a recorder writes them

    Options:
          --allow-unexplained-stops
              Accept stops of which the history holds no cause, as that of a service, which records no
              faults

      -h, --help
              Print help (see a summary with '-h')

    [global options]

    With --json: {"violations":[{"property":..,"sequence":..,"problem":..,"operations":[{"operation":..,
    "client":..,"generator":..,"file":..,"line":..}]}],"found":{..},"torn":[..],"summary":{..}}.
    found counts all violations of each property, of which the first 100 are described.
    "#);
}

#[test]
fn completions() {
    assert_snapshot!(own_help("completions"), @"
    exit 0
    --- stdout
    Print a completion script for a shell

    For bash: `source <(lseq completions bash)`.

    Usage: lseq completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>
              The shell
              
              [possible values: bash, elvish, fish, powershell, zsh]

    Options:
      -h, --help
              Print help (see a summary with '-h')

    [global options]
    ");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(World::bare().done(&["completions", shell]).contains("fail-above"), "{shell}");
    }
}

#[test]
fn man() {
    assert_snapshot!(own_help("man"), @"
    exit 0
    --- stdout
    Print a manual page, or write all of them to a folder

    Usage: lseq man [OPTIONS] [COMMAND]

    Arguments:
      [COMMAND]  The subcommand that the page is about; without one, the command as a whole

    Options:
          --dir <FOLDER>  Write lseq.1, lseq-alloc.1 and so on into this folder
      -h, --help          Print help

    [global options]
    ");
    let world = World::bare();
    assert!(world.done(&["man"]).contains(".SH NAME"));
    assert!(world.done(&["man", "alloc"]).contains("lseq\\-alloc"));
    std::fs::create_dir(world.path("pages")).unwrap();
    world.done(&["man", "--dir", "pages"]);
    let page = std::fs::read_to_string(world.path("pages/lseq-advance.1")).unwrap();
    assert!(page.contains("dry\\-run"), "{page}");
    assert_snapshot!(world.run(&["man", "--dir", "absent"]), @"
    exit 1
    --- stderr
    error: can't write absent/lseq.1
    caused by: No such file or directory (os error 2)

    hint: --dir names a folder that is there
    ");
}

/// A subcommand's help without the global options, which are in everybody's.
fn own_help(subcommand: &str) -> String {
    let shown = World::bare().run(&[subcommand, "--help"]);
    let (own, rest) = shown.split_once("Global options:\n").unwrap();
    let after = rest.split_once("only errors\n").unwrap().1;
    format!("{own}[global options]\n{after}")
}
