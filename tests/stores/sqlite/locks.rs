//! Other connections' locks are waited for, until the deadline and no longer (S13).

use std::path::Path;

use lamport_seq::store::StoreErrorKind::NotApplied;
use rusqlite::Connection;

use super::*;

/// A connection that holds the lock for writing, or for everything.
fn lock(path: &Path, kind: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(&format!("BEGIN {kind}")).unwrap();
    connection
}

#[tokio::test]
async fn a_lock_that_outlasts_the_deadline_changes_nothing() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let locked = lock(store.path(), "IMMEDIATE");
    let began = Instant::now();
    let answer = store.swap(&name(), &row, move_to(5), within(300)).await;
    let waited = began.elapsed();
    assert_error(answer, NotApplied, "is locked by another process");
    assert!((300..2000).contains(&waited.as_millis()), "it waited {waited:?}");
    assert_eq!(read(&store).await.unwrap(), Some(row), "reading needs no lock");
    drop(locked);
    swap(&store, row, 5).await;
}

#[tokio::test]
async fn a_lock_that_ends_in_time_is_waited_for() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let locked = lock(store.path(), "IMMEDIATE");
    let unlocking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(locked);
    });
    swap(&store, row, 5).await;
    unlocking.join().unwrap();
}

/// A call that waits for its turn on the one connection ends by its deadline too.
#[tokio::test]
async fn a_call_behind_a_slow_one_ends_by_its_deadline() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let locked = lock(store.path(), "IMMEDIATE");
    let slow = tokio::spawn({
        let store = store.clone();
        async move { store.swap(&name(), &row, move_to(5), within(5000)).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    assert_error(store.read(&name(), within(100)).await, NotApplied, "other calls");
    assert!(began.elapsed() < Duration::from_secs(2));
    drop(locked);
    assert_eq!(slow.await.unwrap().unwrap(), Swapped::Applied);
}

#[tokio::test]
async fn opening_waits_for_who_is_making_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    let other = lock(&path, "EXCLUSIVE");
    let unlocking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(other);
    });
    insert(&SqliteStore::open(&path).await.unwrap()).await;
    unlocking.join().unwrap();

    let (_folder, store) = crate::new_file().await;
    let path = store.path().to_owned();
    drop(store);
    let rollback = Connection::open(&path).unwrap();
    rollback.pragma_update(None, "journal_mode", "DELETE").unwrap();
    rollback.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let opening = SqliteStore::builder(&path).timeout(Duration::from_millis(300)).open().await;
    assert_error(opening, NotApplied, "is locked by another process");
    assert!(began.elapsed() < Duration::from_secs(2));
}

/// Both have seen an empty file before either could make the tables.
#[tokio::test]
async fn of_two_that_make_the_tables_the_second_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    let first = Connection::open(&path).unwrap();
    first.pragma_update(None, "journal_mode", "WAL").unwrap();
    let locked = lock(&path, "IMMEDIATE");
    let open = || tokio::spawn(SqliteStore::open(path.clone()));
    let opening = [open(), open(), open()];
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(locked);
    for opened in opening {
        opened.await.unwrap().unwrap();
    }
}

/// S11: the transaction of a call that was dropped ends by itself, and the next call finds no half of it.
#[tokio::test]
async fn a_dropped_call_leaves_no_transaction_open() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let locked = lock(store.path(), "IMMEDIATE");
    for _ in 0..20 {
        let name = name();
        let swapping = store.swap(&name, &row, move_to(5), within(400));
        let dropped = tokio::time::timeout(Duration::from_millis(5), swapping).await;
        assert!(dropped.is_err());
    }
    drop(locked);
    let found = read(&store).await.unwrap().unwrap();
    assert!(found == row || found == row.changed(move_to(5)), "{found:?}");
    swap(&store, found, 6).await;
    assert!(rusqlite_can_write(store.path()), "a transaction was left open");
}

fn rusqlite_can_write(path: &Path) -> bool {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()
}
