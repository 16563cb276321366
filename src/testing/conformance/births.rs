//! Clauses on births, and on being absent (S6).

use super::calls::{
    assert_not_applied, confirm_absent, fresh_name, fresh_row, fresh_uuid, inserted, read,
    read_birth, write_birth,
};
use crate::store::{Store, Swapped};

/// S6: before a creation, a name that was never used is confirmed to be absent.
pub async fn absence_is_confirmed(store: &dyn Store) {
    assert!(confirm_absent(store, &fresh_name("absence")).await);
}

/// S6: a birth without a register is a register that was lost, and forbids a new start.
pub async fn a_birth_denies_absence(store: &dyn Store) {
    let name = fresh_name("birth");
    write_birth(store, &name, fresh_uuid(), None).await;
    assert!(!confirm_absent(store, &name).await, "there is a birth");
}

/// S6: a register without a birth was made by hand, and forbids a new start.
pub async fn a_register_denies_absence(store: &dyn Store) {
    let name = inserted(store, "register", fresh_row()).await;
    assert!(!confirm_absent(store, &name).await, "there is a register");
}

/// "Writes a birth: if there is none (`replaces` is `None`)" (S6).
pub async fn the_first_birth_stays(store: &dyn Store) {
    let (name, first) = (fresh_name("first birth"), fresh_uuid());
    assert_eq!(write_birth(store, &name, first, None).await, Swapped::Applied);
    assert_not_applied(write_birth(store, &name, fresh_uuid(), None).await, None);
    assert_eq!(read_birth(store, &name).await, Some(first), "the first birth");
}

/// "or in place of exactly `replaces`": so a sequence is created anew on purpose (S6).
pub async fn a_birth_is_replaced_by_who_knows_it(store: &dyn Store) {
    let (name, first, second) = (fresh_name("replaced birth"), fresh_uuid(), fresh_uuid());
    assert_eq!(write_birth(store, &name, first, None).await, Swapped::Applied);
    assert_eq!(write_birth(store, &name, second, Some(first)).await, Swapped::Applied);
    assert_eq!(read_birth(store, &name).await, Some(second), "the birth that replaces");
}

/// "or in place of exactly `replaces`", and of no other.
pub async fn a_birth_is_not_replaced_by_who_knows_another(store: &dyn Store) {
    let (name, first) = (fresh_name("kept birth"), fresh_uuid());
    assert_eq!(write_birth(store, &name, first, None).await, Swapped::Applied);
    assert_not_applied(write_birth(store, &name, fresh_uuid(), Some(fresh_uuid())).await, None);
    assert_eq!(read_birth(store, &name).await, Some(first), "the birth that was there");
}

/// "in place of exactly `replaces`": where there is none, nothing is replaced and none is written.
pub async fn a_missing_birth_is_not_replaced(store: &dyn Store) {
    let name = fresh_name("missing birth");
    assert_not_applied(write_birth(store, &name, fresh_uuid(), Some(fresh_uuid())).await, None);
    assert_eq!(read_birth(store, &name).await, None, "no birth was there");
}

/// S6: a birth is written first, and is no register; a register is no birth.
pub async fn births_and_registers_are_written_apart(store: &dyn Store) {
    let name = fresh_name("birth alone");
    write_birth(store, &name, fresh_uuid(), None).await;
    assert_eq!(read(store, &name).await, None, "only a birth was written");
    let name = inserted(store, "register alone", fresh_row()).await;
    assert_eq!(read_birth(store, &name).await, None, "only a register was written");
}
