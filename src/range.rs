//! Ranges of ids, and all arithmetic on ids. Everything is computed in 128 bits and checked on the way back (S12).

use std::fmt;
use std::num::NonZeroI64;

/// Ids from `first` to `last`, both included, `increment` apart. Never empty.
///
/// # Example: a range is iterated in the sequence's direction
///
/// ```
/// use lamport_seq::IdRange;
///
/// let range = IdRange::new(10, 4, -3).unwrap();
/// assert_eq!(range.len(), 3);
/// assert_eq!(range.into_iter().collect::<Vec<_>>(), [10, 7, 4]);
/// assert!(range.contains(7) && !range.contains(8));
/// assert!(IdRange::new(10, 5, -3).is_none(), "5 is not reached from 10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdRange {
    first: i64,
    last: i64,
    increment: NonZeroI64,
}

// A range is never empty, so `is_empty` would be a constant.
#[expect(clippy::len_without_is_empty, reason = "a range is never empty")]
impl IdRange {
    /// The ids from `first` to `last`, or `None` if `last` is not reached from `first` in steps of `increment`.
    pub fn new(first: i64, last: i64, increment: i64) -> Option<Self> {
        let increment = NonZeroI64::new(increment)?;
        let distance = i128::from(last) - i128::from(first);
        let step = i128::from(increment.get());
        (distance % step == 0 && distance / step >= 0).then_some(Self { first, last, increment })
    }

    /// The first id.
    pub const fn first(&self) -> i64 {
        self.first
    }

    /// The last id, included.
    pub const fn last(&self) -> i64 {
        self.last
    }

    /// The distance from one id to the next.
    pub const fn increment(&self) -> i64 {
        self.increment.get()
    }

    /// How many ids there are; at least 1.
    pub fn len(&self) -> u64 {
        steps_between(self.first, self.last, self.increment).saturating_add(1)
    }

    /// Whether `id` is one of them.
    pub fn contains(&self, id: i64) -> bool {
        Self::new(self.first, id, self.increment()).is_some()
            && !is_beyond(id, self.last, self.increment)
    }

    /// The first `count` ids and the rest; the rest is `None` if there are no more than `count`.
    ///
    /// # Panics
    ///
    /// If `count` is 0: a range is never empty.
    #[must_use]
    pub fn split(self, count: u64) -> (Self, Option<Self>) {
        assert!(count > 0, "a range is never empty");
        if count >= self.len() {
            return (self, None);
        }
        // Both ends lie inside this range, so neither can overflow.
        let last = offset(self.first, self.increment, count - 1);
        let next = offset(self.first, self.increment, count);
        let (Some(last), Some(next)) = (last, next) else { unreachable!("inside the range") };
        (Self { last, ..self }, Some(Self { first: next, ..self }))
    }

    /// What is left of the range beyond `floor`; `None` if nothing is.
    pub(crate) fn beyond(self, floor: i64) -> Option<Self> {
        if is_beyond(self.first, floor, self.increment) {
            return Some(self);
        }
        if !is_beyond(self.last, floor, self.increment) {
            return None;
        }
        self.split(steps_between(self.first, floor, self.increment).saturating_add(1)).1
    }
}

impl fmt::Display for IdRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.first, self.last)?;
        if self.increment() != 1 {
            write!(f, " by {}", self.increment)?;
        }
        Ok(())
    }
}

impl IntoIterator for IdRange {
    type Item = i64;
    type IntoIter = Ids;

    fn into_iter(self) -> Ids {
        Ids { next: Some(self.first), range: self }
    }
}

/// The ids of an [`IdRange`], in order.
#[derive(Clone, Debug)]
pub struct Ids {
    next: Option<i64>,
    range: IdRange,
}

impl Iterator for Ids {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let id = self.next?;
        // The last id may be the last that a bigint holds: nothing is added to it.
        self.next =
            if id == self.range.last { None } else { id.checked_add(self.range.increment()) };
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.next.map_or(0, |next| {
            steps_between(next, self.range.last, self.range.increment).saturating_add(1)
        });
        (usize::try_from(left).unwrap_or(usize::MAX), usize::try_from(left).ok())
    }
}

/// Whether `id` lies strictly further in the direction of `increment` than `other`.
pub(crate) fn is_beyond(id: i64, other: i64, increment: NonZeroI64) -> bool {
    if increment.get() > 0 { id > other } else { id < other }
}

/// The further of two ids in the direction of `increment`.
pub(crate) fn furthest(a: i64, b: i64, increment: NonZeroI64) -> i64 {
    if increment.get() > 0 { a.max(b) } else { a.min(b) }
}

/// How many whole steps of `increment` fit between `from` and `to`; 0 if `to` lies behind `from`.
pub(crate) fn steps_between(from: i64, to: i64, increment: NonZeroI64) -> u64 {
    let steps = (i128::from(to) - i128::from(from)) / i128::from(increment.get());
    u64::try_from(steps.max(0)).unwrap_or(u64::MAX)
}

/// `from + steps * increment`, if that is a bigint.
pub(crate) fn offset(from: i64, increment: NonZeroI64, steps: u64) -> Option<i64> {
    let distance = i128::from(steps).checked_mul(i128::from(increment.get()))?;
    i64::try_from(i128::from(from).checked_add(distance)?).ok()
}

/// The furthest id congruent to `start` modulo `increment` that does not lie beyond `id`.
///
/// `None` where that is no bigint, which happens only within one increment of the end that the sequence moves away from.
pub(crate) fn align(id: i64, start: i64, increment: NonZeroI64) -> Option<i64> {
    let step = i128::from(increment.get());
    let distance = i128::from(id) - i128::from(start);
    // Rounds towards where the sequence comes from: down for a rising sequence, up for a falling one.
    let past = if step > 0 { distance.rem_euclid(step) } else { -(-distance).rem_euclid(-step) };
    i64::try_from(i128::from(id) - past).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(increment: i64) -> NonZeroI64 {
        NonZeroI64::new(increment).unwrap()
    }

    #[test]
    fn alignment_rounds_towards_the_start() {
        assert_eq!(align(7, 1, step(3)), Some(7));
        assert_eq!(align(9, 1, step(3)), Some(7));
        assert_eq!(align(10, 1, step(3)), Some(10));
        assert_eq!(align(-9, -1, step(-3)), Some(-7));
        assert_eq!(align(-10, -1, step(-3)), Some(-10));
        assert_eq!(align(0, 1, step(3)), Some(-2));
        assert_eq!(align(i64::MIN, 0, step(3)), None);
    }

    #[test]
    fn the_last_bigint_can_be_an_id() {
        let range = IdRange::new(i64::MAX - 2, i64::MAX, 1).unwrap();
        assert_eq!(range.into_iter().collect::<Vec<_>>(), [i64::MAX - 2, i64::MAX - 1, i64::MAX]);
        let range = IdRange::new(i64::MIN + 1, i64::MIN, -1).unwrap();
        assert_eq!(range.into_iter().count(), 2);
        let all = IdRange::new(i64::MIN + 1, i64::MAX, 1).unwrap();
        assert_eq!(all.len(), u64::MAX);
    }

    /// Ids near both ends of i64 and around zero, where arithmetic goes wrong.
    fn edge_id() -> impl Strategy<Value = i64> {
        prop_oneof![
            (0..200i64).prop_map(|n| i64::MAX - n),
            (0..200i64).prop_map(|n| i64::MIN + n),
            -200..200i64,
            any::<i64>(),
        ]
    }

    fn increment() -> impl Strategy<Value = NonZeroI64> {
        prop_oneof![-5..=5i64, any::<i64>()].prop_filter_map("zero", NonZeroI64::new)
    }

    proptest! {
        #[test]
        fn an_aligned_id_is_on_the_grid_and_the_next_lies_beyond(
            id in edge_id(), start in edge_id(), increment in increment()
        ) {
            if let Some(aligned) = align(id, start, increment) {
                let distance = i128::from(aligned) - i128::from(start);
                prop_assert_eq!(distance % i128::from(increment.get()), 0);
                prop_assert!(!is_beyond(aligned, id, increment));
                if let Some(next) = offset(aligned, increment, 1) {
                    prop_assert!(is_beyond(next, id, increment));
                }
            }
        }

        #[test]
        fn splitting_loses_and_repeats_nothing(
            first in edge_id(), increment in increment(), len in 1..50u64, at in 1..60u64
        ) {
            let last = offset(first, increment, len - 1);
            if let Some(range) = last.and_then(|last| IdRange::new(first, last, increment.get())) {
                prop_assert_eq!(range.len(), len);
                let (head, tail) = range.split(at);
                let parts: Vec<_> = head.into_iter().chain(tail.into_iter().flatten()).collect();
                prop_assert_eq!(parts, range.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(head.len(), at.min(len));
            }
        }

        #[test]
        fn beyond_a_floor_is_the_filtered_range(
            first in edge_id(), increment in increment(), len in 1..50u64, floor in edge_id()
        ) {
            let last = offset(first, increment, len - 1);
            if let Some(range) = last.and_then(|last| IdRange::new(first, last, increment.get())) {
                let expected: Vec<_> =
                    range.into_iter().filter(|id| is_beyond(*id, floor, increment)).collect();
                let got: Vec<_> = range.beyond(floor).into_iter().flatten().collect();
                prop_assert_eq!(got, expected);
            }
        }
    }
}
