//! Clauses on calls that are cut short: by a deadline (S13), or by a caller that goes away (S11).

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use super::calls::{
    answer, assert_not_applied, at, deadline, fresh_name, fresh_row, fresh_uuid, inserted, read,
    read_birth, swap,
};
use crate::definition::SequenceName;
use crate::store::{Change, Row, Store, StoreError, StoreErrorKind, Swapped};

/// "or soon after".
const SOON: Duration = Duration::from_secs(2);

fn passed() -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_millis(10)).unwrap_or(now)
}

/// "Every call ends by its deadline, or soon after".
async fn soon<T>(call: &str, calling: impl Future<Output = T>) -> T {
    let Ok(answer) = tokio::time::timeout(SOON, calling).await else {
        panic!("{call} goes on for {SOON:?} after its deadline");
    };
    answer
}

/// Whether a write says that it was applied. With its deadline passed it knows, because it need not begin.
fn applied(call: &str, answer: Result<Swapped, StoreError>) -> bool {
    match answer {
        Ok(answer) => answer == Swapped::Applied,
        Err(error) if error.kind() == StoreErrorKind::NotApplied => false,
        Err(error) => panic!("{call} after its deadline is {:?}: {error}", error.kind()),
    }
}

/// A write whose deadline has passed is not begun, or is carried out: it changes something only if it says so (S3).
pub async fn a_passed_deadline_changes_nothing_unsaid(store: &dyn Store) {
    let (name, row) = (fresh_name("late insertion"), fresh_row());
    let answer = soon("insert", store.insert(&name, &row, passed())).await;
    let wanted = applied("insert", answer).then_some(row);
    assert_eq!(
        read(store, &name).await,
        wanted,
        "the register after an insertion past its deadline"
    );

    let (name, created) = (fresh_name("late birth"), fresh_uuid());
    let answer = soon("write_birth", store.write_birth(&name, created, None, passed())).await;
    let wanted = applied("write_birth", answer).then_some(created);
    assert_eq!(read_birth(store, &name).await, wanted, "the birth past its deadline");

    let name = inserted(store, "late swaps", row).await;
    let mut holds = row;
    for change in
        [Change::Move { to: at(10) }, Change::Retire, Change::Revive { to: at(20), created }]
    {
        let answer = soon("swap", store.swap(&name, &holds, change, passed())).await;
        if applied("swap", answer) {
            holds = holds.changed(change);
        }
        assert_eq!(
            read(store, &name).await,
            Some(holds),
            "the register after {change:?} past its deadline"
        );
    }
}

/// A read whose deadline has passed ends: with its answer, or without one.
pub async fn a_read_ends_by_its_deadline(store: &dyn Store) {
    fn allowed<T>(call: &str, answer: Result<T, StoreError>) {
        if let Err(error) = answer {
            let kind = error.kind();
            assert!(error.is_passing(), "{call} after its deadline is {kind:?}: {error}");
        }
    }
    let name = inserted(store, "late reads", fresh_row()).await;
    allowed("read", soon("read", store.read(&name, passed())).await);
    allowed("read_birth", soon("read_birth", store.read_birth(&name, passed())).await);
    allowed("list", soon("list", store.list(None, 10, passed())).await);
    allowed("check", soon("check", store.check(passed())).await);
    match soon("confirm_absent", store.confirm_absent(&name, passed())).await {
        Ok(absent) => assert!(!absent, "there is a register"),
        error => allowed("confirm_absent", error),
    }
}

/// A caller may go away in the middle of a swap (S11): it is applied or not, as a whole, and the store goes on.
pub async fn a_dropped_swap_happens_or_does_not(store: &dyn Store) {
    let mut row = fresh_row();
    let name = inserted(store, "dropped", row).await;
    for round in 1..=10 {
        let to = at(round * 10);
        let mut swapping = store.swap(&name, &row, Change::Move { to }, deadline());
        if round % 3 != 0 {
            poll_fn(|context| Poll::Ready(swapping.as_mut().poll(context).is_ready())).await;
        }
        drop(swapping);
        row = settled(store, &name, row, row.changed(Change::Move { to })).await;
    }
}

/// Moves the register on from whichever of the two it holds.
async fn settled(store: &dyn Store, name: &SequenceName, old: Row, new: Row) -> Row {
    for _ in 0..100 {
        let found = answer(store.read(name, deadline()).await, "read")
            .map(|row| Row { written: None, ..row });
        let Some(found) = found.filter(|found| *found == old || *found == new) else {
            panic!(
                "a swap was dropped, and the register holds {found:?}, neither {old:?} nor {new:?}"
            );
        };
        let change = Change::Move { to: at(new.timestamp.value + 1) };
        match swap(store, name, &found, change).await {
            Swapped::Applied => return found.changed(change),
            // The dropped swap has come in between.
            answer @ Swapped::NotApplied { .. } => {
                assert_not_applied(answer, Some(new.timestamp));
            }
        }
    }
    panic!("a swap was dropped, and the register does not settle");
}
