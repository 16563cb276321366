//! Simulated worlds: that they are the same for the same seed, and that enough goes wrong in them.

use lamport_seq::testing::simulation::run;

#[test]
fn the_same_seed_gives_the_same_history_to_the_byte() {
    for seed in 0..50 {
        let (one, again) = (run(seed), run(seed));
        assert_eq!(one.histories, again.histories, "seed {seed}");
        assert_eq!(one.stuck, again.stuck, "seed {seed}");
    }
}

/// `cargo xtask test` runs 10,000 of them.
#[test]
fn worlds_are_clean_and_not_empty() {
    let (mut unknown, mut stops, mut ids, mut refused) = (0, 0, 0, 0);
    let mut accidents = std::collections::BTreeSet::new();
    let mut happened = std::collections::BTreeSet::new();
    for seed in 1_000_000..1_000_400 {
        let run = run(seed);
        assert!(run.is_clean(), "{run}");
        let summary = &run.report.summary;
        unknown += summary.unknown;
        stops += summary.stops;
        ids += summary.ids;
        refused += summary.failed;
        accidents.extend(summary.faults.keys().cloned());
        happened.extend(run.happened.keys().copied());
    }
    assert!(
        unknown > 1000 && stops > 50 && ids > 100_000 && refused > 1000,
        "{unknown} {stops} {ids} {refused}"
    );
    let expected = ["drop", "plain_write", "recreate", "restore", "row_deleted"];
    assert!(accidents.iter().eq(&expected), "{accidents:?}");
    let faults = [
        "answer lost",
        "crash",
        "late",
        "outage",
        "panic",
        "pause",
        "refused",
        "request lost",
        "slow",
    ];
    assert!(happened.iter().eq(&faults), "{happened:?}");
}
