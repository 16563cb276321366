//! How states are put into words.

use std::fmt::Write as _;

use crate::model::Protocol;
use crate::rules::{Condition, UuidPer};
use crate::setup::CLIENTS;
use crate::state::{
    Answer, Attempt, Cause, Client, Node, Phase, Row, Shadow, State, Violation, Why, Write,
};

const LETTERS: [&str; CLIENTS] = ["A", "B", "C"];

/// A client's name.
pub(crate) fn name(client: usize) -> &'static str {
    LETTERS[client]
}

impl Protocol {
    /// What a row's `node` shows: a letter and a number name an attempt, a letter alone a uuid that a client shares
    /// among all of its attempts.
    pub(crate) fn node(&self, node: Node) -> String {
        match node {
            Node::NIL => "nil".to_owned(),
            Node::ALIEN => "a plain write's".to_owned(),
            Node { client, reservation, attempt } => {
                let name = name(usize::from(client));
                match self.rules.uuid {
                    UuidPer::Attempt => format!("{name}{}", attempt + 1),
                    UuidPer::Reservation => format!("{name}{}", reservation + 1),
                    UuidPer::Client => name.to_owned(),
                    UuidPer::Process => "shared".to_owned(),
                }
            }
        }
    }

    /// A row, in brackets.
    pub(crate) fn row(&self, row: Option<Row>) -> String {
        let Some(row) = row else {
            return "(no row)".to_owned();
        };
        let mut text = format!("({}, {})", row.value, self.node(row.node));
        if row.created > 1 || self.setup.reads_births() {
            let _ = write!(text, " of birth {}", row.created);
        }
        if row.retired {
            text += " dropped";
        }
        match row.written.shadow {
            Shadow::None if row.written.apart => text += " written apart",
            Shadow::None if row.written.ahead => text += " written ahead",
            Shadow::None => {}
            Shadow::Value => text += " value shadowed",
            Shadow::Row => text += " shadowed",
        }
        text
    }

    pub(crate) fn attempt_text(&self, attempt: &Attempt) -> String {
        let Attempt { old, to, node, .. } = *attempt;
        let named = attempt.old_node.filter(|_| self.rules.condition != Condition::WithoutNode);
        let condition = match named {
            _ if !attempt.conditional => " without a condition".to_owned(),
            Some(old_node) => format!(" if the row is ({old}, {})", self.node(old_node)),
            None => format!(" if the value is {old}"),
        };
        format!("({to}, {}){condition}", self.node(node))
    }

    pub(crate) fn write_text(&self, write: &Write) -> String {
        match write {
            Write::Move(attempt) => self.attempt_text(attempt),
            Write::Birth(created) => format!("birth {created}"),
            Write::Insert { value, created } => {
                format!("insertion of ({value}, nil) of birth {created}")
            }
            Write::Revive { to, created, .. } => {
                format!("revival at {to} under birth {created}")
            }
        }
    }

    /// What a client does next, having gone over to this phase.
    pub(crate) fn intent(&self, client: &Client) -> String {
        match &client.phase {
            Phase::Down => "is down".to_owned(),
            Phase::Idle => "waits".to_owned(),
            Phase::Reading { why, .. } => match why {
                Why::Open | Why::Learn => "asks for the row".to_owned(),
                Why::Confirm(..) => "asks for the row to confirm it".to_owned(),
                Why::Doubt(_) => "asks for the row to find out".to_owned(),
            },
            Phase::Writing { attempt, .. } => format!("sends {}", self.attempt_text(attempt)),
            Phase::ReadingBirth { .. } => "asks for the birth".to_owned(),
            Phase::Confirming { .. } => "asks every replica".to_owned(),
            Phase::Announcing { created, .. } => format!("sends birth {created}"),
            Phase::Inserting { created, .. } => {
                format!("sends the insertion of (0, nil) of birth {created}")
            }
            Phase::Done => "has all it wanted".to_owned(),
            Phase::Exhausted => "finds the sequence exhausted".to_owned(),
            Phase::Stopped(cause) => format!("STOPS: {}", cause_text(*cause)),
            Phase::Refused(cause) => format!("is REFUSED: {}", cause_text(*cause)),
        }
    }
}

/// What a client hears of its write.
pub(crate) fn answer_text(answer: Answer) -> String {
    match answer {
        Answer::Applied { .. } => "applied".to_owned(),
        Answer::NotApplied { hint: None } => "not applied".to_owned(),
        Answer::NotApplied { hint: Some((value, _)) } => {
            format!("not applied, the value is {value}")
        }
    }
}

/// Why a client stops.
pub(crate) fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Missing => "the row is missing",
        Cause::Regressed => "the row is behind its mark",
        Cause::ChangedHands => "the value of its mark is in other hands",
        Cause::Recreated => "the row is of another birth",
        Cause::Retired => "the sequence was dropped",
        Cause::WrittenApart => "value and node were not written together",
        Cause::WrittenAhead => "the row was written ahead of its clock",
    }
}

/// What is wrong in a state.
pub(crate) fn violation_text(state: &State) -> String {
    match state.violation {
        None => "nothing is wrong".to_owned(),
        Some(Violation::Duplicate { id }) => format!("id {id} was given twice"),
        Some(Violation::GivenBeyondMark { id }) => {
            format!("id {id} was given by a client that knew better")
        }
        Some(Violation::FalseStop(cause)) => {
            format!("a client stopped because {}, and nothing had happened", cause_text(cause))
        }
    }
}
