//! The examples that need no server, run as they are.

use crate::example::run;

#[test]
fn quick_start_gives_ten_orders() {
    let printed = run("quick_start", &[]);
    let mut expected: Vec<_> = (1..=10).map(|id| format!("order {id}")).collect();
    expected.push(format!("90 buffered, {} left", i64::MAX.unsigned_abs() - 10));
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn several_sequences_each_go_their_way() {
    let printed = run("several_sequences", &[]);
    for line in ["customers: [6001, 6002]", "tickets: [1, 11]", "refunds: [-1, -2]"] {
        assert!(printed.lines().any(|printed| printed == line), "{line} in {printed}");
    }
}

#[test]
fn a_custom_store_counts_what_is_sent() {
    assert_eq!(run("custom_store", &[]), "1000 ids, 10 conditional writes\n");
}
