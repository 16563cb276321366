//! What there is at one moment: the store, the clients, what is under way, and what has been given.

use crate::canonical::Symmetry;
use crate::event::Events;
pub(crate) use crate::phase::{Client, Phase, Seen, Why};
use crate::setup::CLIENTS;
pub(crate) use crate::write::{Answer, Attempt, Write};

/// The most epochs that a history can have.
pub(crate) const EPOCHS: usize = 4;
/// The most writes that can be under way with nobody waiting for them.
pub(crate) const LATE: usize = 6;
/// The identity of the sequence as it was born first.
pub(crate) const FIRST_BIRTH: u8 = 1;

/// Everything. Hashed by its canonical form (see `canonical.rs`), in which two clients that play the same part, and
/// two uuids that nobody can tell apart, are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) handles: [Handle; CLIENTS],
    pub(crate) clients: [Client; CLIENTS],
    /// Writes that are under way though their clients wait no more.
    pub(crate) late: [Option<Write>; LATE],
    /// What an operator has announced and not done yet.
    pub(crate) operator: Option<Write>,
    /// Faults that may still come.
    pub(crate) faults: u8,
    /// Disasters and operators' acts that may still come.
    pub(crate) disasters: u8,
    /// How often the row went back, by something that no protocol can undo.
    pub(crate) epoch: u8,
    /// The ids given in each epoch, one bit each.
    pub(crate) given: [u16; EPOCHS],
    /// What has happened that explains a stop.
    pub(crate) causes: Causes,
    pub(crate) violation: Option<Violation>,
    /// What the last step did. Not part of the state: it is not hashed.
    pub(crate) last: Events,
    /// Not hashed either.
    pub(crate) memory: Memory,
    pub(crate) symmetry: Symmetry,
}

/// The two tables, as transactions see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    pub(crate) row: Option<Row>,
    /// The row before its last change, to restore, or to be read from a replica that lags.
    pub(crate) previous: Option<Row>,
    pub(crate) birth: Option<u8>,
    /// Identities drawn so far.
    pub(crate) births: u8,
    /// The furthest value that the row has ever held.
    pub(crate) reached: u8,
    /// A node's clock runs ahead.
    pub(crate) skewed: bool,
    /// S8: what the other electorate has decided and not written yet.
    pub(crate) local: Option<Write>,
}

/// One sequence's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) value: u8,
    pub(crate) node: Node,
    /// What the uuid in `node` tells of the value and node before, if uuids do.
    pub(crate) after: Option<(u8, Node)>,
    pub(crate) created: u8,
    pub(crate) retired: bool,
    pub(crate) written: Written,
}

/// What the write times of a row tell, and do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Value and node were not written together.
    pub(crate) apart: bool,
    /// By a transaction under a clock that is ahead.
    pub(crate) ahead: bool,
    pub(crate) shadow: Shadow,
    /// The future of a shadow may come.
    pub(crate) brief: bool,
}

/// Cells with a timestamp in the future, which no transaction can overwrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shadow {
    #[default]
    None,
    Value,
    Row,
}

/// Which attempt wrote a row. What of it the uuid in `node` tells depends on the rules (S2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node {
    pub(crate) client: u8,
    pub(crate) reservation: u8,
    pub(crate) attempt: u8,
}

impl Node {
    /// Nobody's: a row that nothing was reserved from.
    pub(crate) const NIL: Self = Self::special(0xfe);
    /// Not a client's: a plain write's or an operator's.
    pub(crate) const ALIEN: Self = Self::special(0xff);

    const fn special(client: u8) -> Self {
        Self { client, reservation: 0, attempt: 0 }
    }

    pub(crate) fn is_clients(self) -> bool {
        usize::from(self.client) < CLIENTS
    }
}

/// The furthest row that was seen through a handle (S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) value: u8,
    pub(crate) node: Node,
    pub(crate) created: u8,
}

impl From<Row> for Mark {
    fn from(row: Row) -> Self {
        Self { value: row.value, node: row.node, created: row.created }
    }
}

/// What the generators on one store handle share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) mark: Option<Mark>,
    /// A serial read has contradicted the mark: from here on, no id may be given.
    pub(crate) contradicted: bool,
}

/// Why a client stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Missing,
    Regressed,
    ChangedHands,
    Recreated,
    Retired,
    WrittenApart,
    WrittenAhead,
}

/// What has happened that explains a stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    /// The row went back, or was written without a condition.
    pub(crate) tampered: bool,
    /// The row was lost.
    pub(crate) lost: bool,
    /// The sequence was dropped, or brought back.
    pub(crate) dropped: bool,
}

/// What is remembered of a history for nothing but to tell what it has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The ids given in any epoch.
    pub(crate) given: u16,
    /// The identity under which the sequence came back.
    pub(crate) returned: Option<u8>,
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// An id was given twice in one epoch.
    Duplicate { id: u8 },
    /// An id was given by a client that had been shown a row that contradicts its mark.
    GivenBeyondMark { id: u8 },
    /// A client stopped, or was refused, and nothing had happened that explains it.
    FalseStop(Cause),
}
