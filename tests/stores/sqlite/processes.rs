//! One file shared by many processes, some of which are killed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, thread};

use lamport_seq::store::StoreErrorKind::{Refused, Unknown};

use super::*;

const ROLE: &str = "LAMPORT_SEQ_TEST_ROLE";
const FILE: &str = "LAMPORT_SEQ_TEST_FILE";

/// This test program again, as another process that runs [`child`] in a role.
fn process(role: &str, file: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "sqlite::processes::child", "--nocapture"]);
    command.env(ROLE, role).env(FILE, file).stdout(Stdio::null());
    command
}

/// Does nothing, but in a process that [`process`] has started.
#[tokio::test]
async fn child() {
    let (Ok(role), Ok(file)) = (env::var(ROLE), env::var(FILE)) else {
        return;
    };
    let file = PathBuf::from(file);
    match role.split_once(' ') {
        Some(("reserve", count)) => reserve(&file, count.parse().unwrap()).await,
        None if role == "full" => writes_fail(&file).await,
        None if role == "forbidden" => forbidden(&file).await,
        _ => panic!("no such role: {role}"),
    }
}

/// A client: opens the file, makes its one register if it is the first, and reserves ranges of 10 ids. It notes each
/// beside the file, one a line, when it has been told that it was applied.
async fn reserve(path: &Path, count: u32) {
    let store = SqliteStore::open(path).await.unwrap();
    let mut notes =
        File::create(path.with_extension(format!("{}.ids", std::process::id()))).unwrap();
    store.insert(&name(), &fresh(), soon()).await.unwrap();
    for attempt in 0..count {
        loop {
            let row = read(&store).await.unwrap().unwrap();
            let node = Uuid::from_u64_pair(std::process::id().into(), attempt.into());
            let to = LamportTimestamp::new(row.timestamp.value + 10, node);
            let answer = store.swap(&name(), &row, Change::Move { to }, soon()).await;
            if answer.unwrap() == Swapped::Applied {
                writeln!(notes, "{}", to.value).unwrap();
                break;
            }
        }
    }
}

/// The last ids of all ranges that clients of `path` have noted.
fn noted(path: &Path) -> Vec<i64> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let notes = entries.filter(|path| path.extension().is_some_and(|ending| ending == "ids"));
    let text: String = notes.map(|notes| fs::read_to_string(notes).unwrap()).collect();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// No range was noted twice, and the register has come as far as they say.
async fn check_ranges(path: &Path, at_least: usize) {
    let noted = noted(path);
    let distinct: BTreeSet<_> = noted.iter().copied().collect();
    assert_eq!(distinct.len(), noted.len(), "a range was given twice");
    assert!(noted.len() >= at_least, "only {} ranges were given", noted.len());
    let row = read(&SqliteStore::open(path).await.unwrap()).await.unwrap().unwrap();
    assert!(row.timestamp.value >= *distinct.last().unwrap());
    let other = rusqlite::Connection::open(path).unwrap();
    let integrity: String =
        other.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}

#[tokio::test]
async fn eight_processes_open_one_new_file_and_share_it() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.db");
        let children: Vec<_> =
            (0..8).map(|_| process("reserve 25", &path).spawn().unwrap()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        check_ranges(&path, 200).await;
        let row = read(&SqliteStore::open(&path).await.unwrap()).await.unwrap().unwrap();
        assert_eq!(row.timestamp.value, 2000, "nothing was lost and nothing counted twice");
    }
}

#[tokio::test]
async fn clients_that_are_killed_leave_a_sound_file_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    let start = |count: u32| process(&format!("reserve {count}"), &path).spawn().unwrap();
    let survivors: Vec<Child> = (0..3).map(|_| start(150)).collect();
    for round in 0..8 {
        let mut victims: Vec<Child> = (0..3).map(|_| start(u32::MAX)).collect();
        thread::sleep(Duration::from_millis(20 + 17 * round));
        for victim in &mut victims {
            victim.kill().unwrap();
            victim.wait().unwrap();
        }
    }
    for mut survivor in survivors {
        assert!(survivor.wait().unwrap().success());
    }
    check_ranges(&path, 450).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_connections_and_threads_share_a_file() {
    let (_folder, store) = crate::new_file().await;
    insert(&store).await;
    let mut clients = Vec::new();
    for client in 0..16 {
        let store = match client % 2 {
            0 => store.clone(),
            _ => SqliteStore::open(store.path()).await.unwrap(),
        };
        clients.push(tokio::spawn(async move {
            let mut applied = 0;
            while applied < 20 {
                let row = read(&store).await.unwrap().unwrap();
                let to = LamportTimestamp::new(
                    row.timestamp.value + 1,
                    Uuid::from_u64_pair(client, applied),
                );
                let answer = store.swap(&name(), &row, Change::Move { to }, soon()).await.unwrap();
                applied += u64::from(answer == Swapped::Applied);
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(read(&store).await.unwrap().unwrap().timestamp.value, 320);
}

/// S3: when the disk takes no more, nobody knows what it has taken.
#[tokio::test]
async fn s3_a_failed_commit_is_unknown() {
    let (_folder, store) = crate::new_file().await;
    insert(&store).await;
    let path = store.path().to_owned();
    drop(store);
    // No file of the child may grow beyond 64 KiB (128 blocks): the log is the first to try.
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" XFSZ; ulimit -f 128; exec "$@""#, "sh"]);
    let child = process("full", &path);
    shell.arg(child.get_program()).args(child.get_args());
    let status = shell.env(ROLE, "full").env(FILE, &path).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    let row = read(&SqliteStore::open(&path).await.unwrap()).await.unwrap().unwrap();
    assert!(row.timestamp.value > 0, "some swaps were applied before the limit");
}

async fn writes_fail(path: &Path) {
    let store = SqliteStore::open(path).await.unwrap();
    let mut row = read(&store).await.unwrap().unwrap();
    let mut failures = 0;
    for value in 1..=40 {
        match store.swap(&name(), &row, move_to(value), soon()).await {
            Ok(answer) => {
                assert_eq!(answer, Swapped::Applied);
                assert_eq!(failures, 0, "a file that can't grow has grown");
                row = row.changed(move_to(value));
            }
            Err(error) => {
                failures += 1;
                assert_eq!(error.kind(), Unknown, "{error}");
                assert!(
                    error.to_string().contains("while a transaction was being committed"),
                    "{error}"
                );
            }
        }
        // The transaction that failed is not in the way of the next call.
        assert_eq!(read(&store).await.unwrap(), Some(row));
    }
    assert!(failures > 0, "the limit was never met");
}

/// Rights are checked as somebody who has none; whoever runs the tests as root has all.
#[tokio::test]
async fn a_file_or_folder_that_may_not_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.db");
    drop(SqliteStore::open(&path).await.unwrap());
    let allow =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(&path, 0o444);
    allow(folder.path(), 0o555);
    let mut command = process("forbidden", &path);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let status = command.status();
    allow(folder.path(), 0o755);
    match status {
        Ok(status) => assert!(status.success()),
        Err(error) => eprintln!("SKIPPED: nobody else can run this program: {error}"),
    }
}

async fn forbidden(path: &Path) {
    assert_error(SqliteStore::open(path).await, Refused, "can't be written");
    let new = path.with_extension("new");
    assert_error(SqliteStore::open(&new).await, Refused, "can't be opened");
    assert!(!new.exists());
}
