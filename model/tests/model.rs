//! The rules hold where they are explored, each broken one does harm, and docs/model.md shows how.

use lamport_seq_model::cases::{self, Case, Outcome};
use lamport_seq_model::report;
use lamport_seq_model::rules::Rules;
use lamport_seq_model::run::exhaust;
use lamport_seq_model::runs::QUICK;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/model.md");

#[test]
fn the_rules_hold_and_nothing_that_must_be_possible_is_impossible() {
    for setup in &QUICK {
        let (lines, good) = report::exhaustive(setup, &exhaust(*setup, Rules::PUBLISHED));
        assert!(good, "{}", lines.join("\n"));
    }
}

#[test]
fn every_broken_rule_does_harm_and_the_document_shows_the_shortest_history() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    for case in cases::all() {
        if let Outcome::Violates(_) = case.outcome {
            let (lines, good) = report::case(case, &case.run());
            let text = lines.join("\n");
            assert!(good, "{text}");
            assert!(document.contains(&text), "docs/model.md does not show this:\n{text}");
        }
    }
}

#[test]
fn rules_that_are_not_needed_do_no_harm_when_they_are_broken() {
    for case in cases::all() {
        if let Outcome::Holds(_) = case.outcome {
            let smaller = Case { setup: case.setup.smaller(), ..*case };
            let (lines, good) = report::case(&smaller, &smaller.run());
            assert!(good, "{}", lines.join("\n"));
        }
    }
}

#[test]
fn names_are_unique_and_every_case_changes_something() {
    let mut names: Vec<_> = cases::all().map(|case| case.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
