//! Opening and creating a sequence, and stopping. It follows src/birth.rs and src/builder.rs.

use crate::event::Event;
use crate::model::Protocol;
use crate::rules::{Birth, Missing, Overtaken, Stops};
use crate::state::{Cause, Phase, Row, State, Why};

impl Protocol {
    /// S6: what a client that opens makes of a row and of the birth, which it has read one after the other.
    pub(crate) fn hear_birth(
        &self,
        state: &mut State,
        client: usize,
        row: Option<Row>,
        birth: Option<u8>,
    ) {
        match (row, birth) {
            (Some(row), Some(birth)) => {
                if row.created == birth || self.rules.birth == Birth::Ignored {
                    self.rest(state, client);
                } else {
                    self.stop(state, client, Cause::Recreated);
                }
            }
            (None, None) => state.clients[client].phase = Phase::Confirming { absent: None },
            (None, Some(created)) if self.rules.missing == Missing::Recreate => {
                let found = None;
                state.clients[client].phase = Phase::Inserting { created, found };
            }
            // S6: a birth without a row is a missing row; it waits, since a creator may be about to insert it.
            // A row without a birth is one whose creator came between the two reads.
            (None, Some(_)) | (Some(_), None) => self.read(state, client, Why::Open),
        }
    }

    /// S6: the word of all replicas.
    pub(crate) fn hear_absence(&self, state: &mut State, client: usize, absent: bool) {
        if absent {
            let created = state.store.draw_birth();
            let ours = None;
            state.clients[client].phase = Phase::Announcing { created, ours };
        } else if self.rules.overtaken == Overtaken::LooksAgain {
            self.read(state, client, Why::Open);
        } else {
            state.refuse(client, Cause::Missing);
        }
    }

    /// S6: the birth comes first; whoever wrote it inserts the row.
    pub(crate) fn hear_announced(&self, state: &mut State, client: usize, created: u8, ours: bool) {
        if ours {
            let found = None;
            state.clients[client].phase = Phase::Inserting { created, found };
        } else {
            self.read(state, client, Why::Open);
        }
    }

    /// The row is inserted, by this try or by an earlier one of the same client, or there is another.
    pub(crate) fn hear_inserted(&self, state: &mut State, client: usize, created: u8, found: u8) {
        if created == found {
            state.last.note(Event::Created);
            self.read(state, client, Why::Open);
        } else {
            state.refuse(client, Cause::Recreated);
        }
    }

    /// S5: all that was opened through the handle stops, and what is under way is nobody's any more.
    pub(crate) fn stop(&self, state: &mut State, client: usize, cause: Cause) {
        state.excuse(cause);
        for other in 0..usize::from(self.setup.clients) {
            let mate = self.handle(other) == self.handle(client);
            let stops = other == client || (mate && self.rules.stop == Stops::Handle);
            // S5: one that has not been opened yet never will be, through this handle.
            let over = matches!(
                state.clients[other].phase,
                Phase::Done | Phase::Exhausted | Phase::Refused(_)
            );
            if stops && !over {
                state.abandon(other);
                state.clients[other].phase = Phase::Stopped(cause);
            }
        }
    }
}
