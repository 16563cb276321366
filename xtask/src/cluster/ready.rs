//! When a cluster is ready: every node that runs answers CQL, runs as promised, and sees the
//! others up.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail, ensure};

use super::backend::Backend;
use super::cql::{Connection, Consistency};
use super::settings::PROMISED;
use super::shape::Shape;
use crate::interrupt;

const POLL: Duration = Duration::from_millis(200);

/// A node that is not what was asked for: waiting does not help.
#[derive(Debug)]
pub(crate) struct Hopeless {
    pub(crate) node: u8,
    why: String,
}

impl std::fmt::Display for Hopeless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "node {}: {}", self.node, self.why)
    }
}

impl std::error::Error for Hopeless {}

/// Waits until all of `nodes` are ready. The error names the node that is not.
pub(crate) fn wait(
    backend: &dyn Backend,
    shape: &Shape,
    nodes: &[u8],
    limit: Duration,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + limit;
    loop {
        interrupt::check()?;
        for &node in nodes {
            if !backend.condition(node)?.is_running() {
                bail!(Hopeless { node, why: "has ended or is paused".to_owned() });
            }
        }
        match check(shape, nodes) {
            Ok(()) => return Ok(()),
            Err((node, error)) if Instant::now() >= deadline => {
                let why = format!("not ready after {} s: {error:#}", limit.as_secs());
                bail!(Hopeless { node, why });
            }
            Err((_, error)) if error.is::<Hopeless>() => return Err(error),
            Err(_) => sleep(POLL),
        }
    }
}

/// Asks every node once.
fn check(shape: &Shape, nodes: &[u8]) -> Result<(), (u8, anyhow::Error)> {
    let mut schemas = BTreeSet::new();
    for &node in nodes {
        let schema = check_node(shape, node, nodes.len()).map_err(|error| (node, error))?;
        schemas.insert(schema);
        if schemas.len() > 1 {
            return Err((node, anyhow::anyhow!("has not got the schema of the others yet")));
        }
    }
    Ok(())
}

/// What every node says of the settings that are promised; an error if one has others.
pub(crate) fn promises(shape: &Shape) -> anyhow::Result<Vec<String>> {
    let told = |node: u8| -> anyhow::Result<String> {
        check_promises(&mut Connection::open(shape, node)?, node)?;
        let settings = PROMISED.map(|(name, value)| format!("{name} = {value}"));
        Ok(format!("node {node}: {}", settings.join(", ")))
    };
    shape.numbers().map(told).collect()
}

/// Whether a node, which itself must answer, gets an answer from one of the others.
pub(crate) fn reaches_another(shape: &Shape, node: u8) -> anyhow::Result<bool> {
    let mut node_says = Connection::open(shape, node)?;
    Ok(node_says.rows(EVERYWHERE, Consistency::Two).is_ok())
}

/// What time a node has.
pub(crate) fn clock_of(shape: &Shape, node: u8) -> anyhow::Result<SystemTime> {
    let mut node_says = Connection::open(shape, node)?;
    let query = "SELECT currenttimestamp() FROM system.local";
    let row = node_says.rows(query, Consistency::One)?.pop().unwrap_or_default();
    let millis = row.first().and_then(|value| value.as_deref()?.try_into().ok());
    let millis = millis.map(u64::from_be_bytes).context("a node has no time")?;
    Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(millis))
}

/// How far ahead of this machine's clock a column of `table` was written.
pub(crate) fn written_ahead(shape: &Shape, table: &str, column: &str) -> anyhow::Result<Duration> {
    let query = format!("SELECT WRITETIME({column}) FROM {table}");
    let rows = Connection::open(shape, 1)?.rows(&query, Consistency::Two)?;
    let micros = rows.iter().flatten().flatten();
    let micros =
        micros.filter_map(|value| Some(u64::from_be_bytes(value.as_slice().try_into().ok()?)));
    let furthest = SystemTime::UNIX_EPOCH + Duration::from_micros(micros.max().unwrap_or(0));
    Ok(furthest.duration_since(SystemTime::now()).unwrap_or_default())
}

/// An empty table that every node has: a read answers when as many nodes do as it asks for.
const EVERYWHERE: &str = "SELECT view_name FROM system_distributed.view_build_status";

/// Asks one node of which `running` run, and returns the version of the schema that it has.
fn check_node(shape: &Shape, node: u8, running: usize) -> anyhow::Result<Option<Vec<u8>>> {
    let mut node_says = Connection::open(shape, node)?;
    let peers = node_says.rows("SELECT peer FROM system.peers_v2", Consistency::One)?.len();
    let others = usize::from(shape.nodes) - 1;
    ensure!(peers == others, "knows {peers} of {others} other nodes");
    let level = match running {
        running if running == usize::from(shape.nodes) => Consistency::All,
        1 => Consistency::One,
        2 => Consistency::Two,
        _ => Consistency::Three,
    };
    node_says
        .rows(EVERYWHERE, level)
        .with_context(|| format!("does not see {running} nodes up"))?;
    check_promises(&mut node_says, node)?;
    let mut schema = node_says.rows("SELECT schema_version FROM system.local", Consistency::One)?;
    Ok(schema.pop().and_then(|mut row| row.pop()).flatten())
}

/// What a node says of itself must be what the tests count on.
fn check_promises(node_says: &mut Connection, node: u8) -> anyhow::Result<()> {
    for (name, wanted) in PROMISED {
        let query = format!("SELECT value FROM system_views.settings WHERE name = '{name}'");
        let mut rows = node_says.rows(&query, Consistency::One)?;
        let value = rows.pop().and_then(|mut row| row.pop()).flatten().unwrap_or_default();
        if value != wanted.as_bytes() {
            let value = String::from_utf8_lossy(&value).into_owned();
            let why = format!("runs with {name} = `{value}`, not `{wanted}`");
            bail!(Hopeless { node, why });
        }
    }
    Ok(())
}
