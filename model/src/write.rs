//! What clients and operators write.

use crate::state::{Mark, Node};

/// One conditional write of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) old: u8,
    /// The node of the row that was learnt, if it was learnt.
    pub(crate) old_node: Option<Node>,
    pub(crate) created: u8,
    pub(crate) to: u8,
    pub(crate) node: Node,
    /// What its uuid tells of the value and node that it comes after. It follows from the above.
    pub(crate) after: Option<(u8, Node)>,
    /// Whether it has a condition at all (S9).
    pub(crate) conditional: bool,
}

/// What a client hears of its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `[applied] = true`, in this epoch; `unseen` if the row was in other hands than those that the client knew.
    Applied { epoch: u8, unseen: bool },
    /// `[applied] = false`, and the value and node that stood in its way.
    NotApplied { hint: Option<(u8, Node)> },
}

/// A write, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// A reservation.
    Move(Attempt),
    /// The birth, if there is none (S6).
    Birth(u8),
    /// A row, if there is none, with this value and identity (S6).
    Insert { value: u8, created: u8 },
    /// A new life for exactly this row (S6).
    Revive { old: Mark, to: u8, created: u8 },
}
