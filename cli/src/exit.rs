//! What the command tells its caller when it ends.

use std::process::ExitCode;

/// The exit codes, as `lseq --help` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Refused for good, or a check found a violation. Nothing was changed, or what was printed is valid.
    Refused = 1,
    /// The arguments, the environment or the configuration are wrong. Nothing was sent.
    Usage = 2,
    /// The outcome of a write is not known, or ids were reserved that could not be printed: some may be burned.
    Unknown = 3,
    /// The store is not available, or busy. Nothing was changed.
    Unavailable = 4,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
