//! Both ends, both signs, and jumps: S12.

use lamport_seq::testing::MemoryStore;
use lamport_seq::{
    Definition, DefinitionBuilder, Error, IdRange, InvalidDefinition, Sequence, StoreHandle,
    TryNextError,
};

async fn open(definition: DefinitionBuilder, block_size: u64) -> Sequence {
    let store = StoreHandle::new(MemoryStore::new());
    let definition = definition.build().unwrap();
    Sequence::open(&store, "s").block_size(block_size).create_if_missing(definition).await.unwrap()
}

/// All ids until the sequence is exhausted, which it must say again and again.
async fn all(sequence: &Sequence) -> Vec<i64> {
    let mut ids = Vec::new();
    let end = loop {
        match sequence.next_id().await {
            Ok(id) => ids.push(id),
            Err(error) => break error,
        }
    };
    assert!(end.is_exhausted(), "{end:?}");
    assert!(sequence.next_id().await.unwrap_err().is_exhausted());
    assert!(matches!(sequence.try_next_id(), Err(TryNextError::Exhausted)));
    assert!(sequence.reserve(1).await.unwrap_err().is_exhausted());
    assert_eq!(sequence.remaining(), 0);
    ids
}

#[tokio::test]
async fn s12_the_last_bigint_is_given_and_then_it_is_exhausted() {
    let sequence = open(Definition::builder().start_value(i64::MAX - 3), 100).await;
    assert_eq!(all(&sequence).await, [i64::MAX - 3, i64::MAX - 2, i64::MAX - 1, i64::MAX]);
}

#[tokio::test]
async fn s12_a_falling_sequence_ends_at_its_minimum() {
    let falling = || Definition::builder().increment_by(-1);
    assert_eq!(all(&open(falling().min_value(-3), 2000).await).await, [-1, -2, -3]);
    let low = falling().start_value(i64::MIN + 1);
    assert_eq!(all(&open(low, 10).await).await, [i64::MIN + 1, i64::MIN]);
}

#[tokio::test]
async fn s12_the_last_block_is_clipped_not_lost() {
    assert_eq!(all(&open(Definition::builder().max_value(3), 2).await).await, [1, 2, 3]);
    let sevens = Definition::builder().start_value(2).increment_by(7).max_value(30);
    assert_eq!(all(&open(sevens, 3).await).await, [2, 9, 16, 23, 30]);
    let off_grid = Definition::builder().increment_by(10).max_value(25);
    assert_eq!(all(&open(off_grid, 2).await).await, [1, 11, 21]);
}

#[test]
fn s12_a_start_whose_predecessor_is_no_bigint_is_refused_in_words() {
    let built = Definition::builder().start_value(i64::MIN).min_value(i64::MIN).build();
    let error = built.unwrap_err();
    assert!(matches!(error, InvalidDefinition::StartTooNearTheEdge { .. }));
    assert!(error.to_string().contains("start at least one increment later"), "{error}");
}

#[tokio::test]
async fn two_generators_of_block_one_share_every_id_between_them() {
    let store = StoreHandle::new(MemoryStore::new());
    let open = || Sequence::open(&store, "s").block_size(1);
    let a = open().create_if_missing(Definition::default()).await.unwrap();
    let b = open().await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(a.next_id().await.unwrap());
        ids.push(b.next_id().await.unwrap());
    }
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn blocks_of_different_sizes_on_one_name_stay_apart() {
    let store = StoreHandle::new(MemoryStore::new());
    let open = |size| Sequence::open(&store, "s").block_size(size);
    let large = open(50).create_if_missing(Definition::default()).await.unwrap();
    let small = open(1).await.unwrap();
    let ids = [
        large.next_id().await.unwrap(),
        small.next_id().await.unwrap(),
        large.next_id().await.unwrap(),
        small.next_id().await.unwrap(),
    ];
    assert_eq!(ids, [1, 51, 2, 52]);
}

#[tokio::test]
async fn s12_a_leap_needs_consent() {
    let definition = Definition::builder().int().build().unwrap();
    let store = StoreHandle::new(MemoryStore::new());
    let open = || Sequence::open(&store, "s").create_if_missing(definition);
    let careful = open().await.unwrap();
    for error in [
        careful.reserve(50_000_000).await.unwrap_err(),
        careful.next_ids(50_000_000).await.unwrap_err(),
        careful.observe(50_000_000).unwrap_err(),
    ] {
        assert!(matches!(error, Error::JumpTooFar { .. }), "{error:?}");
    }
    assert_eq!(careful.next_id().await.unwrap(), 1, "nothing was changed");
    let bold = open().max_jump(50_000_000).await.unwrap();
    assert_eq!(bold.reserve(50_000_000).await.unwrap().len(), 50_000_000);
    assert_eq!(
        careful.reserve(1_000_000).await.unwrap().len(),
        1_000_000,
        "a small one needs none"
    );
}

#[tokio::test]
async fn s12_near_the_end_a_block_shrinks_instead_of_being_refused() {
    let sequence = open(Definition::builder().max_value(3_000_000), 1 << 30).await;
    sequence.warm_up().await.unwrap();
    assert_eq!(sequence.buffered(), 1_000_000);
}

#[tokio::test]
async fn reserving_more_than_is_left_changes_nothing() {
    let sequence = open(Definition::builder().max_value(5), 2).await;
    let error = sequence.reserve(6).await.unwrap_err();
    assert!(matches!(error, Error::Exhausted { left: 5, wanted: 6, .. }), "{error:?}");
    let error = sequence.next_ids(6).await.unwrap_err();
    assert!(matches!(error, Error::Exhausted { left: 5, wanted: 6, .. }), "{error:?}");
    assert_eq!(sequence.next_ids(5).await.unwrap().iter().map(IdRange::len).sum::<u64>(), 5);
}

#[tokio::test]
async fn options_out_of_bounds_are_refused() {
    let store = StoreHandle::new(MemoryStore::new());
    for builder in [
        Sequence::open(&store, "s").block_size(0),
        Sequence::open(&store, "s").block_size((1 << 30) + 1),
        Sequence::open(&store, "s").timeout(std::time::Duration::ZERO),
    ] {
        assert!(matches!(builder.await, Err(Error::InvalidOption(_))));
    }
    assert!(matches!(Sequence::open(&store, "").await, Err(Error::InvalidName(_))));
    let sequence = open(Definition::builder(), 1).await;
    assert!(matches!(sequence.reserve(0).await, Err(Error::InvalidOption(_))));
    assert!(sequence.next_ids(0).await.unwrap().is_empty());
}
