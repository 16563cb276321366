//! Many processes on one file, some of which are killed, and a file that is taken away.

use std::io::Read;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::world::{World, assert_distinct, exists, finish, ids, wait_until};

#[test]
fn eight_processes_open_one_new_file_at_once() {
    let world = World::embedded();
    let arguments = ["alloc", "orders", "--create", "--count", "125000", "--block", "2500"];
    let children: Vec<Child> = (0..8).map(|_| world.spawn(&arguments)).collect();
    let threads: Vec<_> =
        children.into_iter().map(|child| std::thread::spawn(|| finish(child))).collect();
    let mut all = Vec::new();
    for thread in threads {
        let output = thread.join().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(0), ""));
        all.extend(ids(&output.stdout));
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(1..=1_000_000), "no id twice, and none left out");
}

#[test]
fn eight_processes_make_one_new_file_at_once() {
    let world = World::embedded();
    let children: Vec<Child> = (0..8).map(|n| world.spawn(&["create", &format!("s{n}")])).collect();
    for child in children {
        let output = finish(child);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    }
    assert_eq!(world.done(&["list", "--json"]).lines().count(), 8);
}

#[test]
fn processes_that_are_killed_take_no_id_from_the_others() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let arguments = ["alloc", "orders", "--count", "40000", "--block", "1000"];
    let mut readers: Vec<Reader> = (0..8).map(|_| Reader::of(world.spawn(&arguments))).collect();
    for (index, reader) in readers.iter_mut().enumerate().filter(|(index, _)| index % 2 == 0) {
        // One after the other, each at some other point of its work.
        reader.wait_for(1 + index * 10_000);
        reader.kill();
    }
    let mut all = Vec::new();
    for (index, reader) in readers.into_iter().enumerate() {
        let (code, ids, errors) = reader.finish();
        if index % 2 == 1 {
            assert_eq!((code, ids.len(), &*errors), (Some(0), 40_000, ""), "{index}");
        }
        all.extend(ids);
    }
    assert_distinct(all);
}

#[test]
fn a_file_that_is_removed_stops_its_clients() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    let reader = slow(&world);
    for file in ["ids.db", "ids.db-wal", "ids.db-shm"] {
        std::fs::remove_file(world.path(file)).unwrap();
    }
    let (code, _, errors) = reader.finish();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("has stopped"), "{errors}");
    assert!(!exists(&world.path("ids.db")), "it is not made anew");
    let again = world.run(&["alloc", "orders"]);
    assert!(again.starts_with("exit 1\n"), "{again}");
}

#[test]
fn a_file_that_is_replaced_stops_its_clients() {
    let world = World::embedded();
    world.done(&["create", "orders"]);
    world.done(&["create", "orders", "--store", "sqlite:other.db"]);
    let reader = slow(&world);
    std::fs::rename(world.path("other.db"), world.path("ids.db")).unwrap();
    let (code, ids, errors) = reader.finish();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("has stopped"), "{errors}");
    assert_distinct(ids);
}

/// A client that has begun, and goes on for a long time.
fn slow(world: &World) -> Reader {
    let reader =
        Reader::of(world.spawn(&["alloc", "orders", "--count", "1000000", "--block", "10"]));
    reader.wait_for(1000);
    reader
}

/// A process whose output is read as it comes.
struct Reader {
    child: Child,
    read: Arc<AtomicUsize>,
    stdout: JoinHandle<Vec<u8>>,
}

impl Reader {
    fn of(mut child: Child) -> Self {
        let mut pipe = child.stdout.take().unwrap();
        let read = Arc::new(AtomicUsize::new(0));
        let counter = read.clone();
        let stdout = std::thread::spawn(move || {
            let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
            loop {
                match pipe.read(&mut buffer).unwrap() {
                    0 => return all,
                    bytes => all.extend_from_slice(&buffer[..bytes]),
                }
                counter.store(all.len(), Ordering::Relaxed);
            }
        });
        Self { child, read, stdout }
    }

    /// Waits until it has printed that many bytes.
    fn wait_for(&self, bytes: usize) {
        wait_until("output", || self.read.load(Ordering::Relaxed) >= bytes);
        std::thread::sleep(Duration::from_millis(3));
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    fn finish(self) -> (Option<i32>, Vec<i64>, String) {
        let output = finish(self.child);
        let printed = self.stdout.join().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), ids(&printed), errors)
    }
}
