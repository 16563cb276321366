//! Everything that is left to chance, from one seed.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use uuid::Uuid;

use crate::identity::Entropy;

/// A source of chance that gives the same for the same seed. Clones draw from one source.
#[derive(Clone, Debug)]
pub struct Chance(Arc<Mutex<fastrand::Rng>>);

impl Chance {
    /// The chance of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(fastrand::Rng::with_seed(seed))))
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number of the range.
    pub fn number(&self, range: RangeInclusive<u64>) -> u64 {
        self.draw(|rng| rng.u64(range))
    }

    /// Whether something happens that happens so many times in a thousand.
    pub fn happens(&self, in_a_thousand: u32) -> bool {
        self.draw(|rng| rng.u32(0..1000)) < in_a_thousand
    }

    /// One of the list.
    pub(super) fn of<'a, T>(&self, list: &'a [T]) -> Option<&'a T> {
        self.draw(|rng| rng.choice(list))
    }

    /// A time of so many milliseconds.
    pub(super) fn millis(&self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.number(range))
    }

    pub(super) fn uuid(&self) -> Uuid {
        let bytes = self.draw(|rng| rng.u128(..)).to_le_bytes();
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }
}

impl Entropy for Chance {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), String> {
        self.draw(|rng| rng.fill(bytes));
        Ok(())
    }
}
