//! The test vectors of docs/protocol.md, read from the page itself.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::sync::Arc;

use lamport_seq::store::{Row, Store};
use lamport_seq::testing::{Entropy, MemoryStore};
use lamport_seq::{Definition, LamportTimestamp, Sequence, SequenceName, StoreHandle};
use tokio::time::Instant;
use uuid::Uuid;

const PAGE: &str = include_str!("../docs/protocol.md");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let table = PAGE.split("| start, increment, min, max |").nth(1).unwrap();
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

fn definition(text: &str) -> Option<Definition> {
    let numbers: Vec<i64> = text.split(", ").map_while(|number| number.parse().ok()).collect();
    let &[start, increment, min, max] = numbers.as_slice() else { return None };
    let bounds = Definition::builder().min_value(min).max_value(max);
    Some(bounds.start_value(start).increment_by(increment).build().unwrap())
}

#[tokio::test]
async fn the_published_vectors_hold() {
    let mut count = 0;
    for row in rows() {
        let [defined, value, floor, n, expected, new_value] = row[..] else { panic!("{row:?}") };
        let (memory, name) = (MemoryStore::new(), SequenceName::new("s").unwrap());
        let birth = Uuid::from_u128(1);
        memory.write_birth(&name, birth, None, Instant::now()).await.unwrap();
        let definition = definition(defined);
        let created = definition.map(|_| birth);
        let timestamp = LamportTimestamp::from(value.parse::<i64>().unwrap());
        let stored = Row { timestamp, created, definition, retired: false, written: None };
        memory.tamper(&name, Some(stored));
        let store = StoreHandle::new(memory.clone());
        let sequence = Sequence::open(&store, "s").block_size(n.parse().unwrap()).await.unwrap();
        if let Ok(floor) = floor.parse::<i64>() {
            sequence.observe(floor).unwrap();
        }
        let warm = sequence.warm_up().await;
        if expected == "exhausted" {
            assert!(warm.unwrap_err().is_exhausted(), "{row:?}");
        } else {
            let ranges = sequence.next_ids(sequence.buffered()).await.unwrap();
            let got = format!("{}..{}", ranges[0].first(), ranges[0].last());
            assert_eq!((got.as_str(), ranges.len()), (expected, 1), "{row:?}");
            let now = memory.read(&name, Instant::now()).await.unwrap().unwrap();
            assert_eq!(now.timestamp.value.to_string(), new_value, "{row:?}");
        }
        count += 1;
    }
    assert_eq!(count, 13);
}

#[tokio::test]
async fn the_published_attempt_has_these_bits() {
    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), String> {
            bytes.fill(0xff);
            Ok(())
        }
    }
    let store = StoreHandle::new(MemoryStore::new());
    let sequence = Sequence::open(&store, "s")
        .create_if_missing(Definition::default())
        .entropy(Arc::new(Ones))
        .tag([1, 2, 3, 4, 5, 6])
        .await
        .unwrap();
    sequence.next_id().await.unwrap();
    let node = sequence.timestamp().node.to_string();
    assert!(PAGE.contains(&node), "{node}");
    assert_eq!(sequence.timestamp().tag().as_deref(), Some("010203040506"));
}
