//! Every option of a generator, with its default and its bounds.

use std::future::{Future, IntoFuture};
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::birth::Found;
use crate::definition::{Definition, InvalidName, SequenceName};
use crate::error::Error;
use crate::generator::{Generator, Policy};
use crate::identity::{Entropy, Identity, OsEntropy};
use crate::reserve::{Protocol, Verify};
use crate::runtime;
use crate::sequence::Sequence;
use crate::store::{Row, StoreHandle};
use crate::tape::Recording;

const BLOCK_SIZE: u64 = 1000;
const BLOCK_SIZES: RangeInclusive<u64> = 1..=1 << 30;
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(3600);

/// Opens a [`Sequence`]; made by [`Sequence::open`]. Await it, or call [`open_blocking`](Self::open_blocking).
#[derive(Clone)]
#[must_use = "nothing is opened until it is awaited"]
pub struct SequenceBuilder {
    store: StoreHandle,
    name: Result<SequenceName, InvalidName>,
    block_size: u64,
    timeout: Duration,
    verify: Verify,
    max_jump: Option<u64>,
    not_below: Option<i64>,
    expected: Option<Definition>,
    create: bool,
    entropy: Arc<dyn Entropy>,
    tag: Option<[u8; 6]>,
    recording: Recording,
}

impl SequenceBuilder {
    pub(crate) fn new(store: StoreHandle, name: Result<SequenceName, InvalidName>) -> Self {
        Self {
            store,
            name,
            block_size: BLOCK_SIZE,
            timeout: TIMEOUT,
            verify: Verify::default(),
            max_jump: None,
            not_below: None,
            expected: None,
            create: false,
            entropy: Arc::new(OsEntropy),
            tag: None,
            recording: Recording::default(),
        }
    }

    /// How many ids one reservation asks for, 1 to 2^30. The default is 1000.
    ///
    /// A restart burns up to that many. A reservation costs a few milliseconds and one row takes a few hundred a
    /// second, so the block is what throughput is made of.
    pub fn block_size(mut self, ids: u64) -> Self {
        self.block_size = ids;
        self
    }

    /// How long a call may take, 1 ms to 1 h, opening included. The default is 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether every reservation is confirmed by a read. The default is [`Verify::Always`].
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Consents to jumps of up to `ids` ids at once, which are otherwise refused if they use up over 1,000,000
    /// ids and over a hundredth of what is left (S12). By default there is no consent.
    pub fn max_jump(mut self, ids: u64) -> Self {
        self.max_jump = Some(ids);
        self
    }

    /// Refuses to open a sequence whose row is behind `id`, which the application knows to have been given, for
    /// instance the largest in its data (S5). By default there is no such check.
    pub fn not_below(mut self, id: i64) -> Self {
        self.not_below = Some(id);
        self
    }

    /// Refuses to open a sequence that is defined otherwise (S10). By default any definition is accepted.
    pub fn expect(mut self, definition: Definition) -> Self {
        self.expected = Some(definition);
        self
    }

    /// Creates the sequence if it never existed, and otherwise [`expect`](Self::expect)s this definition. By
    /// default a sequence that does not exist is [`Error::NotFound`].
    ///
    /// A sequence that existed and has lost its row is not created anew: it is a stop (S6).
    pub fn create_if_missing(mut self, definition: Definition) -> Self {
        self.create = true;
        self.expect(definition)
    }

    /// Records what this generator does, for [`history::check`](crate::history::check()) to judge. By default
    /// nothing is recorded. A history is of one store: generators of another have a recorder of their own.
    #[cfg(feature = "history")]
    pub fn record(mut self, recorder: &crate::history::Recorder) -> Self {
        self.recording = recorder.into();
        self
    }

    /// Where attempt uuids come from. The default is the operating system (S2).
    #[cfg(feature = "testing")]
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// The generator's tag, instead of a random one (S2).
    #[cfg(feature = "testing")]
    pub fn tag(mut self, tag: [u8; 6]) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Opens the sequence, blocking this thread; for code without a runtime.
    ///
    /// # Errors
    ///
    /// As awaiting the builder.
    ///
    /// # Panics
    ///
    /// If the operating system has no thread to give.
    pub fn open_blocking(self) -> Result<Sequence, Error> {
        runtime::block_on(self.into_future())
    }

    /// Reads the sequence, creating it if asked to. Reserves nothing yet.
    async fn open(self) -> Result<Sequence, Error> {
        let began = self.recording.now();
        let policy = self.policy()?;
        let name = self.name.clone()?;
        let deadline = Instant::now() + self.timeout;
        let identity = self.identity()?;
        self.store.check(&identity, deadline).await?;
        let opened = self.store.open(&name);
        opened.register.check()?;
        let mut protocol = Protocol::new(opened, identity, self.verify);
        let row = self.find_or_create(&protocol, deadline).await?;
        self.accept(&name, &row)?;
        protocol.record(&self.recording, &row, began);
        Ok(Sequence::from_generator(Generator::new(protocol, policy, row)))
    }

    fn policy(&self) -> Result<Policy, Error> {
        let Self { block_size, timeout, max_jump, .. } = *self;
        if !BLOCK_SIZES.contains(&block_size) {
            let message =
                format!("block size {block_size} is not between 1 and {}", BLOCK_SIZES.end());
            return Err(Error::InvalidOption(message));
        }
        if !TIMEOUTS.contains(&timeout) {
            let message = format!("timeout {timeout:?} is not between 1 ms and 1 h");
            return Err(Error::InvalidOption(message));
        }
        Ok(Policy { block_size, timeout, max_jump })
    }

    fn identity(&self) -> Result<Identity, Error> {
        match self.tag {
            Some(tag) => Ok(Identity::with_tag(tag, self.entropy.clone())),
            None => Identity::draw(self.entropy.clone()),
        }
    }

    async fn find_or_create(&self, protocol: &Protocol, deadline: Instant) -> Result<Row, Error> {
        if let Found::Sequence(row) = protocol.find(deadline).await? {
            return Ok(row);
        }
        if let Some(definition) = self.expected.filter(|_| self.create) {
            // `false` is as good: another client has just created it.
            protocol.create(definition, deadline).await?;
        }
        match protocol.find(deadline).await? {
            Found::Sequence(row) => Ok(row),
            Found::Nothing => Err(protocol.not_found()),
        }
    }

    /// Whether the sequence is what the caller expects (S5, S10, S15).
    fn accept(&self, name: &SequenceName, row: &Row) -> Result<(), Error> {
        let (sequence, found) = (name.clone(), row.definition());
        if let Some(expected) = self.expected.filter(|expected| !row.satisfies(expected)) {
            return Err(Error::DefinitionMismatch { sequence, expected, found });
        }
        if found.is_strict() {
            return Err(Error::Strict { sequence });
        }
        let value = row.timestamp.value;
        match self.not_below {
            Some(id) if found.is_beyond(id, value) => {
                Err(Error::Behind { sequence, value, not_below: id })
            }
            _ => Ok(()),
        }
    }
}

impl IntoFuture for SequenceBuilder {
    type Output = Result<Sequence, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Reads the sequence, creating it if asked to. Two serial reads; creating costs two conditional writes and
    /// two reads that need every replica (S6). Reserves nothing yet.
    ///
    /// Its errors are those of [`Sequence::next_id`], and [`Error::NotFound`], [`Error::NotAdopted`],
    /// [`Error::DefinitionMismatch`], [`Error::Behind`], [`Error::Strict`], [`Error::InvalidOption`],
    /// [`Error::InvalidName`]: nothing was changed.
    ///
    /// Dropping the future leaves nothing half created: opening goes on in a task of its own.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { runtime::detached(self.open()).await })
    }
}
