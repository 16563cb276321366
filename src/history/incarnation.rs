//! What one generator records.

use super::event::{Advance, Close, Event, Give, How, Observe, Reserve, Stop};
use super::fault::Cause;
use super::recorder::{Operation, Recorder};
use crate::range::IdRange;
use crate::timestamp::LamportTimestamp;

/// The recording of one life of one generator, from [`Recorder::open`].
#[derive(Clone, Debug)]
pub struct Incarnation {
    recorder: Recorder,
    generator: u32,
}

impl Incarnation {
    pub(super) fn new(recorder: Recorder, generator: u32) -> Self {
        Self { recorder, generator }
    }

    /// Now, for a call that begins and may end with [`give`](Self::give) or [`observe`](Self::observe).
    pub fn now(&self) -> u64 {
        self.recorder.now()
    }

    /// Records that the row is about to be moved from `old` to `target`. Call it before anything is sent; end it with
    /// ok before an id of the range is given, and only if the range is this generator's own (S1).
    pub fn reserve(&self, old: i64, target: LamportTimestamp) -> Operation {
        let operation = self.recorder.number();
        let (generator, attempt, value) = (self.generator, target.node, target.value);
        self.recorder.write(|time| {
            Event::Reserve(Reserve { generator, operation, attempt, old, value, time })
        });
        self.recorder.operation(operation)
    }

    /// Records one id, before the caller of `next_id` gets it.
    ///
    /// Call it while nobody else can take an id from this generator, so that lines have the order of ids.
    pub fn give(&self, id: i64, began: u64) {
        self.recorder.write(|time| self.given(How::NextId, id, None, began, time));
    }

    /// Records the ranges that one call gives, as [`give`](Self::give) does; each lies in one reservation.
    pub fn give_ranges(&self, how: How, ranges: &[IdRange], began: u64) {
        self.recorder.write_all(|time| {
            let given = move |range: &IdRange| {
                let to = (range.len() > 1).then_some(range.last());
                self.given(how, range.first(), to, began, time)
            };
            ranges.iter().map(given)
        });
    }

    fn given(&self, how: How, id: i64, to: Option<i64>, began: u64, time: u64) -> Event<'static> {
        let (generator, duration) = (self.generator, time.saturating_sub(began));
        Event::Give(Give { generator, id, to, how, duration, time })
    }

    /// Records that only ids beyond `seen` leave the buffer from now on (S14). Call it as [`give`](Self::give).
    pub fn observe(&self, seen: LamportTimestamp, began: u64) {
        let (generator, id) = (self.generator, seen.value);
        let attempt = (!seen.node.is_nil()).then_some(seen.node);
        self.recorder.write(|time| {
            let duration = time.saturating_sub(began);
            Event::Observe(Observe { generator, id, attempt, duration, time })
        });
    }

    /// Records that generators of this handle give only ids beyond `id` to calls that begin after this.
    pub fn advance(&self, id: i64) {
        let generator = self.generator;
        self.recorder.write(|time| Event::Advance(Advance { generator, id, time }));
    }

    /// Records that the sequence has stopped on this handle (S5).
    pub fn stop(&self, cause: Cause) {
        let generator = self.generator;
        self.recorder.write(|time| Event::Stop(Stop { generator, cause, time }));
    }

    /// Records that this generator was closed. Call it as [`give`](Self::give).
    pub fn close(&self) {
        let generator = self.generator;
        self.recorder.write(|time| Event::Close(Close { generator, time }));
    }
}
