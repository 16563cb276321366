//! `lseq`: unique integer ids from Apache Cassandra, ScyllaDB or an embedded file.

mod args;
mod client;
mod commands;
mod config;
mod definition;
mod duration;
mod exit;
mod failure;
mod history;
mod ids;
mod logging;
mod printer;
mod progress;
mod report;
mod secret;
mod settings;
mod usage;
mod visible;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::exit::Exit;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) => usage::report(&error),
    };
    exit.into()
}

fn run(cli: Cli) -> Exit {
    let context = cli.global.context();
    match commands::run(cli.command, &context) {
        Ok(exit) => exit,
        Err(error) => report::report(&error, &context),
    }
}
