//! `lseq check`

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lamport_seq::history::{HistoryError, Options, Progress, Report, Source, check};
use serde_json::json;

use super::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::visible::visible;

/// Check recorded histories: that no id was given twice, and all else that is promised
///
/// All files are judged as one history of one store. Prints each violation with the lines that show it, and how much
/// there was to judge. Exits with 1 if there is a violation, and with 2 if a file can't be read or is no history.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"violations\":[{\"property\":..,\"sequence\":..,\"problem\":..,\"operations\":[{\"operation\":..,
\"client\":..,\"generator\":..,\"file\":..,\"line\":..}]}],\"found\":{..},\"torn\":[..],\"summary\":{..}}.
found counts all violations of each property, of which the first 100 are described.")]
pub(crate) struct Args {
    /// Histories, as a recorder writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Accept stops of which the history holds no cause, as that of a service, which records no faults
    #[arg(long)]
    allow_unexplained_stops: bool,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let sources: Vec<_> = self.files.iter().map(Source::file).collect();
        let printer = context.printer;
        let mut bar = Bar::new(!printer.is_quiet() && !printer.is_json());
        let mut told = |progress| bar.tell(progress);
        let mut options = Options::default().progress(&mut told);
        if self.allow_unexplained_stops {
            options = options.allow_unexplained_stops();
        }
        let checked = check(&sources, options);
        drop(bar);
        let report = checked.map_err(|error| refusal(&error))?;
        if report.summary.events == 0 {
            let message = "there is nothing to check: no event is in any of these files";
            return Err(Failure::usage(message).hint(RECORDED).into());
        }
        for empty in sources.iter().filter(|source| is_empty(source)) {
            printer.note(&format!("{} is empty", empty.name()));
        }
        for torn in &report.torn {
            printer
                .note(&format!("{}:{} was cut off by a crash; not judged", torn.file, torn.line));
        }
        match printer.answer(text(&report), &json!(report)) {
            // A reader that has gone must not turn a violation into a success.
            Err(error) if !error.is_broken_pipe() => return Err(error.into()),
            _ => {}
        }
        Ok(if report.is_clean() { Exit::Done } else { Exit::Refused })
    }
}

fn is_empty(source: &Source) -> bool {
    std::fs::metadata(source.name()).is_ok_and(|file| file.len() == 0)
}

const RECORDED: &str =
    "a history is what `lseq alloc NAME --history FILE`, or an application's recorder, writes";

/// There is no verdict: that is neither "clean" nor "violated".
fn refusal(error: &HistoryError) -> anyhow::Error {
    let message = error.to_string();
    let failure = match error {
        HistoryError::Unreadable { source, .. } => {
            let hint = match source.kind() {
                io::ErrorKind::IsADirectory => "name the files in it, as in `FOLDER/*.jsonl`",
                io::ErrorKind::NotSeekable => "write what comes through it to a file, and check that",
                _ => RECORDED,
            };
            Failure::usage(message).source(source.to_string()).hint(hint)
        }
        HistoryError::Twice { .. } => Failure::usage(message).hint("name each file once"),
        HistoryError::Malformed { line: 1, .. } => Failure::usage(message).hint(RECORDED),
        _ => Failure::usage(message).hint(
            "only the last line of a run may be cut off: was the file edited, or did two processes write to it?",
        ),
    };
    failure.into()
}

fn text(report: &Report) -> String {
    let mut lines = String::new();
    // Writing to a string does not fail.
    for violation in &report.violations {
        // One line each: the name of a client may hold a line break.
        let _ = writeln!(lines, "{}", visible(&violation.to_string()));
    }
    let found: u64 = report.found.values().sum();
    if let Some(more) = found.checked_sub(report.violations.len() as u64).filter(|more| *more > 0) {
        let _ = writeln!(lines, "and {more} more");
    }
    let it = &report.summary;
    let faults: u64 = it.faults.values().sum();
    let _ = writeln!(
        lines,
        "{} of {}: {} of {} given by {}",
        some(it.events, "event"),
        some(it.processes, "run"),
        some(it.ids, "id"),
        some(it.sequences, "sequence"),
        some(it.generators, "generator")
    );
    let _ = writeln!(
        lines,
        "{}, {} failed, {} unknown; {}, {}",
        some(it.reserved, "reservation"),
        it.failed,
        it.unknown,
        some(faults, "fault"),
        some(it.stops, "stop")
    );
    if it.unplaced > 0 {
        let unplaced = some(it.unplaced, "reservation");
        let _ = writeln!(lines, "not judged, because a restore may be before or after: {unplaced}");
    }
    lines + &some(found, "violation")
}

fn some(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What is over sooner needs no bar.
const SOON: Duration = Duration::from_millis(500);

/// How far it has read. Nothing is printed meanwhile, so it shows wherever a person watches.
struct Bar {
    began: Instant,
    wanted: bool,
    shown: Option<ProgressBar>,
}

impl Bar {
    fn new(wanted: bool) -> Self {
        Self { began: Instant::now(), wanted: wanted && io::stderr().is_terminal(), shown: None }
    }

    fn tell(&mut self, progress: Progress) {
        if !self.wanted || self.began.elapsed() < SOON {
            return;
        }
        let new = || {
            let template =
                "{bar:32} {binary_bytes} of {binary_total_bytes}, {msg} events, {eta} left";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(progress.total).with_style(style)
        };
        let bar = self.shown.get_or_insert_with(new);
        bar.set_position(progress.bytes);
        bar.set_message(progress.events.to_string());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
