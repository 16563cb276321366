//! The embedded store: one SQLite file, shared safely by all processes of one machine (S16).

mod database;
mod failure;
mod mounts;
mod patience;
mod place;
mod tables;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use self::database::Database;
use self::failure::corrected;
use self::patience::Patience;
use self::place::Place;
use self::tables::Content;
use crate::definition::SequenceName;
use crate::store::{Change, Listed, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped};

#[cfg(not(unix))]
compile_error!(
    "the feature `sqlite` of lamport-seq needs Unix: only there can a file be told from its replacement"
);

/// How long [`SqliteStore::open`] waits for other processes.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a call goes on waiting for the disk after its deadline, before its outcome is unknown.
const GRACE: Duration = Duration::from_millis(500);

/// Sequences in one SQLite file on a local disk, for any number of processes of one machine.
///
/// Every change is one immediate transaction, synchronised to disk before it is announced. While clients run,
/// a write-ahead log lies beside the file (`-wal`, `-shm`); when the last one closes, all is in the one file.
/// The file may be copied then, or at any time with SQLite's own backup tools.
///
/// Clones share one connection and take turns on it; they are cheap. The blocking work is done on the runtime's
/// threads for blocking work. Dropping the last clone closes the file, which takes a few milliseconds when it is
/// the last client's.
///
/// # What stops it
///
/// If the path comes to lead to another file, or to none, or the file gets a second name, or its log is taken
/// away, every call is [`StoreErrorKind::Gone`]: other clients may be working on another file by then.
/// Refused from the start are network file systems and files that are mounted by themselves (as far as Linux tells;
/// FUSE counts as a network), another application's database, and tables of a later version.
///
/// # Example
///
/// ```
/// use lamport_seq::store::{Store, sqlite::SqliteStore};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("ids.db");
/// let store = SqliteStore::open(&path).await?;
/// assert!(store.location().starts_with("sqlite:/"));
/// # Ok::<(), lamport_seq::store::StoreError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    path: Arc<Path>,
    /// A call waits for its turn here, where waiting can end, and not on a thread.
    database: Arc<Mutex<Database>>,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteStore").field(&self.path).finish()
    }
}

/// Options of a [`SqliteStore`] that is to be opened.
#[derive(Clone, Debug)]
#[must_use]
pub struct SqliteStoreBuilder {
    path: PathBuf,
    timeout: Duration,
    create: bool,
}

impl SqliteStore {
    /// Opens the file at `path`, and makes it with its tables if there is none. Its folder must be there.
    ///
    /// Waits up to 10 seconds for other processes that are opening or writing it.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Refused`], [`StoreErrorKind::Corrupt`]: the file can't be used; the error's hint says
    /// what to do. Nothing was changed.
    /// [`StoreErrorKind::NotApplied`]: other processes had it locked for all the time. Nothing was changed.
    /// [`StoreErrorKind::Unknown`]: the disk failed while the tables were being made. Opening again is safe.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave an empty file with tables.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its clock enabled; so do all calls of the store.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(path).open().await
    }

    /// Opens the file at `path` with options.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteStoreBuilder {
        SqliteStoreBuilder { path: path.into(), timeout: TIMEOUT, create: true }
    }

    /// The file, without symbolic links on the way to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Carries out `work` on a thread where it may block.
    ///
    /// A caller that goes away leaves it running: a transaction ends by itself, one way or the other (S11).
    fn call<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&mut Database, Patience) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move {
            let late = |what: &str| {
                let message = format!("{} {what}", self.path.display());
                let hint = "give it more time, or ask for larger blocks";
                StoreError::new(StoreErrorKind::NotApplied, message).with_hint(hint)
            };
            if Instant::now() >= deadline {
                return Err(late("was not asked: the deadline has passed"));
            }
            let turn = timeout_at(deadline, self.database.clone().lock_owned()).await;
            let mut database = turn.map_err(|_| late("is busy with this process' other calls"))?;
            let patience = Patience::until(deadline);
            blocking(deadline, &self.path, move || work(&mut database, patience)).await
        })
    }
}

impl SqliteStoreBuilder {
    /// How long to wait for other processes that are opening or writing the file. The default is 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether to make the file if there is none. The default is `true`.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Opens the file; see [`SqliteStore::open`].
    pub async fn open(self) -> Result<SqliteStore, StoreError> {
        let Self { path, timeout, create } = self;
        let now = Instant::now();
        let Some(deadline) = now.checked_add(timeout) else {
            return Err(corrected("the timeout is too long", "a minute is plenty"));
        };
        let patience = Patience::until(deadline);
        let given = path.clone();
        blocking(deadline, &given, move || {
            let place = Place::resolve(&path)?;
            let database = Database::open(&place, create, patience)?;
            Ok(SqliteStore { path: place.path.into(), database: Arc::new(Mutex::new(database)) })
        })
        .await
    }
}

/// Runs `work`, which keeps to its deadline as long as the disk does, where it may block.
async fn blocking<T: Send + 'static>(
    deadline: Instant,
    path: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let unknown =
        |what: &str| StoreError::new(StoreErrorKind::Unknown, format!("{} {what}", path.display()));
    let patience = deadline.checked_add(GRACE).unwrap_or(deadline);
    match timeout_at(patience, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(answer)) => answer,
        // S3: the transaction may be on its way to the disk.
        Ok(Err(lost)) => {
            Err(unknown("gave no answer: the thread that worked on it has ended").with_source(lost))
        }
        Err(_) => Err(unknown("gave no answer in time")
            .with_hint("the disk does not answer, or is overloaded")),
    }
}

impl Store for SqliteStore {
    fn location(&self) -> String {
        format!("sqlite:{}", self.path.display())
    }

    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()> {
        let path = self.path.clone();
        self.call(deadline, move |database, patience| {
            match database.read(patience, tables::inspect)? {
                Content::Sequences => Ok(()),
                Content::Nothing => {
                    let message = format!("{} has lost its tables", path.display());
                    Err(StoreError::new(StoreErrorKind::Corrupt, message))
                }
            }
        })
    }

    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>> {
        let name = name.clone();
        self.call(deadline, move |database, patience| {
            database.read(patience, |tables| tables::read(tables, &name))
        })
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        let name = name.clone();
        self.call(deadline, move |database, patience| {
            database.read(patience, |tables| tables::read_birth(tables, &name))
        })
    }

    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool> {
        let name = name.clone();
        self.call(deadline, move |database, patience| {
            database.read(patience, |tables| {
                Ok(tables::read(tables, &name)?.is_none()
                    && tables::read_birth(tables, &name)?.is_none())
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
        let name = name.clone();
        self.call(deadline, move |database, patience| {
            database.write(patience, |tables| {
                if tables::read_birth(tables, &name)? != replaces {
                    return Ok(Swapped::NotApplied { found: None });
                }
                tables::write_birth(tables, &name, created)?;
                Ok(Swapped::Applied)
            })
        })
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        let (name, row) = (name.clone(), *row);
        self.call(deadline, move |database, patience| {
            database.write(patience, |tables| {
                if let Some(there) = tables::read(tables, &name)? {
                    return Ok(Swapped::NotApplied { found: Some(there.timestamp) });
                }
                tables::write(tables, &name, &row)?;
                Ok(Swapped::Applied)
            })
        })
    }

    fn bear<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> Option<StoreFuture<'a, Swapped>> {
        let (name, row) = (name.clone(), *row);
        let created = row.created?;
        Some(self.call(deadline, move |database, patience| {
            database.write(patience, |tables| {
                let there = tables::read(tables, &name)?;
                if there.is_some() || tables::read_birth(tables, &name)?.is_some() {
                    let found = there.map(|there| there.timestamp);
                    return Ok(Swapped::NotApplied { found });
                }
                tables::write_birth(tables, &name, created)?;
                tables::write(tables, &name, &row)?;
                Ok(Swapped::Applied)
            })
        }))
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        let (name, expected) = (name.clone(), *expected);
        self.call(deadline, move |database, patience| {
            database.write(patience, |tables| match tables::read(tables, &name)? {
                Some(row) if row.admits(change, &expected) => {
                    tables::write(tables, &name, &row.changed(change))?;
                    Ok(Swapped::Applied)
                }
                row => Ok(Swapped::NotApplied { found: row.map(|row| row.timestamp) }),
            })
        })
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        let after = after.cloned();
        self.call(deadline, move |database, patience| {
            database.read(patience, |tables| tables::list(tables, after.as_ref(), limit))
        })
    }
}
