//! One file per subcommand: its arguments and what it does with them.

mod advance;
mod alloc;
mod alter;
mod check;
mod completions;
mod create;
mod drop;
mod init;
mod list;
mod man;
mod status;

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use lamport_seq::{Error, SequenceName};

use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::{OutputError, Printer};
use crate::settings::Settings;

/// What the global options say.
pub(crate) struct Context {
    pub(crate) printer: Printer,
    pub(crate) store: Option<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) verbose: u8,
}

impl Context {
    /// Connects to a store that is there. Commands that need none start no runtime.
    fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(self, Settings::resolve(self)?, false)
    }

    /// As [`connect`](Self::connect), and makes an embedded file if there is none.
    fn connect_or_create(&self) -> anyhow::Result<Client> {
        Client::connect(self, Settings::resolve(self)?, true)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Args),
    Create(create::Args),
    Alloc(alloc::Args),
    Status(status::Args),
    List(list::Args),
    Advance(advance::Args),
    Alter(alter::Args),
    Drop(drop::Args),
    Check(check::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// A name from the command line; the library's error says what is wrong with it.
fn name(name: &str) -> Result<SequenceName, Error> {
    Ok(SequenceName::new(name)?)
}

/// A number of something, at least 1.
fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number, at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

pub(crate) fn run(command: Command, context: &Context) -> anyhow::Result<Exit> {
    match command {
        Command::Init(args) => args.run(context),
        Command::Create(args) => args.run(context),
        Command::Alloc(args) => args.run(context),
        Command::Status(args) => args.run(context),
        Command::List(args) => args.run(context),
        Command::Advance(args) => args.run(context),
        Command::Alter(args) => args.run(context),
        Command::Drop(args) => args.run(context),
        Command::Check(args) => args.run(context),
        Command::Completions(args) => args.run(),
        Command::Man(args) => args.run(),
    }
}

/// What a command says of a change that it has made. That it can't be said does not undo it.
fn told(answer: Result<(), OutputError>) -> anyhow::Result<()> {
    match answer {
        Err(error) if !error.is_broken_pipe() => {
            let message = "what was asked for is done, but standard output can't be written";
            let failure = Failure::new(Exit::Unknown, message).source(error);
            Err(failure.hint("`lseq list` and `lseq status NAME` show how things stand").into())
        }
        answer => Ok(answer?),
    }
}
