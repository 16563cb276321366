//! `cargo xtask contention`: many clients on one row, this library against the loop that one writes first.

use std::time::Duration;

use crate::cluster::{Shape, With};
use crate::interrupt;
use crate::test::live::{CASSANDRA, Cluster, Place};
use crate::test::step::{Step, cargo};

/// A cold release build included.
const LIMIT: Duration = Duration::from_secs(60 * 60);

#[derive(clap::Args)]
#[command(after_help = "\
It measures on a release build, in turns, and prints a line a turn; no id may come twice on either side.
It runs on a three-node cluster, started and stopped here, or on the one that LSEQ_TEST_CASSANDRA names.")]
pub(crate) struct Options {
    /// How many clients reserve at once
    #[arg(long, default_value_t = 32)]
    clients: u32,
    /// How long a turn is, in seconds
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// How many turns each side has
    #[arg(long, default_value_t = 3)]
    turns: u32,
    #[command(flatten)]
    with: With,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    interrupt::install()?;
    let (contact_points, _cluster) = match Place::find(&options.with)? {
        Place::Given(given) => (given, None),
        Place::Own(kind, network) => {
            let shape = Shape::plain(kind, network, 3);
            let cluster = Cluster::up(&shape, false)?;
            (shape.contact_points(), Some(cluster))
        }
    };
    let mut command = cargo(&["bench", "--package", "lamport-seq", "--bench", "contention"]);
    command
        .args(["--all-features", "--locked"])
        .env(CASSANDRA, contact_points)
        .env("CLIENTS", options.clients.to_string())
        .env("SECONDS", options.seconds.to_string())
        .env("TURNS", options.turns.to_string());
    Step { name: "contention", command, before: "", limit: LIMIT }.run()
}
