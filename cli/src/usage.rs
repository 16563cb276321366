//! What the argument parser has to say, in the shape of every other error.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::args::Cli;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::report::one_line;

/// Prints help or version as asked for, or the error with what to do about it.
pub(crate) fn report(error: &clap::Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone has seen enough.
            drop(error.print());
            Exit::Done
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            Exit::Usage
        }
        _ => {
            let arguments = || std::env::args_os().skip(1);
            let text = error.render().to_string();
            let (message, mut hints) = split(&text);
            if hints.is_empty() {
                hints.push(format!("`lseq{} --help` says more", subcommand(arguments())));
            }
            let printer = Printer::new(wants_json(arguments()), false);
            printer.error(&message, &[], &hints, Exit::Usage.code());
            Exit::Usage
        }
    }
}

/// Whether `--json` is among the arguments that could not be parsed.
fn wants_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// The first argument that names a subcommand, with a space before it.
fn subcommand(arguments: impl Iterator<Item = OsString>) -> String {
    let cli = Cli::command();
    let mut names = arguments.filter_map(|argument| {
        let command = cli.find_subcommand(argument.to_str()?)?;
        Some(format!(" {}", command.get_name()))
    });
    names.next().unwrap_or_default()
}

/// The parser's text as one line and hints: its tips, and the usage.
fn split(text: &str) -> (String, Vec<String>) {
    let mut paragraphs = text.split("\n\n");
    let message = one_line(paragraphs.next().unwrap_or_default());
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let mut hints = Vec::new();
    for paragraph in paragraphs {
        if paragraph.trim_start().starts_with("tip: ") {
            let tips = paragraph.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
            hints.extend(tips.map(str::to_owned));
        } else if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            let usage = one_line(usage);
            let command: Vec<&str> = usage
                .split(' ')
                .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
                .collect();
            hints.push(format!("usage is `{usage}`; `{} --help` says more", command.join(" ")));
        }
    }
    (message, hints)
}
