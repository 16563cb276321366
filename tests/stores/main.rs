//! Every embedded store against the conformance suite, the suite against broken stores, and what is SQLite's own.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod broken;
mod handles;
mod sqlite;

use lamport_seq::store::sqlite::SqliteStore;
use lamport_seq::testing::MemoryStore;
use tempfile::TempDir;

use self::handles::Handles;

/// A new file in a folder of its own.
async fn new_file() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("ids.db")).await.unwrap();
    (folder, store)
}

mod memory {
    use super::MemoryStore;

    lamport_seq::conformance_tests!(async || ((), MemoryStore::new()));
}

mod sqlite_file {
    lamport_seq::conformance_tests!(super::new_file);
}

/// The same with three connections to one file, which take the calls in turn.
mod sqlite_connections {
    use super::{Handles, SqliteStore, new_file};

    async fn several() -> (tempfile::TempDir, Handles<SqliteStore>) {
        let (folder, first) = new_file().await;
        let second = SqliteStore::open(first.path()).await.unwrap();
        let third = SqliteStore::open(first.path()).await.unwrap();
        (folder, Handles::new([first, second, third]))
    }

    lamport_seq::conformance_tests!(several);
}
