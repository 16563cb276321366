//! The store: what transactions, and what should never touch the row, do to it.

use crate::rules::{Condition, Rules, UuidPer};
use crate::setup::Setup;
use crate::state::{Attempt, FIRST_BIRTH, Mark, Node, Row, Shadow, Store, Write, Written};

impl Store {
    /// No sequence at all.
    pub(crate) fn unborn() -> Self {
        Self {
            row: None,
            previous: None,
            birth: None,
            births: 0,
            reached: 0,
            skewed: false,
            local: None,
        }
    }

    /// A sequence that was born and never used.
    pub(crate) fn born() -> Self {
        Self {
            row: Some(Row::unused(0, FIRST_BIRTH)),
            birth: Some(FIRST_BIRTH),
            births: 1,
            ..Self::unborn()
        }
    }

    /// A sequence that lost its row and was announced anew.
    pub(crate) fn returning() -> Self {
        let births = FIRST_BIRTH + 1;
        Self { birth: Some(births), births, reached: 1, ..Self::unborn() }
    }

    /// Draws an identity that nobody has.
    pub(crate) fn draw_birth(&mut self) -> u8 {
        self.births += 1;
        self.births
    }

    /// Puts another row in the place of this one.
    pub(crate) fn put(&mut self, row: Option<Row>) {
        self.previous = self.row.or(self.previous);
        self.row = row;
        self.reached = self.reached.max(row.map_or(0, |row| row.value));
    }

    /// Whether `write` would be applied if it arrived now.
    pub(crate) fn admits(&self, write: &Write, rules: &Rules, setup: &Setup) -> bool {
        match (write, self.row) {
            (Write::Move(attempt), Some(row)) => meets(&row, attempt, rules, setup),
            (Write::Birth(_), _) => self.birth.is_none(),
            (Write::Insert { .. }, row) => row.is_none(),
            (Write::Revive { old, .. }, Some(row)) => Mark::from(row) == *old,
            // `UPDATE ... IF value = ?` never creates a row (S9).
            (Write::Move(_) | Write::Revive { .. }, None) => false,
        }
    }

    /// Carries out one write. Gives whether it was applied.
    pub(crate) fn carry(&mut self, write: &Write, rules: &Rules, setup: &Setup) -> bool {
        let applied = self.admits(write, rules, setup);
        if applied {
            self.apply(write);
        }
        applied
    }

    /// Applies `write`, its condition having been met.
    pub(crate) fn apply(&mut self, write: &Write) {
        match (write, self.row) {
            (Write::Move(attempt), Some(row)) => {
                let (node, after) = (attempt.node, attempt.after);
                self.put(Some(row.overwritten(attempt.to, node, after, self.skewed)));
            }
            (Write::Revive { to, created, .. }, Some(row)) => {
                let row = row.overwritten(*to, Node::ALIEN, None, self.skewed);
                self.put(Some(Row { created: *created, retired: false, ..row }));
            }
            (Write::Insert { value, created }, _) => {
                self.put(Some(Row::unused(*value, *created)));
            }
            (Write::Birth(created), _) => self.birth = Some(*created),
            (Write::Move(_) | Write::Revive { .. }, None) => {}
        }
    }
}

fn meets(row: &Row, attempt: &Attempt, rules: &Rules, setup: &Setup) -> bool {
    if !attempt.conditional {
        return true;
    }
    let value = row.value == attempt.old;
    let created = row.created == attempt.created;
    let same = |node| same_uuid(node, row.node, rules, setup);
    let node = attempt.old_node.is_none_or(same);
    match rules.condition {
        Condition::All => value && node && created,
        Condition::WithoutNode => value && created,
        Condition::WithoutCreated => value && node,
    }
}

impl Row {
    /// The row of a sequence that nothing was reserved from.
    pub(crate) fn unused(value: u8, created: u8) -> Self {
        let (node, written) = (Node::NIL, Written::default());
        Self { value, node, after: None, created, retired: false, written }
    }

    /// The row after a transaction that writes value and node: cells with a timestamp in the future stay as they are.
    fn overwritten(self, value: u8, node: Node, after: Option<(u8, Node)>, skewed: bool) -> Self {
        let Written { shadow, brief, .. } = self.written;
        let written = Written {
            apart: shadow == Shadow::Value,
            ahead: skewed || shadow != Shadow::None,
            shadow,
            brief,
        };
        match shadow {
            Shadow::None => Self { value, node, after, written, ..self },
            Shadow::Value => Self { node, after, written, ..self },
            Shadow::Row => self,
        }
    }
}

/// Whether the uuids of two attempts are one and the same (S2).
pub(crate) fn same_uuid(a: Node, b: Node, rules: &Rules, setup: &Setup) -> bool {
    if !(a.is_clients() && b.is_clients()) {
        return a == b;
    }
    let handle = |node: Node| setup.handles[usize::from(node.client)];
    match rules.uuid {
        UuidPer::Attempt => a == b,
        UuidPer::Reservation => (a.client, a.reservation) == (b.client, b.reservation),
        UuidPer::Client => a.client == b.client,
        UuidPer::Process => handle(a) == handle(b),
    }
}

/// How a row stands to a mark (S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    Consistent,
    Behind,
    ChangedHands,
    Reborn,
}

/// Compares a row with a mark; `same` says whether two nodes are one.
pub(crate) fn against(mark: Mark, row: &Row, same: impl Fn(Node, Node) -> bool) -> Against {
    if row.created != mark.created {
        Against::Reborn
    } else if row.value < mark.value {
        Against::Behind
    } else if row.value == mark.value && !same(mark.node, row.node) {
        Against::ChangedHands
    } else {
        Against::Consistent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETUP: Setup = Setup::processes(1, 1);
    const RULES: Rules = Rules::PUBLISHED;

    fn first_attempt() -> Write {
        let node = Node { client: 0, reservation: 0, attempt: 0 };
        let (old, old_node, created) = (0, Some(Node::NIL), FIRST_BIRTH);
        Write::Move(Attempt { old, old_node, created, to: 1, node, after: None, conditional: true })
    }

    #[test]
    fn a_write_is_applied_once_and_never_creates_a_row() {
        let mut store = Store::born();
        assert!(store.carry(&first_attempt(), &RULES, &SETUP));
        assert!(!store.carry(&first_attempt(), &RULES, &SETUP));
        assert_eq!(store.row.unwrap().value, 1);
        assert!(!Store::unborn().carry(&first_attempt(), &RULES, &SETUP));
    }

    #[test]
    fn a_write_under_a_shadow_is_applied_and_does_not_show() {
        for (shadow, shows_node) in [(Shadow::Value, true), (Shadow::Row, false)] {
            let mut store = Store::born();
            let born = Row::unused(0, FIRST_BIRTH);
            let written = Written { shadow, ..born.written };
            store.row = Some(Row { written, ..born });
            assert!(store.carry(&first_attempt(), &RULES, &SETUP));
            let row = store.row.unwrap();
            assert_eq!((row.value, row.node.is_clients()), (0, shows_node));
        }
    }
}
