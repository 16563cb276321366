//! What a client is about.

use crate::state::{Cause, Mark, Row};
use crate::write::{Answer, Attempt};

/// One client: a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) phase: Phase,
    /// Reservations completed.
    pub(crate) done: u8,
    /// Attempts sent, to tell them apart. Not hashed.
    pub(crate) attempts: u8,
    /// The first attempt of the reservation under way. Hashed only where its tries share a uuid.
    pub(crate) reservation: u8,
    /// How often it has crashed. Not hashed.
    pub(crate) crashes: u8,
}

/// What a client is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not started, or crashed.
    Down,
    /// Between two reservations.
    Idle,
    /// Waits for a read of the row.
    Reading {
        why: Why,
        /// S4: the mark as it stood when the read was sent.
        sent: Option<Mark>,
        seen: Option<Seen>,
    },
    /// Waits for a conditional write.
    Writing { attempt: Attempt, answer: Option<Answer> },
    /// Opening: has read the row, waits for the birth; 0 if there is none.
    ReadingBirth { row: Option<Row>, seen: Option<u8> },
    /// Creating: waits for the word of every replica that there is neither birth nor row.
    Confirming { absent: Option<bool> },
    /// Creating: waits for the birth to be written.
    Announcing { created: u8, ours: Option<bool> },
    /// Creating: waits for the row to be inserted; `created` is what the row shows then.
    Inserting { created: u8, found: Option<u8> },
    /// Has made all its reservations.
    Done,
    /// Has found that the sequence has no ids left.
    Exhausted,
    /// S5: has stopped for good.
    Stopped(Cause),
    /// Was refused when it opened.
    Refused(Cause),
}

/// Why a row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// To open the sequence.
    Open,
    /// To learn where to try next.
    Learn,
    /// S7: to confirm a write that was applied, in this epoch.
    Confirm(Attempt, u8),
    /// S3: to find out what became of a write.
    Doubt(Attempt),
}

/// What a read found, and the epoch in which it did, where a claim may rest on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) row: Option<Row>,
    pub(crate) epoch: Option<u8>,
}

impl Phase {
    /// The attempt that the client waits for.
    pub(crate) fn attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Writing { attempt, .. }
            | Self::Reading { why: Why::Confirm(attempt, _) | Why::Doubt(attempt), .. } => {
                Some(attempt)
            }
            _ => None,
        }
    }
}
