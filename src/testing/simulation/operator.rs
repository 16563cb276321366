//! Who changes sequences while clients run: an operator, and the accidents that operators have.

use std::sync::Arc;

use tokio::time::Instant;

use super::store::Faults;
use super::world::World;
use crate::catalog::{Advance, Catalog};
use crate::definition::SequenceName;
use crate::error::Error;
use crate::history::{Fault, Operation, Recorder};
use crate::store::{Row, StoreHandle};
use crate::timestamp::LamportTimestamp;

/// Accidents that happen to rows. Nothing is promised of ids across the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accident {
    Restore,
    PlainWrite,
    Deletion,
    Drop,
}

const ACCIDENTS: [Accident; 4] =
    [Accident::Restore, Accident::PlainWrite, Accident::Deletion, Accident::Drop];

pub(super) struct Operator {
    world: Arc<World>,
    recorder: Recorder,
    catalog: Catalog,
}

impl Operator {
    pub(super) fn new(world: Arc<World>, recorder: Recorder) -> Self {
        let catalog = catalog(&world, &recorder);
        Self { world, recorder, catalog }
    }

    /// A catalog on a new handle: one that has stopped stays so.
    fn fresh_catalog(&self) -> Catalog {
        catalog(&self.world, &self.recorder)
    }

    /// Every sequence is created while nothing goes wrong yet.
    pub(super) async fn create(&self) -> Result<(), Error> {
        for (name, definition) in &self.world.sequences {
            self.catalog.create(name.clone(), *definition).await?;
        }
        Ok(())
    }

    /// Advances, widens and has accidents now and then, until the world heals.
    pub(super) async fn work(self) {
        let world = self.world.clone();
        let chance = &world.chance;
        // In most worlds, nothing happens that a client has to stop for.
        let mut accidents = [0, 0, 0, 1, 1, 2][usize::try_from(chance.number(0..=5)).unwrap_or(0)];
        let mut deleted = false;
        loop {
            tokio::time::sleep(chance.millis(500..=8000)).await;
            if world.is_healed() {
                return;
            }
            let Some((name, _)) = chance.of(&world.sequences) else { return };
            if accidents > 0 && chance.happens(400) {
                accidents -= 1;
                let Some(accident) = chance.of(&ACCIDENTS) else { return };
                // A row that is lost while an insertion of it is under way comes back (docs/design.md, S6).
                if *accident != Accident::Deletion || !std::mem::replace(&mut deleted, true) {
                    self.have(*accident, name).await;
                }
            } else if chance.happens(700) {
                self.advance(name).await;
            } else {
                self.widen(name).await;
            }
        }
    }

    fn fault(&self, fault: &Fault<'_>, name: &SequenceName) -> Operation {
        self.recorder.nemesis(fault, Some(name.as_str()), None)
    }

    async fn have(&self, accident: Accident, name: &SequenceName) {
        let store = &self.world.store;
        let past = store.past(name);
        let Some(last) = past.last() else { return };
        match accident {
            Accident::Restore => {
                let Some(row) = self.world.chance.of(&past) else { return };
                let fault = self.fault(&Fault::Restore, name);
                store.restore(name, *row);
                fault.ok();
            }
            Accident::PlainWrite => {
                // Whatever is written afterwards is shadowed.
                let fault = self.fault(&Fault::PlainWrite, name);
                store.write_plainly(name, self.another(last));
                fault.ok();
            }
            Accident::Deletion => {
                let fault = self.fault(&Fault::RowDeleted, name);
                store.delete(name);
                fault.ok();
                self.bring_back(name, &past).await;
            }
            Accident::Drop => {
                let fault = self.fault(&Fault::Drop, name);
                match self.fresh_catalog().drop(name.clone()).await {
                    Ok(_) => fault.ok(),
                    // It may yet come.
                    Err(_) => fault.info("no answer"),
                }
                self.bring_back(name, &past).await;
            }
        }
    }

    /// The same row, a little further on or back, or in other hands.
    fn another(&self, row: &Row) -> Row {
        let moved = row.timestamp.value
            + [-7, 0, 9][usize::try_from(self.world.chance.number(0..=2)).unwrap_or(0)];
        Row { timestamp: LamportTimestamp::new(moved, self.world.chance.uuid()), ..*row }
    }

    /// Perhaps the sequence is brought back, beyond all that was ever reserved.
    async fn bring_back(&self, name: &SequenceName, past: &[Row]) {
        tokio::time::sleep(self.world.chance.millis(0..=10_000)).await;
        let Some(furthest) = past.last() else { return };
        let definition = furthest.definition();
        let reserved =
            self.world.store.past(name).iter().fold(furthest.timestamp.value, |all, row| {
                definition.furthest(all, row.timestamp.value)
            });
        if self.world.chance.happens(300) || definition.remaining(reserved) < 2 {
            return;
        }
        let advance = Advance::above(reserved).recreate(definition).max_jump(u64::MAX);
        for _ in 0..5 {
            let fault = self.fault(&Fault::Recreate, name);
            match self.fresh_catalog().advance(name.clone(), advance).await {
                Ok(_) => return fault.ok(),
                Err(_) => fault.info("no answer"),
            }
        }
    }

    async fn advance(&self, name: &SequenceName) {
        let Some(row) = self.world.store.past(name).last().copied() else { return };
        let definition = row.definition();
        let ids = self.world.chance.number(1..=40).min(definition.remaining(row.timestamp.value));
        let Some(range) = definition.ids_after(row.timestamp.value, ids) else { return };
        let advance = Advance::above(range.last()).max_jump(u64::MAX);
        // Under faults it may fail; the recorder has what it did.
        drop(self.catalog.advance(name.clone(), advance).await);
    }

    async fn widen(&self, name: &SequenceName) {
        let Some(row) = self.world.store.past(name).last().copied() else { return };
        let definition = row.definition();
        let (min, max) = (definition.min_value(), definition.max_value());
        let wider = (min.saturating_sub(50), max.saturating_add(50));
        drop(self.catalog.alter(name.clone(), Some(wider.0), Some(wider.1)).await);
    }
}

/// A catalog on a handle of its own.
fn catalog(world: &World, recorder: &Recorder) -> Catalog {
    let handle = StoreHandle::new(world.store.connect());
    Catalog::new(&handle).record(recorder).entropy(Arc::new(world.chance.clone()))
}

/// Weather: what goes wrong with calls, for a while each.
pub(super) async fn weather(world: Arc<World>) {
    let chance = &world.chance;
    loop {
        let often = u32::try_from(chance.number(5..=200)).unwrap_or_default();
        let calm = Faults::default();
        let faults = match chance.number(0..=6) {
            0 => calm,
            1 => Faults { request_lost: often, ..calm },
            2 => Faults { answer_lost: often, ..calm },
            3 => Faults { late: often, answer_lost: often, ..calm },
            4 => Faults { slow: often * 2, ..calm },
            5 => Faults { refused: often * 2, ..calm },
            _ => Faults {
                request_lost: often / 4,
                answer_lost: often / 4,
                late: often / 4,
                slow: often / 4,
                refused: often / 4,
            },
        };
        world.store.set_faults(faults);
        if chance.happens(150) {
            world.store.go_away(Instant::now() + chance.millis(100..=15_000));
        }
        let until = Instant::now() + chance.millis(200..=6000);
        tokio::time::sleep_until(until.min(world.heals)).await;
        if world.is_healed() {
            world.store.heal();
            return;
        }
    }
}
