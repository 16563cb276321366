//! One form for all states that differ only in names.
//!
//! A state is hashed by the least of its descriptions over all orders of clients that play the same part, and in a
//! description an attempt is known by where it is first mentioned: uuids are compared for equality and for nothing
//! else, so two states with one description have the same future, up to names. The states themselves keep their
//! names, so that a history can be told.

use std::hash::{Hash, Hasher};

use crate::description::Description;
use crate::rules::{Electorate, Rules, UuidPer};
use crate::setup::{CLIENTS, Setup};
use crate::state::{Client, Phase, State, Why};

/// All orders of three clients.
const ORDERS: [[u8; CLIENTS]; 6] =
    [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Which names are only names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symmetry {
    /// The orders of [`ORDERS`] in which the clients can be told, one bit each.
    orders: u8,
    pub(crate) clients: u8,
    pub(crate) handles: [u8; CLIENTS],
    pub(crate) uuid: UuidPer,
}

impl Symmetry {
    /// The symmetry of a model of this size under these rules.
    pub(crate) fn of(setup: &Setup, rules: &Rules) -> Self {
        let mut orders = 0;
        for (bit, order) in ORDERS.iter().enumerate() {
            if keeps_parts(setup, rules, *order) {
                orders |= 1 << bit;
            }
        }
        Self { orders, clients: setup.clients, handles: setup.handles, uuid: rules.uuid }
    }
}

#[cfg(test)]
impl Symmetry {
    /// None: every name counts.
    pub(crate) fn broken(self) -> Self {
        Self { orders: 1, ..self }
    }
}

/// Whether each client plays the part of the one whose place it takes.
fn keeps_parts(setup: &Setup, rules: &Rules, order: [u8; CLIENTS]) -> bool {
    let moved = |at: usize| usize::from(order[at]);
    (0..CLIENTS).all(|a| {
        let absent = a >= usize::from(setup.clients);
        let local = rules.electorate == Electorate::FirstIsLocal && a == 0;
        let together = |b| {
            let before = setup.handles[a] == setup.handles[b];
            before == (setup.handles[moved(a)] == setup.handles[moved(b)])
        };
        let same_block = setup.blocks[a] == setup.blocks[moved(a)];
        (!(absent || local) || moved(a) == a) && same_block && (0..CLIENTS).all(together)
    })
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let orders = || {
            let allowed = |bit: &usize| self.symmetry.orders & (1 << bit) != 0;
            (0..ORDERS.len()).filter(allowed).map(|bit| ORDERS[bit])
        };
        // Only the orders that sort the clients by what needs no names come into question.
        let signatures = self.clients.map(|client| signature(&client));
        let sorted = |order: [u8; CLIENTS]| order.map(|client| signatures[usize::from(client)]);
        let least = orders().map(sorted).min();
        let candidates = orders().filter(|order| Some(sorted(*order)) == least);
        let least = candidates
            .map(|order| Description::of(self, order))
            .min_by(|a, b| a.bytes().cmp(b.bytes()));
        if let Some(least) = least {
            hasher.write(least.bytes());
        }
    }
}

/// What tells clients apart without a name.
fn signature(client: &Client) -> u32 {
    let (kind, a, b) = match &client.phase {
        Phase::Down => (0, 0, 0),
        Phase::Idle => (1, 0, 0),
        Phase::Reading { why, sent, seen } => {
            let row = seen.and_then(|seen| seen.row);
            let about = match why {
                Why::Open => 0,
                Why::Learn => 1,
                Why::Confirm(attempt, _) => attempt.to + 2,
                Why::Doubt(attempt) => attempt.to + 32,
            };
            let sent = sent.map_or(0, |sent| sent.value);
            (2 + u8::from(seen.is_some()), about, row.map_or(0, |row| row.value + 1) << 4 | sent)
        }
        Phase::Writing { attempt, answer } => (4 + u8::from(answer.is_some()), attempt.to, 0),
        Phase::ReadingBirth { seen, .. } => (6 + u8::from(seen.is_some()), 0, 0),
        Phase::Confirming { .. } => (8, 0, 0),
        Phase::Announcing { .. } => (9, 0, 0),
        Phase::Inserting { .. } => (10, 0, 0),
        Phase::Done | Phase::Exhausted => (11, 0, 0),
        Phase::Stopped(_) => (12, 0, 0),
        Phase::Refused(_) => (13, 0, 0),
    };
    u32::from_be_bytes([kind, client.done, a, b])
}

/// Two states are equal if they are described alike: what is only a name, or only told, does not count.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let plain = ORDERS[0];
        Description::of(self, plain).bytes() == Description::of(other, plain).bytes()
    }
}
