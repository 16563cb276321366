//! One open connection, and transactions on it.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags, Transaction, TransactionBehavior};
use std::time::Duration;

use super::failure::{Failure, corrected};
use super::patience::Patience;
use super::place::{Files, Place};
use super::tables::{self, Content};
use crate::store::{StoreError, StoreErrorKind};

/// A connection to a file that is ours, in WAL mode, and the files that it has open.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    place: Place,
    files: Files,
}

impl Database {
    /// Opens the file, and makes it and its tables if `create` says so.
    ///
    /// Every step may meet with a lock of another process that is at the same step; then all of it is done anew.
    pub(super) fn open(
        place: &Place,
        create: bool,
        patience: Patience,
    ) -> Result<Self, StoreError> {
        if !place.exists && !create {
            let message = format!("{} does not exist", place.path.display());
            return Err(corrected(
                message,
                "is the path right? creating a sequence makes the file",
            ));
        }
        let opened = patience.retry(|| {
            let connection = connect(place, create)?;
            let files = Files::note(place)?;
            // S16: what was noted is what SQLite has open, or every later check will say that it is not.
            let mut moved = 0;
            connection.file_control(None::<&str>, FileControl::HasMoved(&mut moved))?;
            if moved != 0 {
                let message =
                    format!("{} was replaced while it was being opened", place.path.display());
                return Err(StoreError::new(StoreErrorKind::Gone, message).into());
            }
            Ok(Self { connection, place: place.clone(), files })
        });
        opened.map_err(|failure| failure.explain(&place.path))
    }

    /// Carries out `work` on one state of the file, without writing.
    pub(super) fn read<T>(
        &mut self,
        patience: Patience,
        work: impl Fn(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, patience, work)
    }

    /// Carries out `work` and what it writes as one, with nobody else writing meanwhile.
    pub(super) fn write<T>(
        &mut self,
        patience: Patience,
        work: impl Fn(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // S16: immediate, so that what is read is still there when it is written over.
        self.transact(TransactionBehavior::Immediate, patience, work)
    }

    fn transact<T>(
        &mut self,
        behavior: TransactionBehavior,
        patience: Patience,
        work: impl Fn(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let done = patience.retry(|| self.attempt(behavior, &work));
        done.map_err(|failure| {
            // A file that was removed or cut off makes SQLite fail in many ways, and has one meaning.
            let gone = match &failure {
                Failure::Before(_) if !failure.is_busy() => self.files.check().err(),
                _ => None,
            };
            gone.unwrap_or_else(|| failure.explain(&self.place.path))
        })
    }

    fn attempt<T>(
        &mut self,
        behavior: TransactionBehavior,
        work: impl Fn(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if !self.connection.is_autocommit() {
            // An earlier transaction failed, and so did its ROLLBACK.
            self.connection.execute_batch("ROLLBACK")?;
        }
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        self.files.check()?;
        let answer = work(&transaction)?;
        commit(transaction)?;
        Ok(answer)
    }
}

fn commit(transaction: Transaction<'_>) -> Result<(), Failure> {
    transaction.commit().map_err(Failure::Commit)
}

/// A connection to a file of ours with the settings of S16.
fn connect(place: &Place, create: bool) -> Result<Connection, Failure> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // The path is free of links; one that turns up now is somebody replacing the file.
    flags |= OpenFlags::SQLITE_OPEN_NOFOLLOW;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let mut connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    // Closing a connection may write the log back into the file: not into another application's.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if connection.is_readonly("main")? {
        let message = format!("{} can't be written", place.path.display());
        return Err(corrected(
            message,
            "this user needs the right to write the file and its folder",
        )
        .into());
    }
    let content = {
        let transaction = connection.transaction()?;
        tables::inspect(&transaction)?
    };
    if content == Content::Nothing && !create {
        let message = format!("{} is empty", place.path.display());
        return Err(
            corrected(message, "is the path right? creating a sequence makes the tables").into()
        );
    }
    keep_durably(&connection, place)?;
    // Many processes may come here at once: the first makes the tables, the others find them. Where there is nothing to
    // make, reading opens the log, which a switch of the journal has not done yet.
    let behavior = match content {
        Content::Nothing => TransactionBehavior::Immediate,
        Content::Sequences => TransactionBehavior::Deferred,
    };
    let transaction = connection.transaction_with_behavior(behavior)?;
    if tables::inspect(&transaction)? == Content::Nothing {
        tables::create(&transaction)?;
    }
    commit(transaction)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// S16: the log is synchronised at every commit, before the commit is announced.
fn keep_durably(connection: &Connection, place: &Place) -> Result<(), Failure> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Where fsync leaves data in the disk's own cache (macOS), it is not enough.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        let message = format!(
            "{} can't have a write-ahead log: its journal stays `{mode}`",
            place.path.display()
        );
        return Err(corrected(message, "put the file on a local disk with shared memory").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Row;
    use uuid::Uuid;

    fn open() -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::resolve(&folder.path().join("ids.db")).unwrap();
        let database = Database::open(&place, true, patience()).unwrap();
        (folder, database)
    }

    fn patience() -> Patience {
        Patience::until(tokio::time::Instant::now() + Duration::from_secs(10))
    }

    #[test]
    fn s16_every_commit_is_synchronised() {
        let (_folder, database) = open();
        let number = |pragma| {
            database
                .connection
                .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!(number("synchronous"), 2, "FULL");
        assert_eq!((number("fullfsync"), number("checkpoint_fullfsync")), (1, 1));
    }

    #[test]
    fn a_transaction_that_fails_before_its_commit_changes_nothing() {
        let (_folder, mut database) = open();
        let limit = |database: &Database, pages: i64| {
            database.connection.pragma_update(None, "max_page_count", pages).unwrap();
        };
        let name = |number: i32| format!("sequence {number}").parse().unwrap();
        let row = Row::unused(crate::Definition::default(), Uuid::nil());
        limit(&database, 5);
        let failed = database.write(patience(), |tables| {
            (0..500).try_for_each(|number| tables::write(tables, &name(number), &row))
        });
        let error = failed.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Refused, "{error}");
        assert!(error.to_string().contains("can't grow"), "{error}");
        limit(&database, 5000);
        let listed = database.read(patience(), |tables| tables::list(tables, None, 10));
        assert_eq!(listed.unwrap(), []);
        database.write(patience(), |tables| tables::write(tables, &name(1), &row)).unwrap();
    }

    #[test]
    fn a_panic_in_a_transaction_leaves_none_open() {
        let (_folder, mut database) = open();
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            database.write(patience(), |_| -> Result<(), Failure> { panic!("half way") })
        }));
        assert!(panic.is_err());
        let row = Row::unused(crate::Definition::default(), Uuid::nil());
        database
            .write(patience(), |tables| tables::write(tables, &"a".parse().unwrap(), &row))
            .unwrap();
    }
}
