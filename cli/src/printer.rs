//! Where all output goes through: answers to standard output, everything said about them to standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use crate::secret;
use crate::visible::visible;

/// How this run prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    /// Whether standard error is coloured.
    colour: bool,
}

/// Standard output that takes no more.
#[derive(Debug)]
pub(crate) struct OutputError(io::Error);

impl OutputError {
    /// Whether the reader has gone: it has what it wanted.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("standard output can't be written")
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[1;36m";
const PLAIN: &str = "\x1b[0m";

impl Printer {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let colour = wants_colour() && io::stderr().is_terminal();
        Self { json, quiet, colour }
    }

    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Whether logs on standard error are coloured.
    pub(crate) fn colours_errors(self) -> bool {
        self.colour
    }

    /// The answer: `text` for people, `object` with `--json`.
    pub(crate) fn answer(self, text: impl Display, object: &Value) -> Result<(), OutputError> {
        if self.json {
            Self::lines(&format!("{object}\n"))
        } else {
            let text = text.to_string();
            let lines = text.lines().map(|line| visible(line) + "\n");
            Self::lines(&lines.collect::<String>())
        }
    }

    /// Whole lines, as they are.
    pub(crate) fn lines(lines: &str) -> Result<(), OutputError> {
        let mut out = io::stdout().lock();
        out.write_all(lines.as_bytes())?;
        Ok(out.flush()?)
    }

    /// A table's heading.
    pub(crate) fn heading(text: &str) -> String {
        paint(BOLD, text, wants_colour() && io::stdout().is_terminal())
    }

    /// Something a person may want to know.
    pub(crate) fn note(self, text: &str) {
        self.say(CYAN, "note", text);
    }

    /// Something a person should look after.
    pub(crate) fn warning(self, text: &str) {
        self.say(YELLOW, "warning", text);
    }

    fn say(self, colour: &str, kind: &str, text: &str) {
        if self.quiet {
            return;
        }
        let text = &secret::redact(text);
        if self.json {
            to_stderr(&format!("{}\n", json!({ kind: text })));
        } else {
            let label = paint(colour, &format!("{kind}:"), self.colour);
            to_stderr(&format!("{label} {}\n", visible(text)));
        }
    }

    /// An error: what happened, why, and what to do about it.
    pub(crate) fn error(self, message: &str, causes: &[String], hints: &[String], exit: u8) {
        let message = secret::redact(message);
        let clean = |texts: &[String]| texts.iter().map(|text| secret::redact(text)).collect();
        let (causes, hints): (Vec<String>, Vec<String>) = (clean(causes), clean(hints));
        if self.json {
            let hint = (!hints.is_empty()).then(|| hints.join("; "));
            let object = json!({ "error": message, "causes": causes, "hint": hint, "exit": exit });
            return to_stderr(&format!("{object}\n"));
        }
        let line = |colour, label, text| {
            format!("{} {}", paint(colour, label, self.colour), visible(text))
        };
        let mut lines = vec![line(RED, "error:", &message)];
        lines.extend(causes.iter().map(|cause| line(RED, "caused by:", cause)));
        if !hints.is_empty() {
            lines.push(String::new());
        }
        lines.extend(hints.iter().map(|hint| line(CYAN, "hint:", hint)));
        to_stderr(&(lines.join("\n") + "\n"));
    }
}

fn paint(colour: &str, text: &str, coloured: bool) -> String {
    if coloured { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
}

/// One write, so that the lines of several processes do not mix. Nobody is left to tell if it fails.
fn to_stderr(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// <https://no-color.org>: set and not empty means none.
fn wants_colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
