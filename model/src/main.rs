//! Run it with `cargo run --release -p lamport-seq-model`: explores the rules as they are, and then each rule broken.

use std::process::ExitCode;

use lamport_seq_model::cases::{self, CHAPTERS, Case};
use lamport_seq_model::document;
use lamport_seq_model::output::{complain, line};
use lamport_seq_model::report;
use lamport_seq_model::rules::Rules;
use lamport_seq_model::run::exhaust;
use lamport_seq_model::runs::{EXHAUSTIVE, QUICK};
use lamport_seq_model::setup::Setup;

const USAGE: &str = "\
usage: lamport-seq-model [--quick | --list | --rule NAME | --document]

without arguments: the rules as they are, explored from end to end, and then each of them broken
--quick            the same in smaller models, in well under a minute
--list             the names of the cases
--rule NAME        one case
--document         docs/counterexamples.md

exit code: 0 all is as it should be; 1 the rules violate something, something that must be possible never
happens, or a broken rule does no harm; 2 bad arguments";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match arguments.as_slice() {
        [] => everything(&EXHAUSTIVE, |case| *case),
        ["--quick"] => everything(&QUICK, Case::smaller),
        ["--list"] => list(),
        ["--document"] => write_document(),
        ["--rule", name] => match cases::all().find(|case| case.name == *name) {
            Some(case) => try_case(case),
            None => return misuse(&format!("there is no case `{name}`; --list shows them all")),
        },
        _ => return misuse(USAGE),
    };
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn misuse(text: &str) -> ExitCode {
    complain(text);
    ExitCode::from(2)
}

fn list() -> bool {
    for Case { name, rule, says, .. } in cases::all() {
        line(format_args!("{name:24} {rule:10} {says}"));
    }
    true
}

fn write_document() -> bool {
    line(document::write(Case::run).trim_end());
    true
}

fn everything(runs: &[Setup], size: impl Fn(&Case) -> Case) -> bool {
    let mut good = true;
    chapter("The rules as they are");
    for setup in runs {
        good &= explore(setup);
    }
    for (title, cases) in CHAPTERS {
        chapter(title);
        for case in cases {
            good &= try_case(&size(case));
        }
    }
    line(if good { "all is as it should be" } else { "NOT all is as it should be" });
    good
}

fn chapter(title: &str) {
    line(format_args!("== {title}\n"));
}

fn explore(setup: &Setup) -> bool {
    print(report::exhaustive(setup, &exhaust(*setup, Rules::PUBLISHED)))
}

fn try_case(case: &Case) -> bool {
    print(report::case(case, &case.run()))
}

fn print((lines, good): (Vec<String>, bool)) -> bool {
    for text in lines {
        line(text);
    }
    line("");
    good
}
