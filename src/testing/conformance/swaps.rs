//! Clauses on swaps: each change is applied to what it expects, changes what it says, and else nothing.

use super::calls::{
    answer, apply, assert_not_applied, at, deadline, defined, fresh_name, fresh_row, fresh_uuid,
    insert, inserted, move_to, read, read_birth, reject, swap,
};
use crate::definition::Definition;
use crate::store::{Change, Row, Store};

/// `a` definition of 1 to 1000, which can be widened to both sides.
fn narrow() -> Definition {
    defined(Definition::builder().max_value(1000))
}

fn narrow_row() -> Row {
    Row::unused(narrow(), fresh_uuid())
}

fn widening() -> Change {
    let definition = defined(Definition::builder().start_value(1).min_value(-5).max_value(5000));
    Change::Widen { definition }
}

fn revival() -> Change {
    Change::Revive { to: at(900), created: fresh_uuid() }
}

/// "Applies `change` if the register still holds what `expected` holds": reservations in a row.
pub async fn a_move_is_applied(store: &dyn Store) {
    let mut row = fresh_row();
    let name = inserted(store, "move", row).await;
    for value in [1, 101, 102, 5_000_000_000] {
        row = apply(store, &name, &row, move_to(value)).await;
    }
}

/// A register holds any bigint as its value: the last id of a sequence can be the last bigint (S12).
pub async fn a_move_reaches_both_ends(store: &dyn Store) {
    let mut row = fresh_row();
    let name = inserted(store, "ends", row).await;
    for value in [i64::MAX, i64::MIN, -1, i64::MIN + 1, 0] {
        row = apply(store, &name, &row, move_to(value)).await;
    }
}

/// "its timestamp": a client that knows an old one changes nothing (S1).
pub async fn a_move_from_another_value_is_not_applied(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "other value", row).await;
    let moved = apply(store, &name, &row, move_to(100)).await;
    reject(store, &name, &row, move_to(50), &moved).await;
    let ahead = Row { timestamp: at(101), ..moved };
    reject(store, &name, &ahead, move_to(200), &moved).await;
}

/// "and its `created`": a client of an earlier life of the sequence changes nothing (S4).
pub async fn a_move_under_another_identity_is_not_applied(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "other identity", row).await;
    let other = Row { created: Some(fresh_uuid()), ..row };
    reject(store, &name, &other, move_to(100), &row).await;
    let unborn = Row { created: None, ..row };
    reject(store, &name, &unborn, move_to(100), &row).await;
}

/// "its timestamp", of which the node is a half: the same value by another hand is another register (S4).
pub async fn a_move_from_another_node_is_not_applied(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "other node", row).await;
    let moved = apply(store, &name, &row, move_to(100)).await;
    let by_another = Row { timestamp: at(100), ..moved };
    reject(store, &name, &by_another, move_to(200), &moved).await;
}

/// The definition is not compared, so that a widening disturbs nobody; and a move does not write it back (S10).
pub async fn a_move_does_not_compare_the_definition(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "stale knowledge", row).await;
    let widened = apply(store, &name, &row, widening()).await;
    let change = move_to(10);
    swap(store, &name, &row, change).await;
    assert_eq!(
        read(store, &name).await,
        Some(widened.changed(change)),
        "the wider definition, moved on"
    );
}

/// "On a missing register it is not applied" (S6).
pub async fn a_swap_of_a_missing_register_creates_nothing(store: &dyn Store) {
    for change in [move_to(100), widening(), Change::Retire, revival()] {
        let name = fresh_name("missing");
        assert_not_applied(swap(store, &name, &narrow_row(), change).await, None);
        assert_eq!(read(store, &name).await, None, "no register was there for {change:?}");
        assert_eq!(read_birth(store, &name).await, None, "no birth was there for {change:?}");
    }
}

/// "What stood in the way, where the store says so": a hint that is given is the current timestamp.
pub async fn a_hint_is_the_current_timestamp(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "hint", row).await;
    let mut holds = row;
    for value in [3, 500, i64::MAX] {
        holds = apply(store, &name, &holds, move_to(value)).await;
        let current = Some(holds.timestamp);
        assert_not_applied(swap(store, &name, &row, move_to(9)).await, current);
        assert_not_applied(insert(store, &name, &row).await, current);
    }
}

/// "Reads a register's timestamp ... perhaps an old one": but one that the register has held (S4).
pub async fn a_peek_shows_what_was_there(store: &dyn Store) {
    let mut holds = fresh_row();
    let name = inserted(store, "peek", holds).await;
    let mut held = vec![holds.timestamp];
    for value in [3, 500, i64::MAX] {
        holds = apply(store, &name, &holds, move_to(value)).await;
        held.push(holds.timestamp);
        let Some(peek) = store.peek(&name, deadline()) else { return };
        if let Some(found) = answer(peek.await, "peek") {
            assert!(held.contains(&found), "a peek shows {found}, which was never there: {held:?}");
        }
    }
}

/// "Widens the bounds. Touches neither value nor node" (S4), and so does not mind that the value has moved.
pub async fn a_widening_changes_the_definition_only(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "widening", row).await;
    let moved = apply(store, &name, &row, move_to(77)).await;
    let change = widening();
    swap(store, &name, &row, change).await;
    assert_eq!(
        read(store, &name).await,
        Some(moved.changed(change)),
        "value and node of before, wider bounds"
    );
}

/// "and for `Change::Widen` its definition instead of its timestamp": of two that widen, the second is told (S10).
pub async fn a_widening_of_another_definition_is_not_applied(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "other definition", row).await;
    let widened = apply(store, &name, &row, widening()).await;
    let definition = defined(Definition::builder().max_value(2000));
    reject(store, &name, &row, Change::Widen { definition }, &widened).await;
}

/// A widening, like every change, is meant for one life of the sequence (S4).
pub async fn a_widening_under_another_identity_is_not_applied(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "widening another", row).await;
    let other = Row { created: Some(fresh_uuid()), ..row };
    reject(store, &name, &other, widening(), &row).await;
}

/// "Marks the sequence as dropped. Touches neither value nor node" (S4, S6).
pub async fn a_retirement_leaves_the_timestamp(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "retirement", row).await;
    let moved = apply(store, &name, &row, move_to(42)).await;
    let retired = apply(store, &name, &moved, Change::Retire).await;
    assert!(retired.retired && retired.timestamp == moved.timestamp);
}

/// A retirement is meant for what its client has seen.
pub async fn a_retirement_from_another_value_is_not_applied(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "no retirement", row).await;
    let moved = apply(store, &name, &row, move_to(42)).await;
    reject(store, &name, &row, Change::Retire, &moved).await;
    let other = Row { created: Some(fresh_uuid()), ..moved };
    reject(store, &name, &other, Change::Retire, &moved).await;
}

/// "Brings a retired sequence back under a new identity, beyond its old value" (S6), with its definition.
pub async fn a_revival_changes_the_identity(store: &dyn Store) {
    let row = narrow_row();
    let name = inserted(store, "revival", row).await;
    let retired = apply(store, &name, &row, Change::Retire).await;
    let revived = apply(store, &name, &retired, revival()).await;
    // Who knew the sequence before is shut out, also where the value is the same.
    let before = Row { created: row.created, ..revived };
    reject(store, &name, &before, move_to(950), &revived).await;
    apply(store, &name, &revived, move_to(950)).await;
}

/// A revival is meant for the life that its client has seen end.
pub async fn a_revival_under_another_identity_is_not_applied(store: &dyn Store) {
    let row = fresh_row();
    let name = inserted(store, "no revival", row).await;
    let retired = apply(store, &name, &row, Change::Retire).await;
    let other = Row { created: Some(fresh_uuid()), ..retired };
    reject(store, &name, &other, revival(), &retired).await;
    let elsewhere = Row { timestamp: at(1), ..retired };
    reject(store, &name, &elsewhere, revival(), &retired).await;
}
