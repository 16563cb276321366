//! Rules that are needed: without each of them something goes wrong.

use super::{Case, LOSE, Outcome, RULES};
use crate::property::{BEYOND, HEALTHY, UNIQUE};
use crate::rules::{
    Above, Birth, CleanFalse, Compared, Condition, Confirming, Drop, Electorate, Hint, Missing,
    Overtaken, Proof, Retry, Rules, Settles, Stops, UuidPer, Verdict, Verify,
};
use crate::setup::{Kind, Kinds, Setup};

/// Rules that are needed: without each of them something goes wrong.
pub(super) const BROKEN: [Case; 20] = [
    Case {
        name: "node-alone",
        rule: "S1, S2",
        says: "the published algorithm, read literally: one uuid per client, and a range is a client's own if the row \
               shows that uuid",
        rules: Rules {
            uuid: UuidPer::Client,
            proof: Proof::Node,
            clean_false: CleanFalse::Doubted,
            ..RULES
        },
        setup: Setup::processes(2, 2).faults(1),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "claim-false",
        rule: "S1",
        says: "a clean `applied = false` is claimed if the row holds the value that was wanted",
        rules: Rules { proof: Proof::Value, clean_false: CleanFalse::Doubted, ..RULES },
        setup: Setup::processes(2, 2),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "shared-uuid",
        rule: "S2",
        says: "two reservations that are under way at the same time share one uuid",
        rules: Rules { uuid: UuidPer::Process, ..RULES },
        setup: Setup::processes(2, 2).first_two_share().faults(1),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "uuid-per-client",
        rule: "S2, S4",
        says: "all attempts of a client share one uuid: a row that was set back, and that the same client brought \
               on again, looks to the others as it did before",
        rules: Rules { uuid: UuidPer::Client, ..RULES },
        setup: Setup::processes(2, 2).one(Kind::Crash).disasters(1, Kinds::SET_BACK),
        outcome: Outcome::Violates(BEYOND),
    },
    Case {
        name: "unguarded-retry",
        rule: "S3, S9",
        says: "after a timeout and a clean read the same range is tried again, without a condition",
        rules: Rules { retry: Retry::Unconditional, ..RULES },
        setup: Setup::processes(2, 2).faults(1),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "accept-behind",
        rule: "S4",
        says: "a row behind the mark is accepted",
        rules: Rules { behind: Verdict::Accept, ..RULES },
        setup: Setup::processes(2, 2).disasters(1, Kinds::SET_BACK),
        outcome: Outcome::Violates(BEYOND),
    },
    Case {
        name: "accept-other-hands",
        rule: "S4",
        says: "the mark's value with another node is accepted",
        rules: Rules { changed_hands: Verdict::Accept, ..RULES },
        setup: Setup::processes(2, 2).disasters(1, Kinds::SET_BACK),
        outcome: Outcome::Violates(BEYOND),
    },
    Case {
        name: "mark-on-arrival",
        rule: "S4",
        says: "a read is compared with the mark as it stands when the answer arrives",
        rules: Rules { compared: Compared::OnArrival, ..RULES },
        setup: Setup::processes(2, 2).first_two_share(),
        outcome: Outcome::Violates(HEALTHY),
    },
    Case {
        name: "mark-by-hint",
        rule: "S4",
        says: "the value in a clean `applied = false` raises the mark",
        rules: Rules { hint: Hint::RaisesMark, ..RULES },
        setup: Setup::processes(2, 2).faults(1),
        outcome: Outcome::Violates(HEALTHY),
    },
    Case {
        name: "no-node",
        rule: "S4, the condition",
        says: "the condition does not name the node: after a restore the row comes to the value of a client's mark in \
               other hands, and the client writes over them unseen",
        rules: Rules { condition: Condition::WithoutNode, ..RULES },
        setup: Setup::processes(2, 2).disasters(1, Kinds::SET_BACK),
        outcome: Outcome::Violates(BEYOND),
    },
    Case {
        name: "stop-alone",
        rule: "S5",
        says: "only the generator that notices stops, and not the others on its handle",
        rules: Rules { stop: Stops::Client, ..RULES },
        setup: Setup::processes(3, 2).first_two_share().disasters(1, Kinds::SET_BACK),
        outcome: Outcome::Violates(BEYOND),
    },
    Case {
        name: "recreate-missing",
        rule: "S6",
        says: "a client that finds no row inserts one",
        rules: Rules { missing: Missing::Recreate, ..RULES },
        setup: Setup::processes(2, 2).disasters(1, LOSE),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "deleting-drop",
        rule: "S6",
        says: "a drop deletes the row, and an insertion of it is still under way",
        rules: Rules { drop: Drop::Deletes, ..RULES },
        setup: Setup::processes(2, 2).just_born().one(Kind::Drop),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "recreate-above-data",
        rule: "S6",
        says: "a lost row is recreated beyond the largest id in the data, while clients run",
        rules: Rules { above: Above::Given, ..RULES },
        setup: Setup::processes(2, 2).disasters(2, Kinds::of(&[Kind::Lose, Kind::Recreate])),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "birth-ignored",
        rule: "S6",
        says: "a client that opens does not compare the row with the birth, and a late insertion brings the old row back",
        rules: Rules { birth: Birth::Ignored, ..RULES },
        setup: Setup::processes(2, 2).returning(),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "settle-any",
        rule: "S6",
        says: "an operator whose row was refused makes the birth agree with the row that is there, however far it is",
        rules: Rules { settles: Settles::Any, ..RULES },
        setup: Setup::processes(2, 2).returning(),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "creators-refuse",
        rule: "S6",
        says: "a creator that finds another creator's birth or row takes it for a lost sequence's",
        rules: Rules { overtaken: Overtaken::Refuses, ..RULES },
        setup: Setup::processes(2, 2).unborn(),
        outcome: Outcome::Violates(HEALTHY),
    },
    Case {
        name: "no-cross-check",
        rule: "S7",
        says: "`applied` is believed without a read, and a plain write shadows the row",
        rules: Rules { verify: Verify::OnDoubt, ..RULES },
        setup: Setup::processes(2, 2).disasters(1, Kinds::of(&[Kind::Shadow])),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "two-electorates",
        rule: "S8",
        says: "one client is at LOCAL_SERIAL",
        rules: Rules { electorate: Electorate::FirstIsLocal, ..RULES },
        setup: Setup::processes(2, 2),
        outcome: Outcome::Violates(UNIQUE),
    },
    Case {
        name: "plain-confirmation",
        rule: "S8",
        says: "the read that confirms a write is not serial: one replica answers it",
        rules: Rules { confirming: Confirming::OneReplica, ..RULES },
        setup: Setup::processes(2, 2),
        outcome: Outcome::Violates(HEALTHY),
    },
];
