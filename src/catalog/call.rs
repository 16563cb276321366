//! One operator's call about one sequence, over the protocol.

use tokio::time::Instant;
use uuid::Uuid;

use super::{Advance, Advanced, SequenceInfo};
use crate::birth::Found;
use crate::definition::Definition;
use crate::effort::Effort;
use crate::error::Error;
use crate::reserve::{Plan, Protocol};
use crate::stop::StopCause;
use crate::store::{Change, Row, Swapped};
use crate::tape::Recording;
use crate::timestamp::LamportTimestamp;

/// One call about one sequence.
pub(super) struct Call {
    pub(super) protocol: Protocol,
    pub(super) deadline: Instant,
    pub(super) recording: Recording,
}

impl Call {
    /// Records what this call does to the sequence, as an incarnation that gives no ids.
    pub(super) fn record(&mut self, found: &Row) {
        self.protocol.record(&self.recording, found, self.recording.now());
    }

    pub(super) fn exists(&self) -> Error {
        let register = self.protocol.register();
        let (sequence, location) = (register.sequence.clone(), register.location.clone());
        Error::AlreadyExists { sequence, location }
    }

    /// `false`: there is one.
    pub(super) async fn create(&self, definition: Definition) -> Result<bool, Error> {
        match self.protocol.find(self.deadline).await? {
            Found::Sequence(_) => Ok(false),
            Found::Nothing => self.protocol.create(definition, self.deadline).await,
        }
    }

    pub(super) async fn existing(&self) -> Result<Row, Error> {
        match self.protocol.find(self.deadline).await? {
            Found::Sequence(row) => Ok(row),
            Found::Nothing => Err(self.protocol.not_found()),
        }
    }

    /// Row and birth as they are, judged by nobody: what an operator needs to see of a sequence that has stopped.
    async fn raw(&self) -> Result<(Option<Row>, Option<Uuid>), Error> {
        let mut effort = Effort::until(self.deadline);
        let row =
            self.protocol.ask(&mut effort, |p, until| p.store().read(p.name(), until)).await?;
        Ok((row, self.protocol.read_birth(self.deadline).await?))
    }

    pub(super) async fn info(&self) -> Result<SequenceInfo, Error> {
        match self.raw().await? {
            (Some(row), Some(_)) => Ok(SequenceInfo::new(self.protocol.name().clone(), &row)),
            (Some(_), None) => Err(self.protocol.not_adopted()),
            (None, Some(_)) => Err(self.protocol.register().describe(StopCause::Missing).into()),
            (None, None) => Err(self.protocol.not_found()),
        }
    }

    pub(super) async fn advance(&self, advance: Advance) -> Result<Advanced, Error> {
        let plan = |row: &Row| {
            let (definition, before) = (row.definition(), row.timestamp.value);
            let after = self.target(&definition, before, advance)?;
            let gives = (Advanced::new(Some(before), after, &definition), *row);
            // S4: an advance that would change nothing writes nothing.
            if advance.dry_run || after == before {
                return Ok(Plan::Keep(gives));
            }
            Ok(Plan::Move { value: after, gives })
        };
        let ((advanced, row), _) = self.protocol.propose(plan, self.deadline).await?;
        if !advance.dry_run {
            // S14: generators on this handle give nothing lower any more, buffered or not.
            self.protocol.register().raise_floor(advance.above, &row);
            self.protocol.tape().advanced(advance.above);
        }
        Ok(advanced)
    }

    /// The value to move to, never behind `before` (S4), with consent if it is far (S12).
    fn target(&self, definition: &Definition, before: i64, advance: Advance) -> Result<i64, Error> {
        let (above, end) = (advance.above, definition.end());
        if definition.is_beyond(above, end) {
            let message = format!("no id of this sequence lies beyond {above}: its end is {end}");
            return Err(Error::InvalidOption(message));
        }
        let after = definition.align(definition.furthest(before, above)).unwrap_or(before);
        let after = if cfg!(planted_bug = "advance-goes-back") {
            definition.align(above).unwrap_or(before)
        } else {
            definition.furthest(before, after)
        };
        let left = definition.remaining(before);
        let ids = left.saturating_sub(definition.remaining(after));
        if definition.is_leap(before, ids) && advance.max_jump.is_none_or(|most| ids > most) {
            let sequence = self.protocol.name().clone();
            return Err(Error::JumpTooFar { sequence, ids, left });
        }
        Ok(after)
    }

    /// Brings back what was dropped or lost its row (S6); `None` if there is nothing to bring back.
    pub(super) async fn recreate(
        &self,
        advance: Advance,
        lost: Definition,
    ) -> Result<Option<Advanced>, Error> {
        let (row, birth) = self.raw().await?;
        let Some(birth) = birth else { return Ok(None) };
        if row.is_some_and(|row| !row.retired && row.created.is_none_or(|own| own == birth)) {
            return Ok(None);
        }
        let definition = row.map_or(lost, |row| row.definition());
        let before = row.map(|row| row.timestamp.value);
        let from = before.unwrap_or_else(|| definition.initial_value());
        let after = self.target(&definition, from, advance)?;
        let advanced = Advanced { recreated: true, ..Advanced::new(before, after, &definition) };
        if advance.dry_run {
            return Ok(Some(advanced));
        }
        let created = self.protocol.identity().birth()?;
        let to = LamportTimestamp::new(after, self.protocol.identity().attempt()?);
        // S6: the birth first, so that nobody takes the new row for the old sequence's.
        let announced = self.protocol.announce(created, Some(birth), self.deadline).await?;
        let won = announced
            && match row {
                Some(row) => self.try_change(&row, Change::Revive { to, created }).await?,
                None => {
                    let row = Row { timestamp: to, ..Row::unused(definition, created) };
                    self.protocol.insert(&row, self.deadline).await.is_ok()
                }
            };
        self.settle().await?;
        // Where another operator was first, the sequence is there again, and is advanced as any other.
        Ok(won.then_some(advanced))
    }

    /// Makes the birth agree with the row that stands: of several who bring a sequence back at once, each may have
    /// announced a birth, and one has written the row.
    async fn settle(&self) -> Result<(), Error> {
        let mut effort = Effort::until(self.deadline);
        loop {
            let (row, birth) = self.raw().await?;
            let created = row.filter(|row| !row.retired).and_then(|row| row.created);
            match (created, birth) {
                (Some(created), Some(birth)) if created != birth => {
                    self.protocol.announce(created, Some(birth), self.deadline).await?;
                }
                _ => return Ok(()),
            }
            self.lost(&mut effort).await?;
        }
    }

    pub(super) async fn alter(
        &self,
        min: Option<i64>,
        max: Option<i64>,
    ) -> Result<Definition, Error> {
        let mut effort = Effort::until(self.deadline);
        loop {
            let row = self.existing().await?;
            let found = row.definition();
            let bounds = (min.unwrap_or(found.min_value()), max.unwrap_or(found.max_value()));
            let wanted = found.with_bounds(bounds.0, bounds.1)?;
            if !found.widens_to(&wanted) {
                return Err(Error::NotWider { sequence: self.protocol.name().clone(), found });
            }
            if wanted == found {
                return Ok(found);
            }
            self.recording.alter(self.protocol.name(), &wanted);
            if self.try_change(&row, Change::Widen { definition: wanted }).await? {
                return Ok(wanted);
            }
            self.lost(&mut effort).await?;
        }
    }

    pub(super) async fn retire(&self) -> Result<SequenceInfo, Error> {
        let mut effort = Effort::until(self.deadline);
        loop {
            let row = self.existing().await?;
            if self.try_change(&row, Change::Retire).await? {
                let retired = row.changed(Change::Retire);
                return Ok(SequenceInfo::new(self.protocol.name().clone(), &retired));
            }
            self.lost(&mut effort).await?;
        }
    }

    /// Another client was first: waits before the next try (S13).
    async fn lost(&self, effort: &mut Effort) -> Result<(), Error> {
        effort.conflicts = effort.conflicts.saturating_add(1);
        effort.wait(self.protocol.identity(), self.protocol.register()).await
    }

    /// Applies `change` to exactly this row. `false`: another client has changed it. These changes say the same
    /// however often they are made, so the row itself tells what became of one in doubt.
    async fn try_change(&self, row: &Row, change: Change) -> Result<bool, Error> {
        let mut effort = Effort::until(self.deadline);
        let name = self.protocol.name();
        loop {
            match self.protocol.store().swap(name, row, change, self.deadline).await {
                Ok(Swapped::Applied) => return Ok(true),
                Ok(Swapped::NotApplied { .. }) if effort.doubt.is_none() => return Ok(false),
                Ok(Swapped::NotApplied { .. }) => {
                    let (found, _) = self.raw().await?;
                    return Ok(found.is_some_and(|found| shows(&found, row, change)));
                }
                Err(error) => effort.note_write(error, self.protocol.register())?,
            }
            effort.wait(self.protocol.identity(), self.protocol.register()).await?;
        }
    }
}

/// Whether `found` shows that `change` was applied to `row`.
fn shows(found: &Row, row: &Row, change: Change) -> bool {
    match change {
        Change::Revive { created, .. } => found.created == Some(created),
        Change::Retire => found.retired,
        Change::Widen { definition } => found.definition == Some(definition),
        Change::Move { to } => found.timestamp == to && found.created == row.created,
    }
}
