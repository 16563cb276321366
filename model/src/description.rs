//! A state in bytes, told client by client.

use crate::canonical::Symmetry;
use crate::rules::UuidPer;
use crate::setup::CLIENTS;
use crate::state::{
    Answer, Attempt, Client, Mark, Node, Phase, Row, Seen, State, Why, Write, Written,
};

const ROOM: usize = 384;
const NAMES: usize = 32;

/// A state in bytes: two states with the same description differ in names at most.
pub(crate) struct Description {
    bytes: [u8; ROOM],
    length: usize,
    names: [Node; NAMES],
    known: usize,
    symmetry: Symmetry,
    /// The place of each client in the order.
    places: [u8; CLIENTS],
}

impl Description {
    /// Describes `state`, its clients in this order.
    pub(crate) fn of(state: &State, order: [u8; CLIENTS]) -> Self {
        let mut places = [0; CLIENTS];
        for (place, client) in (0..).zip(order) {
            places[usize::from(client)] = place;
        }
        let mut told = Self {
            bytes: [0; ROOM],
            length: 0,
            names: [Node::NIL; NAMES],
            known: 0,
            symmetry: state.symmetry,
            places,
        };
        told.store(state);
        for client in order.into_iter().take(usize::from(state.symmetry.clients)) {
            told.client(state, client);
        }
        for write in state.late.iter().flatten().chain(&state.operator) {
            told.write(write);
        }
        told
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn put(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn store(&mut self, state: &State) {
        let store = &state.store;
        self.option(store.row.as_ref(), Self::row);
        self.option(store.previous.as_ref(), Self::row);
        self.option(store.local.as_ref(), Self::write);
        self.put(store.birth.map_or(0, |birth| birth));
        self.put(store.reached);
        self.put(u8::from(store.skewed) | u8::from(state.operator.is_some()) << 1);
        self.pair(state.faults, state.disasters);
        let causes = state.causes;
        self.put(
            u8::from(causes.tampered) | u8::from(causes.lost) << 1 | u8::from(causes.dropped) << 2,
        );
        self.put(u8::from(state.violation.is_some()));
        // Epochs by their distance from the present one: how many there were is history.
        let epochs = &state.given[..=usize::from(state.epoch)];
        let past = epochs.iter().position(|given| *given != 0).unwrap_or(epochs.len());
        self.put(u8::try_from(epochs.len() - past).unwrap_or(u8::MAX));
        for given in epochs[past..].iter().rev() {
            given.to_le_bytes().into_iter().for_each(|byte| self.put(byte));
        }
    }

    fn client(&mut self, state: &State, client: u8) {
        let index = usize::from(client);
        let own = state.symmetry.handles[index];
        let handle = &state.handles[usize::from(own)];
        self.option(handle.mark.as_ref(), |told, mark| told.mark(*mark));
        self.put(u8::from(handle.contradicted));
        let client = &state.clients[index];
        self.put(client.done);
        if self.symmetry.uuid == UuidPer::Reservation {
            self.put(client.reservation);
        }
        self.phase(client, state.epoch);
    }

    fn phase(&mut self, client: &Client, epoch: u8) {
        match &client.phase {
            Phase::Down => self.put(0),
            Phase::Idle => self.put(1),
            Phase::Reading { why, sent, seen } => {
                self.put(2);
                self.why(why, epoch);
                self.option(sent.as_ref(), |told, mark| told.mark(*mark));
                self.option(seen.as_ref(), |told, Seen { row, epoch: then }| {
                    told.option(row.as_ref(), Self::row);
                    told.put(then.map_or(0, |then| epoch - then + 1));
                });
            }
            Phase::Writing { attempt, answer } => {
                self.put(3);
                self.attempt(attempt);
                match answer {
                    None => self.put(0),
                    Some(Answer::Applied { epoch: then, unseen }) => {
                        self.pair(1 + u8::from(*unseen), epoch - then);
                    }
                    Some(Answer::NotApplied { hint: None }) => self.put(3),
                    Some(Answer::NotApplied { hint: Some((value, node)) }) => {
                        self.pair(4, *value);
                        self.node(*node);
                    }
                }
            }
            Phase::ReadingBirth { row, seen } => {
                self.put(4);
                self.option(row.as_ref(), Self::row);
                self.option(seen.as_ref(), |told, seen| told.put(*seen));
            }
            Phase::Confirming { absent } => self.pair(5, absent.map_or(2, u8::from)),
            Phase::Announcing { created, ours } => {
                self.pair(6, *created);
                self.put(ours.map_or(2, u8::from));
            }
            Phase::Inserting { created, found } => {
                self.pair(7, *created);
                self.put(found.unwrap_or(0));
            }
            Phase::Done => self.put(8),
            Phase::Exhausted => self.put(11),
            Phase::Stopped(cause) => self.pair(9, *cause as u8),
            Phase::Refused(_) => self.put(10),
        }
    }

    fn why(&mut self, why: &Why, epoch: u8) {
        match why {
            Why::Open => self.put(0),
            Why::Learn => self.put(1),
            Why::Confirm(attempt, then) => {
                self.pair(2, epoch - then);
                self.attempt(attempt);
            }
            Why::Doubt(attempt) => {
                self.put(3);
                self.attempt(attempt);
            }
        }
    }

    fn write(&mut self, write: &Write) {
        match write {
            Write::Move(attempt) => {
                self.put(1);
                self.attempt(attempt);
            }
            Write::Birth(created) => self.pair(2, *created),
            Write::Insert { value, created } => {
                self.pair(3, *value);
                self.put(*created);
            }
            Write::Revive { old, to, created } => {
                self.pair(4, *to);
                self.put(*created);
                self.mark(*old);
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt) {
        self.pair(attempt.old, attempt.to);
        self.pair(attempt.created, u8::from(attempt.conditional));
        self.option(attempt.old_node.as_ref(), |told, node| told.node(*node));
        self.node(attempt.node);
    }

    fn row(&mut self, row: &Row) {
        self.mark(Mark::from(*row));
        let Written { apart, ahead, brief, .. } = row.written;
        let flags = [row.retired, apart, ahead, brief];
        let bits = flags.into_iter().fold(0, |bits, flag| bits << 1 | u8::from(flag));
        self.put(bits << 2 | row.written.shadow as u8);
    }

    fn mark(&mut self, mark: Mark) {
        self.pair(mark.value, mark.created);
        self.node(mark.node);
    }

    /// An attempt is known by where it is first mentioned, and by what its uuid shows of its client.
    fn node(&mut self, node: Node) {
        if !node.is_clients() {
            return self.put(node.client);
        }
        let known = self.names[..self.known].iter().position(|name| *name == node);
        let name = known.unwrap_or_else(|| {
            self.names[self.known] = node;
            self.known += 1;
            self.known - 1
        });
        self.put(u8::try_from(name).unwrap_or(u8::MAX));
        let client = usize::from(node.client);
        match self.symmetry.uuid {
            UuidPer::Attempt => {}
            UuidPer::Reservation => self.pair(self.places[client], node.reservation),
            UuidPer::Client => self.put(self.places[client]),
            UuidPer::Process => self.put(self.process(client)),
        }
    }

    /// The first place of a client's process.
    fn process(&self, client: usize) -> u8 {
        let handles = &self.symmetry.handles;
        let shares = |at: &usize| handles[*at] == handles[client];
        (0..CLIENTS).filter(shares).map(|at| self.places[at]).min().unwrap_or(0)
    }

    fn pair(&mut self, a: u8, b: u8) {
        self.put(a);
        self.put(b);
    }

    fn option<T>(&mut self, option: Option<&T>, put: impl FnOnce(&mut Self, &T)) {
        match option {
            None => self.put(0),
            Some(value) => {
                self.put(1);
                put(self, value);
            }
        }
    }
}
