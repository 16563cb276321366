//! `lseq list`

use std::fmt::Write as _;

use lamport_seq::{CorruptSequence, SequenceInfo, SequenceName};
use serde_json::json;

use super::{Context, status};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::visible::visible;

/// How many sequences are asked for at a time.
const PAGE: u32 = 500;

/// List the sequences
///
/// In the store's own order, dropped ones too. A row that is no sequence's is shown as corrupt, and makes it exit
/// with 1 at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: one object per sequence, as `lseq status` prints, or {\"sequence\":..,\"corrupt\":..}.")]
pub(crate) struct Args {
    /// Only sequences whose name begins like this
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Stop after this many sequences
    #[arg(long, value_name = "N")]
    #[arg(value_parser = super::count, allow_negative_numbers = true)]
    limit: Option<u64>,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.connect()?;
        let prefix = self.prefix.unwrap_or_default();
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut catalog = client.catalog();
        let mut after: Option<SequenceName> = None;
        let mut corrupt: u64 = 0;
        let mut heading = !context.printer.is_json();
        loop {
            let page = client.wait(catalog.list(after.as_ref(), PAGE))?;
            let complete = page.len() < PAGE as usize;
            after = page.last().map(|line| name(line).clone());
            let mut lines = String::new();
            for line in page.iter().filter(|line| name(line).as_str().starts_with(&prefix)) {
                if left == 0 {
                    break;
                }
                left -= 1;
                corrupt += u64::from(line.is_err());
                if heading {
                    heading = false;
                    lines += &Printer::heading(HEADING);
                    lines.push('\n');
                }
                write_line(&mut lines, line, context.printer.is_json());
            }
            Printer::lines(&lines)?;
            if complete || left == 0 {
                break;
            }
            // Connecting is over: from now on every page has the whole timeout.
            catalog = catalog.timeout(client.timeout());
        }
        match corrupt {
            0 => Ok(Exit::Done),
            1 => Err(corrupt_rows("1 sequence is corrupt".to_owned())),
            _ => Err(corrupt_rows(format!("{corrupt} sequences are corrupt"))),
        }
    }
}

type Line = Result<SequenceInfo, CorruptSequence>;

const HEADING: &str = "               VALUE            REMAINING      USED  STATE    NAME";

fn name(line: &Line) -> &SequenceName {
    match line {
        Ok(info) => &info.name,
        Err(corrupt) => &corrupt.name,
    }
}

/// The name comes last, so that the columns stand still whatever comes on later pages.
fn write_line(lines: &mut String, line: &Line, json: bool) {
    // Writing to a string does not fail.
    let _ = match line {
        Ok(info) if json => writeln!(lines, "{}", status::object(info)),
        Err(corrupt) if json => {
            let object = json!({ "sequence": corrupt.name.as_str(), "corrupt": corrupt.problem });
            writeln!(lines, "{object}")
        }
        Ok(info) => {
            let (value, remaining) = (info.timestamp.value, info.remaining());
            let used = status::share(info);
            let state = if info.retired { "dropped" } else { "-" };
            writeln!(
                lines,
                "{value:>20} {remaining:>20} {used:>9}  {state:<8} {}",
                visible(info.name.as_str())
            )
        }
        Err(corrupt) => {
            let CorruptSequence { name, problem, .. } = corrupt;
            let (name, problem) = (visible(name.as_str()), visible(problem));
            writeln!(
                lines,
                "{:>20} {:>20} {:>9}  {:<8} {name}: {problem}",
                "-", "-", "-", "corrupt"
            )
        }
    };
}

fn corrupt_rows(message: String) -> anyhow::Error {
    let hint = "something else has written their rows: find out what, and see docs/operations.md";
    Failure::refused(message).hint(hint).into()
}
