//! Waiting for other connections' locks, within the caller's deadline (S13).

use std::thread;
use std::time::{Duration, Instant};

use super::failure::Failure;

/// The bound of the first wait; it doubles with each wait in a row.
const FIRST: Duration = Duration::from_millis(1);
/// A swap holds the lock for one or two synchronisations of a disk.
const LONGEST: Duration = Duration::from_millis(16);

/// How long a call may wait for a lock.
///
/// SQLite's own busy handler is not used: it is not called where a lock is taken for the switch to WAL, nor where
/// waiting could be a deadlock, and so there is one way to wait for all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    until: Instant,
}

impl Patience {
    /// Until `deadline`, by the system's clock: a clock that a test has paused stands still in here.
    pub(super) fn until(deadline: tokio::time::Instant) -> Self {
        let left = deadline.saturating_duration_since(tokio::time::Instant::now());
        let now = Instant::now();
        Self { until: now.checked_add(left).unwrap_or(now) }
    }

    /// Repeats `work` while a lock is in its way and there is time.
    pub(super) fn retry<T>(
        self,
        mut work: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut bound = FIRST;
        loop {
            let done = work();
            let left = self.until.saturating_duration_since(Instant::now());
            if !matches!(&done, Err(failure) if failure.is_busy()) || left.is_zero() {
                return done;
            }
            thread::sleep(bound.mul_f64(fraction()).min(left));
            bound = (bound * 2).min(LONGEST);
        }
    }
}

/// A fraction in 0..1, so that processes that collide once do not go on colliding. Without entropy: 1.
fn fraction() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}
