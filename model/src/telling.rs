//! How rows, writes and phases are told in a description.

use crate::description::Description;
use crate::state::{Answer, Attempt, Client, Mark, Phase, Row, Seen, Why, Write, Written};

impl Description {
    pub(crate) fn phase(&mut self, client: &Client, epoch: u8) {
        match &client.phase {
            Phase::Down => self.put(0),
            Phase::Idle => self.put(1),
            Phase::Reading { why, sent, seen } => {
                self.put(2);
                self.why(why, epoch);
                self.option(sent.as_ref(), |told, mark| told.mark(*mark));
                self.option(seen.as_ref(), |told, Seen { row, epoch: then }| {
                    told.option(row.as_ref(), Self::row);
                    told.put(then.map_or(0, |then| epoch - then + 1));
                });
            }
            Phase::Writing { attempt, answer } => {
                self.put(3);
                self.attempt(attempt);
                match answer {
                    None => self.put(0),
                    Some(Answer::Applied { epoch: then, unseen }) => {
                        self.pair(1 + u8::from(*unseen), epoch - then);
                    }
                    Some(Answer::NotApplied { hint: None }) => self.put(3),
                    Some(Answer::NotApplied { hint: Some((value, node)) }) => {
                        self.pair(4, *value);
                        self.node(*node);
                    }
                }
            }
            Phase::ReadingBirth { row, seen } => {
                self.put(4);
                self.option(row.as_ref(), Self::row);
                self.option(seen.filter(|seen| *seen > 0).as_ref(), |told, seen| told.birth(*seen));
                self.put(u8::from(seen.is_some()));
            }
            Phase::Confirming { absent } => self.pair(5, absent.map_or(2, u8::from)),
            Phase::Announcing { created, ours } => {
                self.put(6);
                self.birth(*created);
                self.put(ours.map_or(2, u8::from));
            }
            Phase::Inserting { created, found } => {
                self.put(7);
                self.birth(*created);
                self.option(found.as_ref(), |told, found| told.birth(*found));
            }
            Phase::Done => self.put(8),
            Phase::Exhausted => self.put(11),
            Phase::Stopped(cause) => self.pair(9, *cause as u8),
            Phase::Refused(_) => self.put(10),
        }
    }

    fn why(&mut self, why: &Why, epoch: u8) {
        match why {
            Why::Open => self.put(0),
            Why::Learn => self.put(1),
            Why::Confirm(attempt, then) => {
                self.pair(2, epoch - then);
                self.attempt(attempt);
            }
            Why::Doubt(attempt) => {
                self.put(3);
                self.attempt(attempt);
            }
        }
    }

    pub(crate) fn write(&mut self, write: &Write) {
        match write {
            Write::Move(attempt) => {
                self.put(1);
                self.attempt(attempt);
            }
            Write::Birth(created) => {
                self.put(2);
                self.birth(*created);
            }
            Write::Insert { value, created } => {
                self.pair(3, *value);
                self.birth(*created);
            }
            Write::Revive { old, to, created } => {
                self.pair(4, *to);
                self.birth(*created);
                self.mark(*old);
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt) {
        self.pair(attempt.old, attempt.to);
        self.birth(attempt.created);
        self.put(u8::from(attempt.conditional));
        self.option(attempt.old_node.as_ref(), |told, node| told.node(*node));
        self.node(attempt.node);
    }

    pub(crate) fn row(&mut self, row: &Row) {
        self.mark(Mark::from(*row));
        self.option(row.after.as_ref(), |told, (value, node)| {
            told.put(*value);
            told.node(*node);
        });
        let Written { apart, ahead, brief, .. } = row.written;
        let flags = [row.retired, apart, ahead, brief];
        let bits = flags.into_iter().fold(0, |bits, flag| bits << 1 | u8::from(flag));
        self.put(bits << 2 | row.written.shadow as u8);
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.put(mark.value);
        self.birth(mark.created);
        self.node(mark.node);
    }
}
