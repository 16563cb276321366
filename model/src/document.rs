//! docs/counterexamples.md: what goes wrong without each rule, as a page to read.

use crate::cases::{CHAPTERS, Case, Outcome};
use crate::report;
use crate::run::{Found, Violated};

const PREFACE: &str = include_str!("preface.md");

/// The page; `run` carries out the cases that have to violate something.
pub fn write(run: impl Fn(&Case) -> Found) -> String {
    let mut parts = vec![PREFACE.to_owned()];
    for (title, cases) in CHAPTERS {
        parts.push(format!("## {title}\n"));
        for case in cases {
            let Case { name, rule, says, setup, .. } = case;
            let setup = report::setup(setup);
            parts.push(format!("### {name}\n\n**{rule}:** {says}.\n\nExplored: {setup}.\n"));
            match case.outcome {
                Outcome::Holds(reason) => {
                    parts.push(format!("Everything holds, since {reason}.\n"));
                }
                Outcome::Violates(_) => {
                    parts.extend(run(case).violations.iter().map(counterexample));
                }
            }
        }
    }
    parts.join("\n")
}

fn counterexample(violated: &Violated) -> String {
    let Violated { property, steps, history } = violated;
    let history = history.join("\n");
    format!("Violates `{property}` in {steps} steps:\n\n```text\n{history}\n```\n")
}
