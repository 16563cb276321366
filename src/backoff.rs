//! How long to wait before the next attempt: full jitter, bounded by the caller's deadline (S13).

use std::time::Duration;

use tokio::time::Instant;

use crate::identity::Identity;

/// The bound of the first wait; it doubles with each wait in a row.
const FIRST: Duration = Duration::from_millis(5);
/// How often it doubles: up to 640 ms, about the time in which a server settles a contended write.
const DOUBLINGS: u32 = 7;

/// Waits between attempts of one operation.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    waits: u32,
}

impl Backoff {
    /// Sleeps for a random time below the bound, and never beyond `deadline`. Whether there is time left.
    pub(crate) async fn wait(&mut self, identity: &Identity, deadline: Instant) -> bool {
        let bound = FIRST * (1 << self.waits.min(DOUBLINGS));
        self.waits = self.waits.saturating_add(1);
        let until = Instant::now() + bound.mul_f64(identity.fraction());
        tokio::time::sleep_until(until.min(deadline)).await;
        Instant::now() < deadline
    }
}
