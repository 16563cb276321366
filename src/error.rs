//! The one error type of the library: what happened, and what changed in the store.

use std::sync::Arc;
use std::time::Duration;

use crate::definition::{Definition, InvalidDefinition, InvalidName, SequenceName};
use crate::stop::Stop;
use crate::store::StoreError;

/// Why a call gave no ids, or changed nothing.
///
/// There are three classes. *Refused*: asking again gives the same answer. *Not applied*
/// ([`is_retryable`](Self::is_retryable)): nothing was changed, try again. *Unknown*
/// ([`is_unknown`](Self::is_unknown)): something may have been changed; what was reserved is burned, never handed
/// out, and the next call is safe.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a name. Nothing was changed.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// Not a definition. Nothing was changed.
    #[error(transparent)]
    InvalidDefinition(#[from] InvalidDefinition),
    /// An option's value is out of its bounds. Nothing was changed.
    #[error("{0}")]
    InvalidOption(String),
    /// There never was a sequence of this name. Nothing was changed.
    #[error("sequence `{sequence}` does not exist in {location}")]
    NotFound {
        /// The name that was asked for.
        sequence: SequenceName,
        /// The store that was asked.
        location: Arc<str>,
    },
    /// A sequence of this name is there already. Nothing was changed.
    #[error("sequence `{sequence}` exists already in {location}")]
    AlreadyExists {
        /// The name that was asked for.
        sequence: SequenceName,
        /// The store that was asked.
        location: Arc<str>,
    },
    /// The row is there and its birth is not: the table was made by hand. Nothing was changed.
    #[error(
        "sequence `{sequence}` in {location} has a row but was never born here: its table was made by hand"
    )]
    NotAdopted {
        /// The sequence.
        sequence: SequenceName,
        /// The store.
        location: Arc<str>,
    },
    /// The sequence is defined otherwise than the caller expects (S10). Nothing was changed.
    #[error("sequence `{sequence}` is defined as {found}, not as {expected}")]
    DefinitionMismatch {
        /// The sequence.
        sequence: SequenceName,
        /// What the caller expects.
        expected: Definition,
        /// What is stored.
        found: Definition,
    },
    /// Bounds can only be widened (S10). Nothing was changed.
    #[error("the bounds of sequence `{sequence}` can only be widened: they are {found}")]
    NotWider {
        /// The sequence.
        sequence: SequenceName,
        /// What is stored.
        found: Definition,
    },
    /// The row is behind the id that the caller vouches for. Nothing was changed.
    #[error(
        "sequence `{sequence}` stands at {value}, behind {not_below}, which the caller says was given"
    )]
    Behind {
        /// The sequence.
        sequence: SequenceName,
        /// The value in the row.
        value: i64,
        /// What the caller knows from elsewhere.
        not_below: i64,
    },
    /// There are fewer ids left than were asked for; the last one is `end`. Nothing was changed.
    #[error(
        "sequence `{sequence}` is exhausted: {left} ids are left before its end {end}, {wanted} were asked for"
    )]
    Exhausted {
        /// The sequence.
        sequence: SequenceName,
        /// The bound that it moves towards.
        end: i64,
        /// How many ids are left.
        left: u64,
        /// How many were asked for.
        wanted: u64,
    },
    /// The jump would use up a large share of what is left, and can't be undone (S12). Nothing was changed.
    #[error("sequence `{sequence}` has {left} ids left, and this would use {ids} of them at once")]
    JumpTooFar {
        /// The sequence.
        sequence: SequenceName,
        /// How many ids it would use.
        ids: u64,
        /// How many are left.
        left: u64,
    },
    /// The sequence is strict, and ids of a strict sequence are not buffered (S15). Nothing was changed.
    #[error("sequence `{sequence}` is strict, and this version opens only sequences that are not")]
    Strict {
        /// The sequence.
        sequence: SequenceName,
    },
    /// The sequence has stopped for good on this store handle (S5). Nothing was changed by this call.
    #[error(transparent)]
    Stopped(#[from] Arc<Stop>),
    /// The generator was closed. Nothing was changed by this call.
    #[error("sequence `{sequence}` was closed")]
    Closed {
        /// The sequence.
        sequence: SequenceName,
    },
    /// The operating system has no randomness to name an attempt with. Nothing was changed.
    #[error("no randomness to name an attempt with: {0}")]
    NoEntropy(String),
    /// The store refuses for good. Nothing was changed.
    #[error("{location} refuses")]
    Refused {
        /// The store.
        location: Arc<str>,
        /// Why.
        source: StoreError,
    },
    /// Other clients were first until the deadline. Nothing was changed.
    #[error("sequence `{sequence}`: other clients were first {conflicts} times within {:?}", rounded(*waited))]
    Contended {
        /// The sequence.
        sequence: SequenceName,
        /// How often another client was first.
        conflicts: u32,
        /// How long it was tried.
        waited: Duration,
    },
    /// The store could not be reached, or refused for now, until the deadline. Nothing was changed.
    #[error("{location} was not available for {:?}", rounded(*waited))]
    Unavailable {
        /// The store.
        location: Arc<str>,
        /// How long it was tried.
        waited: Duration,
        /// What it said last; `None` if it said nothing at all.
        source: Option<StoreError>,
    },
    /// The caller's deadline passed while ids were being reserved. No id was given to this caller; what is
    /// reserved goes to the next.
    #[error("sequence `{sequence}`: no id within {:?}", rounded(*waited))]
    TimedOut {
        /// The sequence.
        sequence: SequenceName,
        /// How long the caller waited.
        waited: Duration,
        /// What held the reservation up, where that is known.
        source: Option<Arc<Error>>,
    },
    /// The outcome of a write is not known (S3). A range may have been reserved; it is burned, never handed out.
    #[error(
        "{location}: it is not known whether the last write was applied; what it reserved is burned"
    )]
    Unknown {
        /// The store.
        location: Arc<str>,
        /// What it said last.
        source: StoreError,
    },
}

/// In whole milliseconds, for people.
fn rounded(time: Duration) -> Duration {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(millis.max(1))
}

impl Error {
    /// Whether trying again later may succeed, with nothing changed by this call.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Contended { .. } | Self::Unavailable { .. } | Self::TimedOut { .. })
    }

    /// Whether something may have been changed in the store. Trying again is safe; ids may have been burned.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown { .. } => true,
            Self::TimedOut { source: Some(cause), .. } => cause.is_unknown(),
            _ => false,
        }
    }

    /// Whether the sequence has no ids left.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Self::Exhausted { .. })
    }

    /// The stop, if this is one (S5).
    pub fn stop(&self) -> Option<&Stop> {
        match self {
            Self::Stopped(stop) => Some(stop),
            _ => None,
        }
    }

    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { sequence, .. } => {
                let name = sequence.shell_argument();
                format!("create it with `lseq create {name}`, or see `lseq list`")
            }
            Self::NotAdopted { .. } => {
                "`lseq init --adopt` writes the births; read what it prints first".to_owned()
            }
            Self::AlreadyExists { sequence, .. } => {
                let name = sequence.shell_argument();
                format!("`lseq status {name}` shows it; `--if-not-exists` accepts an equal one")
            }
            Self::DefinitionMismatch { sequence, .. } => format!(
                "a definition is immutable, but `lseq alter --max N {}` widens its bounds; \
                 otherwise open it as it is stored",
                sequence.shell_argument()
            ),
            Self::Behind { sequence, not_below, .. } => format!(
                "was a backup restored? `lseq advance --above {not_below} {}` moves it on",
                sequence.shell_argument()
            ),
            Self::Exhausted { end: i64::MAX | i64::MIN, .. } => {
                "no bigint lies beyond its end: only a sequence of another name gives more ids"
                    .to_owned()
            }
            Self::Exhausted { sequence, .. } => format!(
                "`lseq alter --max N {}` (`--min` for a falling one) widens it, if the column that takes the ids can hold more",
                sequence.shell_argument()
            ),
            Self::JumpTooFar { .. } => {
                "it can't be undone; say `--yes` (or set `max_jump`) if it is meant".to_owned()
            }
            Self::Stopped(stop) => stop.hint(),
            Self::Refused { source, .. } | Self::Unknown { source, .. } => {
                source.hint()?.to_owned()
            }
            Self::Unavailable { source: Some(source), .. } => source.hint()?.to_owned(),
            Self::TimedOut { source: Some(cause), .. } => cause.hint()?,
            _ => return None,
        };
        Some(hint)
    }
}
