//! How an error is shown, and which exit code it gives.

use lamport_seq::Error;

use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::OutputError;

/// Prints `error` with its causes and what to do about it.
pub(crate) fn report(error: &anyhow::Error, context: &Context) -> Exit {
    let output = error.downcast_ref::<OutputError>();
    if output.is_some_and(OutputError::is_broken_pipe) {
        // The reader has what it wanted.
        return Exit::Done;
    }
    let exit = exit_of(error);
    let mut messages = messages(error).into_iter();
    let message = messages.next().unwrap_or_default();
    let causes: Vec<String> = messages.collect();
    let hint = hint_of(error).map(|hint| on_the_same_store(&hint, context));
    let hints: Vec<String> = hint.into_iter().collect();
    context.printer.error(&message, &causes, &hints, exit.code());
    exit
}

/// A command that is pasted must mean the store that this one was told of.
fn on_the_same_store(hint: &str, context: &Context) -> String {
    let store = context.store.as_ref().map(|url| format!("--store {} ", quoted(url)));
    let config = context.config.as_ref().map(|file| {
        let file = file.to_string_lossy();
        format!("--config {} ", quoted(&file))
    });
    let told: String = [store, config].into_iter().flatten().collect();
    hint.replace("`lseq ", &format!("`lseq {told}"))
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit;
    }
    match error.downcast_ref::<Error>() {
        Some(error) if error.is_unknown() => Exit::Unknown,
        Some(error) if error.is_retryable() => Exit::Unavailable,
        Some(Error::InvalidName(_) | Error::InvalidDefinition(_) | Error::InvalidOption(_)) => {
            Exit::Usage
        }
        _ => Exit::Refused,
    }
}

/// The error and its causes, a line each. What a line before or after tells as well is left out.
fn messages(error: &anyhow::Error) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = one_line(&cause.to_string());
        let last = messages.last().map_or("", String::as_str);
        if !messages.is_empty() && last.contains(&text) {
            continue;
        }
        if messages.len() > 1 && text.contains(last) {
            messages.pop();
        }
        messages.push(text);
    }
    messages
}

/// Blanks within a line stay: they may be of a name.
pub(crate) fn one_line(text: &str) -> String {
    text.lines().map(str::trim_ascii).collect::<Vec<_>>().join(" ")
}

fn hint_of(error: &anyhow::Error) -> Option<String> {
    if let Some(hint) = error.downcast_ref::<Failure>().and_then(Failure::advice) {
        return Some(hint.to_owned());
    }
    let error = error.downcast_ref::<Error>()?;
    let fallback = || {
        let hint = match error {
            Error::InvalidName(_) => {
                "any other name will do: 1 to 255 bytes of UTF-8 in form NFC, without control characters"
            }
            Error::InvalidDefinition(_) => {
                "the words and defaults are those of PostgreSQL's CREATE SEQUENCE: `lseq create --help`"
            }
            Error::Contended { .. } => {
                "nothing was changed: try again, with fewer clients or a larger --block"
            }
            Error::Unknown { .. } => {
                "try again: what may have been reserved is burned, and is never given twice"
            }
            Error::Unavailable { .. } => {
                "nothing was changed: is the store up, and is its address right? --timeout waits longer"
            }
            Error::NotWider { .. } => {
                "bounds only ever move outward; a sequence of another name can have others"
            }
            Error::TimedOut { .. } => "try again, or let --timeout wait longer",
            _ => return None,
        };
        Some(hint.to_owned())
    };
    error.hint().or_else(fallback)
}
