//! What the core tells a recorder, if it has one. src/tape.rs is it without feature `history`.

use std::sync::OnceLock;

use crate::definition::{Definition, SequenceName};
use crate::history::{How, Incarnation, Operation, Recorder};
use crate::range::IdRange;
use crate::register::Register;
use crate::stop::StopCause;
use crate::store::{Row, StoreErrorKind};
use crate::timestamp::LamportTimestamp;

/// Where to record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording(Option<Recorder>);

impl From<&Recorder> for Recording {
    fn from(recorder: &Recorder) -> Self {
        Self(Some(recorder.clone()))
    }
}

impl Recording {
    pub(crate) fn now(&self) -> u64 {
        self.0.as_ref().map_or(0, Recorder::now)
    }

    /// Bounds are about to be widened.
    pub(crate) fn alter(&self, sequence: &SequenceName, wanted: &Definition) {
        if let Some(recorder) = &self.0 {
            recorder.alter(sequence.as_str(), wanted);
        }
    }
}

/// What all incarnations of one register record on.
#[derive(Debug, Default)]
pub(crate) struct Reel(OnceLock<First>);

/// The first incarnation that was recorded, and what later ones share with it.
#[derive(Debug)]
struct First {
    recorder: Recorder,
    handle: u32,
    incarnation: Incarnation,
}

impl Reel {
    /// An incarnation was opened, by a call that began at `began`, and found `row`.
    pub(crate) fn open(
        &self,
        recording: &Recording,
        register: &Register,
        row: &Row,
        began: u64,
    ) -> Tape {
        let Some(recorder) = &recording.0 else { return Tape::default() };
        let (name, value) = (register.sequence.as_str(), row.timestamp.value);
        let open = |handle| recorder.open(handle, name, &row.definition(), value, began);
        let mut own = None;
        let first = self.0.get_or_init(|| {
            let handle = recorder.handle();
            let incarnation = open(handle);
            own = Some(incarnation.clone());
            First { recorder: recorder.clone(), handle, incarnation }
        });
        let shared = first.recorder.is(recorder);
        let another = || open(if shared { first.handle } else { recorder.handle() });
        Tape(Some(own.unwrap_or_else(another)))
    }

    /// The register has stopped. Call it when everybody can see it: what begins after this gives nothing (S5).
    pub(crate) fn stopped(&self, cause: &StopCause) {
        if let Some(first) = self.0.get() {
            first.incarnation.stop(cause.into());
        }
    }
}

/// What one incarnation records on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape(Option<Incarnation>);

impl Tape {
    pub(crate) fn now(&self) -> u64 {
        self.0.as_ref().map_or(0, Incarnation::now)
    }

    /// An attempt is about to be sent.
    pub(crate) fn sent(&self, old: i64, target: LamportTimestamp) -> Note {
        Note(self.0.as_ref().map(|own| own.reserve(old, target)))
    }

    /// A caller is about to get this. Call it while the buffer is locked, so that lines have the order of ids.
    pub(crate) fn gave(&self, gift: &impl Gift, began: u64) {
        if let Some(own) = &self.0 {
            gift.record(own, began);
        }
    }

    /// The buffer gives only what lies beyond `seen`. Call it while the buffer is locked.
    pub(crate) fn observed(&self, seen: LamportTimestamp, began: u64) {
        if let Some(own) = &self.0 {
            own.observe(seen, began);
        }
    }

    /// The register's floor is `id`. Call it when everybody can see it.
    pub(crate) fn advanced(&self, id: i64) {
        if let Some(own) = &self.0 {
            own.advance(id);
        }
    }

    /// The generator is closed. Call it while the buffer is locked.
    pub(crate) fn closed(&self) {
        if let Some(own) = &self.0 {
            own.close();
        }
    }
}

/// One attempt, until it ends. Dropping it leaves its outcome unknown, as it is when its task is gone (S3).
#[derive(Debug)]
pub(crate) struct Note(Option<Operation>);

impl Note {
    /// Another client was first: the clean answer "not applied".
    pub(crate) fn conflict(&mut self) {
        if let Some(operation) = self.0.take() {
            operation.fail("conflict");
        }
    }

    /// The store's error says that nothing was changed, if its kind says so.
    pub(crate) fn failed(&mut self, kind: StoreErrorKind) {
        let why = match kind {
            // S3: unknown is not failed.
            StoreErrorKind::Unknown | StoreErrorKind::Gone => return,
            StoreErrorKind::NotApplied => "not applied",
            StoreErrorKind::Refused => "refused",
            StoreErrorKind::Corrupt => "corrupt",
        };
        if let Some(operation) = self.0.take() {
            operation.fail(why);
        }
    }

    /// It is over: the range is this client's own, or nobody knows (S1).
    pub(crate) fn end(self, is_ours: bool) {
        match self.0 {
            Some(operation) if is_ours => operation.ok(),
            Some(operation) => operation.info("unknown"),
            None => {}
        }
    }
}

/// What a caller is given.
pub(crate) trait Gift {
    fn record(&self, own: &Incarnation, began: u64);
}

impl Gift for i64 {
    fn record(&self, own: &Incarnation, began: u64) {
        own.give(*self, began);
    }
}

impl Gift for Vec<IdRange> {
    fn record(&self, own: &Incarnation, began: u64) {
        own.give_ranges(How::NextIds, self, began);
    }
}

impl Gift for IdRange {
    fn record(&self, own: &Incarnation, began: u64) {
        own.give_ranges(How::Reserve, &[*self], began);
    }
}

/// The buffer was filled, and nobody got an id.
impl Gift for () {
    fn record(&self, _: &Incarnation, _: u64) {}
}
