//! Blocks of reserved ids in, ids out, in the sequence's direction only.

use std::collections::VecDeque;

use crate::definition::Definition;
use crate::range::IdRange;
use crate::reserve::Reservation;
use crate::timestamp::LamportTimestamp;

/// The ids that one generator has reserved and not given yet.
#[derive(Debug)]
pub(crate) struct Buffer {
    blocks: VecDeque<Reservation>,
    /// The last id that was given or observed, or the row's value before this generator's first (S14).
    last: LamportTimestamp,
    /// Ids that were reserved and never will be given.
    burned: u64,
    /// Direction and grid; the bounds play no part here.
    definition: Definition,
}

impl Buffer {
    pub(crate) fn new(last: LamportTimestamp, definition: Definition) -> Self {
        Self { blocks: VecDeque::new(), last, burned: 0, definition }
    }

    /// The last id that was given or observed, and the attempt that it came from.
    pub(crate) fn last(&self) -> LamportTimestamp {
        self.last
    }

    pub(crate) fn burned(&self) -> u64 {
        self.burned
    }

    /// How many ids can be given at once.
    pub(crate) fn len(&self) -> u64 {
        self.blocks.iter().fold(0, |sum, block| sum.saturating_add(block.range.len()))
    }

    /// Adds a block. What does not lie beyond everything given or buffered is burned: ids never go back.
    pub(crate) fn put(&mut self, block: Reservation) {
        let behind = self.blocks.back().map_or(self.last.value, |block| block.range.last());
        let usable = block.range.beyond(behind);
        self.burn(block.range.len() - usable.map_or(0, |range| range.len()));
        if let Some(range) = usable {
            self.blocks.push_back(Reservation { range, ..block });
        }
    }

    /// A planted bug: a block is put without a look at what was given.
    #[cfg(planted_bug = "cancelled-block-reused")]
    pub(crate) fn put_again(&mut self, block: Reservation) {
        self.blocks.push_back(block);
    }

    /// The next id.
    pub(crate) fn next(&mut self) -> Option<i64> {
        self.take_up_to(1).map(|range| range.first())
    }

    /// The next `count` ids as ranges, all or none.
    pub(crate) fn next_many(&mut self, count: u64) -> Option<Vec<IdRange>> {
        let mut left = (self.len() >= count).then_some(count)?;
        let mut ranges = Vec::new();
        while left > 0 {
            let range = self.take_up_to(left)?;
            left -= range.len();
            ranges.push(range);
        }
        Some(ranges)
    }

    fn take_up_to(&mut self, count: u64) -> Option<IdRange> {
        let block = self.blocks.pop_front()?;
        let (taken, rest) = block.range.split(count);
        if let Some(range) = rest {
            self.blocks.push_front(Reservation { range, ..block });
        }
        // The pair of the check in `put`: what goes out lies beyond what went out.
        debug_assert!(self.definition.is_beyond(taken.first(), self.last.value));
        self.last = LamportTimestamp::new(taken.last(), block.node);
        Some(taken)
    }

    /// S14: gives no id up to `floor` any more; those that are buffered are burned.
    pub(crate) fn observe(&mut self, floor: LamportTimestamp) {
        if !self.definition.is_beyond(floor.value, self.last.value) {
            return;
        }
        self.last = floor;
        if cfg!(planted_bug = "observe-keeps-buffer") {
            return;
        }
        for block in std::mem::take(&mut self.blocks) {
            self.put(block);
        }
    }

    /// Gives a whole reservation away; what is buffered before it is burned, so that ids never go back.
    pub(crate) fn bypass(&mut self, reservation: Reservation) {
        self.observe(LamportTimestamp::new(reservation.range.last(), reservation.node));
    }

    /// S5: nothing of what is buffered is ever given.
    pub(crate) fn burn_all(&mut self) {
        self.burn(self.len());
        self.blocks.clear();
    }

    /// Counts ids that will never be given.
    pub(crate) fn burn(&mut self, ids: u64) {
        self.burned = self.burned.saturating_add(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn block(first: i64, last: i64) -> Reservation {
        let range = IdRange::new(first, last, 1).unwrap();
        Reservation { range, node: Uuid::from_u128(1) }
    }

    fn empty() -> Buffer {
        Buffer::new(LamportTimestamp::new(0, Uuid::nil()), Definition::default())
    }

    fn observed(id: i64) -> LamportTimestamp {
        LamportTimestamp::new(id, Uuid::nil())
    }

    #[test]
    fn a_late_block_is_never_served_after_a_newer_one() {
        let mut buffer = empty();
        buffer.put(block(11, 20));
        buffer.put(block(1, 10));
        assert_eq!((buffer.next(), buffer.len(), buffer.burned()), (Some(11), 9, 10));
    }

    #[test]
    fn s14_observed_ids_are_burned_and_counted() {
        let mut buffer = empty();
        buffer.put(block(1, 10));
        buffer.put(block(11, 20));
        buffer.observe(observed(14));
        assert_eq!((buffer.next(), buffer.burned()), (Some(15), 14));
        buffer.observe(observed(3));
        assert_eq!(buffer.next(), Some(16), "what lies behind changes nothing");
        buffer.observe(observed(100));
        assert_eq!((buffer.next(), buffer.last().value), (None, 100));
    }

    #[test]
    fn many_ids_come_whole_or_not_at_all() {
        let mut buffer = empty();
        buffer.put(block(1, 3));
        buffer.put(block(11, 13));
        assert_eq!(buffer.next_many(7), None);
        let ranges = buffer.next_many(4).unwrap();
        assert_eq!(ranges, [block(1, 3).range, block(11, 11).range]);
        assert_eq!(buffer.next(), Some(12));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(u64),
        Next,
        NextMany(u64),
        Observe(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1..30u64).prop_map(Step::Put),
            Just(Step::Next),
            (1..40u64).prop_map(Step::NextMany),
            (-10..60i64).prop_map(Step::Observe),
        ]
    }

    proptest! {
        /// Against a plain set: every id comes out at most once, in order, beyond what was observed.
        #[test]
        fn the_buffer_gives_what_was_put_once_and_in_order(steps in prop::collection::vec(step(), 1..60)) {
            let definition = Definition::builder().start_value(5).increment_by(3).build().unwrap();
            let mut buffer = Buffer::new(observed(definition.initial_value()), definition);
            let mut value = definition.initial_value();
            let (mut put, mut given, mut floor) = (0, Vec::new(), i64::MIN);
            for step in steps {
                match step {
                    Step::Put(count) => {
                        let range = definition.ids_after(value, count).unwrap();
                        value = range.last();
                        put += count;
                        buffer.put(Reservation { range, node: Uuid::nil() });
                    }
                    Step::Next => given.extend(buffer.next().inspect(|id| assert!(*id > floor))),
                    Step::NextMany(count) => {
                        let available = buffer.len();
                        let ranges = buffer.next_many(count);
                        prop_assert_eq!(ranges.is_some(), available >= count);
                        given.extend(ranges.into_iter().flatten().flatten());
                    }
                    Step::Observe(ahead) => {
                        floor = value + ahead;
                        buffer.observe(observed(floor));
                    }
                }
            }
            prop_assert!(given.is_sorted_by(|a, b| a < b), "{:?}", given);
            prop_assert!(given.iter().all(|id| (id - 5) % 3 == 0));
            prop_assert_eq!(given.len() as u64 + buffer.len() + buffer.burned(), put);
        }
    }
}
