//! Nodes as plain Java processes.
//!
//! Each node's process writes down its own id before it becomes Java. So there is no moment at
//! which a node runs and nobody knows: this command may be killed at any time.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Signal;

use super::backend::{Backend, Condition, Fault};
use super::process::Recorded;
use super::shape::Shape;
use super::{certs, clock, fetch, node_files};
use crate::tools::{self, Tool};
use crate::{out, paths};

/// How long a new process may take to write down its id.
const SPAWN_LIMIT: Duration = Duration::from_secs(10);
/// How long a node may take to end by itself. Nothing of it is needed any more: no patience.
const TERM_LIMIT: Duration = Duration::from_secs(8);
/// How long the operating system may take to end a killed process.
const KILL_LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);
const TAIL_LINES: usize = 40;
const TAIL_CHARS: usize = 200;

/// Cassandra from Maven Central on Java 17.
pub(crate) struct Local;

impl Backend for Local {
    fn prepare(&self) -> anyhow::Result<()> {
        tools::require(&[Tool::Java17, Tool::Maven, Tool::OpenSsl])?;
        fetch::jars().map(drop)
    }

    fn start_fresh(&self, shape: &Shape) -> anyhow::Result<()> {
        tools::require(&[Tool::Java17, Tool::Maven])?;
        let jars = fetch::jars()?;
        if shape.tls {
            certs::make(shape)?;
        }
        if shape.clocks {
            tools::require(&[Tool::FakeTime])?;
        }
        // The folders of a larger cluster before this one would only mislead.
        for node in 1..=u8::MAX {
            let dir = paths::node_dir(node);
            if !dir.exists() {
                break;
            }
            std::fs::remove_dir_all(&dir).with_context(|| format!("remove {}", dir.display()))?;
        }
        for node in shape.numbers() {
            node_files::write(shape, node, &jars)?;
        }
        shape.numbers().try_for_each(spawn)
    }

    fn start(&self, node: u8) -> anyhow::Result<()> {
        spawn(node)
    }

    fn inflict(&self, node: u8, fault: Fault) -> anyhow::Result<()> {
        let signal = match fault {
            Fault::Kill => Signal::KILL,
            Fault::Pause => Signal::STOP,
            Fault::Resume => Signal::CONT,
        };
        let dir = paths::node_dir(node);
        let record = record(node);
        if !record.as_ref().map_or(Ok(false), |record| record.signal(&dir, signal))? {
            bail!("node {node} is dead: `cargo xtask cluster start {node}` starts it again");
        }
        let done = |state: Option<char>| match fault {
            Fault::Kill => state.is_none(),
            Fault::Pause => state.is_none_or(is_stopped),
            Fault::Resume => state.is_none_or(|state| !is_stopped(state)),
        };
        wait_until(KILL_LIMIT, || done(record.as_ref().and_then(|record| record.state(&dir))))
            .with_context(|| format!("node {node} does not react to {signal:?}"))
    }

    fn condition(&self, node: u8) -> anyhow::Result<Condition> {
        let record = record(node);
        let state = record.as_ref().and_then(|record| record.state(&paths::node_dir(node)));
        Ok(match (record, state) {
            (Some(Recorded { pid, .. }), Some(state)) if is_stopped(state) => {
                Condition::Paused { pid }
            }
            (Some(Recorded { pid, .. }), Some(_)) => Condition::Running { pid },
            _ => Condition::Dead,
        })
    }

    fn print_log(&self, node: u8) -> anyhow::Result<()> {
        let path = log_file(node);
        let mut log = File::open(&path).with_context(|| format!("open {}", path.display()))?;
        match io::copy(&mut log, &mut io::stdout()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn log_tail(&self, node: u8) -> String {
        let text = std::fs::read(log_file(node)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        let cut = |line: &&str| line.chars().take(TAIL_CHARS).collect();
        let mut tail = tail.iter().map(cut).collect::<Vec<String>>();
        tail.push(format!("--- the whole log is {}", log_file(node).display()));
        tail.join("\n")
    }

    fn stop_all(&self) -> anyhow::Result<usize> {
        let nodes: Vec<(PathBuf, Recorded)> =
            recorded_nodes().filter(|(dir, record)| record.state(dir).is_some()).collect();
        for (dir, record) in &nodes {
            record.signal(dir, Signal::TERM)?;
            // A paused process hears SIGTERM only when it goes on.
            record.signal(dir, Signal::CONT)?;
        }
        let gone = || nodes.iter().all(|(dir, record)| record.state(dir).is_none());
        if wait_until(TERM_LIMIT, &gone).is_err() {
            for (dir, record) in &nodes {
                record.signal(dir, Signal::KILL)?;
            }
            wait_until(KILL_LIMIT, gone).context("a killed node has not ended")?;
        }
        Ok(nodes.len())
    }
}

fn is_stopped(state: char) -> bool {
    matches!(state, 'T' | 't')
}

fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> anyhow::Result<()> {
    let deadline = Instant::now() + limit;
    while !done() {
        if Instant::now() >= deadline {
            bail!("nothing after {} s", limit.as_secs());
        }
        sleep(POLL);
    }
    Ok(())
}

fn pid_file(node: u8) -> PathBuf {
    paths::node_dir(node).join("pid")
}

fn log_file(node: u8) -> PathBuf {
    paths::node_dir(node).join("node.log")
}

fn record(node: u8) -> Option<Recorded> {
    Recorded::load(&pid_file(node))
}

/// Every node that was ever written down and whose folder is still there.
fn recorded_nodes() -> impl Iterator<Item = (PathBuf, Recorded)> {
    let dirs = std::fs::read_dir(paths::cluster_dir()).into_iter().flatten().flatten();
    dirs.filter_map(|entry| {
        let dir = entry.path();
        let record = Recorded::load(&dir.join("pid"))?;
        Some((dir, record))
    })
}

/// Starts a node's process; it survives this one. Its first act is [`exec_node`].
fn spawn(node: u8) -> anyhow::Result<()> {
    let java = tools::java17()?;
    let dir = paths::node_dir(node);
    let pid_file = pid_file(node);
    // An earlier record must not be taken for the new one.
    if pid_file.exists() {
        std::fs::remove_file(&pid_file)?;
    }
    let log = OpenOptions::new().create(true).append(true).open(log_file(node))?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["cluster", "exec-node", "--pid-file"])
        .arg(&pid_file)
        .arg("--")
        .arg(java)
        .arg(format!("@{}", dir.join("jvm.args").display()))
        .arg("org.apache.cassandra.service.CassandraDaemon")
        .envs(clock::environment(node)?)
        .current_dir(&dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    let mut child = command.spawn().context("cannot start a node's process")?;
    wait_until(SPAWN_LIMIT, || pid_file.exists() || matches!(child.try_wait(), Ok(Some(_))))?;
    if !pid_file.exists() {
        bail!("node {node} did not start: {}", Local.log_tail(node));
    }
    out::note(format_args!("node {node}: process {}", child.id()));
    Ok(())
}

/// What a node's process does first: it leaves our session, so that neither Ctrl-C nor the end of
/// the terminal reaches it, writes down its id, and becomes Java.
pub(crate) fn exec_node(pid_file: &Path, command: &[OsString]) -> anyhow::Result<()> {
    let (program, arguments) = command.split_first().context("no command given")?;
    rustix::process::setsid().context("cannot start a session")?;
    Recorded::myself()?.save(pid_file)?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run {}", program.to_string_lossy()))
}
