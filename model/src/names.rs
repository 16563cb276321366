//! Names that are only names: attempts, reservations and births, known by where a description first mentions them.

use crate::state::Node;

const ATTEMPTS: usize = 32;
const BIRTHS: usize = 16;

/// What a description has mentioned so far.
pub(crate) struct Names {
    attempts: Mentioned<Node, ATTEMPTS>,
    /// By client and first attempt.
    reservations: Mentioned<(u8, u8), ATTEMPTS>,
    births: Mentioned<u8, BIRTHS>,
}

/// Things in the order of their first mention.
struct Mentioned<T, const N: usize> {
    things: [T; N],
    count: usize,
}

impl<T: Copy + PartialEq, const N: usize> Mentioned<T, N> {
    fn find(&self, thing: T) -> Option<usize> {
        self.things[..self.count].iter().position(|mentioned| *mentioned == thing)
    }

    fn mention(&mut self, thing: T) -> usize {
        self.find(thing).unwrap_or_else(|| {
            self.things[self.count] = thing;
            self.count += 1;
            self.count - 1
        })
    }
}

impl Names {
    pub(crate) fn new() -> Self {
        Self {
            attempts: Mentioned { things: [Node::NIL; ATTEMPTS], count: 0 },
            reservations: Mentioned { things: [(0, 0); ATTEMPTS], count: 0 },
            births: Mentioned { things: [0; BIRTHS], count: 0 },
        }
    }

    /// The number of an attempt; what is no client's is told apart.
    pub(crate) fn attempt(&mut self, node: Node) -> u8 {
        if node.is_clients() { number(self.attempts.mention(node)) } else { node.client }
    }

    /// The same, if it was mentioned; all others are alike.
    pub(crate) fn known_attempt(&self, node: Node) -> u8 {
        let unknown = if node.is_clients() { u8::MAX / 2 } else { node.client };
        self.attempts.find(node).map_or(unknown, number)
    }

    /// The number of a client's reservation.
    pub(crate) fn reservation(&mut self, client: u8, first: u8) -> u8 {
        number(self.reservations.mention((client, first)))
    }

    /// The number of a birth, from 1 on.
    pub(crate) fn birth(&mut self, created: u8) -> u8 {
        number(self.births.mention(created) + 1)
    }

    /// The same, if it was mentioned; all others are alike.
    pub(crate) fn known_birth(&self, created: u8) -> u8 {
        self.births.find(created).map_or(u8::MAX, |index| number(index + 1))
    }
}

fn number(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}
