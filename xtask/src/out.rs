//! Where words go: results to stdout, everything else to stderr. A closed pipe is no error.

use std::fmt::Arguments;
use std::io::Write as _;

/// A result, one that could be piped.
pub(crate) fn result(line: Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Progress, warnings and errors.
pub(crate) fn note(line: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
