//! The command `lseq`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::cluster::Shape;
use crate::exec::{self, Group};
use crate::paths;
use crate::test::step::cargo;

/// A cold build on two cores included.
const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
const COMMAND_LIMIT: Duration = Duration::from_secs(150);
/// For ten times as many events as a run of hours has.
const CHECK_LIMIT: Duration = Duration::from_secs(600);

/// Where the soak's sequences are.
const KEYSPACE: &str = "soak";
/// The table of the sequences' rows.
pub(super) const TABLE: &str = "soak.counters";

/// The program and the store that it works on.
#[derive(Clone)]
pub(super) struct Lseq {
    program: PathBuf,
    store: String,
}

impl Lseq {
    /// Builds it: as its users have it, or as the tests have left it.
    pub(super) fn build(shape: &Shape, release: bool) -> anyhow::Result<Self> {
        let mut build = if release {
            cargo(&["build", "--release", "--package", "lamport-seq-cli", "--locked"])
        } else {
            // What the tests have built is fresh then: with other features it would be built once more.
            cargo(&["test", "--workspace", "--all-features", "--no-run", "--locked"])
        };
        exec::run(&mut build, BUILD_LIMIT)?;
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| paths::workspace().join("target"), PathBuf::from);
        let program = target.join(if release { "release" } else { "debug" }).join("lseq");
        if !program.is_file() {
            bail!("the build did not make {}", program.display());
        }
        let store = format!("cassandra://{}/{KEYSPACE}", shape.contact_points());
        Ok(Self { program, store })
    }

    /// A command on the store. What a person has set for his own commands is not for these.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_remove("LSEQ_STORE").env_remove("LSEQ_CONFIG");
        command.args(["--store", &self.store]).args(arguments);
        command
    }

    /// Makes the keyspace with three replicas, and the sequences `s1`, `s2`, ...
    pub(super) fn prepare(&self, sequences: u16) -> anyhow::Result<()> {
        exec::capture(&mut self.command(&["init", "--rf", "3"]), COMMAND_LIMIT)?;
        for number in 1..=sequences {
            let name = format!("s{number}");
            let arguments = ["--timeout", "60s", "create", &name, "--if-not-exists"];
            exec::capture(&mut self.command(&arguments), COMMAND_LIMIT)?;
        }
        Ok(())
    }

    /// How far the sequences stand together: as many ids were reserved.
    pub(super) fn reserved(&self, sequences: u16) -> anyhow::Result<u64> {
        let mut sum = 0_u64;
        for number in 1..=sequences {
            let name = format!("s{number}");
            let mut command = self.command(&["--json", "--timeout", "60s", "status", &name]);
            let text = exec::capture(&mut command, COMMAND_LIMIT)?;
            let status: Value = serde_json::from_str(text.trim())
                .with_context(|| format!("what `lseq status` says: {text}"))?;
            sum += status["value"].as_u64().context("`lseq status` names no value")?;
        }
        Ok(sum)
    }

    /// What `lseq check --json` says of these histories, which it also leaves in `told`.
    pub(super) fn check(&self, files: &[PathBuf], told: &PathBuf) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.program);
        let out = std::fs::File::create(told)?;
        command.args(["check", "--json"]).args(files).stdout(Stdio::from(out));
        let status = Group::spawn(&mut command)?.wait(CHECK_LIMIT)?;
        // 1 is a violation, which the answer names; anything else is no verdict.
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("`lseq check` gave no verdict: {status}");
        }
        let text = std::fs::read(told)?;
        serde_json::from_slice(&text).context("what `lseq check` says")
    }
}
