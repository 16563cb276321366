//! What comes of a fault, a disaster or an operator's act.

use crate::faults::Fault;
use crate::model::Protocol;
use crate::rules::{Above, Drop, Retry, Settles};
use crate::state::{
    FIRST_BIRTH, Handle, Mark, Node, Phase, Row, Shadow, State, Why, Write, Written,
};

impl Protocol {
    /// Lets `fault` happen.
    pub(crate) fn suffer(&self, state: &mut State, fault: Fault) {
        match fault {
            Fault::Timeout(_) | Fault::GiveUp(_) | Fault::Repeat(_) | Fault::Crash(_) => {
                state.faults -= 1;
            }
            _ => state.disasters -= 1,
        }
        match fault {
            Fault::Timeout(client) => self.time_out(state, client),
            Fault::GiveUp(client) => self.rest(state, client),
            Fault::Repeat(client) => Self::repeat(state, client),
            Fault::Crash(handle) => self.crash(state, handle),
            Fault::Restore => {
                let row = state.store.previous;
                state.set_back(row);
            }
            Fault::RestoreFirst => state.set_back(Some(Row::unused(0, FIRST_BIRTH))),
            Fault::SetBack => {
                let torn = |row: Row| {
                    let written = Written { apart: true, ..row.written };
                    let value = 0;
                    Row { value, written, ..row }
                };
                let row = state.store.row.map(torn);
                state.set_back(row);
            }
            Fault::Shadow { cells, brief } => {
                state.causes.tampered = true;
                state.store.row = state.store.row.map(|row| shadowed(row, cells, brief));
            }
            Fault::Lose => {
                state.causes.lost = true;
                state.store.put(None);
            }
            Fault::Skew => state.store.skewed = true,
            Fault::Drop => self.drop(state),
            Fault::Recreate => self.recreate(state),
        }
    }

    /// S3: the outcome is unknown. A reservation reads back; a creator repeats what says the same every time.
    fn time_out(&self, state: &mut State, client: usize) {
        state.abandon(client);
        match &mut state.clients[client].phase {
            Phase::Announcing { ours, .. } => *ours = None,
            Phase::Inserting { found, .. } => *found = None,
            Phase::Writing { .. } if self.rules.retry == Retry::Unread => {
                self.begin(state, client);
            }
            Phase::Writing { attempt, .. } => {
                let why = Why::Doubt(*attempt);
                self.read(state, client, why);
            }
            _ => {}
        }
    }

    fn repeat(state: &mut State, client: usize) {
        match state.clients[client].phase {
            Phase::Writing { attempt, .. } => state.leave(Write::Move(attempt)),
            Phase::Inserting { created, .. } => {
                state.leave(Write::Insert { value: 0, created });
            }
            _ => {}
        }
    }

    fn crash(&self, state: &mut State, handle: u8) {
        for client in 0..usize::from(self.setup.clients) {
            if self.setup.handles[client] == handle {
                state.abandon(client);
                let own = &mut state.clients[client];
                if !matches!(own.phase, Phase::Done | Phase::Exhausted) {
                    own.phase = Phase::Down;
                    own.crashes += 1;
                }
            }
        }
        state.handles[usize::from(handle)] = Handle::default();
    }

    /// S6: a drop marks the row; it never deletes it.
    fn drop(&self, state: &mut State) {
        state.causes.dropped = true;
        match self.rules.drop {
            Drop::Deletes => state.store.put(None),
            Drop::Retires => {
                let retired = |row| Row { retired: true, ..row };
                state.store.row = state.store.row.map(retired);
            }
        }
    }

    /// S6: the new birth first, then the row, for exactly the row that was there or, if there was none, if there is
    /// still none. What an earlier call has left undone may still land.
    fn recreate(&self, state: &mut State) {
        state.causes.dropped = true;
        if let Some(unfinished) = state.operator.take() {
            state.leave(unfinished);
        }
        let created = state.store.draw_birth();
        state.store.birth = Some(created);
        let known = match self.rules.above {
            Above::Reserved => state.store.reached,
            Above::Given => furthest(state.given[usize::from(state.epoch)]),
        };
        state.operator = Some(match state.store.row {
            Some(row) => Write::Revive { old: Mark::from(row), to: known.max(row.value), created },
            None => Write::Insert { value: known, created },
        });
    }

    /// The second half of a recreation. Where another row has come first, the birth is made to agree with it.
    pub(crate) fn finish(&self, state: &mut State) {
        let Some(write) = state.operator.take() else {
            return;
        };
        if let Write::Insert { value: to, created } | Write::Revive { to, created, .. } = write {
            if state.store.carry(&write, &self.rules, &self.setup) {
                state.memory.returned = Some(created);
            }
            let wanted = |row: &Row| {
                let far = row.value >= to || self.rules.settles == Settles::Any;
                !row.retired && far
            };
            if let Some(row) = state.store.row.filter(wanted) {
                state.store.birth = Some(row.created);
            }
        }
    }
}

fn shadowed(row: Row, shadow: Shadow, brief: bool) -> Row {
    let whole = shadow == Shadow::Row;
    Row {
        node: if whole { Node::ALIEN } else { row.node },
        after: row.after.filter(|_| !whole),
        written: Written {
            apart: !whole,
            // S7: a shadow that is brief is less than a minute ahead.
            ahead: !brief,
            shadow,
            brief,
        },
        ..row
    }
}

/// The largest id given.
fn furthest(given: u16) -> u8 {
    u8::try_from(given.checked_ilog2().unwrap_or(0)).unwrap_or(u8::MAX)
}
