//! Every rule that can be broken, and what comes of it.

mod broken;
mod shortfalls;
mod spared;

use self::broken::BROKEN;
use self::shortfalls::SHORTFALLS;
use self::spared::SPARED;
use crate::rules::Rules;
use crate::run::{Found, exhaust, shortest};
use crate::setup::{Kind, Kinds, Setup};

/// A variant of the rules, where it is tried, and what has to come of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The rule that it changes.
    pub rule: &'static str,
    /// What is done instead.
    pub says: &'static str,
    /// The rules, changed.
    pub rules: Rules,
    /// Where they are tried.
    pub setup: Setup,
    /// What has to come of it.
    pub outcome: Outcome,
}

/// What has to come of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This property is violated.
    Violates(&'static str),
    /// Everything holds, for this reason.
    Holds(&'static str),
}

impl Case {
    /// Tries it: looks for the shortest counterexample where one has to be, and otherwise explores everything.
    pub fn run(&self) -> Found {
        let (setup, rules) = (self.setup, self.rules);
        match self.outcome {
            Outcome::Violates(property) => shortest(setup, rules, property),
            Outcome::Holds(_) => exhaust(setup, rules),
        }
    }

    /// The same, where a case that explores everything does so in a model that takes seconds.
    #[must_use]
    pub fn smaller(&self) -> Self {
        match self.outcome {
            Outcome::Violates(_) => *self,
            Outcome::Holds(_) => Self { setup: self.setup.smaller(), ..*self },
        }
    }
}

/// The cases by what comes of them, and what that tells.
pub const CHAPTERS: [(&str, &[Case]); 3] = [
    ("Without a rule", &BROKEN),
    ("Rules that are not needed against what is modelled", &SPARED),
    ("Where the rules as they are fall short", &SHORTFALLS),
];

/// All cases.
pub fn all() -> impl Iterator<Item = &'static Case> {
    CHAPTERS.into_iter().flat_map(|(_, cases)| cases)
}

const RULES: Rules = Rules::PUBLISHED;
const LOSE: Kinds = Kinds::of(&[Kind::Lose]);
