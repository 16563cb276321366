//! What a step did, for the properties that say that something can happen at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// One thing that a step can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Another client was first.
    Conflict,
    /// A range was claimed by `[applied] = true`.
    ClaimedByAnswer,
    /// A range was claimed by a serial read, after an unknown outcome.
    ClaimedByRead,
    /// A range was claimed that another client had passed already.
    ClaimedFurtherOn,
    /// A write landed whose client had gone on without it.
    LandedLate,
    /// A write that was applied before was answered with `[applied] = false`.
    RepeatRefused,
    /// A client that had crashed made a reservation.
    ClaimedAfterCrash,
    /// An id was given that was given in an earlier epoch.
    GivenAgain,
    /// An id was given after the sequence came back.
    GivenAfterReturn,
    /// A client created the sequence.
    Created,
    /// A client started from what one replica had shown.
    Peeked,
}

/// The events that the steps of an exploration have shown, whichever of them came to a state first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Witnesses(Arc<AtomicU16>);

impl Witnesses {
    /// Adds what a step did.
    pub(crate) fn note(&self, events: Events) {
        if !self.all().0 & events.0 != 0 {
            self.0.fetch_or(events.0, Ordering::Relaxed);
        }
    }

    /// All that was shown so far.
    pub(crate) fn all(&self) -> Events {
        Events(self.0.load(Ordering::Relaxed))
    }
}

/// A set of [`Event`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events(u16);

impl Events {
    /// Adds one.
    pub(crate) fn note(&mut self, event: Event) {
        self.0 |= 1 << event as u16;
    }

    /// Whether it is among them.
    pub(crate) fn has(self, event: Event) -> bool {
        self.0 & (1 << event as u16) != 0
    }
}
