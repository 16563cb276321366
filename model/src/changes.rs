//! Small changes of a state, and where states begin.

use crate::state::{Cause, Client, FIRST_BIRTH, LATE, Phase, Row, State, Violation, Write};

impl State {
    /// The same, with an insertion of the row still under way.
    pub(crate) fn just_born(mut self) -> Self {
        self.late[0] = Some(Write::Insert { value: 0, created: FIRST_BIRTH });
        self
    }

    /// The same, in the midst of a return: see [`Origin::Returning`](crate::setup::Origin::Returning).
    pub(crate) fn returning(mut self) -> Self {
        self = self.just_born();
        self.given[0] = 1 << 1;
        self.operator = Some(Write::Insert { value: 1, created: FIRST_BIRTH + 1 });
        self.causes.lost = true;
        self.memory.given = self.given[0];
        self
    }

    pub(crate) fn refuse(&mut self, client: usize, cause: Cause) {
        self.excuse(cause);
        self.clients[client].phase = Phase::Refused(cause);
    }

    /// Leaves a write that was sent, and not carried out yet, to the network.
    pub(crate) fn abandon(&mut self, client: usize) {
        let write = match self.clients[client].phase {
            Phase::Writing { attempt, answer: None } => Write::Move(attempt),
            Phase::Announcing { created, ours: None } => Write::Birth(created),
            Phase::Inserting { created, found: None } => Write::Insert { value: 0, created },
            _ => return,
        };
        self.leave(write);
    }

    /// A stop has to have a cause.
    pub(crate) fn excuse(&mut self, cause: Cause) {
        let happened = self.causes;
        let excused = match cause {
            Cause::Missing => happened.lost || happened.dropped,
            Cause::Recreated => happened.dropped || happened.lost,
            Cause::Retired => happened.dropped,
            Cause::Regressed | Cause::ChangedHands => happened.tampered || happened.lost,
            Cause::WrittenApart | Cause::WrittenAhead => happened.tampered,
        };
        if !excused {
            self.violation = Some(Violation::FalseStop(cause));
        }
    }

    /// A write that nobody waits for; it may land at any time, or never.
    pub(crate) fn leave(&mut self, write: Write) {
        let place = self.late.iter_mut().find(|place| place.is_none());
        assert!(place.is_some(), "more than {LATE} writes are under way: raise LATE");
        if let Some(place) = place {
            *place = Some(write);
        }
    }

    /// An epoch ends: ids that were given may be given again, and nothing in the store tells.
    pub(crate) fn set_back(&mut self, row: Option<Row>) {
        self.causes.tampered = true;
        self.epoch += 1;
        self.store.put(row);
    }

    /// Whether an insertion of the row may still land: losing the row then is beyond what any protocol can bear.
    pub(crate) fn creation_is_under_way(&self) -> bool {
        let creates = |client: &Client| {
            matches!(client.phase, Phase::Announcing { .. } | Phase::Inserting { .. })
        };
        let inserts = |write: &Write| matches!(write, Write::Insert { .. });
        self.clients.iter().any(creates) || self.late.iter().flatten().any(inserts)
    }
}
