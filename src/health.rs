//! Whether a generator's store answers: for readiness probes, and for one log line per outage.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::register::Register;
use crate::store::StoreError;

/// What the last statements of one generator met with.
#[derive(Debug)]
pub(crate) struct Health {
    register: Arc<Register>,
    outage: Mutex<Option<Outage>>,
}

/// A time in which the store does not answer as it should.
#[derive(Clone, Debug)]
pub(crate) struct Outage {
    pub(crate) since: Instant,
    pub(crate) cause: StoreError,
}

impl Health {
    pub(crate) fn new(register: Arc<Register>) -> Self {
        Self { register, outage: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn outage(&self) -> Option<Outage> {
        self.lock().clone()
    }

    /// A statement has failed. The first one in a row is logged.
    pub(crate) fn failed(&self, cause: &StoreError) {
        let mut outage = self.lock();
        let since = outage.as_ref().map_or_else(Instant::now, |outage| outage.since);
        if outage.is_none() {
            let Register { sequence, location, .. } = &*self.register;
            tracing::warn!(%sequence, %location, "the store does not answer as it should: {cause}");
        }
        *outage = Some(Outage { since, cause: cause.clone() });
    }

    /// A statement has succeeded. The end of an outage is logged.
    pub(crate) fn succeeded(&self) {
        if let Some(Outage { since, .. }) = self.lock().take() {
            let Register { sequence, location, .. } = &*self.register;
            let lasted =
                Duration::from_millis(u64::try_from(since.elapsed().as_millis()).unwrap_or(0));
            tracing::warn!(%sequence, %location, "the store answers again after {lasted:?}");
        }
    }
}
