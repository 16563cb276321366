//! Why a sequence has stopped for good on one store handle (S5).

use std::sync::Arc;

use uuid::Uuid;

use crate::definition::SequenceName;
use crate::timestamp::LamportTimestamp;

/// A stop: what the store shows can't be reconciled with what this client knows, so no more ids are given.
///
/// It is final for this sequence on this store handle: every generator opened through it returns this same
/// error from every call, and ids that were buffered are burned. When the cause is understood and mended,
/// start the process again (or connect anew). docs/operations.md says how a stopped sequence is revived.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "sequence `{sequence}` in {location} has stopped: {cause}; ids that were buffered are burned"
)]
pub struct Stop {
    /// The sequence that stopped.
    pub sequence: SequenceName,
    /// Where it lives.
    pub location: Arc<str>,
    /// Why.
    pub cause: StopCause,
    /// What the store itself says is to be done.
    pub(crate) advice: Option<String>,
}

/// What a stop has found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopCause {
    /// The row is not there, though the sequence was born.
    #[error("its row is missing (was it deleted, truncated, expired or not restored?)")]
    Missing,
    /// The row is behind what this client has seen, or at the same value by another hand (S4).
    #[error(
        "its row holds {found}, but this client has seen {seen} (was a backup restored, or a replica lost?)"
    )]
    Regressed {
        /// The furthest timestamp that this client has seen.
        seen: LamportTimestamp,
        /// What the row holds.
        found: LamportTimestamp,
    },
    /// The row was born anew, under another identity (S4, S6).
    #[error("it was created anew: its identity is {}, and this client knows {}", told(*found), told(*seen))]
    Recreated {
        /// The identity that this client knows.
        seen: Option<Uuid>,
        /// The identity in the row.
        found: Option<Uuid>,
    },
    /// The sequence was dropped.
    #[error("it was dropped")]
    Retired,
    /// A conditional write was applied, and the row does not show it (S7).
    #[error(
        "{written} was applied and the row holds {found} (was the row written without a condition, or rolled back?)"
    )]
    Shadowed {
        /// What was applied.
        written: LamportTimestamp,
        /// What the row holds.
        found: LamportTimestamp,
    },
    /// The write times tell of a write that was not a lightweight transaction (S7).
    #[error("its row was written without a condition: {0}")]
    PlainWrite(String),
    /// The definition changed in a way that no `alter` makes (S10).
    #[error("its definition was {seen}, and is now {found}")]
    Redefined {
        /// The definition that this client knows.
        seen: String,
        /// The definition in the row.
        found: String,
    },
    /// The row is not a sequence's (S9).
    #[error("its row is corrupt: {0}")]
    Corrupt(String),
    /// The place where the sequence lives has gone, or is another one now (S16).
    #[error("its store has gone: {0}")]
    Gone(String),
}

/// An identity in words: an adopted row has none.
fn told(identity: Option<Uuid>) -> String {
    identity.map_or_else(|| "none".to_owned(), |identity| identity.to_string())
}

impl Stop {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let name = self.sequence.shell_argument();
        match &self.cause {
            StopCause::Retired => format!(
                "a dropped name comes back only beyond its old value: \
                 `lseq advance --above N --recreate {name}` with N beyond every id ever given"
            ),
            StopCause::Missing | StopCause::Gone(_) => format!(
                "find the largest id in your data, then \
                 `lseq advance --above N --recreate {name}` with N beyond it, and restart the clients"
            ),
            StopCause::Recreated { .. } => {
                "restart the clients if the sequence was created anew on purpose, beyond every id ever given"
                    .to_owned()
            }
            StopCause::Corrupt(_) => {
                "stop its clients, find out what wrote the row, and mend its columns by hand with a conditional \
                 update: no command touches a row that is not a sequence's (docs/protocol.md has the columns)"
                    .to_owned()
            }
            _ => format!(
                "find out what wrote the row, then raise it above every id ever given \
                 (`lseq advance --above N {name}`) and restart the clients"
            ),
        }
    }
}
