//! `lseq alloc`

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lamport_seq::{Definition, Error, IdRange, Sequence, SequenceName};
use serde_json::json;

use super::Context;
use crate::client::Client;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::history::History;
use crate::ids::IdWriter;
use crate::printer::OutputError;
use crate::progress::Progress;

/// How many ids are reserved at a time, unless --block says otherwise.
const BLOCK: u64 = 1_000_000;
const LARGEST_BLOCK: u64 = 1 << 30;

/// Reserve ids and print them
///
/// Prints ids one a line, and nothing that was not reserved: what was printed before an error is valid. It reserves
/// exactly what it prints. If fewer ids are left than asked for, those are printed and it exits with 1. A reader that
/// goes away, as `head` does, ends it quietly with 0; what was reserved and not read is burned, one block at most.
/// A line counts with its line feed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"id\":N} for every id; with --range
{\"sequence\":..,\"first\":..,\"last\":..,\"increment\":..,\"count\":..}.")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// How many ids
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = super::count, allow_negative_numbers = true)]
    count: u64,
    /// How many ids to reserve at a time [default: all, up to a million]
    #[arg(long, value_name = "N", conflicts_with = "range")]
    #[arg(value_parser = block, allow_negative_numbers = true)]
    block: Option<u64>,
    /// Create the sequence with the defaults, if there is none
    #[arg(long)]
    create: bool,
    /// Print one line `FIRST LAST`, and the increment if it is not 1; all ids or none
    #[arg(long)]
    range: bool,
    /// Consent to use more than a million ids and a hundredth of what is left, which can't be undone
    #[arg(long)]
    yes: bool,
    /// Record to this file, for `lseq check`, every id before it is printed; appends to what is there
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = super::name(&self.name)?;
        let history = self.history.as_deref().map(History::start).transpose()?;
        let client = if self.create { context.connect_or_create()? } else { context.connect()? };
        let job = Job { args: &self, client, history };
        let sequence = job.open_or_create(&name)?;
        if self.range {
            let range = job.reserve(&sequence, self.count)?;
            print_range(context, &name, range).map_err(burned)?;
        } else {
            job.stream(context, sequence)?;
        }
        Ok(Exit::Done)
    }
}

/// One run of the command, which is connected and records if it is to.
struct Job<'a> {
    args: &'a Args,
    client: Client,
    history: Option<History>,
}

impl Job<'_> {
    fn open_or_create(&self, name: &SequenceName) -> Result<Sequence, Error> {
        let client = &self.client;
        match self.open(name, client.patience()) {
            Err(Error::NotFound { .. }) if self.args.create => {}
            opened => return opened,
        }
        let catalog = client.catalog();
        match client.wait(catalog.create(name, Definition::default())) {
            // Another process was first, with whatever definition: as good.
            Ok(_) | Err(Error::AlreadyExists { .. }) => self.open(name, client.patience()),
            Err(error) => Err(error),
        }
    }

    fn open(&self, name: &SequenceName, timeout: Duration) -> Result<Sequence, Error> {
        let mut builder = Sequence::open(&self.client.store, name).timeout(timeout);
        if self.args.yes {
            builder = builder.max_jump(u64::MAX);
        }
        if let Some(history) = &self.history {
            builder = builder.record(&history.recorder);
        }
        self.client.wait(builder)
    }

    /// A range that may be printed.
    fn reserve(&self, sequence: &Sequence, count: u64) -> anyhow::Result<IdRange> {
        let range = self.client.wait(sequence.reserve(count))?;
        self.history.as_ref().map_or(Ok(()), History::is_whole)?;
        Ok(range)
    }

    /// Reserves and prints by turns: what a reader that goes away leaves behind is one block at most.
    fn stream(&self, context: &Context, mut sequence: Sequence) -> anyhow::Result<()> {
        let wanted = self.args.count;
        if !self.args.yes {
            // S12: the blocks may be small, but what is asked for is all of them.
            sequence.consent(wanted.min(sequence.remaining()))?;
        }
        let mut out = IdWriter::new(io::stdout().lock(), context.printer.is_json());
        let mut progress = Progress::new(context.printer, wanted);
        let block = self.args.block.unwrap_or(BLOCK);
        let (mut left, mut ask) = (wanted, block.min(wanted));
        loop {
            let range = match self.reserve(&sequence, ask) {
                Ok(range) => range,
                Err(error) => match error.downcast_ref() {
                    // The last ids of the sequence, as far as they go.
                    Some(Error::Exhausted { left: rest, .. }) if (1..ask).contains(rest) => {
                        ask = *rest;
                        continue;
                    }
                    _ => return Err(self.cut_short(error, left)),
                },
            };
            out.write(range).map_err(|error| burned(error.into()))?;
            progress.advance(range.len());
            let first = left == wanted;
            left = left.saturating_sub(range.len());
            if left == 0 {
                return Ok(());
            }
            if first {
                // Connecting is over: from now on every step has the whole timeout.
                sequence = self
                    .open(sequence.name(), self.client.timeout())
                    .map_err(|error| self.cut_short(error.into(), left))?;
            }
            ask = block.min(left);
        }
    }

    /// An error that comes after ids were printed says how many.
    fn cut_short(&self, error: anyhow::Error, left: u64) -> anyhow::Error {
        match self.args.count - left {
            0 => error,
            given => error.context(format!("only {given} of {} ids were given", self.args.count)),
        }
    }
}

fn print_range(context: &Context, name: &SequenceName, range: IdRange) -> Result<(), OutputError> {
    let (first, last, increment) = (range.first(), range.last(), range.increment());
    let text = match increment {
        1 => format!("{first} {last}"),
        _ => format!("{first} {last} {increment}"),
    };
    let object = json!({
        "sequence": name.as_str(),
        "first": first,
        "last": last,
        "increment": increment,
        "count": range.len(),
    });
    context.printer.answer(text, &object)
}

fn block(text: &str) -> Result<u64, String> {
    match super::count(text)? {
        ids if ids <= LARGEST_BLOCK => Ok(ids),
        _ => Err(format!("a block has at most {LARGEST_BLOCK} ids")),
    }
}

/// Ids that were reserved and could not be printed. A reader that has gone has what it wanted.
fn burned(error: OutputError) -> anyhow::Error {
    if error.is_broken_pipe() {
        return error.into();
    }
    let failure =
        Failure::new(Exit::Unknown, "ids were reserved that can't be printed; they are burned");
    let hint = "make room, and run it again: the ids that come then are new";
    failure.source(error).hint(hint).into()
}
