//! What was found, in lines.

use std::fmt::Write;

use crate::cases::{Case, Outcome};
use crate::run::{Found, Violated};
use crate::setup::{Kind, LAST_ID, Origin, Setup};

const WIDTH: usize = 100;
const INDENT: &str = "    ";

/// A setup in words.
pub fn setup(setup: &Setup) -> String {
    let clients = usize::from(setup.clients);
    let shared = setup.handles[..clients].windows(2).any(|pair| pair[0] == pair[1]);
    let plural = if setup.reservations == 1 { "" } else { "s" };
    let mut text =
        format!("{} clients x {} reservation{plural}", setup.clients, setup.reservations);
    text += match (shared, clients) {
        (false, _) => ", each a process of its own",
        (true, 2) => ", in one process",
        (true, _) => ", two of them in one process",
    };
    if setup.blocks[..clients].iter().any(|block| *block != 1) {
        text += ", blocks of 1 and 2";
    }
    if setup.peeks {
        text += ", peeking at one replica before they write";
    }
    text += match setup.origin {
        Origin::Born => "",
        Origin::JustBorn => ", while an insertion of the row is still under way",
        Origin::Unborn => ", creating the sequence",
        Origin::Returning => ", while a sequence that lost its row comes back",
    };
    if setup.faults > 0 {
        let _ = write!(text, "; up to {} of: timeout, give up, repeat, crash", setup.faults);
    }
    if setup.disasters > 0 {
        let kinds = names(setup).join(", ");
        let _ = write!(text, "; up to {} of: {kinds}", setup.disasters);
    }
    if setup.last_id < LAST_ID {
        let _ = write!(text, "; ids up to {}", setup.last_id);
    }
    if setup.faults + setup.disasters == 0 {
        text += "; nothing goes wrong";
    }
    text
}

fn names(setup: &Setup) -> Vec<&'static str> {
    let names = [
        (Kind::Restore, "restore"),
        (Kind::SetBack, "value set back"),
        (Kind::Shadow, "shadow"),
        (Kind::BriefShadow, "brief shadow"),
        (Kind::Lose, "lost row"),
        (Kind::LoseEarly, "lost row while it is inserted"),
        (Kind::Skew, "clock ahead"),
        (Kind::Drop, "drop"),
        (Kind::Recreate, "recreate"),
    ];
    let among = names.into_iter().filter(|(kind, _)| setup.kinds.has(*kind));
    among.map(|(_, name)| name).collect()
}

/// What an exploration of the rules as they are has found, and whether that is as it should be.
pub fn exhaustive(of: &Setup, found: &Found) -> (Vec<String>, bool) {
    let mut lines = wrapped(&format!("{}.", setup(of)), "");
    lines.push(format!("{INDENT}{}", size(found)));
    for name in &found.holds {
        lines.push(format!("{INDENT}holds     {name}"));
    }
    for (name, possible) in &found.possible {
        let word = if *possible { "possible " } else { "NEVER    " };
        lines.push(format!("{INDENT}{word} {name}"));
    }
    let possible = found.possible.iter().all(|(_, possible)| *possible);
    lines.extend(found.violations.iter().flat_map(counterexample));
    (lines, possible && found.violations.is_empty())
}

/// What came of a case, and whether that is what has to come of it.
pub fn case(case: &Case, found: &Found) -> (Vec<String>, bool) {
    let Case { name, rule, says, .. } = case;
    let mut lines = wrapped(&format!("{name} ({rule}): {says}."), "");
    lines.extend(wrapped(&format!("{}.", setup(&case.setup)), INDENT));
    lines.extend(found.violations.iter().flat_map(counterexample));
    let harmless = found.violations.is_empty();
    match case.outcome {
        Outcome::Violates(property) if harmless => {
            lines.push(format!("{INDENT}SURVIVES: `{property}` holds. {}", size(found)));
        }
        Outcome::Holds(reason) if harmless => {
            lines.extend(wrapped(&format!("everything holds, since {reason}."), INDENT));
            lines.push(format!("{INDENT}{}", size(found)));
        }
        Outcome::Violates(_) | Outcome::Holds(_) => {}
    }
    (lines, harmless == matches!(case.outcome, Outcome::Holds(_)))
}

fn counterexample(violated: &Violated) -> Vec<String> {
    let Violated { property, steps, history } = violated;
    let mut lines = vec![format!("{INDENT}violates `{property}` in {steps} steps:")];
    lines.extend(history.iter().cloned());
    lines
}

fn size(found: &Found) -> String {
    let Found { states, steps, depth, took, .. } = found;
    format!(
        "{} states, {} steps, up to {depth} deep, {:.1} s",
        thousands(*states),
        thousands(*steps),
        took.as_secs_f64()
    )
}

/// A number with commas.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}{INDENT}"));
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
