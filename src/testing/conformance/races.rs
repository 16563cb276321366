//! Clauses on calls that meet: whoever is told that a write was applied is the only one (S1).
//!
//! A store under contention may answer that it does not know (S3); then what it holds in the end must be what one
//! of those who were told `Applied`, or nothing certain, has written.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tokio::time::Instant;

use super::calls::{
    at, at_once, deadline, fresh_name, fresh_row, fresh_uuid, inserted, move_to, read, read_birth,
};
use crate::store::{Change, Row, Store, StoreError, StoreErrorKind, Swapped};

const CALLERS: u32 = 8;
const ROUNDS: i64 = 10;

/// Who may have written, of those who took part in a race.
#[derive(Debug, Default)]
struct Outcome<T> {
    applied: Vec<T>,
    unknown: Vec<T>,
}

impl<T: PartialEq + std::fmt::Debug + Copy> Outcome<T> {
    fn of(answers: Vec<(T, Result<Swapped, StoreError>)>) -> Self {
        let (mut applied, mut unknown) = (Vec::new(), Vec::new());
        for (wrote, answer) in answers {
            match answer {
                Ok(Swapped::Applied) => applied.push(wrote),
                Ok(Swapped::NotApplied { .. }) => {}
                Err(error) => match error.kind() {
                    StoreErrorKind::NotApplied => {}
                    StoreErrorKind::Unknown => unknown.push(wrote),
                    kind => panic!("a write in a race failed, {kind:?}: {error}"),
                },
            }
        }
        Self { applied, unknown }
    }

    /// Asserts that one wrote what is `found`, or nobody did and all is as `before`.
    fn check(&self, found: T, before: T) {
        match self.applied.as_slice() {
            [one] => assert_eq!(found, *one, "what was announced as applied is not there"),
            [] => assert!(
                self.unknown.contains(&found) || found == before && !self.unknown.is_empty(),
                "nobody's write was applied, and {found:?} is there ({:?} are in doubt)",
                self.unknown
            ),
            several => panic!("{} writes of one race were applied: {several:?}", several.len()),
        }
    }
}

/// "Reads, swaps and insertions of one name are linearizable": of swaps from one value, one is applied.
pub async fn of_racing_swaps_one_is_applied(store: &dyn Store) {
    let mut row = fresh_row();
    let name = &inserted(store, "racing swaps", row).await;
    let mut certain = 0;
    for round in 1..=ROUNDS {
        let expected = row;
        let outcome = Outcome::of(at_once(CALLERS, async |caller| {
            let to = at(round * 100 + i64::from(caller));
            let change = Change::Move { to };
            (to, store.swap(name, &expected, change, deadline()).await)
        }));
        row = held(read(store, name).await);
        outcome.check(row.timestamp, expected.timestamp);
        certain += outcome.applied.len();
    }
    assert!(certain > 0, "not one of {ROUNDS} races was decided");
}

/// Of births of one name, one is applied (S6).
pub async fn of_racing_births_one_is_applied(store: &dyn Store) {
    for _ in 0..ROUNDS {
        let name = &fresh_name("racing births");
        let outcome = Outcome::of(at_once(CALLERS, async |_| {
            let created = fresh_uuid();
            (Some(created), store.write_birth(name, created, None, deadline()).await)
        }));
        outcome.check(read_birth(store, name).await, None);
    }
}

/// Of insertions of one name, one is applied (S6).
pub async fn of_racing_insertions_one_is_applied(store: &dyn Store) {
    for _ in 0..ROUNDS {
        let name = &fresh_name("racing insertions");
        let outcome = Outcome::of(at_once(CALLERS, async |_| {
            let row = fresh_row();
            (Some(row), store.insert(name, &row, deadline()).await)
        }));
        outcome.check(read(store, name).await, None);
    }
}

/// "`Swapped::Applied` is answered only if this very call changed the register": clients that count together lose
/// nothing and count nothing twice.
pub async fn no_applied_swap_is_lost(store: &dyn Store) {
    const EACH: usize = 8;
    let name = &inserted(store, "counting", fresh_row()).await;
    let taken = at_once(4, async |_| {
        let (mut mine, mut doubted, patience) = (Vec::new(), 0, deadline());
        while mine.len() < EACH {
            assert!(Instant::now() < patience, "only {} swaps were applied in time", mine.len());
            let row = held(read(store, name).await);
            let to = at(row.timestamp.value + 1);
            match store.swap(name, &row, Change::Move { to }, deadline()).await {
                Ok(Swapped::Applied) => mine.push(to.value),
                Ok(Swapped::NotApplied { .. }) => {}
                Err(error) if error.kind() == StoreErrorKind::NotApplied => {}
                Err(error) if error.kind() == StoreErrorKind::Unknown => doubted += 1,
                Err(error) => panic!("a swap failed, {:?}: {error}", error.kind()),
            }
        }
        (mine, doubted)
    });
    let doubted: usize = taken.iter().map(|(_, doubted)| doubted).sum();
    let values: Vec<_> = taken.into_iter().flat_map(|(mine, _)| mine).collect();
    let distinct: BTreeSet<_> = values.iter().collect();
    assert_eq!(distinct.len(), values.len(), "a value was taken twice: {values:?}");
    let reached = usize::try_from(held(read(store, name).await).timestamp.value).unwrap_or(0);
    assert!(
        (values.len()..=values.len() + doubted).contains(&reached),
        "{} swaps were applied and {doubted} are in doubt, and the register has come to {reached}",
        values.len()
    );
}

/// A read that begins after a swap was announced as applied shows it, or one that came later, whoever reads.
pub async fn an_applied_swap_is_seen_at_once(store: &dyn Store) {
    let first = fresh_row();
    let name = &inserted(store, "seen at once", first).await;
    let (announced, writing) = (AtomicI64::new(first.timestamp.value), AtomicBool::new(true));
    let look = async |known: Row| {
        let before = announced.load(Ordering::SeqCst).max(known.timestamp.value);
        let row = held(read(store, name).await);
        let seen = row.timestamp.value;
        assert!(
            seen >= before,
            "{before} was applied or read before, and a later read shows {seen}"
        );
        row
    };
    at_once(4, async |caller| {
        let mut row = first;
        if caller == 0 {
            let _ends = Ending(&writing);
            for value in 1..=20 {
                let change = move_to(value);
                if let Ok(Swapped::Applied) = store.swap(name, &row, change, deadline()).await {
                    announced.store(value, Ordering::SeqCst);
                }
                row = look(row).await;
            }
        }
        while writing.load(Ordering::SeqCst) {
            row = look(row).await;
        }
    });
}

/// Says that there is no more writing, also when the writer panics.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

fn held(row: Option<Row>) -> Row {
    match row {
        Some(row) => row,
        None => panic!("the register has gone"),
    }
}
