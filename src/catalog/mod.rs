//! What operators do with sequences: create, look, list, advance, widen, drop.

mod call;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::call::Call;
use crate::builder::TIMEOUT;
use crate::definition::{Definition, InvalidName, SequenceName};
use crate::error::Error;
use crate::identity::{Entropy, Identity, OsEntropy};
use crate::reserve::{Protocol, Verify};
use crate::runtime;
use crate::store::{Listed, Row, StoreHandle};
use crate::tape::Recording;
use crate::timestamp::LamportTimestamp;

/// The sequences of a store, for operators and for set-up code.
///
/// All methods take anything that can be a [`SequenceName`]. Each is bounded by the catalog's timeout, and ends
/// with [`Error::Unavailable`], [`Error::Contended`] or [`Error::Unknown`] at the latest then; the variants say
/// what changed. A future that is dropped does not end its work half way: it goes on in a task of its own.
#[derive(Clone)]
pub struct Catalog {
    store: StoreHandle,
    timeout: Duration,
    recording: Recording,
    entropy: Arc<dyn Entropy>,
}

/// What the store knows of one sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SequenceInfo {
    /// Its name.
    pub name: SequenceName,
    /// How far it has come, and which attempt took it there.
    pub timestamp: LamportTimestamp,
    /// What it is.
    pub definition: Definition,
    /// Whether the definition is stored; a table that was made by hand and adopted has none.
    pub defined: bool,
    /// Whether it was dropped.
    pub retired: bool,
}

impl SequenceInfo {
    fn new(name: SequenceName, row: &Row) -> Self {
        Self {
            name,
            timestamp: row.timestamp,
            definition: row.definition(),
            defined: row.definition.is_some(),
            retired: row.retired,
        }
    }

    /// How many ids nobody has reserved yet.
    pub fn remaining(&self) -> u64 {
        self.definition.remaining(self.timestamp.value)
    }

    /// The share of its ids that has been reserved, in percent, 0 to 100.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a percentage needs no more than a double holds"
    )]
    pub fn used_percent(&self) -> f64 {
        let capacity = self.definition.capacity();
        // The few used ids of a large sequence would be lost in one minus nearly one.
        let used = capacity.saturating_sub(self.remaining());
        100.0 * used as f64 / capacity.max(1) as f64
    }
}

/// A row that is not a sequence's (S9).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sequence `{name}` is corrupt: {problem}")]
#[non_exhaustive]
pub struct CorruptSequence {
    /// The sequence.
    pub name: SequenceName,
    /// What is wrong with its row.
    pub problem: String,
}

/// How to advance a sequence: beyond which id, and with which consent.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Advance {
    above: i64,
    max_jump: Option<u64>,
    dry_run: bool,
    recreate: Option<Definition>,
}

impl Advance {
    /// Every id after it lies beyond `id`. Without more, a large jump is refused (S12).
    pub fn above(id: i64) -> Self {
        Self { above: id, max_jump: None, dry_run: false, recreate: None }
    }

    /// Consents to using up as many as `ids` ids at once, which can't be undone.
    pub fn max_jump(mut self, ids: u64) -> Self {
        self.max_jump = Some(ids);
        self
    }

    /// Only says what would be done.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Brings back a sequence that was dropped, or whose row is missing (S6). A dropped sequence keeps its
    /// definition; one without a row gets this one. Clients that knew the old one stop.
    pub fn recreate(mut self, definition: Definition) -> Self {
        self.recreate = Some(definition);
        self
    }
}

/// What an advance did, or would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advanced {
    /// The value before; `None` if there was no row.
    pub before: Option<i64>,
    /// The value after: the next id is one increment further. Equal to `before` if there was nothing to do.
    pub after: i64,
    /// The next id, if the sequence has one.
    pub next: Option<i64>,
    /// Whether the sequence was created anew (S6), even if that did not move its value.
    pub recreated: bool,
}

impl Advanced {
    fn new(before: Option<i64>, after: i64, definition: &Definition) -> Self {
        let next = definition.ids_after(after, 1).map(|range| range.first());
        Self { before, after, next, recreated: false }
    }
}

impl Catalog {
    /// The catalog of `store`, with a timeout of 10 seconds a call.
    pub fn new(store: &StoreHandle) -> Self {
        let entropy = Arc::new(OsEntropy);
        Self { store: store.clone(), timeout: TIMEOUT, recording: Recording::default(), entropy }
    }

    /// How long a call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Records what advances and alters do, for [`history::check`](crate::history::check()) to judge. By default
    /// nothing is recorded.
    #[cfg(feature = "history")]
    #[must_use]
    pub fn record(mut self, recorder: &crate::history::Recorder) -> Self {
        self.recording = recorder.into();
        self
    }

    /// Where uuids come from. The default is the operating system (S2).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// Creates a sequence. Two conditional writes, and reads that need every replica (S6).
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`]: nothing was changed. [`Error::Unavailable`]: nothing was changed, but a sequence
    /// that was announced and has no row if it says so at the second write; see docs/operations.md.
    pub async fn create<N>(&self, name: N, definition: Definition) -> Result<SequenceInfo, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let call = self.call(name).await?;
        runtime::detached(async move {
            if call.create(definition).await? { call.info().await } else { Err(call.exists()) }
        })
        .await
    }

    /// Creates a sequence unless one of the same definition is there. Whether this call created it.
    ///
    /// # Errors
    ///
    /// [`Error::DefinitionMismatch`] if another one is there. Otherwise as [`create`](Self::create).
    pub async fn create_if_missing<N>(&self, name: N, definition: Definition) -> Result<bool, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let call = self.call(name).await?;
        runtime::detached(async move {
            if call.create(definition).await? {
                return Ok(true);
            }
            let row = call.existing().await?;
            if row.satisfies(&definition) {
                return Ok(false);
            }
            let (sequence, found) = (call.protocol.name().clone(), row.definition());
            Err(Error::DefinitionMismatch { sequence, expected: definition, found })
        })
        .await
    }

    /// What the store knows of a sequence, dropped ones included. Two serial reads.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::NotAdopted`]; [`Error::Stopped`] if it was born and its row is missing or
    /// corrupt. Nothing was changed.
    pub async fn get<N>(&self, name: N) -> Result<SequenceInfo, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        self.call(name).await?.info().await
    }

    /// Up to `limit` sequences in the store's own order, from the one after `after` on; all the rest is found by
    /// calling again with the last name of the page. Rows that can't be read are listed with what is wrong.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`], [`Error::Refused`]. Nothing was changed.
    pub async fn list(
        &self,
        after: Option<&SequenceName>,
        limit: u32,
    ) -> Result<Vec<Result<SequenceInfo, CorruptSequence>>, Error> {
        let deadline = Instant::now() + self.timeout;
        let identity = Identity::draw(self.entropy.clone())?;
        self.store.check(&identity, deadline).await?;
        let list = || self.store.store().list(after, limit, deadline);
        let listed = self.store.ask(&identity, deadline, list).await?;
        let info = |Listed { name, row }| match row {
            Ok(row) => Ok(SequenceInfo::new(name, &row)),
            Err(problem) => Err(CorruptSequence { name, problem }),
        };
        Ok(listed.into_iter().map(info).collect())
    }

    /// Moves a sequence on, so that every id reserved after it lies beyond the given one. Only ever forward.
    ///
    /// Generators that are opened through the same handle give no lower id any more. Others give what they have
    /// buffered first.
    ///
    /// # Errors
    ///
    /// [`Error::JumpTooFar`] without consent (S12), [`Error::InvalidOption`] beyond the sequence's end,
    /// [`Error::NotFound`], [`Error::Stopped`]: nothing was changed. [`Error::Unknown`]: it may have been moved, now
    /// or later, which is harmless; call again.
    pub async fn advance<N>(&self, name: N, advance: Advance) -> Result<Advanced, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let mut call = self.call(name).await?;
        runtime::detached(async move {
            if let Some(definition) = advance.recreate
                && let Some(recreated) = call.recreate(advance, definition).await?
            {
                return Ok(recreated);
            }
            let row = call.existing().await?;
            call.record(&row);
            call.advance(advance).await
        })
        .await
    }

    /// Widens a sequence's bounds; `None` leaves one as it is. The definition after it.
    ///
    /// Restart clients that expect the old definition.
    ///
    /// # Errors
    ///
    /// [`Error::NotWider`], [`Error::InvalidDefinition`], [`Error::NotFound`], [`Error::Stopped`]: nothing was
    /// changed. [`Error::Unknown`]: it may have been widened, now or later; call again.
    pub async fn alter<N>(
        &self,
        name: N,
        min_value: Option<i64>,
        max_value: Option<i64>,
    ) -> Result<Definition, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let call = self.call(name).await?;
        runtime::detached(async move { call.alter(min_value, max_value).await }).await
    }

    /// Drops a sequence: it refuses everything from now on. Its row stays, so that no id can come again (S6).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Stopped`] (also if it was dropped before): nothing was changed.
    /// [`Error::Unknown`]: it may have been dropped, now or later; call again.
    pub async fn drop<N>(&self, name: N) -> Result<SequenceInfo, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let call = self.call(name).await?;
        runtime::detached(async move { call.retire().await }).await
    }

    async fn call<N>(&self, name: N) -> Result<Call, Error>
    where
        N: TryInto<SequenceName, Error: Into<InvalidName>>,
    {
        let name = name.try_into().map_err(Into::into)?;
        let deadline = Instant::now() + self.timeout;
        let identity = Identity::draw(self.entropy.clone())?;
        self.store.check(&identity, deadline).await?;
        let protocol = Protocol::new(self.store.open(&name), identity, Verify::Always);
        Ok(Call { protocol, deadline, recording: self.recording.clone() })
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Catalog").field(&self.store).finish()
    }
}
