//! Numbers that a seed decides: the same seed, the same numbers, on every machine and in every version.

use std::time::Duration;

/// `SplitMix64`, by Sebastiano Vigna: a dozen lines, and no promise needed from anybody else.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// `stream` keeps those who draw by turns nobody knows of apart: each client, and the nemesis.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(stream);
        Self(seed ^ mixed.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `least` to `most`, both included. That some come a little more often does not matter here.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    pub(super) fn duration(&mut self, least: Duration, most: Duration) -> Duration {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.between(millis(least), millis(most)))
    }

    /// Brings `items` into an order of its own (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = usize::try_from(self.between(0, i as u64)).unwrap_or(0);
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_what_it_was() {
        // The published first numbers for seed 1234567.
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_of_one_seed_differ_and_a_range_is_kept() {
        let numbers = |stream| {
            let mut random = Random::new(7, stream);
            (0..100).map(|_| random.between(3, 5)).collect::<Vec<_>>()
        };
        assert_ne!(numbers(1), numbers(2));
        assert_eq!(numbers(1), numbers(1));
        for wanted in 3..=5 {
            assert!(numbers(1).contains(&wanted));
        }
        assert!(numbers(1).iter().all(|n| (3..=5).contains(n)));
    }
}
