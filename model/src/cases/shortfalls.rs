//! Where the rules as they are fall short.

use super::{Case, Outcome, RULES};
use crate::property::{HEALTHY, UNIQUE};
use crate::setup::{Kind, Setup};

/// What the rules, as they are, do not bear: beyond what they promise, and told so that nobody is surprised.
pub const SHORTFALLS: [Case; 3] = [
    Case {
        name: "further-on",
        rule: "S7",
        says: "a plain write shadows the row for seconds; meanwhile two writes are applied and not seen, and \
               afterwards `a value further on` confirms them",
        rules: RULES,
        setup: Setup::processes(2, 2).one(Kind::BriefShadow),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "clock-compared",
        rule: "S7",
        says: "a node's clock is an hour ahead, and write times are compared with the client's clock",
        rules: RULES,
        setup: Setup::processes(2, 2).one(Kind::Skew),
        outcome: Outcome::Violates(HEALTHY),
    },
    Case {
        name: "late-insertion",
        rule: "S6",
        says: "the row is lost while an insertion of it is still under way",
        rules: RULES,
        setup: Setup::processes(2, 2).just_born().one(Kind::LoseEarly),
        outcome: Outcome::Violates(UNIQUE),
    },
];
