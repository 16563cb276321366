//! A store of your own: here one that counts what is sent to another. Run `conformance_tests!` on yours.
//!
//!     cargo run --example custom_store --features testing

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lamport_seq::store::{Change, Listed, Row, Store, StoreFuture, Swapped};
use lamport_seq::{Definition, Sequence, SequenceName, StoreHandle, testing::MemoryStore};
use tokio::time::Instant;
use uuid::Uuid;

struct Counting(MemoryStore, Arc<AtomicU32>);

#[rustfmt::skip] // One line a method: each but one hands its call on.
impl Store for Counting {
    fn location(&self) -> String { "counting:".to_owned() }
    fn check(&self, by: Instant) -> StoreFuture<'_, ()> { self.0.check(by) }
    fn read<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, Option<Row>> { self.0.read(name, by) }
    fn read_birth<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, Option<Uuid>> { self.0.read_birth(name, by) }
    fn confirm_absent<'a>(&'a self, name: &'a SequenceName, by: Instant) -> StoreFuture<'a, bool> { self.0.confirm_absent(name, by) }
    fn write_birth<'a>(&'a self, name: &'a SequenceName, created: Uuid, replaces: Option<Uuid>, by: Instant) -> StoreFuture<'a, Swapped> { self.0.write_birth(name, created, replaces, by) }
    fn insert<'a>(&'a self, name: &'a SequenceName, row: &'a Row, by: Instant) -> StoreFuture<'a, Swapped> { self.0.insert(name, row, by) }
    fn swap<'a>(&'a self, name: &'a SequenceName, expected: &'a Row, change: Change, by: Instant) -> StoreFuture<'a, Swapped> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.swap(name, expected, change, by)
    }
    fn list<'a>(&'a self, after: Option<&'a SequenceName>, limit: u32, by: Instant) -> StoreFuture<'a, Vec<Listed>> { self.0.list(after, limit, by) }
}

#[tokio::main]
async fn main() -> Result<(), lamport_seq::Error> {
    let swaps = Arc::new(AtomicU32::new(0));
    let store = StoreHandle::new(Counting(MemoryStore::new(), swaps.clone()));
    let orders = Sequence::open(&store, "orders")
        .block_size(100)
        .create_if_missing(Definition::default())
        .await?;
    for _ in 0..1000 {
        orders.next_id().await?;
    }
    println!("1000 ids, {} conditional writes", swaps.load(Ordering::Relaxed));
    Ok(())
}
