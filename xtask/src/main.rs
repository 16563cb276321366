//! The project's own chores, run as `cargo xtask <command>`: real Cassandra clusters for tests, the test command,
//! and the soak.

mod cluster;
mod contention;
mod exec;
mod interrupt;
mod out;
mod paths;
mod planted;
mod soak;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A real Cassandra cluster on this machine, for tests and for trying things out
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Run all tests: without a cluster, then on a three-node cluster, then on a secured one
    Test(test::Options),
    /// Measure many clients on one row against the loop that one writes first
    Contention(contention::Options),
    /// Build the library with one planted bug after the other, and see that the tests catch each
    PlantedBugs(planted::Options),
    /// Let client processes reserve ids under faults of all kinds, and check all that they recorded
    Soak(soak::Options),
}

/// What a shell reports for a command that Ctrl-C ended.
const EXIT_INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Cluster(command) => cluster::run(command),
        Command::Test(options) => test::run(&options),
        Command::Contention(options) => contention::run(&options),
        Command::PlantedBugs(options) => planted::run(&options),
        Command::Soak(options) => soak::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out::note(format_args!("error: {error:#}"));
            if interrupt::requested() {
                ExitCode::from(EXIT_INTERRUPTED)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
