//! Finds intervals that overlap, by sorting them.

/// Something from one position to another, in an epoch.
pub(super) trait Interval {
    /// What does not share it does not overlap.
    fn epoch(&self) -> u32;
    /// The first position and the last, both included.
    fn ends(&self) -> (i64, i64);
}

/// Sorts `intervals`, and calls `found` for each that begins before the end of one that is sorted before it: with
/// the one that reaches furthest of those, and the first position that both have.
pub(super) fn overlaps<I: Interval>(intervals: &mut [I], mut found: impl FnMut(&I, &I, i64)) {
    intervals.sort_unstable_by_key(|interval| (interval.epoch(), interval.ends()));
    let mut furthest: Option<&I> = None;
    for interval in &*intervals {
        let (first, last) = interval.ends();
        let same_epoch = furthest.filter(|furthest| furthest.epoch() == interval.epoch());
        if let Some(furthest) = same_epoch
            && first <= furthest.ends().1
        {
            found(furthest, interval, first);
            if last <= furthest.ends().1 {
                continue;
            }
        }
        furthest = Some(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Span(u32, i64, i64);

    impl Interval for Span {
        fn epoch(&self) -> u32 {
            self.0
        }
        fn ends(&self) -> (i64, i64) {
            (self.1, self.2)
        }
    }

    fn found(spans: &mut [Span]) -> Vec<i64> {
        let mut at = Vec::new();
        overlaps(spans, |_, _, position| at.push(position));
        at
    }

    #[test]
    fn neighbours_do_not_overlap_and_a_shared_end_does() {
        assert_eq!(found(&mut [Span(0, 4, 6), Span(0, 1, 3)]), [0_i64; 0]);
        assert_eq!(found(&mut [Span(0, 3, 6), Span(0, 1, 3)]), [3]);
        assert_eq!(found(&mut [Span(0, 3, 6), Span(1, 1, 3)]), [0_i64; 0], "another epoch");
        assert_eq!(found(&mut [Span(0, i64::MIN, i64::MAX), Span(0, i64::MAX, i64::MAX)]).len(), 1);
    }

    #[test]
    fn a_long_one_overlaps_all_that_it_holds() {
        let mut spans = [Span(0, 1, 100), Span(0, 5, 6), Span(0, 50, 51), Span(0, 101, 102)];
        assert_eq!(found(&mut spans), [5, 50]);
    }

    proptest! {
        #[test]
        fn one_is_found_if_and_only_if_there_is_one(
            spans in prop::collection::vec((0..2_u32, -20..20_i64, 0..4_i64), 0..10),
        ) {
            let mut spans: Vec<_> = spans.iter().map(|s| Span(s.0, s.1, s.1 + s.2)).collect();
            let meet = |a: &Span, b: &Span| a.0 == b.0 && a.1 <= b.2 && b.1 <= a.2;
            let naive = (0..spans.len())
                .any(|i| (0..i).any(|j| meet(&spans[i], &spans[j])));
            prop_assert_eq!(!found(&mut spans).is_empty(), naive);
        }
    }
}
