//! `cargo xtask test`: everything that can be tested on this machine, one step after another.

pub(crate) mod live;
pub(crate) mod step;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::step::{Step, cargo};
use crate::cluster::With;
use crate::{interrupt, out};

/// A cold build on two cores included; what takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Feature sets of the library that somebody may depend on; the tests run with all of them.
const FEATURE_SETS: [&str; 5] = ["", "cassandra", "sqlite", "testing", "history"];

#[derive(clap::Args)]
#[command(after_help = "\
Without --no-cluster the live tests run on a three-node cluster, started and stopped here, or on the
one that LSEQ_TEST_CASSANDRA names (contact points, separated by commas), which is left alone.
A step that fails ends the run and says how to run it again.")]
pub(crate) struct Options {
    /// Skip the tests that need a Cassandra cluster
    #[arg(long)]
    no_cluster: bool,
    /// Leave the last cluster up, to look at what has failed
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    with: With,
}

/// What has been done, for the last line.
#[derive(Default)]
struct Report {
    passed: Vec<String>,
    skipped: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    interrupt::install()?;
    // What is missing is found out now, not after the other tests.
    let place = if options.no_cluster { None } else { Some(live::Place::find(&options.with)?) };
    let mut report = Report::default();
    workspace_tests(&mut report)?;
    simulated_worlds(&mut report)?;
    feature_sets(&mut report)?;
    match place {
        Some(place) => live::run(&place, options.keep, &mut report)?,
        None => report.skipped.push("live tests (--no-cluster)".to_owned()),
    }
    out::result(format_args!("\n{}", report.line()));
    Ok(())
}

fn workspace_tests(report: &mut Report) -> anyhow::Result<()> {
    let command = cargo(&["test", "--workspace", "--all-features", "--locked"]);
    let count = Step { name: "workspace tests", command, before: "", limit: LIMIT }.run_tests()?;
    report.passed.push(format!("workspace tests ({count})"));
    Ok(())
}

/// Worlds of seeds that stay the same, and some that nobody has seen.
fn simulated_worlds(report: &mut Report) -> anyhow::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fresh = now.as_secs().saturating_mul(1_000_000);
    for (name, from, seeds) in [("fixed", 0, 10_000), ("fresh", fresh, 2_000)] {
        let mut command = cargo(&["run", "--quiet", "--locked"]);
        command.args(["--package", "lamport-seq-simulate", "--"]);
        command.args(["--from", &from.to_string(), "--seeds", &seeds.to_string()]);
        let name = format!("{seeds} simulated worlds, {name} seeds");
        Step { name: &name, command, before: "", limit: LIMIT }.run()?;
        report.passed.push(name);
    }
    Ok(())
}

fn feature_sets(report: &mut Report) -> anyhow::Result<()> {
    for features in FEATURE_SETS {
        let mut command = cargo(&["check", "--package", "lamport-seq", "--lib", "--locked"]);
        command.arg("--no-default-features");
        if !features.is_empty() {
            command.args(["--features", features]);
        }
        let name = format!("library with features [{features}]");
        Step { name: &name, command, before: "", limit: LIMIT }.run()?;
    }
    report.passed.push(format!("{} feature sets", FEATURE_SETS.len()));
    Ok(())
}

impl Report {
    fn line(&self) -> String {
        let skipped = self.skipped.iter().map(|what| format!("; SKIPPED: {what}"));
        format!("passed: {}{}", self.passed.join(", "), skipped.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_names_what_was_skipped() {
        let report = Report {
            passed: vec!["a (1)".to_owned(), "b".to_owned()],
            skipped: vec!["live tests (--no-cluster)".to_owned()],
        };
        assert_eq!(report.line(), "passed: a (1), b; SKIPPED: live tests (--no-cluster)");
    }
}
