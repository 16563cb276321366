//! The suite that every store must pass: one clause per sentence of the contract of [`Store`].
//!
//! [`conformance_tests!`](crate::conformance_tests) makes a `#[test]` of each clause, on a store of its own. Where
//! making a store is costly, run [`CLAUSES`] one after the other on a single one: every clause uses names that were
//! never used before, leaves its registers behind, and assumes nothing of what else is in the store.
//!
//! A clause panics with what it has found. It must be called on tokio's multi-threaded runtime, because some of
//! them call the store from several threads at once.
#![expect(
    clippy::missing_panics_doc,
    reason = "panicking is how a clause says that a store breaks it"
)]

mod births;
mod calls;
mod limits;
mod lists;
mod names;
mod races;
mod registers;
mod swaps;

use std::pin::Pin;

pub use self::births::*;
pub use self::limits::*;
pub use self::lists::*;
pub use self::names::*;
pub use self::races::*;
pub use self::registers::*;
pub use self::swaps::*;
use crate::store::Store;

/// Makes a `#[test]` of every clause of the suite in [`testing::conformance`](crate::testing::conformance).
///
/// The argument is an async function or closure that makes an empty store and gives it together with a guard,
/// which is dropped after the store: a temporary folder, a process, or `()`. It is called once for each test.
///
/// # Example
///
/// ```
/// mod memory {
///     use lamport_seq::testing::MemoryStore;
///
///     lamport_seq::conformance_tests!(async || ((), MemoryStore::new()));
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($make_store:expr) => {
        $crate::conformance_tests! { @clauses tests $make_store }
    };
    (@clauses $what:ident $($make_store:expr)?) => {
        $crate::conformance_tests! { @$what [$($make_store)?]
            a_sound_store_passes_its_check
            an_absent_name_has_nothing
            absence_is_confirmed
            a_birth_denies_absence
            a_register_denies_absence
            the_first_birth_stays
            a_birth_is_replaced_by_who_knows_it
            a_birth_is_not_replaced_by_who_knows_another
            a_missing_birth_is_not_replaced
            births_and_registers_are_written_apart
            an_inserted_register_is_read_back
            the_first_register_stays
            a_move_is_applied
            a_move_reaches_both_ends
            a_move_from_another_value_is_not_applied
            a_move_under_another_identity_is_not_applied
            a_move_from_another_node_is_not_applied
            a_move_does_not_compare_the_definition
            a_swap_of_a_missing_register_creates_nothing
            a_hint_is_the_current_timestamp
            a_peek_shows_what_was_there
            a_widening_changes_the_definition_only
            a_widening_of_another_definition_is_not_applied
            a_widening_under_another_identity_is_not_applied
            a_retirement_leaves_the_timestamp
            a_retirement_from_another_value_is_not_applied
            a_revival_changes_the_identity
            a_revival_under_another_identity_is_not_applied
            names_are_registers_of_their_own
            of_racing_swaps_one_is_applied
            of_racing_births_one_is_applied
            of_racing_insertions_one_is_applied
            no_applied_swap_is_lost
            an_applied_swap_is_seen_at_once
            a_listing_shows_every_register
            a_listing_keeps_its_order
            a_page_follows_the_one_before
            a_page_keeps_its_limit
            a_passed_deadline_changes_nothing_unsaid
            a_read_ends_by_its_deadline
            a_dropped_swap_happens_or_does_not
        }
    };
    (@tests [$make_store:expr] $($clause:ident)*) => {
        $(
            #[test]
            fn $clause() {
                $crate::testing::conformance::run($make_store, $crate::testing::conformance::$clause);
            }
        )*
    };
    (@catalogue [] $($clause:ident)*) => {
        &[$(Clause { name: stringify!($clause), check: |store| Box::pin($clause(store)) }),*]
    };
}

/// One clause, for those who run the suite in their own way.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// The name of its function in this module, whose documentation says what it demands and why.
    pub name: &'static str,
    check: fn(&dyn Store) -> Checking<'_>,
}

type Checking<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Clause {
    /// Checks that `store` keeps this clause.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub async fn check(&self, store: &dyn Store) {
        (self.check)(store).await;
    }
}

/// All clauses.
pub const CLAUSES: &[Clause] = crate::conformance_tests! { @clauses catalogue };

/// Checks one clause on a store of its own, on a runtime of its own: what each test of
/// [`conformance_tests!`](crate::conformance_tests) does.
///
/// # Panics
///
/// If the store does not keep the clause, or there is no runtime to be had.
pub fn run<Guard, S: Store>(
    make_store: impl AsyncFnOnce() -> (Guard, S),
    clause: impl AsyncFnOnce(&dyn Store),
) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime to check a clause on: {error}"),
    };
    runtime.block_on(async {
        let (_guard, store) = make_store().await;
        clause(&store).await;
    });
}
