//! What an error of SQLite means: above all, whether anything may have been written (S3).

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::store::{StoreError, StoreErrorKind};

/// Why a transaction came to nothing, or may have.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error of SQLite before COMMIT: the transaction is rolled back, now or when the file is next opened.
    Before(Error),
    /// An error of SQLite at COMMIT.
    Commit(Error),
    /// An error that is explained already. Nothing was changed.
    Explained(StoreError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Before(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Explained(error)
    }
}

impl Failure {
    /// Whether another connection's lock is in the way, so that nothing was done and trying again helps.
    pub(super) fn is_busy(&self) -> bool {
        match self {
            Self::Before(error) | Self::Commit(error) => {
                matches!(code(error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
            }
            Self::Explained(_) => false,
        }
    }

    /// In the words of the store at `path`.
    pub(super) fn explain(self, path: &Path) -> StoreError {
        let busy = self.is_busy();
        match self {
            Self::Explained(error) => error,
            Self::Commit(error) if !busy => {
                // S3: the log may hold the whole transaction, and whoever opens the file next may find it there.
                let (_, what, hint) = meaning(&error);
                let message =
                    format!("{} {what} while a transaction was being committed", path.display());
                StoreError::new(StoreErrorKind::Unknown, message).with_hint(hint).with_source(error)
            }
            Self::Before(error) | Self::Commit(error) => {
                let (kind, what, hint) = meaning(&error);
                StoreError::new(kind, format!("{} {what}", path.display()))
                    .with_hint(hint)
                    .with_source(error)
            }
        }
    }
}

fn code(error: &Error) -> Option<ErrorCode> {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    }
}

/// What an error means where nothing has been committed, in words that follow the file's path.
fn meaning(error: &Error) -> (StoreErrorKind, &'static str, &'static str) {
    use StoreErrorKind::{Corrupt, Gone, NotApplied, Refused};
    if error.sqlite_extended_error_code() == Some(ffi::SQLITE_READONLY_DBMOVED) {
        return (
            Gone,
            "is not the file any more that was opened",
            "never move the file while clients run",
        );
    }
    match code(error) {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (NotApplied, "is locked by another process", "who has it open? `fuser -v FILE` tells")
        }
        Some(ErrorCode::DiskFull) => {
            (Refused, "can't grow", "the disk is full, or a quota is used up: make room")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (Refused, "can't be written", RIGHTS)
        }
        Some(ErrorCode::CannotOpen) => (Refused, "can't be opened", RIGHTS),
        Some(ErrorCode::NotADatabase) => (Corrupt, "is not a SQLite database", STRANGE),
        Some(ErrorCode::DatabaseCorrupt) => (Corrupt, "is damaged", DAMAGED),
        // A statement that SQLite does not understand any more: its table has gone, or is another one.
        Some(ErrorCode::Unknown) => (Corrupt, "does not hold the tables that it held", DAMAGED),
        _ => (
            NotApplied,
            "can't be read or written",
            "is the disk full? does the system's log tell of errors of the disk?",
        ),
    }
}

const RIGHTS: &str =
    "this user needs the right to write the file, the -wal and -shm beside it, and their folder";
const DAMAGED: &str = "restore it from a backup, then move every sequence beyond each id ever given: `lseq advance NAME --above N`";

const STRANGE: &str = "is the path right? if sequences were in this file, restore it from a backup, then move every \
    sequence beyond each id ever given: `lseq advance NAME --above N`";

/// A refusal for good. Nothing was changed.
pub(super) fn refused(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Refused, message)
}

/// A refusal for good that says what to do instead. Nothing was changed.
pub(super) fn corrected(message: impl Into<String>, hint: impl Into<String>) -> StoreError {
    refused(message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use StoreErrorKind::{Corrupt, Gone, NotApplied, Refused, Unknown};

    fn kinds(code: i32) -> (StoreErrorKind, StoreErrorKind) {
        let error = || Error::SqliteFailure(ffi::Error::new(code), None);
        let explained = |failure: Failure| {
            let error = failure.explain(Path::new("/ids.db"));
            assert!(error.to_string().starts_with("/ids.db ") && error.hint().is_some(), "{error}");
            error.kind()
        };
        (explained(Failure::Before(error())), explained(Failure::Commit(error())))
    }

    /// S3: before COMMIT nothing was applied; at COMMIT only a lock says for certain that nothing was.
    #[test]
    fn s3_each_error_has_its_kind_before_and_at_commit() {
        for (code, before) in [
            (ffi::SQLITE_FULL, Refused),
            (ffi::SQLITE_READONLY, Refused),
            (ffi::SQLITE_READONLY_DIRECTORY, Refused),
            (ffi::SQLITE_READONLY_DBMOVED, Gone),
            (ffi::SQLITE_PERM, Refused),
            (ffi::SQLITE_CANTOPEN, Refused),
            (ffi::SQLITE_NOTADB, Corrupt),
            (ffi::SQLITE_CORRUPT, Corrupt),
            (ffi::SQLITE_ERROR, Corrupt),
            (ffi::SQLITE_IOERR, NotApplied),
            (ffi::SQLITE_IOERR_FSYNC, NotApplied),
            (ffi::SQLITE_NOMEM, NotApplied),
        ] {
            assert_eq!(kinds(code), (before, Unknown), "{code}");
        }
        for code in [
            ffi::SQLITE_BUSY,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_BUSY_RECOVERY,
            ffi::SQLITE_LOCKED,
        ] {
            assert_eq!(kinds(code), (NotApplied, NotApplied), "{code}");
        }
    }
}
