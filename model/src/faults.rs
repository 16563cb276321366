//! What can go wrong next, and what operators can do.

use crate::model::Protocol;
use crate::setup::{Kind, Origin};
use crate::state::{Client, FIRST_BIRTH, Phase, Row, Shadow, State, Why};

/// One thing that goes wrong, or that an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A client hears no answer to its write.
    Timeout(usize),
    /// A client gives up before its write is confirmed.
    GiveUp(usize),
    /// A client's write is delivered once more.
    Repeat(usize),
    /// All clients of this handle die.
    Crash(u8),
    /// The row becomes again what it was before its last change.
    Restore,
    /// The row becomes again what it was when the sequence was born.
    RestoreFirst,
    /// The value is set back to the start without a condition.
    SetBack,
    /// These cells are written once more, with a timestamp in the future, which may come.
    Shadow { cells: Shadow, brief: bool },
    /// The row is lost.
    Lose,
    /// A node's clock runs ahead from now on.
    Skew,
    /// An operator drops the sequence.
    Drop,
    /// An operator announces a new life of the sequence.
    Recreate,
}

impl Protocol {
    /// Whether a process may still crash.
    pub(crate) fn may_crash(&self, state: &State) -> bool {
        state.faults > 0 && self.setup.kinds.has(Kind::Crash)
    }

    /// Every fault that can come next.
    pub(crate) fn faults(&self, state: &State, mut add: impl FnMut(Fault)) {
        if state.faults > 0 {
            for client in 0..usize::from(self.setup.clients) {
                self.faults_of(state, client, &mut add);
            }
        }
        if state.disasters > 0 {
            self.disasters(state, &mut add);
        }
    }

    fn disasters(&self, state: &State, add: &mut impl FnMut(Fault)) {
        let row = state.store.row;
        let kinds = self.setup.kinds;
        if let Some(row) = row {
            if kinds.has(Kind::Restore) {
                self.restores(state, row, add);
            }
            if kinds.has(Kind::SetBack) && row.value > 0 && row.written.shadow == Shadow::None {
                add(Fault::SetBack);
            }
            for (kind, brief) in [(Kind::Shadow, false), (Kind::BriefShadow, true)] {
                if kinds.has(kind) && row.written.shadow == Shadow::None {
                    add(Fault::Shadow { cells: Shadow::Value, brief });
                    add(Fault::Shadow { cells: Shadow::Row, brief });
                }
            }
            let early = kinds.has(Kind::LoseEarly);
            if early || kinds.has(Kind::Lose) && !state.creation_is_under_way() {
                add(Fault::Lose);
            }
            if kinds.has(Kind::Drop) && !row.retired {
                add(Fault::Drop);
            }
        }
        if kinds.has(Kind::Skew) && !state.store.skewed {
            add(Fault::Skew);
        }
        let mended = row.is_some_and(|row| !row.retired && Some(row.created) == state.store.birth);
        if kinds.has(Kind::Recreate) && state.store.birth.is_some() && !mended {
            add(Fault::Recreate);
        }
    }

    fn restores(&self, state: &State, row: Row, add: &mut impl FnMut(Fault)) {
        let first = Row::unused(0, FIRST_BIRTH);
        let previous = state.store.previous;
        if previous.is_some_and(|previous| previous != row) {
            add(Fault::Restore);
        }
        let born = matches!(self.setup.origin, Origin::Born | Origin::JustBorn);
        if born && row != first && previous != Some(first) {
            add(Fault::RestoreFirst);
        }
    }

    fn faults_of(&self, state: &State, client: usize, add: &mut impl FnMut(Fault)) {
        let kinds = self.setup.kinds;
        let Client { phase, .. } = state.clients[client];
        let writes = matches!(phase, Phase::Writing { .. } | Phase::Inserting { .. });
        let decided = client == 0 && state.store.local.is_some();
        if (writes || matches!(phase, Phase::Announcing { .. })) && !decided {
            if kinds.has(Kind::Timeout) {
                add(Fault::Timeout(client));
            }
            if writes && kinds.has(Kind::Repeat) {
                add(Fault::Repeat(client));
            }
        }
        if let Phase::Reading { why, .. } = phase
            && matches!(why, Why::Confirm(..) | Why::Doubt(_))
            && kinds.has(Kind::GiveUp)
        {
            add(Fault::GiveUp(client));
        }
        let handle = self.setup.handles[client];
        let first = (0..client).all(|other| self.setup.handles[other] != handle);
        if first && kinds.has(Kind::Crash) && self.runs(state, handle) {
            add(Fault::Crash(handle));
        }
    }

    /// Whether a process has a client that has begun and is not through.
    fn runs(&self, state: &State, handle: u8) -> bool {
        let clients = usize::from(self.setup.clients);
        (0..clients).any(|client| {
            let phase = state.clients[client].phase;
            let idle =
                matches!(phase, Phase::Down | Phase::Done | Phase::Exhausted | Phase::Refused(_));
            self.setup.handles[client] == handle && !idle
        })
    }
}
