//! How the clients of one row share it: each waits for a random time before it writes, the longer the more they are.
//!
//! Who is there is written in the row: a node begins with its client's tag (S2). A client that would measure its own
//! conflicts instead could be first every time, meet with none and never wait, while the others starve.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use crate::identity::{Identity, Tag};

/// A rival of whom nothing was seen for this long has gone.
const GONE: Duration = Duration::from_secs(5);
/// More rivals than these are not counted: they can't all be seen within that time.
const MOST: usize = 1024;
/// How many writes in a row are one turn. Who has the row moves it at once again while the others wait.
const TURN: u32 = 4;
/// What a write is taken to take before one was seen. A first one that a fault has held up would make a client that
/// has just begun wait for seconds; one that takes longer is believed by and by.
const SERVICE: Duration = Duration::from_millis(10);
/// The largest window.
const LARGEST: Duration = Duration::from_secs(5);

/// The window from which waits are drawn: twice the time in which all rivals that were seen lately could have a turn,
/// and a quarter more with each conflict in a row, since some of them were not seen.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<Crowd>);

#[derive(Debug)]
struct Crowd {
    /// Who else has moved the row, and when that was seen last.
    rivals: HashMap<Tag, Instant>,
    /// What a write takes when nobody is in its way: the least lately.
    service: Duration,
    /// How many conflicts there were since the last success.
    conflicts: u32,
    /// How many more writes belong to this turn.
    left: u32,
}

impl Default for Crowd {
    fn default() -> Self {
        Self { rivals: HashMap::new(), service: SERVICE, conflicts: 0, left: 0 }
    }
}

impl Crowd {
    fn window(&mut self) -> Duration {
        self.rivals.retain(|_, seen| seen.elapsed() < GONE);
        // A rival may go unseen, with a tag like one's own (S2).
        let rivals = self.rivals.len().max(usize::from(self.conflicts > 0));
        let round = self.service * u32::try_from(rivals).unwrap_or(u32::MAX);
        (round * 2 * TURN).mul_f64(1.0 + f64::from(self.conflicts) / 4.0).min(LARGEST)
    }
}

impl Pace {
    fn lock(&self) -> MutexGuard<'_, Crowd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row shows that `node` has moved it.
    pub(crate) fn saw(&self, node: Uuid, identity: &Identity) {
        let tag = Tag::of(node);
        if node.is_nil() || tag == identity.tag() {
            return;
        }
        let mut crowd = self.lock();
        if crowd.rivals.len() < MOST || crowd.rivals.contains_key(&tag) {
            crowd.rivals.insert(tag, Instant::now());
        }
    }

    /// Another client was first.
    pub(crate) fn lost(&self) {
        let mut crowd = self.lock();
        crowd.conflicts = crowd.conflicts.saturating_add(1);
        crowd.left = 0;
    }

    /// A write was applied, and took this long.
    pub(crate) fn won(&self, took: Duration) {
        let mut crowd = self.lock();
        crowd.conflicts = 0;
        // The times of writes that others have held up are let in slowly.
        crowd.service = took.min(crowd.service + crowd.service / 16);
    }

    /// Waits for a random time within the window, at most half of what is left (S13). Whether it had to.
    pub(crate) async fn wait(&self, identity: &Identity, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let bound = {
            let mut crowd = self.lock();
            let bound = crowd.window().min(left / 2);
            if bound.is_zero() {
                return false;
            }
            if crowd.left > 0 {
                crowd.left -= 1;
                return false;
            }
            crowd.left = TURN - 1;
            bound
        };
        tokio::time::sleep(bound.mul_f64(identity.fraction())).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::OsEntropy;
    use std::sync::Arc;

    const MS: Duration = Duration::from_millis(1);

    fn client() -> Identity {
        Identity::draw(Arc::new(OsEntropy)).unwrap()
    }

    fn window(pace: &Pace) -> Duration {
        pace.lock().window()
    }

    #[tokio::test(start_paused = true)]
    async fn the_window_is_as_long_as_there_are_rivals() {
        let (pace, own) = (Pace::default(), client());
        pace.won(10 * MS);
        assert_eq!(window(&pace), Duration::ZERO, "who is alone waits for nobody");
        let rivals = [client(), client(), client()];
        for rival in [&rivals[0], &rivals[1], &rivals[2], &rivals[0], &own] {
            pace.saw(rival.attempt().unwrap(), &own);
        }
        pace.saw(Uuid::nil(), &own);
        assert_eq!(window(&pace), 240 * MS, "three of them, however often each was seen");
        pace.lost();
        pace.lost();
        assert_eq!(window(&pace), 360 * MS);
        pace.won(30 * MS);
        assert_eq!(window(&pace), 255 * MS, "one slow write tells little");
        tokio::time::advance(GONE).await;
        assert_eq!(window(&pace), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_never_won_waits_as_well_and_not_for_what_a_fault_took() {
        let (pace, own) = (Pace::default(), client());
        pace.saw(client().attempt().unwrap(), &own);
        assert_eq!(window(&pace), 8 * SERVICE);
        pace.won(Duration::from_secs(3));
        assert!(window(&pace) < 9 * SERVICE);
    }

    #[tokio::test(start_paused = true)]
    async fn s2_a_rival_with_the_same_tag_is_met_all_the_same() {
        let (pace, own) = (Pace::default(), client());
        pace.won(10 * MS);
        pace.saw(own.attempt().unwrap(), &own);
        pace.lost();
        assert_eq!(window(&pace), 100 * MS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_is_some_writes_in_a_row_and_ends_with_a_conflict() {
        let (pace, own) = (Pace::default(), client());
        let deadline = Instant::now() + 1000 * MS;
        pace.won(MS);
        pace.saw(client().attempt().unwrap(), &own);
        let mut waits = Vec::new();
        for turn in 0..3 {
            for _ in 0..TURN {
                waits.push(pace.wait(&own, deadline).await);
            }
            if turn == 1 {
                pace.wait(&own, deadline).await;
                pace.lost();
            }
        }
        let turn = [true, false, false, false];
        assert_eq!(waits, [turn, turn, turn].concat());
    }

    #[tokio::test(start_paused = true)]
    async fn the_crowd_and_the_window_are_bounded() {
        let (pace, own) = (Pace::default(), client());
        pace.won(Duration::from_secs(100));
        for _ in 0..MOST + 10 {
            pace.saw(Uuid::new_v4(), &own);
        }
        (0..100).for_each(|_| pace.lost());
        assert_eq!(pace.lock().rivals.len(), MOST);
        assert_eq!(window(&pace), LARGEST);
    }

    #[tokio::test(start_paused = true)]
    async fn s13_the_wait_leaves_half_of_the_time() {
        let (pace, own) = (Pace::default(), client());
        pace.won(Duration::from_secs(1));
        pace.lost();
        let began = Instant::now();
        assert!(pace.wait(&own, began + 100 * MS).await);
        assert!(began.elapsed() <= 50 * MS);
    }
}
