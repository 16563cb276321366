//! Forgetting what can't matter any more, so that states that differ in nothing else are one.

use crate::model::Protocol;
use crate::rules::{Condition, Confirming, Drop, Electorate};
use crate::setup::{CLIENTS, Kind, Kinds};
use crate::state::{Answer, Handle, Phase, Row, Shadow, State, Store, Why, Write};

impl Protocol {
    /// Whether the row may still become one that it was before.
    fn may_go_back(&self, state: &State) -> bool {
        let back = Kinds::DISASTERS.and(Kinds::of(&[Kind::LoseEarly]));
        let deletes = self.rules.drop == Drop::Deletes && self.setup.kinds.has(Kind::Drop);
        let shadow = state.store.row.is_some_and(|row| row.written.shadow != Shadow::None);
        shadow || state.disasters > 0 && (self.setup.kinds.meets(back) || deletes)
    }

    /// Forgets what can't matter any more.
    pub(crate) fn tidy(&self, state: &mut State) {
        let back = self.may_go_back(state);
        if !back && self.rules.electorate == Electorate::Serial {
            for place in &mut state.late {
                *place = place.filter(|write| may_land(&state.store, write, self.rules.condition));
            }
        }
        let restores = state.disasters > 0 && self.setup.kinds.has(Kind::Restore);
        let lags = self.setup.peeks || self.rules.confirming == Confirming::OneReplica;
        if !restores && !lags {
            state.store.previous = None;
        }
        if !self.setup.kinds.has(Kind::Recreate) {
            state.store.reached = 0;
        }
        for handle in 0..CLIENTS {
            let through = |client: usize| {
                let phase = state.clients[client].phase;
                let over = matches!(
                    phase,
                    Phase::Done | Phase::Exhausted | Phase::Stopped(_) | Phase::Refused(_)
                );
                over || self.handle(client) != handle
            };
            if (0..usize::from(self.setup.clients)).all(through) {
                state.handles[handle] = Handle::default();
            }
        }
        self.forget_epochs(state);
    }

    /// An epoch that is over matters as long as a claim may still be made in it.
    fn forget_epochs(&self, state: &mut State) {
        for epoch in 0..state.epoch {
            let rests = |phase: &Phase| match phase {
                Phase::Writing { answer: Some(Answer::Applied { epoch: then, .. }), .. } => {
                    *then == epoch
                }
                Phase::Reading { why, seen, .. } => {
                    let written = matches!(why, Why::Confirm(_, then) if *then == epoch);
                    written || seen.is_some_and(|seen| seen.epoch == Some(epoch))
                }
                _ => false,
            };
            let mut clients = state.clients.iter().take(usize::from(self.setup.clients));
            if !clients.any(|client| rests(&client.phase)) {
                state.given[usize::from(epoch)] = 0;
            }
        }
    }
}

/// Whether a write may be applied some day, if the row never goes back.
fn may_land(store: &Store, write: &Write, condition: Condition) -> bool {
    let any_birth = condition == Condition::WithoutCreated;
    let comes_to =
        |row: Row, old: u8, created: u8| row.value <= old && (any_birth || row.created == created);
    match (write, store.row) {
        (Write::Move(attempt), Some(row)) => {
            !attempt.conditional || comes_to(row, attempt.old, attempt.created)
        }
        (Write::Revive { old, .. }, Some(row)) => comes_to(row, old.value, old.created),
        (Write::Insert { .. }, row) => row.is_none(),
        (Write::Birth(_), _) => store.birth.is_none(),
        (Write::Move(_) | Write::Revive { .. }, None) => true,
    }
}
