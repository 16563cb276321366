//! What can happen next.

use crate::faults::Fault;
use crate::model::Protocol;
use crate::rules::Confirming;
use crate::state::{Client, Phase, Row, State, Why, Write};

/// One step of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A client is started: it opens the sequence.
    Start(usize),
    /// A client begins its next reservation.
    Begin(usize),
    /// The store carries out what a client has sent.
    Carry(usize),
    /// One replica answers a client's read, and lags behind.
    CarryStale(usize),
    /// S8: what the local electorate has decided reaches the row, with a newer timestamp than what is there, or not.
    Settle { newer: bool },
    /// A client is about to write; one replica, which may lag, shows that the row has moved on: it starts from there.
    Peek { client: usize, lags: bool },
    /// A client hears the answer to what it has sent, and goes on.
    Hear(usize),
    /// A write lands for which nobody waits any more.
    Land(usize),
    /// The timestamp of a brief shadow is in the future no more.
    Expire,
    /// An operator finishes what it has announced.
    Finish,
    /// Something goes wrong, or an operator acts.
    Fault(Fault),
}

impl Protocol {
    /// All that can happen next.
    pub(crate) fn enabled(&self, state: &State, actions: &mut Vec<Action>) {
        if state.violation.is_some() || self.is_over(state) {
            return;
        }
        for client in 0..usize::from(self.setup.clients) {
            self.steps_of(state, client, actions);
        }
        if let Some(Write::Move(decided)) = state.store.local {
            actions.push(Action::Settle { newer: true });
            if state.store.row.is_some_and(|row| row.value != decided.old) {
                actions.push(Action::Settle { newer: false });
            }
        }
        for (index, write) in state.late.iter().enumerate() {
            let lands = |write| state.store.admits(write, &self.rules, &self.setup);
            if write.as_ref().is_some_and(lands) {
                actions.push(Action::Land(index));
            }
        }
        if state.operator.is_some() {
            actions.push(Action::Finish);
        }
        if state.store.row.is_some_and(|row| row.written.brief) {
            actions.push(Action::Expire);
        }
        if state.faults > 0 || state.disasters > 0 {
            self.faults(state, |fault| actions.push(Action::Fault(fault)));
        }
    }

    /// Whether no client will do anything any more.
    fn is_over(&self, state: &State) -> bool {
        let mut clients = state.clients.iter().take(usize::from(self.setup.clients));
        clients.all(|client| match client.phase {
            Phase::Done | Phase::Exhausted | Phase::Refused(_) => true,
            Phase::Stopped(_) => !self.may_crash(state),
            _ => false,
        })
    }

    fn steps_of(&self, state: &State, client: usize, actions: &mut Vec<Action>) {
        let waits = match state.clients[client].phase {
            Phase::Down => return actions.push(Action::Start(client)),
            Phase::Idle => return actions.push(Action::Begin(client)),
            Phase::Done | Phase::Exhausted | Phase::Stopped(_) | Phase::Refused(_) => return,
            Phase::Reading { seen, .. } => seen.is_none(),
            Phase::Writing { answer, .. } => answer.is_none(),
            Phase::ReadingBirth { seen, .. } => seen.is_none(),
            Phase::Confirming { absent } => absent.is_none(),
            Phase::Announcing { ours, .. } => ours.is_none(),
            Phase::Inserting { found, .. } => found.is_none(),
        };
        if !waits {
            return actions.push(Action::Hear(client));
        }
        if client == 0 && state.store.local.is_some() {
            return;
        }
        actions.push(Action::Carry(client));
        for lags in [false, true] {
            if self.peeked(state, client, lags).is_some() {
                actions.push(Action::Peek { client, lags });
            }
        }
        if self.may_be_stale(state, &state.clients[client]) {
            actions.push(Action::CarryStale(client));
        }
    }

    /// What a client that is about to write may be shown by one replica, if it lies ahead of what it knows.
    pub(crate) fn peeked(&self, state: &State, client: usize, lags: bool) -> Option<Row> {
        let Phase::Writing { attempt, answer: None } = state.clients[client].phase else {
            return None;
        };
        let row = if lags { state.store.previous } else { state.store.row };
        row.filter(|row| self.setup.peeks && row.value > attempt.old)
    }

    /// S8: a read that confirms a write, from one replica that does not have the last write yet.
    fn may_be_stale(&self, state: &State, client: &Client) -> bool {
        let confirms =
            matches!(client.phase, Phase::Reading { why: Why::Confirm(..) | Why::Doubt(_), .. });
        let lags = state.store.previous.is_some();
        self.rules.confirming == Confirming::OneReplica && confirms && lags
    }
}
