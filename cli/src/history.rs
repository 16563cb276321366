//! What a command records of itself, for `lseq check`.

use std::io;
use std::path::{Path, PathBuf};

use lamport_seq::history::Recorder;

use crate::exit::Exit;
use crate::failure::Failure;

/// The file that this run records to.
pub(crate) struct History {
    path: PathBuf,
    pub(crate) recorder: Recorder,
}

impl History {
    /// Begins to record, before anything is sent.
    pub(crate) fn start(path: &Path) -> Result<Self, Failure> {
        let recorder = Recorder::to_file(path).map_err(|error| refusal(path, error))?;
        Ok(Self { path: path.to_owned(), recorder })
    }

    /// Fails if something was not recorded. An id that is not in the history is not printed: it would be missed.
    pub(crate) fn is_whole(&self) -> Result<(), Failure> {
        let Some(why) = self.recorder.failure() else { return Ok(()) };
        let message = "ids were reserved that can't be recorded; they are burned";
        let failure = Failure::new(Exit::Unknown, message);
        let cause = format!("can't write the history {}: {why}", self.path.display());
        Err(failure
            .source(cause)
            .hint("make room, and run it again: the ids that come then are new"))
    }
}

fn refusal(path: &Path, error: io::Error) -> Failure {
    let hint = if error.kind() == io::ErrorKind::WouldBlock {
        "each process that runs at the same time needs a file of its own; `lseq check` takes many"
    } else {
        "a history is a regular file in a folder that exists, and is appended to"
    };
    Failure::usage(format!("can't record to {}", path.display())).source(error).hint(hint)
}
