//! What a way to run nodes must be able to do. Two ways are known: Docker Compose and Maven.

use super::compose::{self, Compose};
use super::local::Local;
use super::shape::Shape;

/// The ways to run nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Docker,
    Maven,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Maven => "maven",
        }
    }
}

/// What a person may ask for.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Choice {
    /// Docker where an engine answers, otherwise Maven
    Auto,
    /// Docker Compose
    Docker,
    /// Cassandra from Maven Central on Java 17
    Maven,
}

impl Choice {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Docker => Kind::Docker,
            Self::Auto if compose::engine_answers() => Kind::Docker,
            Self::Auto | Self::Maven => Kind::Maven,
        }
    }
}

/// What can be done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Kill,
    Pause,
    Resume,
}

/// What a node's process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Running { pid: i32 },
    Paused { pid: i32 },
    Dead,
}

impl Condition {
    pub(crate) fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }
}

/// One way to run nodes. Nodes are numbered from 1 and outlive this process.
pub(crate) trait Backend {
    /// Finds, installs or fetches what `start_fresh` needs.
    fn prepare(&self) -> anyhow::Result<()>;
    /// Starts all nodes at once on fresh data. Does not wait until they are ready.
    fn start_fresh(&self, shape: &Shape) -> anyhow::Result<()>;
    /// Starts one dead node again on its data. Does not wait until it is ready.
    fn start(&self, node: u8) -> anyhow::Result<()>;
    /// Does something to one node.
    fn inflict(&self, node: u8, fault: Fault) -> anyhow::Result<()>;
    fn condition(&self, node: u8) -> anyhow::Result<Condition>;
    /// Prints the whole log of a node on stdout.
    fn print_log(&self, node: u8) -> anyhow::Result<()>;
    /// The end of a node's log, to show why it did not start.
    fn log_tail(&self, node: u8) -> String;
    /// Stops every node that an earlier `start_fresh` or `start` left running, and says how many
    /// there were. Nothing else is ever ended.
    fn stop_all(&self) -> anyhow::Result<usize>;
}

/// The backend of a shape.
pub(crate) fn of(kind: Kind) -> anyhow::Result<Box<dyn Backend>> {
    Ok(match kind {
        Kind::Docker => Box::new(Compose::find()?),
        Kind::Maven => Box::new(Local),
    })
}
