//! `cargo xtask cluster`: real Apache Cassandra nodes on loopback addresses.

mod backend;
mod certs;
mod clock;
mod compose;
mod cql;
mod fetch;
mod local;
mod lock;
mod node_files;
mod process;
mod ready;
mod settings;
mod shape;
mod up;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use self::backend::{Backend, Choice};
pub(crate) use self::backend::{Condition, Fault, Kind};
pub(crate) use self::clock::set as set_clock;
use self::lock::Lock;
pub(crate) use self::process::state as process_state;
pub(crate) use self::ready::{clock_of, promises, reaches_another, written_ahead};
pub(crate) use self::shape::{Network, STORAGE_PORT, Shape};
pub(crate) use self::up::up;
use crate::{interrupt, out};

/// Where the nodes are, for `--help`.
const AFTER_HELP: &str = "\
Node N answers CQL on 127.0.0.N:9042, or in the network that --network names. Nodes run in Docker
(docker-compose.yml) where an engine answers, otherwise as Cassandra 5.0 from Maven Central on
Java 17. Everything is under target/cassandra: n1, n2, ... (data, logs, configuration of each node),
and with --tls
  tls/ca.pem                           the authority that signed the nodes' certificates
  tls/other-ca.pem                     an unrelated authority, to try a wrong one
  tls/client.pem, tls/client-key.pem   a client's certificate and key, signed by tls/ca.pem
With --auth the superuser is cassandra, its password cassandra.";

#[derive(Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    /// Start a fresh cluster and wait until every node answers and sees the others
    Up(Up),
    /// Stop the cluster
    Down,
    /// Find or install what a cluster needs, and fetch Cassandra, without starting anything
    Prepare(With),
    /// Show each node: address, process, state, whether it answers CQL
    Status,
    /// Print a node's log
    Logs(Node),
    /// End a node at once, as a crash would (SIGKILL)
    Kill(Node),
    /// Freeze a node (SIGSTOP)
    Pause(Node),
    /// Let a frozen node go on (SIGCONT)
    Resume(Node),
    /// Start a killed node again on its data and wait until it is ready
    Start(Node),
    /// What a node's process does before it becomes Java
    #[command(hide = true)]
    ExecNode(ExecNode),
}

#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Up {
    /// How many nodes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=9))]
    nodes: u8,
    /// Passwords and permissions: superuser cassandra, password cassandra
    #[arg(long)]
    auth: bool,
    /// CQL over TLS only, with the certificates of target/cassandra/tls
    #[arg(long)]
    tls: bool,
    /// TLS, and a client must show a certificate as well
    #[arg(long)]
    client_certs: bool,
    #[command(flatten)]
    with: With,
}

#[derive(Args)]
pub(crate) struct With {
    /// What to run the nodes with
    #[arg(long, value_enum, default_value_t = Choice::Auto, env = "LSEQ_XTASK_BACKEND")]
    backend: Choice,
    /// Node N is this, a dot, and N: another network for another cluster at the same time
    #[arg(long, default_value_t = Network::USUAL, env = "LSEQ_XTASK_NETWORK")]
    network: Network,
}

impl With {
    /// How nodes are to be run, and where.
    pub(crate) fn resolve(&self) -> anyhow::Result<(Kind, Network)> {
        let kind = self.backend.kind();
        if kind == Kind::Docker && self.network != Network::USUAL {
            bail!("docker-compose.yml publishes on 127.0.0.1: `--backend maven` takes a network");
        }
        Ok((kind, self.network))
    }
}

#[derive(Args)]
pub(crate) struct Node {
    /// The node's number, from 1
    node: u8,
}

#[derive(Args)]
pub(crate) struct ExecNode {
    #[arg(long)]
    pid_file: PathBuf,
    #[arg(last = true, required = true)]
    command: Vec<std::ffi::OsString>,
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Up(options) => {
            interrupt::install()?;
            up(&options.shape()?)
        }
        Command::Down => down(),
        Command::Prepare(with) => prepare(with.resolve()?.0),
        Command::Status => status(),
        Command::Logs(Node { node }) => running(node)?.print_log(node),
        Command::Kill(Node { node }) => fault(node, Fault::Kill),
        Command::Pause(Node { node }) => fault(node, Fault::Pause),
        Command::Resume(Node { node }) => fault(node, Fault::Resume),
        Command::Start(Node { node }) => start(node),
        Command::ExecNode(ExecNode { pid_file, command }) => local::exec_node(&pid_file, &command),
    }
}

impl Up {
    fn shape(&self) -> anyhow::Result<Shape> {
        let (kind, network) = self.with.resolve()?;
        if kind == Kind::Docker && self.nodes > compose::NODES_MAX {
            bail!(
                "docker-compose.yml has {} nodes: `--backend maven` runs more",
                compose::NODES_MAX
            );
        }
        Ok(Shape {
            kind,
            nodes: self.nodes,
            auth: self.auth,
            tls: self.tls || self.client_certs,
            client_certs: self.client_certs,
            clocks: false,
            network,
        })
    }
}

/// Everything that a cluster needs and that could be missing, before time is spent on other things.
pub(crate) fn prepare(kind: Kind) -> anyhow::Result<()> {
    let _lock = Lock::take()?;
    backend::of(kind)?.prepare()
}

/// Where the cluster that is up answers.
pub(crate) fn contact_points() -> anyhow::Result<String> {
    Ok(current()?.0.contact_points())
}

/// What the nodes of a cluster are doing.
pub(crate) fn conditions(shape: &Shape) -> anyhow::Result<Vec<(u8, Condition)>> {
    let backend = backend::of(shape.kind)?;
    shape.numbers().map(|node| Ok((node, backend.condition(node)?))).collect()
}

/// The cluster that is up, for a command about one of its nodes.
fn running(node: u8) -> anyhow::Result<Box<dyn Backend>> {
    let (shape, backend) = current()?;
    if !(1..=shape.nodes).contains(&node) {
        bail!("no node {node}: the cluster has nodes 1 to {}", shape.nodes);
    }
    Ok(backend)
}

fn current() -> anyhow::Result<(Shape, Box<dyn Backend>)> {
    let shape = Shape::load()?.context("no cluster is up: `cargo xtask cluster up` starts one")?;
    let backend = backend::of(shape.kind)?;
    Ok((shape, backend))
}

/// Does something to one node of the cluster that is up, and returns when it is done.
pub(crate) fn fault(node: u8, fault: Fault) -> anyhow::Result<()> {
    running(node)?.inflict(node, fault)
}

/// Starts a dead node of the cluster that is up, and waits until it answers and sees the others.
pub(crate) fn start(node: u8) -> anyhow::Result<()> {
    interrupt::install()?;
    let backend = running(node)?;
    let (shape, _) = current()?;
    {
        let _lock = Lock::take()?;
        match backend.condition(node)? {
            Condition::Dead => backend.start(node)?,
            Condition::Paused { .. } => {
                bail!("node {node} is paused: `cargo xtask cluster resume {node}` lets it go on")
            }
            Condition::Running { .. } => out::note(format_args!("node {node} runs already")),
        }
    }
    whole(&shape)
}

/// Waits until all nodes that run answer, run as promised and see each other.
pub(crate) fn whole(shape: &Shape) -> anyhow::Result<()> {
    let backend = backend::of(shape.kind)?;
    let conditions = conditions(shape)?.into_iter();
    let running = conditions.filter(|(_, condition)| condition.is_running());
    let nodes: Vec<u8> = running.map(|(node, _)| node).collect();
    let ready = ready::wait(backend.as_ref(), shape, &nodes, up::READY_LIMIT);
    ready.inspect_err(|error| up::explain(backend.as_ref(), error))
}

/// Stops the cluster that is up, and whatever else an earlier run has left.
pub(crate) fn down() -> anyhow::Result<()> {
    let _lock = Lock::take()?;
    if up::clear_leftovers()? == 0 {
        out::note(format_args!("no cluster was up"));
    }
    Ok(())
}

fn status() -> anyhow::Result<()> {
    let (shape, _) = current()?;
    out::result(format_args!("{shape}"));
    out::result(format_args!(
        "{:<4}  {:<11}  {:>8}  {:<7}  CQL",
        "node", "address", "pid", "state"
    ));
    for (node, condition) in conditions(&shape)? {
        let (pid, state) = match condition {
            Condition::Running { pid } => (pid.to_string(), "running"),
            Condition::Paused { pid } => (pid.to_string(), "paused"),
            Condition::Dead => ("-".to_owned(), "dead"),
        };
        // A paused node accepts a connection and then says nothing: not asked.
        let cql = match state {
            "running" if cql::Connection::open(&shape, node).is_ok() => "answers",
            "running" => "does not answer",
            _ => "-",
        };
        let address = shape.address(node).to_string();
        out::result(format_args!("{node:<4}  {address:<11}  {pid:>8}  {state:<7}  {cql}"));
    }
    Ok(())
}
