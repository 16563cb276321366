//! The tests that need a real Cassandra, on clusters of their own.

use std::time::Duration;

use anyhow::{Context as _, bail};

use super::Report;
use super::step::{Step, cargo};
use crate::cluster::{self, Condition, Kind, Network, Shape, With};
use crate::soak::Soak;
use crate::{out, paths};

const LIMIT: Duration = Duration::from_secs(30 * 60);
/// Contact points: from a person, to use that cluster; to the tests, always.
pub(crate) const CASSANDRA: &str = "LSEQ_TEST_CASSANDRA";
/// This program, so that a test can kill, pause, resume and start nodes.
const XTASK: &str = "LSEQ_TEST_XTASK";
/// The address of a node that wants a password and TLS.
const SECURED: &str = "LSEQ_TEST_SECURED";
/// Where its certificates are.
const TLS_DIR: &str = "LSEQ_TEST_TLS_DIR";

/// A cluster that is stopped when this is dropped, however the tests ended.
pub(crate) struct Cluster {
    keep: bool,
}

impl Cluster {
    pub(crate) fn up(shape: &Shape, keep: bool) -> anyhow::Result<Self> {
        out::result(format_args!("\n==> cluster: {shape}"));
        let cluster = Self { keep };
        cluster::up(shape)?;
        Ok(cluster)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.keep {
            out::note(format_args!("the cluster is left up: `cargo xtask cluster down` stops it"));
        } else if let Err(error) = cluster::down() {
            out::note(format_args!("error: the cluster could not be stopped: {error:#}"));
        }
    }
}

/// Where the live tests run.
pub(crate) enum Place {
    /// On a cluster that a person names by its contact points.
    Given(String),
    /// On clusters that are started for them.
    Own(Kind, Network),
}

impl Place {
    pub(crate) fn find(with: &With) -> anyhow::Result<Self> {
        let Some(given) = std::env::var_os(CASSANDRA) else {
            let (kind, network) = with.resolve()?;
            cluster::prepare(kind)?;
            return Ok(Self::Own(kind, network));
        };
        let given = given.into_string().ok().with_context(|| format!("{CASSANDRA}: no UTF-8"))?;
        if given.trim().is_empty() {
            bail!("{CASSANDRA} is set but empty: name contact points, or unset it");
        }
        Ok(Self::Given(given))
    }
}

pub(super) fn run(place: &Place, keep: bool, report: &mut Report) -> anyhow::Result<()> {
    let (kind, network) = match place {
        Place::Given(given) => {
            // Nodes are killed only where they are ours.
            let is_ours = cluster::contact_points().is_ok_and(|ours| ours == *given);
            live(given, is_ours, "", report)?;
            report.skipped.push(format!("soak ({CASSANDRA} is set)"));
            report.skipped.push(format!("secured tests ({CASSANDRA} is set)"));
            return Ok(());
        }
        Place::Own(kind, network) => (*kind, *network),
    };
    {
        let shape = Shape::plain(kind, network, 3);
        let _cluster = Cluster::up(&shape, keep)?;
        let before = "cargo xtask cluster up && ";
        live(&shape.contact_points(), true, before, report)?;
        check_all_run(&shape)?;
        soak(&shape, report)?;
    }
    let shape = Shape::secured(kind, network);
    let _cluster = Cluster::up(&shape, keep)?;
    secured(&shape, report)
}

fn live(
    contact_points: &str,
    is_ours: bool,
    before: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut more = vec!["--skip", "secured"];
    if !is_ours {
        // Tests that pause, kill and start nodes say so in their names.
        more.extend(["--skip", "live_nodes"]);
        report.skipped.push("tests that stop nodes (the cluster is not ours)".to_owned());
    }
    let mut command = ignored_tests("live", &more);
    command.env(CASSANDRA, contact_points).env(XTASK, std::env::current_exe()?);
    let count = Step { name: "live tests", command, before, limit: LIMIT }.run_tests()?;
    report.passed.push(format!("live tests ({count})"));
    Ok(())
}

/// Two minutes of faults, on the cluster that the tests have left whole.
fn soak(shape: &Shape, report: &mut Report) -> anyhow::Result<()> {
    let soak = Soak::brief()?;
    soak.run_on(shape).with_context(|| format!("run it again with `{}`", soak.again()))?;
    report.passed.push("soak (2 min)".to_owned());
    Ok(())
}

fn secured(shape: &Shape, report: &mut Report) -> anyhow::Result<()> {
    let mut command = ignored_tests("secured", &[]);
    command
        .env(SECURED, shape.contact_points())
        .env(TLS_DIR, paths::tls_dir())
        .env(XTASK, std::env::current_exe()?);
    let before = "cargo xtask cluster up --nodes 1 --auth --tls && ";
    let count = Step { name: "secured tests", command, before, limit: LIMIT }.run_tests()?;
    report.passed.push(format!("secured tests ({count})"));
    Ok(())
}

/// Tests that are ignored unless somebody brings a cluster; one at a time, since they kill nodes.
fn ignored_tests(filter: &str, more: &[&str]) -> std::process::Command {
    let mut command = cargo(&["test", "--workspace", "--all-features", "--locked"]);
    command.args(["--", "--ignored", filter]).args(more).arg("--test-threads=1");
    command
}

/// A test that leaves a node paused or dead spoils whatever comes after it.
fn check_all_run(shape: &Shape) -> anyhow::Result<()> {
    for (node, condition) in cluster::conditions(shape)? {
        match condition {
            Condition::Running { .. } => {}
            Condition::Paused { .. } => bail!("the live tests left node {node} paused"),
            Condition::Dead => bail!("the live tests left node {node} dead"),
        }
    }
    Ok(())
}
