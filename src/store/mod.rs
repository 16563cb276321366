//! What a store is: one linearizable register per sequence. Everything clever is written above it, once.

mod connect;
#[cfg(feature = "cassandra")]
pub mod cql;
mod handle;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::future::Future;
use std::pin::Pin;

use tokio::time::Instant;
use uuid::Uuid;

pub use self::connect::Connect;
pub(crate) use self::handle::Opened;
pub use self::handle::StoreHandle;
use crate::definition::{Definition, SequenceName};
use crate::timestamp::LamportTimestamp;

/// What every method of a [`Store`] returns: a boxed future, so that a store can be a trait object.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Where sequences live: a linearizable read and a compare-and-set of one register per name.
///
/// A store knows nothing of ranges, retries or conflicts: it carries out one operation and says truthfully what
/// became of it. Write your own to keep sequences elsewhere, and run
#[cfg_attr(feature = "testing", doc = "[`conformance_tests!`](crate::conformance_tests) on it.")]
#[cfg_attr(not(feature = "testing"), doc = "`conformance_tests!` (feature `testing`) on it.")]
///
/// # To ensure correctness
///
/// - Reads, swaps and insertions of one name are linearizable, whoever sends them (S8).
/// - [`Swapped::Applied`] is answered only if this very call changed the register, durably.
/// - [`StoreErrorKind::NotApplied`] is returned only if the write was not applied and never will be. Whatever is
///   not certain is [`StoreErrorKind::Unknown`] (S3): a late write is harmless, a wrong verdict is a duplicate.
/// - A call is sent at most once. No layer below repeats a write (S8).
/// - Every call ends by its deadline, or soon after (S13).
/// - A register, once inserted, is never taken away (S6), and nothing but these methods writes it (S9).
///
/// Methods that later versions add have default implementations, so that a store written today goes on compiling.
pub trait Store: Send + Sync + 'static {
    /// Where this is, for people: a URL without user or password.
    fn location(&self) -> String;

    /// Checks once, before anything else is sent, that the store is there, has the expected shape and can keep
    /// the promises above (S9, S16).
    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()>;

    /// Reads a sequence's register, linearizably.
    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>>;

    /// Reads the identity that was written when the sequence was born, linearizably (S6).
    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>>;

    /// Whether not one replica holds a register of this name (S6). An error if some replica can't be asked.
    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool>;

    /// Writes a birth: if there is none (`replaces` is `None`), or in place of exactly `replaces`.
    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped>;

    /// Inserts a register if there is none. Neither `row.created` nor `row.definition` is ever `None` here.
    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped>;

    /// Writes birth and register in one step, if there is neither; `None` where the store can't, and the two are
    /// written one after the other.
    fn bear<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> Option<StoreFuture<'a, Swapped>> {
        let _ = (name, row, deadline);
        None
    }

    /// Reads a register's timestamp without a consensus, and so perhaps an old one; `None` where the store has no
    /// cheaper read than [`read`](Self::read). A hint: where to try next, never a proof (S4).
    fn peek<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> {
        let _ = (name, deadline);
        None
    }

    /// Applies `change` if the register still holds what `expected` holds: its timestamp and its `created`, and for
    /// [`Change::Widen`] its definition instead of its timestamp. On a missing register it is not applied.
    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped>;

    /// Up to `limit` sequences in the store's own order, from the one after `after` on. Need not be linearizable:
    /// nothing is decided by it.
    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>>;
}

/// What a sequence's register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How far the sequence has come, and which attempt took it there.
    pub timestamp: LamportTimestamp,
    /// The identity that the sequence was born with; `None` in a table that was made by hand and adopted.
    pub created: Option<Uuid>,
    /// What the sequence is; `None` in a table that was made by hand and adopted (S10).
    pub definition: Option<Definition>,
    /// Whether the sequence was dropped: it refuses everything, for ever.
    pub retired: bool,
    /// When the store says that the two halves of the timestamp were written, where it can say so (S7).
    pub written: Option<WriteTimes>,
}

impl Row {
    /// The register of a sequence that nothing has been reserved from.
    pub fn unused(definition: Definition, created: Uuid) -> Self {
        Self {
            timestamp: LamportTimestamp::new(definition.initial_value(), Uuid::nil()),
            created: Some(created),
            definition: Some(definition),
            retired: false,
            written: None,
        }
    }

    /// The definition, or what its absence means: one by one over all bigints (S10).
    pub fn definition(&self) -> Definition {
        self.definition.unwrap_or_else(Definition::undefined)
    }

    /// Whether this is what somebody expects who expects `definition` (S10).
    pub(crate) fn satisfies(&self, definition: &Definition) -> bool {
        // A row without definition keeps no bounds, and goes one by one.
        let plain = definition.increment_by() == 1 && definition.max_value() == i64::MAX;
        self.definition.map_or(plain, |found| found == *definition)
    }

    /// The register after `change`. A store that holds whole rows needs no other arithmetic.
    #[must_use]
    pub fn changed(self, change: Change) -> Self {
        match change {
            Change::Move { to } => Self { timestamp: to, written: None, ..self },
            Change::Widen { definition } => Self { definition: Some(definition), ..self },
            Change::Retire => Self { retired: true, ..self },
            Change::Revive { to, created } => Self {
                timestamp: to,
                created: Some(created),
                definition: Some(self.definition()),
                retired: false,
                written: None,
            },
        }
    }

    /// Whether `change` applies to this register for a caller that expects it to hold `expected`.
    pub fn admits(&self, change: Change, expected: &Self) -> bool {
        let unchanged = match change {
            Change::Widen { .. } => self.definition == expected.definition,
            _ => self.timestamp == expected.timestamp,
        };
        unchanged && self.created == expected.created
    }
}

/// Microseconds since the Unix epoch at which the cells of a timestamp were written, by the store's own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteTimes {
    /// `WRITETIME(value)`.
    pub value_us: Option<i64>,
    /// `WRITETIME(node)`.
    pub node_us: Option<i64>,
}

/// One atomic change of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Moves the timestamp on: a reservation, or an advance.
    Move {
        /// The timestamp after it.
        to: LamportTimestamp,
    },
    /// Widens the bounds. Touches neither value nor node (S4).
    Widen {
        /// The definition after it.
        definition: Definition,
    },
    /// Marks the sequence as dropped. Touches neither value nor node (S4).
    Retire,
    /// Brings a retired sequence back under a new identity, beyond its old value (S6).
    Revive {
        /// The timestamp after it.
        to: LamportTimestamp,
        /// The identity after it.
        created: Uuid,
    },
}

/// What became of a conditional write whose outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// This call changed the register.
    Applied,
    /// This call did not change the register and never will.
    NotApplied {
        /// What stood in the way, where the store says so. A hint: where to try next, never a proof (S4).
        found: Option<LamportTimestamp>,
    },
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The sequence.
    pub name: SequenceName,
    /// Its register, or what is wrong with it.
    pub row: Result<Row, String>,
}

/// What went wrong in a store, and above all whether anything may have been written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    hint: Option<String>,
    source: Option<std::sync::Arc<dyn std::error::Error + Send + Sync>>,
}

/// The classes of [`StoreError`]: what a caller may conclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Certainly not applied, now or later; trying again may help. Nothing was changed.
    NotApplied,
    /// A write may have been applied, or may be applied later (S3). Of a read: no answer, try again.
    Unknown,
    /// Refused for good: no rights, no such table, wrong version, wrong password. Nothing was changed.
    Refused,
    /// What is stored is not a sequence's register (S9). Nothing was changed.
    Corrupt,
    /// The place where sequences are stored has gone or is another one now (S16): a stop.
    Gone,
}

impl StoreError {
    /// An error of this kind; `message` says what happened, without the cause's own words.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(std::sync::Arc::from(source.into()));
        self
    }

    /// What a caller may conclude.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether trying again may help.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.kind, StoreErrorKind::NotApplied | StoreErrorKind::Unknown)
    }

    /// What to do about it, where the store knows.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
