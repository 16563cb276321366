//! Clauses on registers at rest: what was inserted is what is read.

use super::calls::{
    answer, assert_not_applied, at, deadline, defined, fresh_name, fresh_row, fresh_uuid, insert,
    inserted, read, read_birth,
};
use crate::definition::Definition;
use crate::store::{Row, Store};

/// "Checks once that the store is there", and a store that keeps its promises has a place.
pub async fn a_sound_store_passes_its_check(store: &dyn Store) {
    answer(store.check(deadline()).await, "check");
    assert!(!store.location().is_empty(), "people are told where the store is");
}

/// A name that was never written has neither register nor birth.
pub async fn an_absent_name_has_nothing(store: &dyn Store) {
    let name = fresh_name("absent");
    assert_eq!(read(store, &name).await, None);
    assert_eq!(read_birth(store, &name).await, None);
}

/// Reads give exactly what was inserted: every part of a definition, both directions, both ends of a bigint.
pub async fn an_inserted_register_is_read_back(store: &dyn Store) {
    let definitions = [
        Definition::builder(),
        Definition::builder().int().increment_by(-1),
        Definition::builder().start_value(i64::MIN + 1).min_value(i64::MIN),
        Definition::builder().start_value(i64::MAX - 1).increment_by(-1).max_value(i64::MAX),
        Definition::builder().start_value(-1).increment_by(i64::MAX).min_value(-1),
        Definition::builder().start_value(-1).increment_by(i64::MIN).max_value(0),
        Definition::builder().javascript_safe().increment_by(10).start_value(5).strict(true),
    ];
    for definition in definitions.map(defined) {
        let row = Row::unused(definition, fresh_uuid());
        let name = inserted(store, "definition", row).await;
        assert_eq!(read(store, &name).await, Some(row), "the register of {definition}");
    }
    for value in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX] {
        let row = Row { timestamp: at(value), ..fresh_row() };
        let name = inserted(store, "value", row).await;
        assert_eq!(read(store, &name).await, Some(row), "the register that holds {value}");
    }
}

/// "Inserts a register if there is none": the second insertion is not applied and changes nothing (S6).
pub async fn the_first_register_stays(store: &dyn Store) {
    let first = Row { timestamp: at(7), ..fresh_row() };
    let name = inserted(store, "first register", first).await;
    let second = Row { timestamp: at(8), ..fresh_row() };
    assert_not_applied(insert(store, &name, &second).await, Some(first.timestamp));
    assert_eq!(read(store, &name).await, Some(first), "the first register");
}
