//! The rules as they are, explored from end to end.

use crate::setup::{Kind, Kinds, Setup};

const LOSE: Kinds = Kinds::of(&[Kind::Lose]);
const TWICE: Kinds = Kinds::SET_BACK.and(LOSE);
const REBIRTH: Kinds = Kinds::OPERATORS.and(LOSE);

/// The models in which the rules must hold, large enough to tell something.
pub const EXHAUSTIVE: [Setup; 14] = [
    Setup::processes(3, 2).faults(2),
    Setup::processes(3, 2).first_two_share().faults(2),
    Setup::processes(3, 2).faults(1).disasters(1, Kinds::DISASTERS),
    Setup::processes(3, 2).first_two_share().disasters(1, Kinds::DISASTERS),
    Setup::processes(3, 1).first_two_share().faults(1).disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 3).blocks([1, 2, 1]).faults(2).disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 3).first_two_share().faults(2).disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 3).faults(1).disasters(2, TWICE),
    Setup::processes(2, 2).unborn().faults(2).disasters(2, REBIRTH),
    Setup::processes(3, 2).faults(1).disasters(2, Kinds::OPERATORS),
    Setup::processes(2, 3).faults(2).disasters(2, Kinds::OPERATORS),
    Setup::processes(3, 2).returning().faults(1),
    Setup::processes(3, 2).peeking().faults(1),
    Setup::processes(2, 3).peeking().faults(1).disasters(1, Kinds::DISASTERS),
];

/// The same rules in models that take seconds.
pub const QUICK: [Setup; 7] = [
    Setup::processes(3, 2).faults(1),
    Setup::processes(3, 1).first_two_share().disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 2).first_two_share().faults(1).disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 2).faults(1).disasters(1, Kinds::DISASTERS),
    Setup::processes(2, 1).unborn().faults(1).disasters(2, REBIRTH),
    Setup::processes(2, 2).returning(),
    Setup::processes(2, 2).peeking().faults(1).disasters(1, Kinds::DISASTERS),
];
