//! Proof that the suite can fail: for each of its clauses there is a store here that breaks it and is caught.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use lamport_seq::store::{
    Change, Listed, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped,
};
use lamport_seq::testing::{MemoryStore, conformance};
use lamport_seq::{Definition, LamportTimestamp, SequenceName};
use tokio::time::Instant;
use uuid::Uuid;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    AlwaysSaysApplied,
    AppliesLateAndDeniesIt,
    BirthsHideRegisters,
    BlindlyRetires,
    BlindlyWidens,
    ChangesOrder,
    ComparesDefinitions,
    CreatesMissing,
    DeniesAbsence,
    FailsCheck,
    FoldsCase,
    ForgetsBirths,
    ForgetsCreated,
    ForgetsNode,
    ForgetsStrict,
    HangsWhenLate,
    HintsAtExpected,
    IgnoresLimit,
    InsertsBirth,
    KeepsFloats,
    KeepsIdentity,
    LosesName,
    NeverApplies,
    NeverReplacesBirths,
    OverwritesBirth,
    OverwritesRegister,
    PagesInclusively,
    ReadsStale,
    ReplacesAnyBirth,
    ReplacesMissingBirth,
    RetiresNode,
    Tears,
    WidensWholeRow,
    WritesInHalves,
    MakesUpPeeks,
    MakesUpRegisters,
}

/// A bug and a clause that must catch it.
const CAUGHT: &[(Bug, &str)] = &[
    (Bug::FailsCheck, "a_sound_store_passes_its_check"),
    (Bug::MakesUpRegisters, "an_absent_name_has_nothing"),
    (Bug::DeniesAbsence, "absence_is_confirmed"),
    (Bug::ForgetsBirths, "a_birth_denies_absence"),
    (Bug::BirthsHideRegisters, "a_register_denies_absence"),
    (Bug::OverwritesBirth, "the_first_birth_stays"),
    (Bug::NeverReplacesBirths, "a_birth_is_replaced_by_who_knows_it"),
    (Bug::ReplacesAnyBirth, "a_birth_is_not_replaced_by_who_knows_another"),
    (Bug::ReplacesMissingBirth, "a_missing_birth_is_not_replaced"),
    (Bug::InsertsBirth, "births_and_registers_are_written_apart"),
    (Bug::ForgetsStrict, "an_inserted_register_is_read_back"),
    (Bug::OverwritesRegister, "the_first_register_stays"),
    (Bug::NeverApplies, "a_move_is_applied"),
    (Bug::KeepsFloats, "a_move_reaches_both_ends"),
    (Bug::AlwaysSaysApplied, "a_move_from_another_value_is_not_applied"),
    (Bug::ForgetsCreated, "a_move_under_another_identity_is_not_applied"),
    (Bug::ForgetsNode, "a_move_from_another_node_is_not_applied"),
    (Bug::ComparesDefinitions, "a_move_does_not_compare_the_definition"),
    (Bug::CreatesMissing, "a_swap_of_a_missing_register_creates_nothing"),
    (Bug::HintsAtExpected, "a_hint_is_the_current_timestamp"),
    (Bug::MakesUpPeeks, "a_peek_shows_what_was_there"),
    (Bug::WidensWholeRow, "a_widening_changes_the_definition_only"),
    (Bug::BlindlyWidens, "a_widening_of_another_definition_is_not_applied"),
    (Bug::ForgetsCreated, "a_widening_under_another_identity_is_not_applied"),
    (Bug::RetiresNode, "a_retirement_leaves_the_timestamp"),
    (Bug::BlindlyRetires, "a_retirement_from_another_value_is_not_applied"),
    (Bug::KeepsIdentity, "a_revival_changes_the_identity"),
    (Bug::ForgetsCreated, "a_revival_under_another_identity_is_not_applied"),
    (Bug::FoldsCase, "names_are_registers_of_their_own"),
    (Bug::Tears, "of_racing_swaps_one_is_applied"),
    (Bug::Tears, "of_racing_births_one_is_applied"),
    (Bug::Tears, "of_racing_insertions_one_is_applied"),
    (Bug::Tears, "no_applied_swap_is_lost"),
    (Bug::ReadsStale, "an_applied_swap_is_seen_at_once"),
    (Bug::LosesName, "a_listing_shows_every_register"),
    (Bug::ChangesOrder, "a_listing_keeps_its_order"),
    (Bug::PagesInclusively, "a_page_follows_the_one_before"),
    (Bug::IgnoresLimit, "a_page_keeps_its_limit"),
    (Bug::AppliesLateAndDeniesIt, "a_passed_deadline_changes_nothing_unsaid"),
    (Bug::HangsWhenLate, "a_read_ends_by_its_deadline"),
    (Bug::WritesInHalves, "a_dropped_swap_happens_or_does_not"),
];

fn run(bug: Bug, clause: &conformance::Clause) {
    let clause = *clause;
    conformance::run(
        async || ((), Broken::new(bug)),
        async move |store: &dyn Store| clause.check(store).await,
    );
}

#[test]
fn each_bug_is_caught_by_its_clause() {
    for (bug, name) in CAUGHT {
        let clause = conformance::CLAUSES.iter().find(|clause| clause.name == *name).unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| run(*bug, clause))).is_err();
        assert!(caught, "a store that {bug:?} passes {name}");
    }
}

#[test]
fn each_clause_catches_a_bug() {
    let all: BTreeSet<_> = conformance::CLAUSES.iter().map(|clause| clause.name).collect();
    let catching: BTreeSet<_> = CAUGHT.iter().map(|(_, name)| *name).collect();
    assert_eq!(catching, all);
}

#[test]
fn without_a_bug_the_same_store_passes() {
    for clause in conformance::CLAUSES {
        run(Bug::None, clause);
    }
}

/// A sound store, spoilt.
struct Broken {
    bug: Bug,
    store: MemoryStore,
    /// What [`Bug::ReadsStale`] shows: the register as it was before the last swap.
    before: Mutex<HashMap<SequenceName, Row>>,
    turn: tokio::sync::Mutex<()>,
}

impl Broken {
    fn new(bug: Bug) -> Self {
        Self {
            bug,
            store: MemoryStore::new(),
            before: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    fn key(&self, name: &SequenceName) -> SequenceName {
        if self.has(Bug::FoldsCase) {
            name.as_str().to_lowercase().parse().unwrap()
        } else {
            name.clone()
        }
    }

    fn stored(&self, row: Row) -> Row {
        let mut row = row;
        if self.has(Bug::KeepsFloats) {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "that is the bug"
            )]
            let rounded = row.timestamp.value as f64 as i64;
            row.timestamp.value = rounded;
        }
        if self.has(Bug::ForgetsStrict) {
            row.definition = row.definition.map(|known| {
                let builder = Definition::builder()
                    .start_value(known.start_value())
                    .increment_by(known.increment_by());
                builder.min_value(known.min_value()).max_value(known.max_value()).build().unwrap()
            });
        }
        row
    }

    fn changed(&self, row: Row, expected: &Row, change: Change) -> Row {
        let changed = row.changed(change);
        match (self.bug, change) {
            (Bug::RetiresNode, Change::Retire) => Row {
                timestamp: LamportTimestamp::new(row.timestamp.value, Uuid::nil()),
                ..changed
            },
            (Bug::WidensWholeRow, Change::Widen { .. }) => expected.changed(change),
            (Bug::KeepsIdentity, Change::Revive { .. }) => Row { created: row.created, ..changed },
            _ => changed,
        }
    }

    fn admits(&self, row: &Row, expected: &Row, change: Change) -> bool {
        let blind = match change {
            Change::Retire => self.has(Bug::BlindlyRetires),
            Change::Widen { .. } => self.has(Bug::BlindlyWidens),
            _ => false,
        };
        let expected = if self.has(Bug::ForgetsCreated) {
            Row { created: row.created, ..*expected }
        } else {
            *expected
        };
        let expected = if self.has(Bug::ForgetsNode) {
            let value = expected.timestamp.value;
            Row { timestamp: LamportTimestamp::new(value, row.timestamp.node), ..expected }
        } else {
            expected
        };
        let differs = self.has(Bug::ComparesDefinitions) && row.definition != expected.definition;
        blind || !differs && row.admits(change, &expected)
    }

    /// One writer at a time, but for the bug that lets them in between each other's looking and writing.
    async fn turn(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        if self.has(Bug::Tears) { None } else { Some(self.turn.lock().await) }
    }

    async fn pause(&self) {
        if self.has(Bug::Tears) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Whether nothing is to be done, because it is too late.
    async fn late<T>(&self, deadline: Instant) -> Option<Result<T, StoreError>> {
        if Instant::now() < deadline {
            return None;
        }
        if self.has(Bug::HangsWhenLate) {
            std::future::pending::<()>().await;
        }
        Some(Err(StoreError::new(StoreErrorKind::NotApplied, "too late")))
    }

    async fn write(
        &self,
        write: impl Future<Output = Result<Swapped, StoreError>>,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        let late = self.late(deadline).await;
        if late.is_none() || self.has(Bug::AppliesLateAndDeniesIt) {
            let _turn = self.turn().await;
            let written = write.await;
            return late.unwrap_or(written);
        }
        late.unwrap()
    }

    async fn swap_now(
        &self,
        name: &SequenceName,
        expected: &Row,
        change: Change,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        let missing = self.has(Bug::CreatesMissing).then_some(*expected);
        let Some(row) = self.store.read(name, deadline).await?.or(missing) else {
            return Ok(Swapped::NotApplied { found: None });
        };
        self.pause().await;
        if self.has(Bug::NeverApplies) || !self.admits(&row, expected, change) {
            let hint = if self.has(Bug::HintsAtExpected) { expected } else { &row };
            let found = Some(hint.timestamp);
            return Ok(if self.has(Bug::AlwaysSaysApplied) {
                Swapped::Applied
            } else {
                Swapped::NotApplied { found }
            });
        }
        let changed = self.stored(self.changed(row, expected, change));
        if self.has(Bug::WritesInHalves) {
            let half = LamportTimestamp::new(changed.timestamp.value, row.timestamp.node);
            self.store.tamper(name, Some(Row { timestamp: half, ..changed }));
            tokio::task::yield_now().await;
        }
        self.before.lock().unwrap().insert(name.clone(), row);
        self.store.tamper(name, Some(changed));
        Ok(Swapped::Applied)
    }

    async fn insert_now(
        &self,
        name: &SequenceName,
        row: &Row,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        let found = self.store.read(name, deadline).await?;
        self.pause().await;
        if let Some(found) = found.filter(|_| !self.has(Bug::OverwritesRegister)) {
            return Ok(Swapped::NotApplied { found: Some(found.timestamp) });
        }
        if self.has(Bug::InsertsBirth) {
            self.store.write_birth(name, row.created.unwrap(), None, deadline).await?;
        }
        self.store.tamper(name, Some(self.stored(*row)));
        Ok(Swapped::Applied)
    }

    async fn write_birth_now(
        &self,
        name: &SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        let found = self.store.read_birth(name, deadline).await?;
        self.pause().await;
        let applies = match (found, replaces) {
            (None, None) => true,
            (Some(_), None) => self.has(Bug::OverwritesBirth),
            (None, Some(_)) => self.has(Bug::ReplacesMissingBirth),
            (Some(found), Some(replaces)) => {
                self.has(Bug::ReplacesAnyBirth)
                    || found == replaces && !self.has(Bug::NeverReplacesBirths)
            }
        };
        if !applies {
            return Ok(Swapped::NotApplied { found: None });
        }
        // Over whatever has come in between.
        let now = self.store.read_birth(name, deadline).await?;
        self.store.write_birth(name, created, now, deadline).await
    }
}

impl Store for Broken {
    fn location(&self) -> String {
        self.store.location()
    }

    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()> {
        if self.has(Bug::FailsCheck) {
            return Box::pin(async { Err(StoreError::new(StoreErrorKind::Refused, "no")) });
        }
        self.store.check(deadline)
    }

    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            if let Some(late) = self.late(deadline).await {
                return late;
            }
            let row = self.store.read(&self.key(name), deadline).await?;
            let before = self.before.lock().unwrap().get(name).copied();
            Ok(match self.bug {
                Bug::ReadsStale => before.or(row),
                Bug::MakesUpRegisters => {
                    row.or(Some(Row::unused(Definition::default(), Uuid::nil())))
                }
                _ => row,
            })
        })
    }

    fn peek<'a>(
        &'a self,
        _: &'a SequenceName,
        _: Instant,
    ) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> {
        let made_up = Some(LamportTimestamp::new(42, Uuid::max()));
        self.has(Bug::MakesUpPeeks)
            .then(|| Box::pin(async move { Ok(made_up) }) as StoreFuture<'a, _>)
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        Box::pin(async move { self.store.read_birth(&self.key(name), deadline).await })
    }

    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let no_register = self.store.read(name, deadline).await?.is_none();
            let no_birth = self.store.read_birth(name, deadline).await?.is_none();
            Ok(match self.bug {
                Bug::DeniesAbsence => false,
                Bug::ForgetsBirths => no_register,
                Bug::BirthsHideRegisters => no_birth,
                _ => no_register && no_birth,
            })
        })
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let name = self.key(name);
            self.write(self.write_birth_now(&name, created, replaces, deadline), deadline).await
        })
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let name = self.key(name);
            self.write(self.insert_now(&name, row, deadline), deadline).await
        })
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let name = self.key(name);
            self.write(self.swap_now(&name, expected, change, deadline), deadline).await
        })
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        Box::pin(async move {
            let asked = if self.has(Bug::IgnoresLimit) { u32::MAX } else { limit };
            let mut page = self.store.list(after, asked, deadline).await?;
            match self.bug {
                Bug::LosesName if page.len() > 2 => {
                    page.remove(1);
                }
                Bug::ChangesOrder if limit == 2 && page.len() == 2 => page.swap(0, 1),
                Bug::PagesInclusively => {
                    if let Some(name) = after
                        && let Some(row) = self.store.read(name, deadline).await?
                    {
                        page.insert(0, Listed { name: name.clone(), row: Ok(row) });
                        page.truncate(limit as usize);
                    }
                }
                _ => {}
            }
            Ok(page)
        })
    }
}
