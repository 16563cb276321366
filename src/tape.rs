//! What the core tells a recorder. This is it without feature `history`: nothing. history/tape.rs has the other.
#![expect(clippy::unused_self, reason = "as the other needs it")]

use crate::definition::{Definition, SequenceName};
use crate::register::Register;
use crate::stop::StopCause;
use crate::store::{Row, StoreErrorKind};
use crate::timestamp::LamportTimestamp;

/// Where to record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {}

impl Recording {
    pub(crate) fn now(&self) -> u64 {
        0
    }

    pub(crate) fn alter(&self, _: &SequenceName, _: &Definition) {}
}

/// What all incarnations of one register record on.
#[derive(Debug, Default)]
pub(crate) struct Reel {}

impl Reel {
    pub(crate) fn open(&self, _: &Recording, _: &Register, _: &Row, _began: u64) -> Tape {
        Tape {}
    }

    pub(crate) fn stopped(&self, _: &StopCause) {}
}

/// What one incarnation records on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {}

impl Tape {
    pub(crate) fn now(&self) -> u64 {
        0
    }

    pub(crate) fn sent(&self, _old: i64, _target: LamportTimestamp) -> Note {
        Note {}
    }

    pub(crate) fn gave(&self, _: &impl Gift, _began: u64) {}

    pub(crate) fn observed(&self, _seen: LamportTimestamp, _began: u64) {}

    pub(crate) fn advanced(&self, _id: i64) {}

    pub(crate) fn closed(&self) {}
}

/// One attempt, until it ends.
#[derive(Debug)]
pub(crate) struct Note {}

impl Note {
    pub(crate) fn conflict(&mut self) {}

    pub(crate) fn failed(&mut self, _: StoreErrorKind) {}

    pub(crate) fn end(self, _is_ours: bool) {}
}

/// What a caller is given.
pub(crate) trait Gift {}

impl<T> Gift for T {}
