//! A path through the model as a story: numbered steps, who does what, and the row after each.

use stateright::{Model, Path};

use crate::action::Action;
use crate::faults::Fault;
use crate::model::Protocol;
use crate::rules::Electorate;
use crate::state::{Answer, Phase, Shadow, State, Write};
use crate::words::{answer_text, name, violation_text};

/// How wide a step's words are before the row.
const WIDTH: usize = 92;

/// Tells `path`, one line for each step.
pub(crate) fn tell(model: &Protocol, path: Path<State, Action>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut number = 0;
    for (before, action) in path.into_vec() {
        let Some(action) = action else {
            lines.push(format!("      {}.", violation_text(&before)));
            continue;
        };
        let Some(after) = model.next_state(&before, action) else {
            continue;
        };
        number += 1;
        let text = model.step(&before, action, &after);
        let row = model.row(after.store.row);
        lines.push(format!("{number:4}. {text:WIDTH$} {row}"));
    }
    lines
}

impl Protocol {
    fn step(&self, before: &State, action: Action, after: &State) -> String {
        let does = |client: usize| self.intent(&after.clients[client]);
        match action {
            Action::Start(client) => format!("{} starts and {}.", name(client), does(client)),
            Action::Begin(client) => format!("{} goes on: it {}.", name(client), does(client)),
            Action::Carry(client) => self.carried(before, client, after),
            Action::CarryStale(client) => {
                let row = self.row(before.store.previous);
                format!("A replica that lags answers {}: {row}.", name(client))
            }
            Action::Peek { client, lags } => {
                let row = self.row(self.peeked(before, client, lags));
                format!("A replica shows {} {row}: it {}.", name(client), does(client))
            }
            Action::Settle { newer: true } => {
                "The local decision reaches the row, with the newer timestamp.".to_owned()
            }
            Action::Settle { newer: false } => {
                "The local decision reaches the row, with an older timestamp.".to_owned()
            }
            Action::Hear(client) => self.heard(before, client, after),
            Action::Land(index) => {
                let write = before.late[index].as_ref();
                let write = write.map_or_else(String::new, |write| self.write_text(write));
                format!("Late, {write} lands.")
            }
            Action::Expire => "The plain write's timestamp is in the future no more.".to_owned(),
            Action::Finish => Self::finished(before, after),
            Action::Fault(fault) => self.fault_text(fault, after),
        }
    }

    fn finished(before: &State, after: &State) -> String {
        let there = before.store.row.map(|row| row.created);
        let created = match before.operator {
            Some(Write::Insert { created, .. } | Write::Revive { created, .. }) => Some(created),
            _ => None,
        };
        let row = after.store.row.map(|row| row.created);
        if row == created && there != created {
            "The store carries out what the operator has prepared.".to_owned()
        } else if before.store.birth == after.store.birth {
            "The store refuses what the operator has prepared.".to_owned()
        } else {
            let birth = after.store.birth.unwrap_or_default();
            format!("The store refuses it, and the operator makes the birth agree: birth {birth}.")
        }
    }

    fn carried(&self, before: &State, client: usize, after: &State) -> String {
        let name = name(client);
        match (&before.clients[client].phase, &after.clients[client].phase) {
            (_, Phase::Reading { seen: Some(seen), .. }) => {
                format!("The store answers {name}: {}.", self.row(seen.row))
            }
            (Phase::Writing { .. }, Phase::Writing { attempt, answer }) => {
                let to = self.attempt_text(attempt);
                match answer {
                    Some(answer) => {
                        let answer = answer_text(*answer);
                        format!("The store carries out {to}: {answer}.")
                    }
                    None if self.rules.electorate == Electorate::FirstIsLocal => {
                        format!("The local replicas decide on {to}: applied.")
                    }
                    None => String::new(),
                }
            }
            (_, Phase::ReadingBirth { seen: Some(seen), .. }) => match seen {
                0 => format!("The store answers {name}: no birth."),
                birth => format!("The store answers {name}: birth {birth}."),
            },
            (_, Phase::Confirming { absent }) => match absent {
                Some(true) => format!("All replicas answer {name}: neither birth nor row."),
                _ => format!("All replicas answer {name}: there is one."),
            },
            (_, Phase::Announcing { created, ours }) => match ours {
                Some(true) => format!("The store writes {name}'s birth {created}."),
                _ => format!("The store has another birth than {name}'s."),
            },
            (_, Phase::Inserting { created, found }) if *found == Some(*created) => {
                format!("The store has the row that {name} inserts.")
            }
            _ => format!("The store has another row than {name}'s."),
        }
    }

    fn heard(&self, before: &State, client: usize, after: &State) -> String {
        let what = match before.clients[client].phase {
            Phase::Writing { answer: Some(Answer::Applied { .. }), .. } => "hears `applied`",
            Phase::Writing { .. } => "hears `not applied`",
            Phase::Confirming { .. } | Phase::Announcing { .. } | Phase::Inserting { .. } => {
                "hears that"
            }
            _ => "hears it",
        };
        let own = &after.clients[client];
        let given = if own.done > before.clients[client].done {
            Self::given(before, client)
        } else {
            String::new()
        };
        format!("{} {what}{given} and {}.", name(client), self.intent(own))
    }

    /// The ids that a client gives on hearing its answer.
    fn given(before: &State, client: usize) -> String {
        let Some(attempt) = before.clients[client].phase.attempt() else {
            return String::new();
        };
        let first = attempt.old + 1;
        if first == attempt.to {
            format!(", GIVES ID {first}")
        } else {
            format!(", GIVES IDS {first} to {}", attempt.to)
        }
    }

    fn fault_text(&self, fault: Fault, after: &State) -> String {
        let does = |client: usize| self.intent(&after.clients[client]);
        match fault {
            Fault::Timeout(client) => {
                format!("{} hears nothing in time and {}.", name(client), does(client))
            }
            Fault::GiveUp(client) => {
                let name = name(client);
                format!("{name} gives the range up and {}.", does(client))
            }
            Fault::Repeat(client) => format!("What {} has sent is delivered twice.", name(client)),
            Fault::Crash(handle) => {
                let clients = (0..usize::from(self.setup.clients))
                    .filter(|client| self.setup.handles[*client] == handle)
                    .map(name);
                format!("The process of {} dies.", clients.collect::<Vec<_>>().join(" and "))
            }
            Fault::Restore => "The row is restored to what it was before.".to_owned(),
            Fault::RestoreFirst => "The row is restored to what it was at first.".to_owned(),
            Fault::SetBack => "A plain write sets the value back to 0.".to_owned(),
            Fault::Shadow { cells, brief } => {
                let what = if cells == Shadow::Row { "row" } else { "value" };
                let ahead = if brief { "seconds" } else { "an hour" };
                format!("A plain write repeats the {what}, with a timestamp {ahead} ahead.")
            }
            Fault::Lose => "The row is lost.".to_owned(),
            Fault::Skew => "A node's clock jumps ahead by an hour.".to_owned(),
            Fault::Drop => "An operator drops the sequence.".to_owned(),
            Fault::Recreate => {
                let birth = after.store.birth.unwrap_or_default();
                let write = after.operator.as_ref();
                let write = write.map_or_else(String::new, |write| self.write_text(write));
                format!("An operator writes birth {birth} and prepares the {write}.")
            }
        }
    }
}
