//! What a nemesis does, why a sequence stops, and which of the one explains which of the other.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stop::StopCause;

/// What a nemesis does to the system. Only those that a checker has to know have a variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault<'a> {
    /// The row goes back to what it was: a backup is restored, a replica forgets, a file is replaced. A new epoch.
    Restore,
    /// The row is written without a condition. A new epoch.
    PlainWrite,
    /// The row is deleted, truncated or expires.
    RowDeleted,
    /// The sequence is dropped, as an operator does it.
    Drop,
    /// The sequence is created anew under another birth, as an operator does it.
    Recreate,
    /// Any other: `kill`, `pause`, `clock`, `partition`, `answer_lost`. It excuses nothing.
    #[serde(untagged, borrow)]
    Other(Cow<'a, str>),
}

impl Fault<'_> {
    /// The same, with a text of its own.
    pub fn into_owned(self) -> Fault<'static> {
        match self {
            Self::Restore => Fault::Restore,
            Self::PlainWrite => Fault::PlainWrite,
            Self::RowDeleted => Fault::RowDeleted,
            Self::Drop => Fault::Drop,
            Self::Recreate => Fault::Recreate,
            Self::Other(name) => Fault::Other(Cow::Owned(name.into_owned())),
        }
    }

    /// Whether ids are unique only between two of these: nothing is promised across a roll-back of the row.
    pub fn begins_epoch(&self) -> bool {
        matches!(self, Self::Restore | Self::PlainWrite)
    }

    /// Whether a stop for `cause` is right after this.
    pub fn explains(&self, cause: Cause) -> bool {
        match self {
            Self::Restore => true,
            Self::PlainWrite => cause != Cause::Gone,
            Self::RowDeleted => matches!(cause, Cause::Missing | Cause::Corrupt | Cause::Gone),
            Self::Drop => cause == Cause::Retired,
            Self::Recreate => cause == Cause::Recreated,
            Self::Other(_) => false,
        }
    }
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Restore => "restore",
            Self::PlainWrite => "plain_write",
            Self::RowDeleted => "row_deleted",
            Self::Drop => "drop",
            Self::Recreate => "recreate",
            Self::Other(name) => name,
        })
    }
}

/// Why a sequence stopped: a [`StopCause`] without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The row is not there.
    Missing,
    /// The row is behind what was seen.
    Regressed,
    /// The row was born anew.
    Recreated,
    /// The sequence was dropped.
    Retired,
    /// An applied write does not show.
    Shadowed,
    /// The write times tell of a plain write.
    PlainWrite,
    /// The definition changed as no `alter` does it.
    Redefined,
    /// The row is not a sequence's.
    Corrupt,
    /// The store has gone.
    Gone,
}

impl From<&StopCause> for Cause {
    fn from(cause: &StopCause) -> Self {
        match cause {
            StopCause::Missing => Self::Missing,
            StopCause::Regressed { .. } => Self::Regressed,
            StopCause::Recreated { .. } => Self::Recreated,
            StopCause::Retired => Self::Retired,
            StopCause::Shadowed { .. } => Self::Shadowed,
            StopCause::PlainWrite(_) => Self::PlainWrite,
            StopCause::Redefined { .. } => Self::Redefined,
            StopCause::Corrupt(_) => Self::Corrupt,
            StopCause::Gone(_) => Self::Gone,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "missing",
            Self::Regressed => "regressed",
            Self::Recreated => "recreated",
            Self::Retired => "retired",
            Self::Shadowed => "shadowed",
            Self::PlainWrite => "plain_write",
            Self::Redefined => "redefined",
            Self::Corrupt => "corrupt",
            Self::Gone => "gone",
        })
    }
}
