//! One call's tries: repeated until they answer or the deadline passes, and the error if it passes (S13).

use std::time::Duration;

use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::error::Error;
use crate::identity::Identity;
use crate::register::Register;
use crate::store::{StoreError, StoreErrorKind};

/// What one call has met with so far.
#[derive(Debug)]
pub(crate) struct Effort {
    began: Instant,
    pub(crate) deadline: Instant,
    backoff: Backoff,
    /// How often another client was first.
    pub(crate) conflicts: u32,
    /// The last failure that changed nothing.
    pub(crate) trouble: Option<StoreError>,
    /// The failure of a write that may still be applied (S3): once there, it is the call's error.
    pub(crate) doubt: Option<StoreError>,
}

impl Effort {
    pub(crate) fn until(deadline: Instant) -> Self {
        let began = Instant::now();
        let backoff = Backoff::default();
        Self { began, deadline, backoff, conflicts: 0, trouble: None, doubt: None }
    }

    /// Waits before the next try; the error if there is no time for one.
    pub(crate) async fn wait(&mut self, identity: &Identity, at: &Register) -> Result<(), Error> {
        if self.backoff.wait(identity, self.deadline).await {
            return Ok(());
        }
        Err(self.give_up(at))
    }

    /// The error if there is no time for another try.
    pub(crate) fn check(&mut self, at: &Register) -> Result<(), Error> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(self.give_up(at)) }
    }

    /// Takes note of a write's failure, or returns the refusal that no retry mends.
    pub(crate) fn note_write(&mut self, error: StoreError, at: &Register) -> Result<(), Error> {
        match error.kind() {
            StoreErrorKind::Unknown => self.doubt = Some(error),
            StoreErrorKind::NotApplied => self.trouble = Some(error),
            _ => return Err(at.refusal(error)),
        }
        Ok(())
    }

    /// Takes note that what was written can't be used yet, and perhaps never.
    pub(crate) fn note_doubt(&mut self, why: &str) {
        self.doubt.get_or_insert_with(|| StoreError::new(StoreErrorKind::Unknown, why));
    }

    /// Takes note of a read's failure, or returns the refusal that no retry mends.
    pub(crate) fn note_read(&mut self, error: StoreError, at: &Register) -> Result<(), Error> {
        match error.kind() {
            StoreErrorKind::Unknown | StoreErrorKind::NotApplied => self.trouble = Some(error),
            // A refused read after a write in doubt leaves the doubt.
            StoreErrorKind::Refused if self.doubt.is_some() => return Err(self.give_up(at)),
            _ => return Err(at.refusal(error)),
        }
        Ok(())
    }

    /// The error at the deadline, the gravest first.
    fn give_up(&mut self, at: &Register) -> Error {
        let (location, waited) = (at.location.clone(), self.waited());
        match (self.doubt.take(), self.trouble.take()) {
            (Some(source), _) => Error::Unknown { location, source },
            (None, None) if self.conflicts > 0 => {
                let (sequence, conflicts) = (at.sequence.clone(), self.conflicts);
                Error::Contended { sequence, conflicts, waited }
            }
            (None, source) => Error::Unavailable { location, waited, source },
        }
    }

    fn waited(&self) -> Duration {
        self.began.elapsed()
    }
}
