//! How a sequence comes into being, and how an existing one is found (S6).

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use crate::backoff::Backoff;
use crate::definition::Definition;
use crate::effort::Effort;
use crate::error::Error;
use crate::reserve::Protocol;
use crate::stop::StopCause;
use crate::store::{Row, Swapped};

/// What the store knows of a name.
#[derive(Debug)]
pub(crate) enum Found {
    /// A sequence, born and there.
    Sequence(Row),
    /// Nothing, and never was.
    Nothing,
}

impl Protocol {
    /// Finds the sequence, if it was ever born.
    ///
    /// S6: a birth without a row is a missing row for everybody, after the time that another client, which is
    /// creating it right now, may need between the two.
    pub(crate) async fn find(&self, deadline: Instant) -> Result<Found, Error> {
        let mut backoff = Backoff::default();
        let patience = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
        loop {
            let row = self.look(deadline).await?;
            let birth = self.read_birth(deadline).await?;
            match (row, birth) {
                (Some(row), Some(birth)) => return self.belonging(row, birth).map(Found::Sequence),
                (None, None) => return Ok(Found::Nothing),
                (None, Some(_)) => {
                    if !backoff.wait(self.identity(), patience).await {
                        return Err(self.register().describe(StopCause::Missing).into());
                    }
                }
                // A creator may have come between the two reads; a row that stays without birth was made by hand.
                (Some(_), None) => {
                    if !backoff.wait(self.identity(), patience.min(soon())).await {
                        return Err(self.not_adopted());
                    }
                }
            }
        }
    }

    /// The row, if it is the one that this birth announces.
    fn belonging(&self, row: Row, birth: Uuid) -> Result<Row, Error> {
        // S6: an adopted row has no identity of its own; its birth is enough.
        match row.created {
            Some(created) if created != birth && !cfg!(planted_bug = "birth-unchecked") => {
                let (seen, found) = (Some(birth), row.created);
                Err(self.register().stop(StopCause::Recreated { seen, found }).into())
            }
            _ => Ok(row),
        }
    }

    /// Creates the sequence, which [`find`](Self::find) has just not found. `false`: another client was first.
    pub(crate) async fn create(
        &self,
        definition: Definition,
        deadline: Instant,
    ) -> Result<bool, Error> {
        // S6: serial reads ask a majority. A replica outside of it that remembers the sequence forbids a new start.
        let mut effort = Effort::until(deadline);
        if !self.ask(&mut effort, |p, until| p.store().confirm_absent(p.name(), until)).await? {
            // Unless another client is creating it at this very moment.
            return match self.find(deadline).await? {
                Found::Sequence(_) => Ok(false),
                Found::Nothing => Err(self.register().describe(StopCause::Missing).into()),
            };
        }
        let row = Row::unused(definition, self.identity().birth()?);
        if let Some(created) = self.bear(&row, deadline).await? {
            return Ok(created);
        }
        if !self.announce(row.created.unwrap_or_default(), None, deadline).await? {
            return Ok(false);
        }
        self.insert(&row, deadline).await?;
        Ok(true)
    }

    /// Writes birth and row in one step, where the store can: nothing is ever half created there.
    async fn bear(&self, row: &Row, deadline: Instant) -> Result<Option<bool>, Error> {
        let mut effort = Effort::until(deadline);
        loop {
            let Some(bearing) = self.store().bear(self.name(), row, deadline) else {
                return Ok(None);
            };
            match bearing.await {
                Ok(Swapped::Applied) => return Ok(Some(true)),
                // S3: an earlier try of this loop may have been applied; the identity tells.
                Ok(Swapped::NotApplied { .. }) => {
                    return Ok(Some(self.read_birth(deadline).await? == row.created));
                }
                Err(error) => effort.note_write(error, self.register())?,
            }
            effort.wait(self.identity(), self.register()).await?;
        }
    }

    /// Writes the birth. `false`: another one is there.
    pub(crate) async fn announce(
        &self,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let mut effort = Effort::until(deadline);
        loop {
            match self.store().write_birth(self.name(), created, replaces, deadline).await {
                Ok(Swapped::Applied) => return Ok(true),
                // S3: an earlier try of this loop may have been applied late; the identity tells.
                Ok(Swapped::NotApplied { .. }) => {
                    return Ok(self.read_birth(deadline).await? == Some(created));
                }
                Err(error) => effort.note_write(error, self.register())?,
            }
            effort.wait(self.identity(), self.register()).await?;
        }
    }

    /// Inserts the row that belongs to a birth that this client wrote.
    ///
    /// Repeated until the deadline: the identity makes all tries one and the same insertion.
    pub(crate) async fn insert(&self, row: &Row, deadline: Instant) -> Result<(), Error> {
        let mut effort = Effort::until(deadline);
        loop {
            match self.store().insert(self.name(), row, deadline).await {
                Ok(Swapped::Applied) => return Ok(()),
                Ok(Swapped::NotApplied { .. }) => {
                    let found = self.look(deadline).await?;
                    return match found.map(|found| found.created) {
                        Some(created) if created == row.created => Ok(()),
                        found => {
                            let (seen, found) = (row.created, found.flatten());
                            Err(self
                                .register()
                                .describe(StopCause::Recreated { seen, found })
                                .into())
                        }
                    };
                }
                Err(error) => effort.note_write(error, self.register())?,
            }
            effort.wait(self.identity(), self.register()).await?;
        }
    }

    /// The identity that was written at birth.
    pub(crate) async fn read_birth(&self, deadline: Instant) -> Result<Option<Uuid>, Error> {
        let mut effort = Effort::until(deadline);
        self.ask(&mut effort, |p, until| p.store().read_birth(p.name(), until)).await
    }

    pub(crate) fn not_found(&self) -> Error {
        let (sequence, location) = (self.name().clone(), self.register().location.clone());
        Error::NotFound { sequence, location }
    }

    pub(crate) fn not_adopted(&self) -> Error {
        let (sequence, location) = (self.name().clone(), self.register().location.clone());
        Error::NotAdopted { sequence, location }
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(250)
}
