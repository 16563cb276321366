//! Where the rules as they are fall short.

use super::{Case, Outcome, RULES};
use crate::property::{HEALTHY, UNIQUE};
use crate::rules::{Rules, Shows};
use crate::setup::{Kind, Kinds, Setup};

const SHADOWS: Kinds = Kinds::SET_BACK.and(Kinds::of(&[Kind::Shadow, Kind::BriefShadow]));
const SHADOWED: Setup =
    Setup::processes(2, 2).blocks([1, 2, 1]).ending(5).faults(1).disasters(2, SHADOWS);

/// What the rules, as they are, do not bear, and what would: beyond what they promise, and told so that nobody is
/// surprised.
pub(super) const SHORTFALLS: [Case; 5] = [
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
        name: "own-alone",
        rule: "S7",
        says: "a write is confirmed only by its own uuid in the row; what was overtaken before is burned",
        rules: Rules { shows: Shows::Own, ..RULES },
        setup: SHADOWED,
        outcome: Outcome::Holds("what was shadowed never shows"),
    },
    Case {
        name: "own-or-next",
        rule: "S7",
        says: "a write is confirmed by its own uuid, or by one that tells, in some of its bits, that it came right \
               after it; what was overtaken twice before is burned",
        rules: Rules { shows: Shows::OwnOrNext, ..RULES },
        setup: SHADOWED,
        outcome: Outcome::Holds("nobody comes right after what was shadowed"),
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
