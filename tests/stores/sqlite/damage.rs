//! Files and rows that were damaged are reported, and never made into ids.

use std::fs;

use lamport_seq::store::StoreErrorKind::Corrupt;
use rusqlite::Connection;

use super::*;

/// A store at rest whose file holds the register of [`name`] at 100.
async fn at_rest() -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, store) = crate::new_file().await;
    let row = insert(&store).await;
    swap(&store, row, 100).await;
    let path = store.path().to_owned();
    (folder, path)
}

#[tokio::test]
async fn a_file_cut_short_is_reported() {
    let (_folder, path) = at_rest().await;
    let whole = fs::read(&path).unwrap();
    // Not to nothing: an empty file is a new one, as far as anybody can tell from it.
    for length in [2, 100, 4096, whole.len() / 2, whole.len() - 4096] {
        fs::write(&path, &whole[..length]).unwrap();
        let read = match SqliteStore::open(&path).await {
            Ok(store) => store.read(&name(), soon()).await,
            Err(error) => Err(error),
        };
        let error = read.expect_err("the register is in the last page");
        assert_eq!(error.kind(), Corrupt, "cut to {length}: {error}");
    }
}

#[tokio::test]
async fn junk_in_the_file_is_reported() {
    let (_folder, path) = at_rest().await;
    let whole = fs::read(&path).unwrap();
    for from in [0, 100, 4096] {
        let mut junk = whole.clone();
        junk[from..].fill(0xa5);
        fs::write(&path, &junk).unwrap();
        let read = match SqliteStore::open(&path).await {
            Ok(store) => store.read(&name(), soon()).await,
            Err(error) => Err(error),
        };
        let error = read.expect_err("there is nothing but junk");
        assert_eq!(error.kind(), Corrupt, "junk from {from} on: {error}");
    }
}

/// A client has the pages that it needs in memory or in its log, and goes on, or says what is wrong.
#[tokio::test]
async fn a_file_that_is_damaged_under_a_client_never_goes_back() {
    let (_folder, path) = at_rest().await;
    for damage in ["cut", "junk", "emptied"] {
        let whole = fs::read(&path).unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let mut row = read(&store).await.unwrap().unwrap();
        match damage {
            "cut" => fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap(),
            "junk" => fs::write(&path, vec![0xa5; whole.len()]).unwrap(),
            _ => fs::write(&path, "").unwrap(),
        }
        for value in [200, 300, 400] {
            match store.swap(&name(), &row, move_to(value), soon()).await {
                Ok(answer) => {
                    assert_eq!(answer, Swapped::Applied);
                    row = row.changed(move_to(value));
                }
                Err(error) => assert_eq!(error.kind(), Corrupt, "{damage}: {error}"),
            }
            match read(&store).await {
                Ok(found) => assert_eq!(found, Some(row), "{damage}"),
                Err(error) => assert_eq!(error.kind(), Corrupt, "{damage}: {error}"),
            }
        }
        drop(store);
        fs::write(&path, whole).unwrap();
    }
}

/// S9: rows that no client of ours has written.
#[tokio::test]
async fn s9_a_row_that_is_no_register_is_corrupt_and_listed_as_such() {
    let (_folder, store) = crate::new_file().await;
    let other = Connection::open(store.path()).unwrap();
    for (column, value, complaint) in [
        ("node", "'zebra'", "no uuid"),
        ("created", "'7'", "no uuid"),
        ("start_value", "NULL", "some columns"),
        ("strict", "NULL", "some columns"),
        ("increment_by", "0", "must not be 0"),
        ("max_value", "-9", "must be less"),
    ] {
        other.execute_batch("DELETE FROM counters").unwrap();
        insert(&store).await;
        other.execute_batch(&format!("UPDATE counters SET {column} = {value}")).unwrap();
        for error in [
            read(&store).await.unwrap_err(),
            store.swap(&name(), &fresh(), move_to(5), soon()).await.unwrap_err(),
            store.insert(&name(), &fresh(), soon()).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), Corrupt, "{error}");
            let text = error.to_string();
            assert!(text.contains("sequence `orders`") && text.contains(complaint), "{text}");
        }
        let listed = store.list(None, 10, soon()).await.unwrap();
        let [line] = listed.as_slice() else { panic!("{listed:?}") };
        assert!(line.row.as_ref().unwrap_err().contains(complaint), "{line:?}");
    }
}

/// A row whose name can't be one is left out, and costs the page no place.
#[tokio::test]
async fn a_listing_goes_on_after_bad_rows() {
    let (_folder, store) = crate::new_file().await;
    for name in ["a", "c", "e"] {
        store.insert(&name.parse().unwrap(), &fresh(), soon()).await.unwrap();
    }
    let other = Connection::open(store.path()).unwrap();
    let copy = "INSERT INTO counters SELECT ?1, node, value, created, start_value, increment_by, min_value, max_value, strict, retired FROM counters WHERE name = 'a'";
    other.execute(copy, ["b\n"]).unwrap();
    other.execute_batch("UPDATE counters SET node = '' WHERE name = 'c'").unwrap();
    let listed = store.list(None, 3, soon()).await.unwrap();
    let lines: Vec<_> = listed.iter().map(|line| (line.name.as_str(), line.row.is_ok())).collect();
    assert_eq!(lines, [("a", true), ("c", false), ("e", true)]);
}

#[tokio::test]
async fn lost_tables_are_corrupt() {
    let (_folder, store) = crate::new_file().await;
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("DROP TABLE counters").unwrap();
    assert_error(read(&store).await, Corrupt, "does not hold the tables");
    let answer = store.insert(&name(), &fresh(), soon()).await;
    assert_error(answer, Corrupt, "does not hold the tables");
}
