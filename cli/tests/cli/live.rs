//! On a real Cassandra. `cargo xtask test` starts one and runs these; by hand:
//! `LSEQ_TEST_CASSANDRA=127.0.0.1,127.0.0.2,127.0.0.3 cargo test -p lamport-seq-cli -- --ignored live`.

use std::path::Path;
use std::process::{Child, Command, Output};
use std::thread::JoinHandle;
use std::time::Duration;

use insta::assert_snapshot;
use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;

use crate::world::{World, assert_distinct, finish, ids, wait_until};

/// The sizes of the blocks that eight processes reserve at once.
const BLOCKS: [usize; 8] = [1, 7, 10, 33, 100, 128, 500, 1000];
const RESERVATIONS: usize = 200;

fn contact_points() -> String {
    std::env::var("LSEQ_TEST_CASSANDRA")
        .expect("LSEQ_TEST_CASSANDRA names the nodes of a test cluster; `cargo xtask test` sets it")
}

/// A keyspace of the test's own, which is not there yet, and is dropped in the end.
pub(crate) struct Live {
    pub(crate) world: World,
    keyspace: String,
}

impl Live {
    pub(crate) fn new() -> Self {
        let folder = World::bare();
        let random = folder.path("").display().to_string();
        let random: String = random.chars().filter(char::is_ascii_alphanumeric).collect();
        let keyspace = format!("cli_{}_{}", std::process::id(), &random[random.len() - 6..]);
        let url = format!("cassandra://{}/{keyspace}", contact_points());
        Self { world: folder.with("LSEQ_STORE", &url), keyspace }
    }

    /// With the tables in it.
    fn ready() -> Self {
        let live = Self::new();
        live.world.done(&["init", "--rf", "3", "-q"]);
        live
    }

    fn run(&self, arguments: &[&str]) -> String {
        let shown = self.world.run(arguments);
        shown.replace(&self.keyspace, "[KEYSPACE]").replace(&contact_points(), "[HOSTS]")
    }
}

/// Plain statements, which the command never sends.
fn plain(statements: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let hosts: Vec<String> = contact_points().split(',').map(str::to_owned).collect();
    runtime.block_on(async {
        let session = SessionBuilder::new().known_nodes(hosts).build().await?;
        for statement in statements {
            session.query_unpaged(statement.as_str(), ()).await?;
        }
        Ok(())
    })
}

impl Drop for Live {
    fn drop(&mut self) {
        // A keyspace that stays is in nobody's way, and a test may be failing already.
        drop(plain(&[format!("DROP KEYSPACE IF EXISTS \"{}\"", self.keyspace)]));
    }
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_a_table_that_was_made_by_hand_is_adopted() {
    let live = Live::new();
    let keyspace = format!("\"{}\"", live.keyspace);
    plain(&[
        format!(
            "CREATE KEYSPACE {keyspace} WITH replication = \
             {{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}}"
        ),
        format!(
            "CREATE TABLE {keyspace}.counters (name text PRIMARY KEY, node uuid, value bigint)"
        ),
        format!("INSERT INTO {keyspace}.counters (name, node, value) VALUES ('old', uuid(), 41)"),
    ])
    .unwrap();
    let refused = live.run(&["init"]);
    assert!(refused.starts_with("exit 1\n"), "{refused}");
    assert!(refused.contains("was made by hand") && refused.contains("--adopt"), "{refused}");
    let adopted = live.run(&["init", "--adopt"]);
    assert!(adopted.starts_with("exit 0\n") && adopted.contains("ALTER TABLE"), "{adopted}");
    assert!(adopted.contains("must be the LAST id"), "it says what `value` must mean: {adopted}");
    assert_eq!(live.world.done(&["alloc", "old", "--count", "2"]), "42\n43\n");
    let twice = live.run(&["init", "--adopt"]);
    assert!(twice.starts_with("exit 0\n") && !twice.contains("ALTER TABLE"), "{twice}");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_tables_are_made_once() {
    let live = Live::new();
    assert_snapshot!(live.run(&["list"]), @r#"
    exit 1
    --- stderr
    error: cassandra://[HOSTS]/[KEYSPACE] refuses
    caused by: there is no keyspace "[KEYSPACE]"

    hint: create what is missing with `lseq init`
    "#);
    let refused = live.run(&["init"]);
    assert!(refused.starts_with("exit 2\n--- stderr\nerror: how many replicas"), "{refused}");
    let (_, rest) = refused.split_once("The cluster has ").unwrap();
    let datacenter = rest.split(' ').next().unwrap();
    assert!(rest.starts_with(&format!("{datacenter} (3 nodes): say `--rf N`")), "{refused}");
    let refused = live.run(&["init", "--replication", "nowhere=3"]);
    assert!(refused.contains("there is no datacenter `nowhere`"), "{refused}");
    let refused = live.run(&["init", "--rf", "4"]);
    assert!(refused.contains("can't hold 4 replicas"), "{refused}");
    let dry = live.run(&["init", "--rf", "3", "--dry-run"]);
    assert_snapshot!(dry.replace(datacenter, "[DATACENTER]"), @r#"
    exit 0
    --- stdout
    CREATE KEYSPACE IF NOT EXISTS "[KEYSPACE]"
        WITH replication = {'class': 'NetworkTopologyStrategy', '[DATACENTER]': 3}
        AND durable_writes = true;
    CREATE TABLE IF NOT EXISTS "[KEYSPACE]".counters (
        name text PRIMARY KEY,
        node uuid,
        value bigint,
        created uuid,
        start_value bigint,
        increment_by bigint,
        min_value bigint,
        max_value bigint,
        strict boolean,
        retired boolean
    ) WITH comment = 'Sequences of lamport-seq: written by lightweight transactions only'
        AND default_time_to_live = 0
        AND gc_grace_seconds = 864000;
    CREATE TABLE IF NOT EXISTS "[KEYSPACE]".sequences (
        name text PRIMARY KEY,
        created uuid,
        created_at timestamp
    ) WITH comment = 'Births of the sequences of lamport-seq: never deleted'
        AND default_time_to_live = 0
        AND gc_grace_seconds = 864000;
    CREATE TABLE IF NOT EXISTS "[KEYSPACE]".lseq_meta (
        key text PRIMARY KEY,
        value text
    ) WITH comment = 'Format of the tables of lamport-seq'
        AND default_time_to_live = 0
        AND gc_grace_seconds = 864000;
    INSERT INTO "[KEYSPACE]".lseq_meta (key, value) VALUES ('format', '1') IF NOT EXISTS;
    --- stderr
    note: nothing was changed: this was a dry run
    "#);
    assert!(live.run(&["list"]).starts_with("exit 1\n"), "a dry run makes nothing");
    let wet = live.run(&["init", "--replication", &format!("{datacenter}=3")]);
    assert_eq!(wet, dry.replace("--- stderr\nnote: nothing was changed: this was a dry run\n", ""));
    assert_snapshot!(live.run(&["init"]), @"
    exit 0
    --- stderr
    note: everything is there already: nothing was changed
    ");
    assert_snapshot!(live.run(&["init", "--rf", "3", "--json"]), @r#"
    exit 0
    --- stderr
    {"note":"keyspace [KEYSPACE] is there already: its replication is left as it is"}
    {"note":"everything is there already: nothing was changed"}
    "#);
    assert_snapshot!(live.run(&["list"]), @"exit 0");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_few_replicas_are_warned_of() {
    let live = Live::new();
    let shown = live.run(&["init", "--rf", "1", "--json", "--dry-run"]);
    assert!(shown.contains("{\"warning\":\"1 replica in datacenter "), "{shown}");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_a_sequence_lives_its_life() {
    let live = Live::ready();
    assert_snapshot!(live.run(&["create", "o'brien", "--start", "5001", "--type", "int"]), @"
    exit 0
    --- stdout
    created o'brien: start 5001 increment 1 min 1 max 2147483647
    ");
    assert_snapshot!(live.run(&["create", "o'brien"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` exists already in cassandra://[HOSTS]/[KEYSPACE]

    hint: `lseq status 'o'\''brien'` shows it; `--if-not-exists` accepts an equal one
    ");
    assert_snapshot!(live.run(&["alloc", "o'brien", "--count", "3"]), @"
    exit 0
    --- stdout
    5001
    5002
    5003
    ");
    assert_snapshot!(live.run(&["alloc", "o'brien", "--count", "10", "--range"]), @"
    exit 0
    --- stdout
    5004 5013
    ");
    assert_snapshot!(live.run(&["status", "o'brien"]), @"
    exit 0
    --- stdout
    sequence     o'brien
    value        5013
    last writer  [TAG]
    definition   start 5001 increment 1 min 1 max 2147483647
    remaining    2147478634
    used         < 0.01 %
    ");
    assert_snapshot!(live.run(&["alloc", "naïve"]), @"
    exit 1
    --- stderr
    error: sequence `naïve` does not exist in cassandra://[HOSTS]/[KEYSPACE]

    hint: create it with `lseq create naïve`, or see `lseq list`
    ");
    assert_snapshot!(live.run(&["alloc", "naïve", "--create"]), @"
    exit 0
    --- stdout
    1
    ");
    assert_snapshot!(live.run(&["list", "--prefix", "o'"]), @"
    exit 0
    --- stdout
                   VALUE            REMAINING      USED  STATE    NAME
                    5013           2147478634  < 0.01 %  -        o'brien
    ");
    assert_snapshot!(live.run(&["advance", "o'brien", "--above", "9999", "--dry-run"]), @"
    exit 0
    --- stdout
    o'brien: 5013 -> 9999, next id 10000
    --- stderr
    note: nothing was changed: this was a dry run
    ");
    assert_snapshot!(live.run(&["advance", "o'brien", "--above", "9999"]), @"
    exit 0
    --- stdout
    o'brien: 5013 -> 9999, next id 10000
    --- stderr
    note: ids that running clients have buffered may be lower; restart those that must not give them
    ");
    assert_snapshot!(live.run(&["advance", "o'brien", "--above", "7"]), @"
    exit 0
    --- stdout
    o'brien: 9999 -> 9999, next id 10000
    --- stderr
    note: it was there already: nothing was changed
    ");
    assert_snapshot!(live.run(&["alter", "o'brien", "--type", "bigint"]), @"
    exit 0
    --- stdout
    o'brien: start 5001 increment 1 min 1 max 2147483647 -> start 5001 increment 1 min 1 max 9223372036854775807
    ");
    assert_snapshot!(live.run(&["alloc", "o'brien"]), @"
    exit 0
    --- stdout
    10000
    ");
    assert_snapshot!(live.run(&["drop", "o'brien"]), @r"
    exit 1
    --- stderr
    error: dropping sequence `o'brien` stops all its clients, and brings its name back only beyond 10000

    hint: `lseq drop --yes 'o'\''brien'` does it
    ");
    assert_snapshot!(live.run(&["drop", "o'brien", "--yes"]), @"
    exit 0
    --- stdout
    dropped o'brien at 10000
    ");
    assert_snapshot!(live.run(&["alloc", "o'brien"]), @r"
    exit 1
    --- stderr
    error: sequence `o'brien` in cassandra://[HOSTS]/[KEYSPACE] has stopped: it was dropped; ids that were buffered are burned

    hint: a dropped name comes back only beyond its old value: `lseq advance --above N --recreate 'o'\''brien'` with N beyond every id ever given
    ");
    assert_snapshot!(live.run(&["advance", "o'brien", "--above", "20000", "--recreate"]), @"
    exit 0
    --- stdout
    o'brien: 10000 -> 20000, next id 20001, created anew
    --- stderr
    note: clients that knew the old one have stopped: restart them
    ");
    assert_snapshot!(live.run(&["alloc", "o'brien"]), @"
    exit 0
    --- stdout
    20001
    ");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_the_last_bigint_is_an_id() {
    let live = Live::ready();
    live.world.done(&["create", "last", "--start", "9223372036854775804"]);
    assert_snapshot!(live.run(&["alloc", "last", "--count", "10"]), @"
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
    live.world.done(&["create", "down", "--increment", "-1", "--min", "-3"]);
    assert_snapshot!(live.run(&["alloc", "down", "--count", "4", "--block", "2"]), @"
    exit 1
    --- stdout
    -1
    -2
    -3
    --- stderr
    error: only 3 of 4 ids were given
    caused by: sequence `down` is exhausted: 0 ids are left before its end -3, 1 were asked for

    hint: `lseq alter --max N down` (`--min` for a falling one) widens it, if the column that takes the ids can hold more
    ");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_eight_processes_share_one_sequence() {
    let live = Live::ready();
    live.world.done(&["create", "s"]);
    let outputs = join(crowd(&live, &[]));
    let mut all = succeeded(&outputs);
    all.sort_unstable();
    let total = i64::try_from(BLOCKS.iter().sum::<usize>() * RESERVATIONS).unwrap();
    assert!(all.into_iter().eq(1..=total), "no id twice, and none left out");
    let status = live.world.done(&["status", "s", "--json"]);
    assert!(status.contains(&format!("\"value\":{total},")), "{status}");
}

#[test]
#[ignore = "live: needs a Cassandra cluster"]
fn live_nodes_eight_processes_go_on_while_a_node_is_killed() {
    let xtask = std::env::var("LSEQ_TEST_XTASK").expect(
        "LSEQ_TEST_XTASK is the program that holds the cluster; `cargo xtask test` sets it",
    );
    let live = Live::ready();
    live.world.done(&["create", "s"]);
    let threads = crowd(&live, &["--timeout", "60s"]);
    let total: usize = BLOCKS.iter().sum::<usize>() * RESERVATIONS;
    wait_for(&live, total / 2);
    let node = Killed::node(&xtask, 2);
    std::thread::sleep(Duration::from_secs(5));
    drop(node);
    let all = succeeded(&join(threads));
    assert_eq!(all.len(), total);
    assert_distinct(all);
}

/// Waits until that many ids have been reserved.
fn wait_for(live: &Live, reserved: usize) {
    let value = || {
        let status = live.world.done(&["status", "s", "--json"]);
        let (_, rest) = status.split_once("\"value\":").unwrap();
        rest.split(',').next().unwrap().parse::<usize>().unwrap()
    };
    wait_until("ids", || value() >= reserved);
}

/// A node that is started again when this is dropped, however the test ends.
struct Killed<'a> {
    xtask: &'a str,
    node: String,
}

impl<'a> Killed<'a> {
    fn node(xtask: &'a str, node: u32) -> Self {
        let killed = Self { xtask, node: node.to_string() };
        killed.cluster("kill");
        killed
    }

    fn cluster(&self, verb: &str) {
        let mut command = Command::new(self.xtask);
        let status = command.args(["cluster", verb, &self.node]).status().unwrap();
        assert!(status.success(), "cluster {verb}: {status}");
    }
}

impl Drop for Killed<'_> {
    fn drop(&mut self) {
        self.cluster("start");
    }
}

/// Starts eight processes at once that reserve blocks of eight sizes.
fn crowd(live: &Live, options: &[&str]) -> Vec<JoinHandle<Output>> {
    let spawn = |block: &usize| {
        let (count, block) = ((block * RESERVATIONS).to_string(), block.to_string());
        let alloc = ["alloc", "s", "--count", count.as_str(), "--block", block.as_str()];
        live.world.spawn(&[&alloc[..], options].concat())
    };
    let children: Vec<Child> = BLOCKS.iter().map(spawn).collect();
    let read = |child: Child| std::thread::spawn(move || finish(child));
    children.into_iter().map(read).collect()
}

fn join(threads: Vec<JoinHandle<Output>>) -> Vec<Output> {
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// The ids of all of them, none of which has failed.
fn succeeded(outputs: &[Output]) -> Vec<i64> {
    let mut all = Vec::new();
    for (output, block) in outputs.iter().zip(BLOCKS) {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(0), ""), "block {block}");
        let given = ids(&output.stdout);
        assert_eq!(given.len(), block * RESERVATIONS, "block {block}");
        all.extend(given);
    }
    all
}

#[test]
#[ignore = "secured: needs a Cassandra with password and TLS"]
fn secured_the_secret_is_in_no_output() {
    let host = std::env::var("LSEQ_TEST_SECURED").expect("LSEQ_TEST_SECURED is a secured node");
    let folder = std::env::var("LSEQ_TEST_TLS_DIR").expect("LSEQ_TEST_TLS_DIR: certificates");
    let ca = |file: &str| Path::new(&folder).join(file).display().to_string();
    let url = |ca: String| format!("cassandra://cassandra@{host}/absent?tls=true&ca={ca}");
    let secret = "correct horse battery staple";
    let wrong = World::bare().with("LSEQ_STORE", &url(ca("ca.pem"))).with("LSEQ_PASSWORD", secret);
    wrong.write("secret", secret);
    wrong.write("lseq.toml", &format!("password = \"{secret}\""));
    let refused = wrong.run(&["list", "-vvv"]);
    assert!(refused.starts_with("exit 1\n") && refused.contains("login refused"), "{refused}");
    let by_file = wrong.without("LSEQ_PASSWORD").with("LSEQ_PASSWORD_FILE", "secret");
    let shown_by_file = by_file.run(&["list", "-vvv"]);
    let by_config = by_file.without("LSEQ_PASSWORD_FILE");
    let shown_by_config = by_config.run(&["list", "-vvv", "--config", "lseq.toml"]);
    for shown in [refused, shown_by_file, shown_by_config] {
        assert!(shown.contains("login refused"), "{shown}");
        assert!(!shown.contains(secret), "{shown}");
    }
    let right =
        World::bare().with("LSEQ_STORE", &url(ca("ca.pem"))).with("LSEQ_PASSWORD", "cassandra");
    let shown = right.run(&["list"]);
    assert!(shown.contains("caused by:") && !shown.contains("login"), "{shown}");
    let other = World::bare()
        .with("LSEQ_STORE", &url(ca("other-ca.pem")))
        .with("LSEQ_PASSWORD", "cassandra");
    let shown = other.run(&["list"]);
    assert!(!shown.contains("login") && shown != right.run(&["list"]), "{shown}");
}
