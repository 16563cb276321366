//! All that is printed, in one place.

use std::fmt::Display;

/// Prints one line.
#[expect(clippy::print_stdout, reason = "a program that reports; nothing else here prints")]
pub fn line(text: impl Display) {
    println!("{text}");
}

/// Prints one line where errors go.
#[expect(clippy::print_stderr, reason = "a mistake in the command line is no result")]
pub fn complain(text: impl Display) {
    eprintln!("{text}");
}
