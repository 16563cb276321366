//! How sequences come and go: S6.

use std::time::Duration;

use lamport_seq::store::Store;
use lamport_seq::testing::MemoryStore;
use lamport_seq::{
    Advance, Catalog, Definition, Error, Sequence, SequenceName, StopCause, StoreHandle,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::faulty::{FaultyStore, orders, tens};

#[tokio::test(start_paused = true)]
async fn s6_a_sequence_that_lost_its_row_is_not_created_anew() {
    let store = FaultyStore::new();
    tens(&store.handle()).await.unwrap().next_ids(10).await.unwrap();
    store.memory.tamper(&orders(), None);
    // A new handle, as after a restart of the process.
    let error = tens(&store.handle()).await.unwrap_err();
    assert_eq!(error.stop().unwrap().cause, StopCause::Missing);
    let created = Catalog::new(&store.handle()).create("orders", Definition::default()).await;
    assert_eq!(created.unwrap_err().stop().unwrap().cause, StopCause::Missing);
}

#[tokio::test(start_paused = true)]
async fn s6_only_recreate_mends_a_missing_row_and_old_clients_stop() {
    let store = FaultyStore::new();
    let old = tens(&store.handle()).await.unwrap();
    old.next_ids(10).await.unwrap();
    store.memory.tamper(&orders(), None);
    let catalog = Catalog::new(&store.handle());
    let plain = catalog.advance("orders", Advance::above(500)).await.unwrap_err();
    assert_eq!(plain.stop().unwrap().cause, StopCause::Missing);
    let catalog = Catalog::new(&store.handle());
    let mend = Advance::above(500).recreate(Definition::default());
    let mended = catalog.advance("orders", mend).await.unwrap();
    assert_eq!((mended.before, mended.after, mended.next), (None, 500, Some(501)));
    assert_eq!(tens(&store.handle()).await.unwrap().next_id().await.unwrap(), 501);
    let error = old.next_id().await.unwrap_err();
    let cause = &error.stop().unwrap().cause;
    assert!(matches!(cause, StopCause::Recreated { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s6_a_dropped_sequence_refuses_everything_and_comes_back_only_further_on() {
    let store = FaultyStore::new();
    let live = tens(&store.handle()).await.unwrap();
    live.next_ids(10).await.unwrap();
    let info = Catalog::new(&store.handle()).drop("orders").await.unwrap();
    assert!(info.retired);
    assert_eq!(live.next_id().await.unwrap_err().stop().unwrap().cause, StopCause::Retired);
    let reopened = tens(&store.handle()).await.unwrap_err();
    assert_eq!(reopened.stop().unwrap().cause, StopCause::Retired);
    let catalog = Catalog::new(&store.handle());
    assert!(catalog.get("orders").await.unwrap().retired, "an operator still sees it");
    assert!(catalog.create("orders", Definition::default()).await.is_err());
    let low = Advance::above(3).recreate(Definition::default());
    let back = Catalog::new(&store.handle()).advance("orders", low).await.unwrap();
    // The live generator's last write met a retired row: its range is burned, not given.
    assert_eq!((back.before, back.after), (Some(20), 20), "never below its old value");
    assert_eq!(tens(&store.handle()).await.unwrap().next_id().await.unwrap(), 21);
}

/// A creator that stands still between birth and row must not bring the sequence back to its start later.
#[tokio::test(start_paused = true)]
async fn s6_a_late_insert_of_an_old_birth_is_refused_by_everybody() {
    let memory = MemoryStore::new();
    let (name, soon) = (orders(), Instant::now() + Duration::from_secs(5));
    let old = Uuid::from_u128(1);
    memory.write_birth(&name, old, None, soon).await.unwrap();
    let catalog = Catalog::new(&StoreHandle::new(memory.clone()));
    let mend = Advance::above(500).recreate(Definition::default());
    catalog.advance("orders", mend).await.unwrap();
    memory.tamper(&name, None);
    let late = lamport_seq::store::Row::unused(Definition::default(), old);
    memory.insert(&name, &late, soon).await.unwrap();
    let error = Sequence::open(&StoreHandle::new(memory), "orders").await.unwrap_err();
    let cause = &error.stop().unwrap().cause;
    assert!(matches!(cause, StopCause::Recreated { .. }), "{cause:?}");
}

#[tokio::test(start_paused = true)]
async fn s6_a_replica_that_remembers_forbids_a_new_start() {
    let memory = MemoryStore::new();
    memory.write_birth(&orders(), Uuid::from_u128(1), None, Instant::now()).await.unwrap();
    let created = Catalog::new(&StoreHandle::new(Forgetful(memory)))
        .create("orders", Definition::default())
        .await;
    assert_eq!(created.unwrap_err().stop().unwrap().cause, StopCause::Missing);
}

/// A store whose majority has forgotten every birth: only the read of all replicas shows it.
struct Forgetful(MemoryStore);

#[tokio::test(start_paused = true)]
async fn a_row_without_birth_is_not_adopted_silently() {
    let memory = MemoryStore::new();
    let row = lamport_seq::store::Row::unused(Definition::default(), Uuid::from_u128(1));
    memory.tamper(&orders(), Some(row));
    let opened = Sequence::open(&StoreHandle::new(memory), "orders").await;
    assert!(matches!(opened, Err(Error::NotAdopted { .. })), "{opened:?}");
}

#[tokio::test]
async fn eight_creators_at_once_make_one_sequence() {
    let memory = MemoryStore::new();
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let store = StoreHandle::new(memory.clone());
            tokio::spawn(async move { tens(&store).await?.next_ids(100).await })
        })
        .collect();
    let mut ids = Vec::new();
    for client in clients {
        ids.extend(client.await.unwrap().unwrap().into_iter().flatten());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 800);
}

/// Every creator gets the sequence, whoever comes first and however their steps mix.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn creators_that_meet_half_way_all_get_the_sequence() {
    for _ in 0..200 {
        let memory = MemoryStore::new();
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let store = StoreHandle::new(memory.clone());
                tokio::spawn(async move { tens(&store).await?.next_id().await })
            })
            .collect();
        for client in clients {
            client.await.unwrap().unwrap();
        }
    }
}

/// Each operator announces a birth of its own before the first of them has written the row; the row decides, and
/// nobody is locked out.
#[tokio::test(start_paused = true)]
async fn s6_operators_who_bring_a_sequence_back_at_once_leave_it_usable() {
    let store = FaultyStore::new();
    Catalog::new(&store.handle()).create("orders", Definition::default()).await.unwrap();
    Catalog::new(&store.handle()).drop("orders").await.unwrap();
    store.delay_swaps(100);
    let operators: Vec<_> = (1..=3)
        .map(|n: u16| {
            let catalog = Catalog::new(&store.handle());
            let mend = Advance::above(1000 * i64::from(n)).recreate(Definition::default());
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(30) * n.into()).await;
                catalog.advance("orders", mend).await
            })
        })
        .collect();
    for operator in operators {
        operator.await.unwrap().unwrap();
    }
    let id = tens(&store.handle()).await.unwrap().next_id().await.unwrap();
    assert_eq!(id, 3001, "beyond what each of them has asked for");
}

mod forgetful {
    use lamport_seq::store::{Change, Listed, Row, StoreFuture, Swapped};

    use super::{Forgetful, Instant, SequenceName, Store, Uuid};

    impl Store for Forgetful {
        fn location(&self) -> String {
            self.0.location()
        }
        fn check(&self, at: Instant) -> StoreFuture<'_, ()> {
            self.0.check(at)
        }
        fn read<'a>(&'a self, _: &'a SequenceName, _: Instant) -> StoreFuture<'a, Option<Row>> {
            Box::pin(async { Ok(None) })
        }
        fn read_birth<'a>(
            &'a self,
            _: &'a SequenceName,
            _: Instant,
        ) -> StoreFuture<'a, Option<Uuid>> {
            Box::pin(async { Ok(None) })
        }
        fn confirm_absent<'a>(
            &'a self,
            name: &'a SequenceName,
            at: Instant,
        ) -> StoreFuture<'a, bool> {
            self.0.confirm_absent(name, at)
        }
        fn write_birth<'a>(
            &'a self,
            _: &'a SequenceName,
            _: Uuid,
            _: Option<Uuid>,
            _: Instant,
        ) -> StoreFuture<'a, Swapped> {
            Box::pin(async { Ok(Swapped::Applied) })
        }
        fn insert<'a>(
            &'a self,
            _: &'a SequenceName,
            _: &'a Row,
            _: Instant,
        ) -> StoreFuture<'a, Swapped> {
            Box::pin(async { Ok(Swapped::Applied) })
        }
        fn swap<'a>(
            &'a self,
            name: &'a SequenceName,
            row: &'a Row,
            change: Change,
            at: Instant,
        ) -> StoreFuture<'a, Swapped> {
            self.0.swap(name, row, change, at)
        }
        fn list<'a>(
            &'a self,
            after: Option<&'a SequenceName>,
            limit: u32,
            at: Instant,
        ) -> StoreFuture<'a, Vec<Listed>> {
            self.0.list(after, limit, at)
        }
    }
}
