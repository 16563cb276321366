//! The command, through its binary: exit code, standard output and standard error, as a person reads them.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "tests: a panic is the message, and snapshots are long"
)]

mod alloc;
mod bad_input;
mod check;
mod crowd;
mod failures;
mod help;
mod live;
mod output;
mod readme;
mod sequences;
mod settings;
mod world;
