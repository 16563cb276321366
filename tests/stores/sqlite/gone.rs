//! S16: the path must lead to the file that is open, or the client stops.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lamport_seq::store::StoreErrorKind::Gone;

use super::*;

/// Does something to an open store's file, and expects every call to say that it has gone.
async fn gone(message: &str, tamper: impl FnOnce(&Path)) {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let row = swap(&store, row, 10).await;
    tamper(store.path());
    assert_gone(&store, row, message).await;
}

async fn assert_gone(store: &SqliteStore, row: Row, message: &str) {
    let (name, uuid) = (name(), Uuid::from_u128(1));
    assert_error(store.swap(&name, &row, move_to(20), soon()).await, Gone, message);
    assert_error(store.read(&name, soon()).await, Gone, message);
    assert_error(store.insert(&name, &row, soon()).await, Gone, message);
    assert_error(store.read_birth(&name, soon()).await, Gone, message);
    assert_error(store.confirm_absent(&name, soon()).await, Gone, message);
    assert_error(store.write_birth(&name, uuid, None, soon()).await, Gone, message);
    assert_error(store.list(None, 10, soon()).await, Gone, message);
    assert_error(store.check(soon()).await, Gone, message);
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", path.display()).into()
}

#[tokio::test]
async fn s16_a_removed_file_is_gone() {
    gone("is not there any more", |path| fs::remove_file(path).unwrap()).await;
}

#[tokio::test]
async fn s16_a_replaced_file_is_gone() {
    gone("is another file now", |path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn s16_a_file_that_was_removed_and_made_anew_is_gone() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    fs::remove_file(store.path()).unwrap();
    for ending in ["-wal", "-shm"] {
        fs::remove_file(beside(store.path(), ending)).unwrap();
    }
    let anew = SqliteStore::open(store.path()).await.unwrap();
    assert_gone(&store, row, "is another file now").await;
    assert_eq!(read(&anew).await.unwrap(), None);
}

#[tokio::test]
async fn s16_a_file_that_was_moved_away_and_linked_to_is_gone() {
    gone("is another file now", |path| {
        let moved = path.with_extension("moved");
        fs::rename(path, &moved).unwrap();
        symlink(&moved, path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn s16_a_file_with_a_second_name_is_gone() {
    gone("2 names", |path| fs::hard_link(path, path.with_extension("second")).unwrap()).await;
}

/// Whoever opens the file after its log was tidied away does not see what was in there.
#[tokio::test]
async fn s16_a_removed_log_is_gone() {
    gone("-wal is not there any more", |path| fs::remove_file(beside(path, "-wal")).unwrap()).await;
    gone("-shm is not there any more", |path| fs::remove_file(beside(path, "-shm")).unwrap()).await;
}

#[tokio::test]
async fn s16_a_link_that_leads_to_another_file_is_gone() {
    let (folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let link = folder.path().join("current.db");
    symlink(store.path(), &link).unwrap();
    let by_link = SqliteStore::open(&link).await.unwrap();
    assert_eq!(read(&by_link).await.unwrap(), Some(row));
    let other = SqliteStore::open(folder.path().join("other.db")).await.unwrap();
    fs::remove_file(&link).unwrap();
    symlink(other.path(), &link).unwrap();
    assert_gone(&by_link, row, "current.db is another file now").await;
    assert_eq!(read(&store).await.unwrap(), Some(row), "this one was opened by its own name");
}

/// Closing any descriptor of a file drops all POSIX locks that this process has on it. SQLite takes care of its own
/// descriptors, so the checks of S16 must not have any. A connection without its lock on the file is invisible to
/// other processes, and what they do when they believe to be alone depends on their version of SQLite.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn s16_opening_checking_and_closing_drop_no_lock_of_this_process() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    assert!(is_locked(store.path()), "an open file is locked");
    let another = SqliteStore::open(store.path()).await.unwrap();
    another.check(soon()).await.unwrap();
    drop(another);
    swap(&store, row, 10).await;
    assert!(is_locked(store.path()), "the lock was dropped");
}

/// Whether this process holds a lock on a file. The list is not made at one instant: while other tests lock and
/// unlock, it may lack a line.
#[cfg(target_os = "linux")]
fn is_locked(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let process = format!(" {} ", std::process::id());
    let inode = format!(":{} ", fs::metadata(path).unwrap().ino());
    (0..100).any(|_| {
        let locks = fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|lock| lock.contains(&process) && lock.contains(&inode))
    })
}
