//! How the clients of one row share it: who meets others waits, and goes on waiting for a while after it has won.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::identity::Identity;

/// The window after the first conflict.
const FIRST: Duration = Duration::from_millis(5);
/// The largest window: what a hundred clients need whose reservations take 10 ms each.
const LARGEST: Duration = Duration::from_secs(1);
/// A window that nothing has happened in for this long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// A window from which the wait before an attempt is drawn. It doubles when another client was first and shrinks by
/// an eighth with each reservation, and is kept between reservations: a client that started anew at nothing after
/// each success would be first again and again, and the others would starve.
#[derive(Debug)]
pub(crate) struct Pace(Mutex<Window>);

#[derive(Clone, Copy, Debug)]
struct Window {
    size: Duration,
    changed: Instant,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Window { size: Duration::ZERO, changed: Instant::now() }))
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn size(&self) -> Duration {
        let window = *self.lock();
        if window.changed.elapsed() < FORGOTTEN { window.size } else { Duration::ZERO }
    }

    fn set(&self, size: Duration) {
        *self.lock() = Window { size, changed: Instant::now() };
    }

    /// Another client was first, though this one knew the row.
    pub(crate) fn lost(&self) {
        self.set((self.size() * 2).clamp(FIRST, LARGEST));
    }

    /// An attempt was applied.
    pub(crate) fn won(&self) {
        let size = self.size() * 7 / 8;
        self.set(if size < FIRST { Duration::ZERO } else { size });
    }

    /// Waits for a random time within the window, at most half of what is left (S13). Whether it had to.
    pub(crate) async fn wait(&self, identity: &Identity, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let bound = self.size().min(left / 2);
        if bound.is_zero() {
            return false;
        }
        tokio::time::sleep(bound.mul_f64(identity.fraction())).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_window_grows_with_conflicts_and_outlives_a_success() {
        let pace = Pace::new();
        assert_eq!(pace.size(), Duration::ZERO);
        for _ in 0..3 {
            pace.lost();
        }
        assert_eq!(pace.size(), 4 * FIRST);
        pace.won();
        assert_eq!(pace.size(), 4 * FIRST * 7 / 8);
        for _ in 0..20 {
            pace.lost();
        }
        assert_eq!(pace.size(), LARGEST);
        for _ in 0..60 {
            pace.won();
        }
        assert_eq!(pace.size(), Duration::ZERO, "who is alone waits for nobody");
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_window_is_forgotten() {
        let pace = Pace::new();
        pace.lost();
        tokio::time::advance(FORGOTTEN).await;
        assert_eq!(pace.size(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn s13_the_wait_leaves_half_of_the_time() {
        let pace = Pace::new();
        (0..20).for_each(|_| pace.lost());
        let identity = Identity::draw(std::sync::Arc::new(crate::identity::OsEntropy)).unwrap();
        let began = Instant::now();
        assert!(pace.wait(&identity, began + Duration::from_millis(100)).await);
        assert!(began.elapsed() <= Duration::from_millis(50));
    }
}
