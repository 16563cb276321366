//! The model: a state machine that a checker explores from end to end.

use stateright::{Model, Property};

use crate::action::Action;
use crate::canonical::Symmetry;
use crate::event::{Event, Events, Witnesses};
use crate::property;
use crate::rules::{Electorate, Rules};
use crate::setup::{CLIENTS, Origin, Setup};
use crate::state::{
    Answer, Causes, Client, EPOCHS, Handle, LATE, Memory, Phase, Seen, Shadow, State, Store, Why,
    Write,
};

/// A number of clients under a set of rules.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    pub(crate) setup: Setup,
    pub(crate) rules: Rules,
    pub(crate) symmetry: Symmetry,
    /// Whether it forgets what can't matter any more; only a test that compares the two says no.
    pub(crate) tidies: bool,
    pub(crate) witnesses: Witnesses,
}

impl Protocol {
    /// A model of this size under these rules.
    pub(crate) fn new(setup: Setup, rules: Rules) -> Self {
        let symmetry = Symmetry::of(&setup, &rules);
        Self { setup, rules, symmetry, tidies: true, witnesses: Witnesses::default() }
    }

    /// The handle of `client`.
    pub(crate) fn handle(&self, client: usize) -> usize {
        usize::from(self.setup.handles[client])
    }

    /// Whether `client` shares its handle with another.
    pub(crate) fn shares(&self, client: usize) -> bool {
        let clients = usize::from(self.setup.clients);
        (0..clients).any(|other| other != client && self.handle(other) == self.handle(client))
    }

    /// The store carries out what `client` has sent.
    fn carry(&self, state: &mut State, client: usize) {
        let epoch = state.epoch;
        let mut phase = state.clients[client].phase;
        match &mut phase {
            Phase::Reading { why, seen, .. } => {
                let claims = matches!(why, Why::Doubt(_) | Why::Confirm(..));
                let epoch = claims.then_some(epoch);
                let row = state.store.row;
                *seen = Some(Seen { row, epoch });
            }
            Phase::Writing { attempt, answer } => {
                let write = Write::Move(*attempt);
                let local = self.rules.electorate == Electorate::FirstIsLocal && client == 0;
                if local && state.store.admits(&write, &self.rules, &self.setup) {
                    state.store.local = Some(write);
                    return;
                }
                let there = state.store.row;
                *answer = Some(if state.store.carry(&write, &self.rules, &self.setup) {
                    let other = |node| there.is_some_and(|row| row.node != node);
                    let unseen = attempt.old_node.is_some_and(other);
                    Answer::Applied { epoch, unseen }
                } else {
                    if there.is_some_and(|row| row.node == attempt.node) {
                        state.last.note(Event::RepeatRefused);
                    }
                    let hint = there.map(|row| (row.value, row.node));
                    Answer::NotApplied { hint }
                });
            }
            Phase::ReadingBirth { seen, .. } => *seen = Some(state.store.birth.unwrap_or(0)),
            Phase::Confirming { absent } => {
                *absent = Some(state.store.row.is_none() && state.store.birth.is_none());
            }
            Phase::Announcing { created, ours } => {
                let write = Write::Birth(*created);
                state.store.carry(&write, &self.rules, &self.setup);
                *ours = Some(state.store.birth == Some(*created));
            }
            Phase::Inserting { created, found } => {
                let write = Write::Insert { value: 0, created: *created };
                state.store.carry(&write, &self.rules, &self.setup);
                *found = state.store.row.map(|row| row.created);
            }
            Phase::Down
            | Phase::Idle
            | Phase::Done
            | Phase::Exhausted
            | Phase::Stopped(_)
            | Phase::Refused(_) => {}
        }
        state.clients[client].phase = phase;
    }

    /// A client hears its answer.
    fn hear(&self, state: &mut State, client: usize) {
        match state.clients[client].phase {
            Phase::Reading { why, sent, seen: Some(seen) } => {
                self.hear_row(state, client, why, sent, seen);
            }
            Phase::Writing { attempt, answer: Some(answer) } => {
                self.hear_answer(state, client, attempt, answer);
            }
            Phase::ReadingBirth { row, seen: Some(birth) } => {
                self.hear_birth(state, client, row, Some(birth).filter(|birth| *birth > 0));
            }
            Phase::Confirming { absent: Some(absent) } => self.hear_absence(state, client, absent),
            Phase::Announcing { created, ours: Some(ours) } => {
                self.hear_announced(state, client, created, ours);
            }
            Phase::Inserting { created, found: Some(found) } => {
                self.hear_inserted(state, client, created, found);
            }
            _ => {}
        }
    }

    /// S8: the answer of a replica that does not have the last write yet.
    fn carry_stale(state: &mut State, client: usize) {
        let (row, epoch) = (state.store.previous, Some(state.epoch));
        if let Phase::Reading { seen, .. } = &mut state.clients[client].phase {
            *seen = Some(Seen { row, epoch });
        }
    }

    /// S8: a decision of the local electorate reaches the row, or finds cells with a newer timestamp.
    fn settle(state: &mut State, newer: bool) {
        let Some(write) = state.store.local.take() else {
            return;
        };
        if newer {
            state.store.apply(&write);
        }
        let epoch = state.epoch;
        if let Phase::Writing { answer, .. } = &mut state.clients[0].phase {
            *answer = Some(Answer::Applied { epoch, unseen: false });
        }
    }

    /// The future of a shadow has come: what is written from now on shows again.
    fn expire(state: &mut State) {
        if let Some(row) = &mut state.store.row {
            row.written.shadow = Shadow::None;
            row.written.brief = false;
        }
    }

    fn land(state: &mut State, index: usize) {
        let Some(write) = state.late[index].take() else {
            return;
        };
        state.store.apply(&write);
        if let Write::Move(attempt) = write {
            let phase = &state.clients[usize::from(attempt.node.client)].phase;
            let given = state.given[usize::from(state.epoch)] & (1 << attempt.to) != 0;
            if !given && phase.attempt().is_some_and(|own| own.node != attempt.node) {
                state.last.note(Event::LandedLate);
            }
        }
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let client =
            Client { phase: Phase::Down, done: 0, attempts: 0, reservation: 0, crashes: 0 };
        let begun = State {
            store: match self.setup.origin {
                Origin::Born | Origin::JustBorn => Store::born(),
                Origin::Unborn => Store::unborn(),
                Origin::Returning => Store::returning(),
            },
            handles: [Handle::default(); CLIENTS],
            clients: [client; CLIENTS],
            late: [None; LATE],
            operator: None,
            faults: self.setup.faults,
            disasters: self.setup.disasters,
            epoch: 0,
            given: [0; EPOCHS],
            causes: Causes::default(),
            violation: None,
            last: Events::default(),
            memory: Memory::default(),
            symmetry: self.symmetry,
        };
        vec![match self.setup.origin {
            Origin::Born | Origin::Unborn => begun,
            Origin::JustBorn => begun.just_born(),
            Origin::Returning => begun.returning(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.enabled(state, actions);
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = *before;
        state.last = Events::default();
        match action {
            Action::Start(client) => self.read(&mut state, client, Why::Open),
            Action::Begin(client) => self.begin(&mut state, client),
            Action::Carry(client) => self.carry(&mut state, client),
            Action::CarryStale(client) => Self::carry_stale(&mut state, client),
            Action::Settle { newer } => Self::settle(&mut state, newer),
            Action::Peek { client, lags } => self.peek(&mut state, client, lags),
            Action::Hear(client) => self.hear(&mut state, client),
            Action::Land(index) => Self::land(&mut state, index),
            Action::Expire => Self::expire(&mut state),
            Action::Finish => self.finish(&mut state),
            Action::Fault(fault) => self.suffer(&mut state, fault),
        }
        self.witnesses.note(state.last);
        if self.tidies {
            self.tidy(&mut state);
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        property::all(&self.setup)
    }
}
