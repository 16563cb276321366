//! `cargo xtask planted-bugs`: proof that the suite can fail, one planted bug after the other.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};

use crate::test::step::cargo;
use crate::{interrupt, out, paths};

/// What must catch it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Simulated worlds.
    Simulation,
    /// The tests of the rules on a store in memory.
    RuleTests,
    /// The unit tests of the store on CQL: no simulation speaks CQL.
    StatementTests,
}

/// The bugs, each under `--cfg planted_bug="NAME"`.
const BUGS: [(&str, By); 19] = [
    ("advance-goes-back", By::Simulation),
    ("behind-accepted", By::Simulation),
    ("birth-unchecked", By::RuleTests),
    ("cancelled-block-reused", By::Simulation),
    ("clean-false-claimed", By::Simulation),
    ("driver-retry-policy", By::StatementTests),
    ("driver-serial-consistency", By::StatementTests),
    ("hint-raises-mark", By::Simulation),
    ("last-range-unclipped", By::Simulation),
    ("mark-on-arrival", By::Simulation),
    ("missing-recreated", By::Simulation),
    ("no-cross-check", By::Simulation),
    ("node-alone", By::Simulation),
    ("observe-keeps-buffer", By::Simulation),
    ("other-hands-accepted", By::RuleTests),
    ("range-from-old-value", By::Simulation),
    ("stop-spares-buffer", By::Simulation),
    ("unknown-claimed", By::Simulation),
    ("uuid-shared", By::Simulation),
];

#[derive(clap::Args)]
#[command(after_help = "\
Each bug is built under --cfg planted_bug=\"NAME\", which no feature can set. The
tests must pass without a bug (`cargo xtask test`) and fail with it: one that survives fails the run.")]
pub(crate) struct Options {
    /// Only this one
    #[arg(long)]
    bug: Option<String>,
    /// How many worlds are simulated at most for each
    #[arg(long, default_value_t = 20_000)]
    seeds: u32,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    interrupt::install()?;
    let chosen = |name: &str| options.bug.as_deref().is_none_or(|bug| bug == name);
    let bugs: Vec<_> = BUGS.iter().filter(|(name, _)| chosen(name)).collect();
    if bugs.is_empty() {
        bail!("no such bug; there are {}", BUGS.map(|(name, _)| name).join(", "));
    }
    let mut survivors = Vec::new();
    for (name, by) in bugs {
        let began = Instant::now();
        let caught = match by {
            By::Simulation => simulate(name, options.seeds)?,
            By::RuleTests => test(name, &["--test", "core"])?,
            By::StatementTests => test(name, &["--lib", "store::cql"])?,
        };
        let took = began.elapsed().as_secs();
        match caught {
            Some(how) => out::result(format_args!("{name:26} caught in {took:>3} s: {how}")),
            None => {
                out::result(format_args!("{name:26} SURVIVED after {took} s"));
                survivors.push(*name);
            }
        }
    }
    if !survivors.is_empty() {
        bail!("not caught: {}", survivors.join(", "));
    }
    Ok(())
}

/// Runs simulated worlds until one is not clean, and says what was wrong there.
fn simulate(bug: &str, seeds: u32) -> anyhow::Result<Option<String>> {
    let package = "lamport-seq-simulate";
    let mut command = planted(bug, &["run", "--quiet", "--locked", "--package", package])?;
    command.args(["--", "--seeds", &seeds.to_string()]);
    let output = command.stdout(Stdio::null()).output().context("cargo can't be run")?;
    let told = String::from_utf8_lossy(&output.stderr);
    let violation = told.lines().find(|line| line.starts_with("seed "));
    match violation {
        _ if output.status.success() => Ok(None),
        Some(violation) => Ok(Some(violation.chars().take(150).collect())),
        None => bail!("{bug}: {told}"),
    }
}

/// Runs tests, and names the first that fails.
fn test(bug: &str, which: &[&str]) -> anyhow::Result<Option<String>> {
    let package = "lamport-seq";
    let arguments = ["test", "--quiet", "--locked", "--all-features", "--package", package];
    let mut command = planted(bug, &arguments)?;
    command.args(which);
    let output = command.output().context("cargo can't be run")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let named = told.lines().skip_while(|line| *line != "failures:").find_map(|line| {
        line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
    });
    match named {
        _ if output.status.success() => Ok(None),
        Some(test) => Ok(Some(format!("test {test}"))),
        None => bail!("{bug}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// A cargo that builds the workspace's own crates, and nothing else, with a bug.
fn planted(bug: &str, arguments: &[&str]) -> anyhow::Result<Command> {
    let wrapper = wrapper(&paths::workspace().join("target").join("planted"), bug)?;
    let mut command = cargo(arguments);
    command.env("RUSTC_WORKSPACE_WRAPPER", wrapper);
    Ok(command)
}

/// A program that runs rustc with the bug's flag. Cargo tells builds apart by its path.
fn wrapper(folder: &Path, bug: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(bug);
    let script = format!("#!/bin/sh\nexec \"$@\" --cfg 'planted_bug=\"{bug}\"'\n");
    fs::write(&path, script)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bugs of the list are those of the source, and nothing but `--cfg` can plant one.
    #[test]
    fn every_planted_bug_is_listed_and_no_feature_plants_one() {
        let mut found = std::collections::BTreeSet::new();
        let mut folders = vec![paths::workspace().join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(path).unwrap();
                for rest in text.split("planted_bug = \"").skip(1) {
                    found.insert(rest.split('"').next().unwrap().to_owned());
                }
            }
        }
        assert!(found.iter().eq(BUGS.map(|(name, _)| name).iter()), "{found:?}");
        let manifest = fs::read_to_string(paths::workspace().join("Cargo.toml")).unwrap();
        let features = manifest.split("[features]").nth(1).unwrap().split("\n[").next().unwrap();
        assert!(!features.contains("planted"), "{features}");
        assert!(!paths::workspace().join("build.rs").exists(), "a build script could set a cfg");
    }
}
