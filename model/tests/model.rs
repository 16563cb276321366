//! The rules hold where they are explored, each broken one does harm, and docs/counterexamples.md shows how.

use std::collections::BTreeSet;

use lamport_seq_model::cases::{self, Case, Outcome};
use lamport_seq_model::rules::Rules;
use lamport_seq_model::run::{Found, exhaust};
use lamport_seq_model::runs::QUICK;
use lamport_seq_model::setup::Setup;
use lamport_seq_model::{document, report};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");

#[test]
fn the_rules_hold_and_nothing_that_must_be_possible_is_impossible() {
    for setup in &QUICK {
        let (lines, good) = report::exhaustive(setup, &exhaust(*setup, Rules::PUBLISHED));
        assert!(good, "{}", lines.join("\n"));
    }
}

#[test]
fn a_model_in_which_nothing_can_happen_does_not_pass() {
    let alone = Setup::processes(1, 1);
    let (lines, good) = report::exhaustive(&alone, &exhaust(alone, Rules::PUBLISHED));
    assert!(!good, "{}", lines.join("\n"));
}

/// Runs a case that has to violate one property.
fn violated(case: &Case) -> Found {
    let found = case.run();
    let properties: Vec<_> = found.violations.iter().map(|violated| violated.property).collect();
    let Outcome::Violates(property) = case.outcome else {
        panic!("{} violates nothing", case.name);
    };
    assert_eq!(properties, [property], "{}", case.name);
    found
}

#[test]
fn every_broken_rule_does_the_harm_that_the_document_shows() {
    let shown = std::fs::read_to_string(format!("{DOCS}/counterexamples.md")).unwrap();
    let written = document::write(violated);
    let different = shown.lines().zip(written.lines()).find(|(shown, written)| shown != written);
    let hint = "write it anew: cargo run --release -p lamport-seq-model -- --document";
    assert!(shown == written, "docs/counterexamples.md is old at {different:?}; {hint}");
}

#[test]
fn rules_that_are_not_needed_do_no_harm_when_they_are_broken() {
    for case in cases::all().filter(|case| matches!(case.outcome, Outcome::Holds(_))) {
        let case = case.smaller();
        let (lines, good) = report::case(&case, &case.run());
        assert!(good, "{}", lines.join("\n"));
    }
}

#[test]
fn every_case_has_a_name_of_its_own_and_breaks_a_rule_unless_it_shows_a_shortfall() {
    let names: BTreeSet<_> = cases::all().map(|case| case.name).collect();
    assert_eq!(names.len(), cases::all().count());
    let unbroken = cases::all().filter(|case| case.rules == Rules::PUBLISHED);
    let unbroken: Vec<_> = unbroken.map(|case| case.name).collect();
    assert_eq!(unbroken, ["further-on", "clock-compared", "late-insertion"]);
}

#[test]
fn the_design_links_to_every_case() {
    let design = std::fs::read_to_string(format!("{DOCS}/design.md")).unwrap();
    for case in cases::all() {
        let name = case.name;
        let target = format!("\n[{name}]: counterexamples.md#{name}\n");
        let mentioned = design.matches(&format!("[{name}]")).count() > 1;
        assert!(mentioned && design.contains(&target), "docs/design.md does not mention {name}");
    }
}
