//! What can be opened, and what is refused in words and left as it was.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lamport_seq::store::StoreErrorKind::{Corrupt, Refused};

use super::*;

#[tokio::test]
async fn a_new_file_holds_what_was_written_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let row = insert(&store).await;
    let row = swap(&store, row, 100).await;
    drop(store);
    let files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["ids.db"], "at rest there is one file");
    let store = SqliteStore::open(&path).await.unwrap();
    store.check(soon()).await.unwrap();
    assert_eq!(read(&store).await.unwrap(), Some(row));
}

/// S16, and what design.md says of the tables.
#[tokio::test]
async fn the_file_is_what_other_tools_expect() {
    let (_folder, store) = crate::new_file().await;
    insert(&store).await;
    let other = rusqlite::Connection::open(store.path()).unwrap();
    let text = |sql| other.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let number = |sql| other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("PRAGMA journal_mode"), "wal");
    assert_eq!(number("PRAGMA application_id"), i64::from(u32::from_be_bytes(*b"lseq")));
    assert_eq!(number("PRAGMA user_version"), 1);
    assert_eq!(text("SELECT value FROM lseq_meta WHERE key = 'format'"), "1");
    assert_eq!(
        text("SELECT group_concat(name ORDER BY name) FROM sqlite_schema WHERE type = 'table'"),
        "counters,lseq_meta,sequences"
    );
    assert_eq!(text("SELECT created FROM counters"), "00000000-0000-0000-0000-000000000007");
    assert_eq!(text("PRAGMA integrity_check"), "ok");
}

#[tokio::test]
async fn links_are_followed_once_and_the_place_is_absolute() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().join("real.db");
    let link = folder.path().join("link.db");
    let by_name = SqliteStore::open(&real).await.unwrap();
    symlink(&real, &link).unwrap();
    let by_link = SqliteStore::open(&link).await.unwrap();
    assert_eq!(by_link.path(), real);
    assert_eq!(by_link.location(), format!("sqlite:{}", real.display()));
    let row = insert(&by_name).await;
    assert_eq!(read(&by_link).await.unwrap(), Some(row));
}

/// Some names mean something else to SQLite itself: a database in memory, or a URI with options.
#[tokio::test]
async fn every_name_is_a_files_name() {
    let folder = tempfile::tempdir().unwrap();
    for file in [":memory:", "file:ids.db?mode=memory", "a b%20c?d#e", "naïve.db"] {
        let path = folder.path().join(file);
        drop(SqliteStore::open(&path).await.unwrap());
        assert!(path.is_file(), "{file}");
    }
}

async fn refused(path: &Path, kind: StoreErrorKind, message: &str) {
    assert_error(SqliteStore::open(path).await, kind, message);
}

#[tokio::test]
async fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    refused(Path::new(""), Refused, "empty").await;
    refused(folder.path(), Refused, "is a folder").await;
    refused(Path::new("/"), Refused, "is a folder").await;
    refused(&path("missing/ids.db"), Refused, "missing does not exist").await;
    refused(Path::new("/dev/null"), Refused, "is not a file").await;
    symlink("nowhere", path("dangling.db")).unwrap();
    refused(&path("dangling.db"), Refused, "leads nowhere").await;
    fs::write(path("file"), "").unwrap();
    refused(&path("file/ids.db"), Refused, "can't be reached").await;
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing was made: {left:?}");
}

#[tokio::test]
async fn a_file_is_made_only_if_the_caller_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    let existing = || SqliteStore::builder(&path).create(false).open();
    assert_error(existing().await, Refused, "does not exist");
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    assert_error(existing().await, Refused, "is empty");
    assert_eq!(fs::read(&path).unwrap(), b"");
    SqliteStore::open(&path).await.unwrap();
    existing().await.unwrap();
}

/// S16: with two names there would be two logs.
#[tokio::test]
async fn a_file_with_two_names_is_refused() {
    let (folder, store) = crate::new_file().await;
    let path = store.path().to_owned();
    drop(store);
    let second = folder.path().join("second.db");
    fs::hard_link(&path, &second).unwrap();
    refused(&path, Refused, "2 names").await;
    fs::remove_file(second).unwrap();
    SqliteStore::open(path).await.unwrap();
}

/// S16: beside the mount point the log would be another one than beside the file itself.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_is_mounted_by_itself_is_refused() {
    let (folder, store) = crate::new_file().await;
    let alone = folder.path().join("mounted.db");
    fs::write(&alone, "").unwrap();
    let mount =
        std::process::Command::new("mount").arg("--bind").args([store.path(), &alone]).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("SKIPPED: only root can mount a file");
        return;
    }
    let opened = SqliteStore::open(&alone).await;
    std::process::Command::new("umount").arg(&alone).status().unwrap();
    assert_error(opened, Refused, "is mounted by itself");
    store.check(soon()).await.unwrap();
}

#[tokio::test]
async fn a_file_whose_journal_was_switched_is_switched_back() {
    let (_folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    let path = store.path().to_owned();
    drop(store);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(other);
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(read(&store).await.unwrap(), Some(row));
    let other = rusqlite::Connection::open(&path).unwrap();
    let mode: String = other.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for content in ["xy", "not a database", &"0123456789".repeat(1000)] {
        fs::write(&path, content).unwrap();
        refused(&path, Corrupt, "is not a SQLite database").await;
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    // SQLite itself takes a file of one byte for an empty one.
    fs::write(&path, "x").unwrap();
    refused(&path, Refused, "is not a SQLite database").await;
    assert_eq!(fs::read_to_string(&path).unwrap(), "x");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing was made beside it: {left:?}");
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    fs::write(&path, "").unwrap();
    insert(&SqliteStore::open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn another_applications_database_is_refused_and_left_alone() {
    for (journal, setup) in [
        ("DELETE", "CREATE TABLE counters (name TEXT PRIMARY KEY, node TEXT, value INTEGER)"),
        ("WAL", "CREATE TABLE cookies (id INTEGER)"),
        ("DELETE", "PRAGMA application_id = 1"),
        ("WAL", "PRAGMA user_version = 3"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other.pragma_update(None, "journal_mode", journal).unwrap();
        other.execute_batch(setup).unwrap();
        let before = fs::read(&path).unwrap();
        refused(&path, Refused, "is another application's SQLite database").await;
        assert!(fs::read(&path).unwrap() == before, "the file was changed: {setup}");
        let mode: String = other.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, journal.to_lowercase());
    }
}

/// The log that an application left behind when it was killed is its own to write back.
#[tokio::test]
async fn another_applications_log_is_left_alone() {
    let (origin, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let other = rusqlite::Connection::open(origin.path().join("other.db")).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other
        .execute_batch("CREATE TABLE cookies (id INTEGER); INSERT INTO cookies VALUES (1)")
        .unwrap();
    for file in ["other.db", "other.db-wal"] {
        fs::copy(origin.path().join(file), folder.path().join(file)).unwrap();
    }
    let files =
        || ["other.db", "other.db-wal"].map(|file| fs::read(folder.path().join(file)).unwrap());
    let before = files();
    refused(&folder.path().join("other.db"), Refused, "another application").await;
    assert!(files() == before, "the log was written back");
}

#[tokio::test]
async fn a_later_format_is_refused_by_both_versions_names() {
    let (_folder, store) = crate::new_file().await;
    let path = store.path().to_owned();
    drop(store);
    let later = rusqlite::Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 2).unwrap();
    drop(later);
    let before = fs::read(&path).unwrap();
    refused(&path, Refused, "tables of format 2, and this version of lamport-seq knows format 1")
        .await;
    assert!(fs::read(&path).unwrap() == before);
}
