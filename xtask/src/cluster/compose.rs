//! Nodes as containers of the repository's `docker-compose.yml`.
//!
//! An override file gives every node the same Java options as a plain process has, and publishes
//! node N on 127.0.0.N, so that tests find the same addresses on every backend.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use super::backend::{Backend, Condition, Fault};
use super::fetch::CASSANDRA_VERSION;
use super::shape::{CQL_PORT, Shape};
use super::{certs, settings};
use crate::tools::{self, Tool};
use crate::{exec, paths};

/// A project of its own: a cluster that somebody started with `docker compose up` is not ours.
const PROJECT: &str = "lseq-test";
/// `docker-compose.yml` has this many Cassandra services.
pub(crate) const NODES_MAX: u8 = 3;
/// Where a node sees its certificates.
const TLS_DIR: &str = "/tls";
const PROBE_LIMIT: Duration = Duration::from_secs(5);
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// The image is fetched the first time.
const UP_LIMIT: Duration = Duration::from_secs(900);

/// Docker Compose, as a plugin or as a program of its own.
pub(crate) struct Compose {
    program: &'static [&'static str],
}

/// Whether a Docker engine answers and Compose is there to use it.
pub(crate) fn engine_answers() -> bool {
    Compose::find().is_ok()
}

impl Compose {
    pub(crate) fn find() -> anyhow::Result<Self> {
        let mut docker = Command::new("docker");
        docker.args(["version", "--format", "{{.Server.Version}}"]);
        exec::capture(&mut docker, PROBE_LIMIT).context("no Docker engine answers")?;
        let programs: [&'static [&'static str]; 2] = [&["docker", "compose"], &["docker-compose"]];
        let answers = |program: &&[&str]| {
            let mut command = Command::new(program[0]);
            command.args(&program[1..]).arg("version");
            exec::capture(&mut command, PROBE_LIMIT).is_ok()
        };
        let program = programs.into_iter().find(answers).context("Docker has no Compose")?;
        Ok(Self { program })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program[0]);
        command
            .args(&self.program[1..])
            .args(["--project-name", PROJECT, "--file", "docker-compose.yml"])
            .current_dir(paths::workspace());
        if override_file().exists() {
            command.arg("--file").arg(override_file());
        }
        command
    }

    fn on_node(&self, verb: &[&str], node: u8) -> anyhow::Result<String> {
        exec::capture(self.command().args(verb).arg(service(node)), COMMAND_LIMIT)
    }
}

impl Backend for Compose {
    fn prepare(&self) -> anyhow::Result<()> {
        tools::require(&[Tool::OpenSsl])?;
        let image = format!("cassandra:{CASSANDRA_VERSION}");
        let mut inspect = Command::new("docker");
        if exec::capture(inspect.args(["image", "inspect", &image]), COMMAND_LIMIT).is_ok() {
            return Ok(());
        }
        exec::run(Command::new("docker").args(["pull", "--quiet", &image]), UP_LIMIT)
    }

    fn start_fresh(&self, shape: &Shape) -> anyhow::Result<()> {
        ensure!(!shape.clocks, "clocks can only be set with `--backend maven`");
        if shape.tls {
            certs::make(shape)?;
        }
        std::fs::write(override_file(), override_text(shape))?;
        let mut up = self.command();
        up.args(["up", "--detach"]).args(shape.numbers().map(service));
        exec::run(&mut up, UP_LIMIT)
    }

    fn start(&self, node: u8) -> anyhow::Result<()> {
        self.on_node(&["start"], node).map(drop)
    }

    fn inflict(&self, node: u8, fault: Fault) -> anyhow::Result<()> {
        let verb: &[&str] = match (fault, self.condition(node)?) {
            (_, Condition::Dead) => {
                bail!("node {node} is dead: `cargo xtask cluster start {node}` starts it again")
            }
            // As harmless as a second SIGSTOP is.
            (Fault::Pause, Condition::Paused { .. })
            | (Fault::Resume, Condition::Running { .. }) => return Ok(()),
            (Fault::Kill, _) => &["kill", "-s", "SIGKILL"],
            (Fault::Pause, _) => &["pause"],
            (Fault::Resume, _) => &["unpause"],
        };
        self.on_node(verb, node).map(drop)
    }

    fn condition(&self, node: u8) -> anyhow::Result<Condition> {
        let id = self.on_node(&["ps", "--all", "--quiet"], node)?;
        let id = id.trim();
        if id.is_empty() {
            return Ok(Condition::Dead);
        }
        let mut docker = Command::new("docker");
        docker.args(["inspect", "--format", "{{.State.Status}} {{.State.Pid}}", id]);
        let text = exec::capture(&mut docker, COMMAND_LIMIT)?;
        let (status, pid) = text.trim().split_once(' ').context("`docker inspect` said little")?;
        let pid = pid.parse()?;
        Ok(match status {
            "running" => Condition::Running { pid },
            "paused" => Condition::Paused { pid },
            _ => Condition::Dead,
        })
    }

    fn print_log(&self, node: u8) -> anyhow::Result<()> {
        let mut logs = self.command();
        logs.args(["logs", "--no-color"]).arg(service(node));
        let status = logs.status().context("cannot run Compose")?;
        ensure!(status.success(), "`{}` failed with {status}", exec::display(&logs));
        Ok(())
    }

    fn log_tail(&self, node: u8) -> String {
        self.on_node(&["logs", "--no-color", "--tail", "40"], node).unwrap_or_default()
    }

    fn stop_all(&self) -> anyhow::Result<usize> {
        let ids = exec::capture(self.command().args(["ps", "--quiet"]), COMMAND_LIMIT)?;
        // A paused container cannot be told to stop, and the data goes anyway. That nothing runs is
        // no error here.
        let _ = exec::capture(self.command().arg("kill"), COMMAND_LIMIT);
        exec::run(self.command().args(["down", "--volumes"]), COMMAND_LIMIT)?;
        Ok(ids.lines().count())
    }
}

fn service(node: u8) -> String {
    format!("cassandra-{node}")
}

fn override_file() -> PathBuf {
    paths::cluster_dir().join("compose.override.yml")
}

fn override_text(shape: &Shape) -> String {
    let mut text = "services:\n".to_owned();
    for node in shape.numbers() {
        let options = settings::java_options(shape, node, TLS_DIR).join(" ");
        let address = shape.address(node);
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "  {}:\n    environment:\n      JVM_EXTRA_OPTS: \"{options}\"\n      \
             CASSANDRA_BROADCAST_RPC_ADDRESS: \"{address}\"\n",
            service(node)
        );
        // `cluster up` asks the nodes itself: it knows the password and the certificates.
        text += "    healthcheck: {test: [CMD, \"true\"]}\n";
        // Node 1 is published there by docker-compose.yml already.
        if node > 1 {
            let _ = writeln!(text, "    ports: [\"{address}:{CQL_PORT}:{CQL_PORT}\"]");
        }
        if shape.tls {
            let tls_dir = paths::tls_dir();
            let _ = writeln!(text, "    volumes: [\"{}:{TLS_DIR}:ro\"]", tls_dir.display());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, Network};

    fn compose_file() -> String {
        std::fs::read_to_string(paths::workspace().join("docker-compose.yml")).unwrap()
    }

    #[test]
    fn both_backends_run_the_same_cassandra() {
        let text = compose_file();
        assert!(text.contains(&format!("image: cassandra:{CASSANDRA_VERSION}\n")));
        for (name, value) in settings::PROMISED {
            assert!(text.contains(&format!("-Dcassandra.settings.{name}={value}\n")));
        }
    }

    #[test]
    fn there_are_as_many_services_as_nodes() {
        let text = compose_file();
        for node in 1..=NODES_MAX {
            assert!(text.contains(&format!("\n  {}:\n    <<: ", service(node))));
        }
        assert!(!text.contains(&service(NODES_MAX + 1)));
    }

    #[test]
    fn certificates_are_mounted_only_with_tls() {
        let shape =
            |tls| Shape { tls, client_certs: tls, ..Shape::plain(Kind::Docker, Network::USUAL, 2) };
        assert!(!override_text(&shape(false)).contains("volumes"));
        let text = override_text(&shape(true));
        assert!(text.contains(":/tls:ro"));
        assert!(text.contains("127.0.0.2:9042:9042"));
        assert!(text.contains("require_client_auth=true"));
    }
}
