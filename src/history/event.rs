//! The events of a history: one JSON object a line. docs/history.md describes them for people.
//!
//! An event is here only if a checker needs it. What nobody can misjudge leaves no line: a call that gave no id,
//! a read of the row, an opening that was refused.

use std::borrow::Cow;
use std::num::NonZeroI64;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::fault::{Cause, Fault};
use crate::definition::Definition;

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;

/// One line of a history.
///
/// An operation whose effect can outlive its caller is two lines: an invoke ([`Reserve`](Self::Reserve),
/// [`Nemesis`](Self::Nemesis)), written before anything is sent, and later one of [`Ok`](Self::Ok),
/// [`Fail`](Self::Fail) and [`Info`](Self::Info) with the same number. Without the second, the outcome is not
/// known. Every other operation is one line, written when it is done and before its caller hears of it.
///
/// Numbers (`generator`, `handle`, `operation`) and times belong to the [`Process`](Self::Process) line above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// A process starts recording; all lines up to the next one of these are its own.
    #[serde(borrow)]
    Process(Process<'a>),
    /// An incarnation begins: a generator was opened.
    Open(Open<'a>),
    /// Invoke: a conditional write that moves the row is about to be sent.
    Reserve(Reserve),
    /// The operation was done.
    Ok(End<'a>),
    /// The operation certainly did not happen, and never will.
    Fail(End<'a>),
    /// It is not known whether the operation happened, or will happen.
    Info(End<'a>),
    /// Ids are handed to a caller.
    Give(Give),
    /// A generator gives only ids beyond this one from now on (S14).
    Observe(Observe),
    /// All generators of one handle give only ids beyond this one from now on.
    Advance(Advance),
    /// The sequence stops on one handle (S5).
    Stop(Stop),
    /// A generator was closed.
    Close(Close),
    /// The bounds of a sequence are about to be widened.
    Alter(Alter<'a>),
    /// Invoke: something is about to be done to the system under test.
    Nemesis(Nemesis<'a>),
}

impl Event<'_> {
    /// When the line was written; a [`Process`] has no time.
    pub fn time(&self) -> u64 {
        match self {
            Self::Process(_) => 0,
            Self::Open(open) => open.time,
            Self::Reserve(reserve) => reserve.time,
            Self::Ok(end) | Self::Fail(end) | Self::Info(end) => end.time,
            Self::Give(give) => give.time,
            Self::Observe(observe) => observe.time,
            Self::Advance(advance) => advance.time,
            Self::Stop(stop) => stop.time,
            Self::Close(close) => close.time,
            Self::Alter(alter) => alter.time,
            Self::Nemesis(nemesis) => nemesis.time,
        }
    }
}

/// One run of one process: who it is, and with which other processes it shares a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process<'a> {
    /// The version of the format, [`FORMAT`].
    pub format: u32,
    /// What people call it.
    #[serde(borrow)]
    pub client: Cow<'a, str>,
    /// This run alone, so that one history is not taken for two.
    pub run: Uuid,
    /// The boot of the host. Times are comparable where this and `time_namespace` are equal, and nowhere else.
    pub boot_id: Cow<'a, str>,
    /// The time namespace of the process.
    pub time_namespace: Cow<'a, str>,
}

/// An incarnation: one life of one generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open<'a> {
    /// Its number, new for every incarnation of the process.
    #[serde(rename = "g")]
    pub generator: u32,
    /// Generators of one sequence with the same number share a store handle: mark, stop and floor are common.
    #[serde(rename = "h")]
    pub handle: u32,
    /// The sequence.
    #[serde(borrow)]
    pub sequence: Cow<'a, str>,
    /// What the sequence is.
    pub definition: Shape,
    /// The value of the row when it was opened.
    pub value: i64,
    /// How long it took, in nanoseconds.
    #[serde(rename = "d", default, skip_serializing_if = "is_zero")]
    pub duration: u64,
    /// When it was done.
    #[serde(rename = "t")]
    pub time: u64,
}

/// A [`Definition`] as a history holds it: not checked, since a history may tell of anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The first id.
    pub start_value: i64,
    /// The distance from one id to the next.
    pub increment_by: NonZeroI64,
    /// The smallest id.
    pub min_value: i64,
    /// The largest id.
    pub max_value: i64,
    /// Whether the ids are linearizable over all clients.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

const ONE: NonZeroI64 = NonZeroI64::new(1).expect("1 is not 0");

impl From<&Definition> for Shape {
    fn from(definition: &Definition) -> Self {
        Self {
            start_value: definition.start_value(),
            // A definition's increment is never 0, and its getter does not say so.
            increment_by: NonZeroI64::new(definition.increment_by()).unwrap_or(ONE),
            min_value: definition.min_value(),
            max_value: definition.max_value(),
            strict: definition.is_strict(),
        }
    }
}

/// Invoke of an attempt: one conditional write that moves the row from `old` to `value`.
///
/// If it was applied and claimed ([`Event::Ok`]), the ids after `old` up to `value` are the generator's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserve {
    /// The incarnation.
    #[serde(rename = "g")]
    pub generator: u32,
    /// The number by which the second line names it.
    #[serde(rename = "n")]
    pub operation: u64,
    /// The attempt's uuid, that of the row's `node` (S2).
    pub attempt: Uuid,
    /// The value that the row must have for the write to be applied.
    pub old: i64,
    /// The value that it has after it.
    pub value: i64,
    /// When it was about to be sent.
    #[serde(rename = "t")]
    pub time: u64,
}

/// The end of an operation of two lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End<'a> {
    /// The number of the invoke.
    #[serde(rename = "n")]
    pub operation: u64,
    /// Why, for people.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Cow<'a, str>>,
    /// When its outcome was known, or was given up.
    #[serde(rename = "t")]
    pub time: u64,
}

/// One id or one range of ids that a caller gets. All its ids lie in one reservation.
///
/// An incarnation's lines of this kind are in the order in which its ids leave the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Give {
    /// The incarnation.
    #[serde(rename = "g")]
    pub generator: u32,
    /// The id, or the first of the range.
    pub id: i64,
    /// The last of the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// The call.
    #[serde(default, skip_serializing_if = "How::is_next_id")]
    pub how: How,
    /// How long before `time` the call began, in nanoseconds.
    #[serde(rename = "d", default, skip_serializing_if = "is_zero")]
    pub duration: u64,
    /// When it was done.
    #[serde(rename = "t")]
    pub time: u64,
}

/// The call that gave ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// One id.
    #[default]
    NextId,
    /// Some ids, of which a line holds those of one block.
    NextIds,
    /// One range, straight from the store.
    Reserve,
}

impl How {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_next_id(&self) -> bool {
        *self == Self::NextId
    }
}

/// A generator was told of an id, or of a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// The incarnation.
    #[serde(rename = "g")]
    pub generator: u32,
    /// The id.
    pub id: i64,
    /// The attempt that the timestamp names: it was sent before it could be observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Uuid>,
    /// How long before `time` the call began, in nanoseconds.
    #[serde(rename = "d", default, skip_serializing_if = "is_zero")]
    pub duration: u64,
    /// When it was done.
    #[serde(rename = "t")]
    pub time: u64,
}

/// An advance went through a handle, so that its generators give nothing lower any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// The incarnation that advanced; the others of its handle and sequence are bound as well.
    #[serde(rename = "g")]
    pub generator: u32,
    /// The id that all ids lie beyond from now on.
    pub id: i64,
    /// When it was done.
    #[serde(rename = "t")]
    pub time: u64,
}

/// A stop, which is final for the generator's handle and sequence (S5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// An incarnation of that handle and sequence.
    #[serde(rename = "g")]
    pub generator: u32,
    /// Why.
    pub cause: Cause,
    /// When.
    #[serde(rename = "t")]
    pub time: u64,
}

/// A generator was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Close {
    /// The incarnation.
    #[serde(rename = "g")]
    pub generator: u32,
    /// When.
    #[serde(rename = "t")]
    pub time: u64,
}

/// Bounds that a sequence has from now on, or may have: the widest of all that were recorded count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alter<'a> {
    /// The sequence.
    #[serde(borrow)]
    pub sequence: Cow<'a, str>,
    /// The smallest id.
    pub min_value: i64,
    /// The largest id.
    pub max_value: i64,
    /// When.
    #[serde(rename = "t")]
    pub time: u64,
}

/// Invoke of a fault. One that never ends lasts until the history does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nemesis<'a> {
    /// The number by which the second line names it.
    #[serde(rename = "n")]
    pub operation: u64,
    /// What is done.
    #[serde(borrow)]
    pub fault: Fault<'a>,
    /// The sequence it is done to; all of them where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Cow<'a, str>>,
    /// The node, client or statement it is done to, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Cow<'a, str>>,
    /// When it was about to begin.
    #[serde(rename = "t")]
    pub time: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(duration: &u64) -> bool {
    *duration == 0
}
