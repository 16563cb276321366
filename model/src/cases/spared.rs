//! Rules that are not needed against what is modelled, or not in full.

use super::{Case, LOSE, Outcome, RULES};
use crate::rules::{CleanFalse, Condition, Proof, Retry, Rules, UuidPer, Verdict, Verify};
use crate::setup::{Kind, Kinds, Setup};

const SMALL: Setup = Setup::processes(2, 3).faults(2).disasters(1, Kinds::DISASTERS);
const BORN_AGAIN: Kinds = Kinds::OPERATORS.and(LOSE);

/// Rules that are not needed against what is modelled, or not in full.
pub(super) const SPARED: [Case; 8] = [
    Case {
        name: "node-alone-per-attempt",
        rule: "S1",
        says: "a write of unknown outcome is claimed by its uuid alone, which is made for the attempt",
        rules: Rules { proof: Proof::Node, ..RULES },
        setup: SMALL,
        outcome: Outcome::Holds(
            "a uuid that only one write ever had says which write it was, and so its value",
        ),
    },
    Case {
        name: "claim-false-by-uuid",
        rule: "S1",
        says: "a clean `applied = false` is claimed if the row shows the attempt's own uuid and value",
        rules: Rules { clean_false: CleanFalse::Doubted, ..RULES },
        setup: SMALL,
        outcome: Outcome::Holds(
            "such a row can only come of the same write, delivered twice and applied once",
        ),
    },
    Case {
        name: "uuid-per-reservation",
        rule: "S2",
        says: "the tries of one reservation share a uuid, where nothing sets the row back",
        rules: Rules { uuid: UuidPer::Reservation, ..RULES },
        setup: Setup::processes(2, 3).faults(2),
        outcome: Outcome::Holds(
            "they go out one after another, and of those for one range only one is applied",
        ),
    },
    Case {
        name: "uuid-per-client-in-peace",
        rule: "S2",
        says: "all attempts of a client share a uuid, which is compared with the value, where nothing sets the row back",
        rules: Rules { uuid: UuidPer::Client, ..RULES },
        setup: Setup::processes(2, 3).faults(2),
        outcome: Outcome::Holds(
            "a client has one attempt under way, and its earlier ones can't land on a later value",
        ),
    },
    Case {
        name: "no-read-back",
        rule: "S3",
        says: "after an unknown outcome the client tries again at once, without finding out what became of the first try",
        rules: Rules { retry: Retry::Unread, ..RULES },
        setup: SMALL,
        outcome: Outcome::Holds(
            "the range is burned, and the condition keeps the second try off the first one's ids",
        ),
    },
    Case {
        name: "no-write-times",
        rule: "S7",
        says: "write times are looked at neither for being apart nor for being ahead",
        rules: Rules { apart: Verdict::Accept, ahead: Verdict::Accept, ..RULES },
        setup: Setup::processes(2, 3)
            .faults(1)
            .disasters(2, Kinds::of(&[Kind::Shadow, Kind::SetBack, Kind::Skew])),
        outcome: Outcome::Holds(
            "a write that is shadowed shows in the value, whatever the write times say",
        ),
    },
    Case {
        name: "no-created",
        rule: "the condition",
        says: "the condition does not name the birth: IF value = <old> AND node = <old node>",
        rules: Rules { condition: Condition::WithoutCreated, ..RULES },
        setup: Setup::processes(2, 2).unborn().faults(1).disasters(2, BORN_AGAIN),
        outcome: Outcome::Holds(
            "a client of the old life reads back what it has written, finds the new birth and stops",
        ),
    },
    Case {
        name: "on-doubt",
        rule: "S7",
        says: "Verify::OnDoubt, where nothing sets the row back or shadows it",
        rules: Rules { verify: Verify::OnDoubt, ..RULES },
        setup: Setup::processes(3, 2).faults(2).disasters(1, LOSE),
        outcome: Outcome::Holds(
            "`applied` is a proof as long as nothing but transactions writes the row",
        ),
    },
];
