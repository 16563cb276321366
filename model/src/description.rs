//! A state in bytes, told client by client.

use crate::canonical::Symmetry;
use crate::names::Names;
use crate::rules::UuidPer;
use crate::setup::CLIENTS;
use crate::state::{Attempt, Node, State, Write};

const ROOM: usize = 384;

/// A state in bytes: two states with the same description differ in names at most.
pub(crate) struct Description {
    bytes: [u8; ROOM],
    length: usize,
    names: Names,
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
            names: Names::new(),
            symmetry: state.symmetry,
            places,
        };
        told.store(state);
        for client in order.into_iter().take(usize::from(state.symmetry.clients)) {
            told.client(state, client);
        }
        told.late(state);
        told.option(state.operator.as_ref(), Self::write);
        told
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn put(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn store(&mut self, state: &State) {
        let store = &state.store;
        self.option(store.row.as_ref(), Self::row);
        self.option(store.previous.as_ref(), Self::row);
        self.option(store.local.as_ref(), Self::write);
        self.option(store.birth.as_ref(), |told, birth| told.birth(*birth));
        self.put(store.reached);
        self.put(u8::from(store.skewed));
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

    /// Writes that nobody waits for, in an order in which names that are only names play no part.
    fn late(&mut self, state: &State) {
        let mut late = state.late;
        late.sort_unstable_by_key(|write| write.as_ref().map(|write| self.rank(write)));
        self.put(u8::try_from(late.iter().flatten().count()).unwrap_or(u8::MAX));
        for write in late.iter().flatten() {
            self.write(write);
        }
    }

    fn rank(&self, write: &Write) -> [u8; 7] {
        let known = |node| self.names.known_attempt(node);
        let birth = |created| self.names.known_birth(created);
        match *write {
            Write::Move(Attempt { old, old_node, created, to, node, conditional, after: _ }) => {
                let old_node = old_node.map_or(u8::MAX, known);
                [0, old, to, birth(created), u8::from(conditional), old_node, known(node)]
            }
            Write::Birth(created) => [1, birth(created), 0, 0, 0, 0, 0],
            Write::Insert { value, created } => [2, value, birth(created), 0, 0, 0, 0],
            Write::Revive { old, to, created } => {
                [3, old.value, to, birth(created), birth(old.created), known(old.node), 0]
            }
        }
    }

    fn client(&mut self, state: &State, client: u8) {
        let index = usize::from(client);
        let handle = &state.handles[usize::from(state.symmetry.handles[index])];
        self.option(handle.mark.as_ref(), |told, mark| told.mark(*mark));
        self.put(u8::from(handle.contradicted));
        let own = &state.clients[index];
        self.put(own.done);
        if self.symmetry.uuid == UuidPer::Reservation {
            self.reservation(client, own.reservation);
        }
        self.phase(own, state.epoch);
    }

    pub(crate) fn birth(&mut self, created: u8) {
        let number = self.names.birth(created);
        self.put(number);
    }

    /// An attempt is known by where it is first mentioned, and by what its uuid shows of its client.
    pub(crate) fn node(&mut self, node: Node) {
        let number = self.names.attempt(node);
        self.put(number);
        if !node.is_clients() {
            return;
        }
        let client = usize::from(node.client);
        match self.symmetry.uuid {
            UuidPer::Attempt => {}
            UuidPer::Reservation => self.reservation(node.client, node.reservation),
            UuidPer::Client => self.put(self.places[client]),
            UuidPer::Process => self.put(self.process(client)),
        }
    }

    fn reservation(&mut self, client: u8, first: u8) {
        let number = self.names.reservation(client, first);
        self.put(number);
    }

    /// The first place of a client's process.
    fn process(&self, client: usize) -> u8 {
        let handles = &self.symmetry.handles;
        let shares = |at: &usize| handles[*at] == handles[client];
        (0..CLIENTS).filter(shares).map(|at| self.places[at]).min().unwrap_or(0)
    }

    pub(crate) fn pair(&mut self, a: u8, b: u8) {
        self.put(a);
        self.put(b);
    }

    pub(crate) fn option<T>(&mut self, option: Option<&T>, put: impl FnOnce(&mut Self, &T)) {
        match option {
            None => self.put(0),
            Some(value) => {
                self.put(1);
                put(self, value);
            }
        }
    }
}
