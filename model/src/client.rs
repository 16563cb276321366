//! The clients: what they do with an answer. It follows src/reserve.rs and src/register.rs.

use crate::event::Event;
use crate::judge::shows;
use crate::model::Protocol;
use crate::rules::{CleanFalse, Hint, Missing, Retry, Shows, Verdict, Verify};
use crate::state::{
    Answer, Attempt, Cause, FIRST_BIRTH, Mark, Node, Phase, Row, Seen, State, Violation, Why,
};

impl Protocol {
    /// The mark of `client`'s handle, to be changed.
    pub(crate) fn mark<'a>(&self, state: &'a mut State, client: usize) -> &'a mut Option<Mark> {
        &mut state.handles[self.handle(client)].mark
    }

    /// Starts a reservation: the first attempt goes out from the mark.
    pub(crate) fn begin(&self, state: &mut State, client: usize) {
        let own = &mut state.clients[client];
        own.reservation = own.attempts;
        match *self.mark(state, client) {
            Some(mark) => self.attempt(state, client, mark.value, Some(mark.node)),
            None => self.read(state, client, Why::Learn),
        }
    }

    /// Sends a read. S4: it keeps the mark as it stands.
    pub(crate) fn read(&self, state: &mut State, client: usize, why: Why) {
        let sent = *self.mark(state, client);
        let seen = None;
        state.clients[client].phase = Phase::Reading { why, sent, seen };
    }

    /// Sends a conditional write from `old`, whose node is known if it was read.
    fn attempt(&self, state: &mut State, client: usize, old: u8, old_node: Option<Node>) {
        let created = self.mark(state, client).map_or(FIRST_BIRTH, |mark| mark.created);
        let own = &mut state.clients[client];
        let to = old + self.setup.blocks[client];
        if to > self.setup.last_id {
            own.phase = Phase::Exhausted;
            return;
        }
        let node = Node {
            client: u8::try_from(client).unwrap_or(u8::MAX),
            reservation: own.reservation,
            attempt: own.attempts,
        };
        own.attempts += 1;
        let after =
            old_node.map(|node| (old, node)).filter(|_| self.rules.shows == Shows::OwnOrNext);
        let attempt = Attempt { old, old_node, created, to, node, after, conditional: true };
        own.phase = Phase::Writing { attempt, answer: None };
    }

    /// S4: what one replica shows is no more than a hint: where to start from.
    pub(crate) fn peek(&self, state: &mut State, client: usize, lags: bool) {
        if let Some(row) = self.peeked(state, client, lags) {
            state.last.note(Event::Peeked);
            self.attempt(state, client, row.value, Some(row.node));
        }
    }

    /// The answer to a conditional write.
    pub(crate) fn hear_answer(
        &self,
        state: &mut State,
        client: usize,
        attempt: Attempt,
        answer: Answer,
    ) {
        match answer {
            Answer::Applied { epoch, unseen } => {
                state.handles[self.handle(client)].contradicted |= unseen;
                // S4: an applied write raises the mark.
                self.raise(state, client, attempt.after());
                if self.rules.verify == Verify::Always {
                    self.read(state, client, Why::Confirm(attempt, epoch));
                } else {
                    state.last.note(Event::ClaimedByAnswer);
                    self.claim(state, client, attempt, epoch);
                }
            }
            Answer::NotApplied { hint } => {
                state.last.note(Event::Conflict);
                self.lost(state, client, attempt, hint);
            }
        }
    }

    /// S1: a clean `false` is never claimed. S4: the hint says where to try next, if it lies ahead.
    fn lost(&self, state: &mut State, client: usize, attempt: Attempt, hint: Option<(u8, Node)>) {
        if self.rules.clean_false == CleanFalse::Doubted {
            return self.read(state, client, Why::Doubt(attempt));
        }
        match hint.filter(|(value, _)| *value > attempt.old) {
            Some((value, node)) => {
                if self.rules.hint == Hint::RaisesMark {
                    let created = attempt.created;
                    let old = self.mark(state, client).map_or(Node::NIL, |mark| mark.node);
                    self.raise(state, client, Mark { value, node: old, created });
                }
                // S4: a hint is no knowledge, unless the condition itself checks it.
                let node = Some(node).filter(|_| self.names_node());
                self.attempt(state, client, value, node);
            }
            None => self.read(state, client, Why::Learn),
        }
    }

    /// The answer to a read of the row.
    pub(crate) fn hear_row(
        &self,
        state: &mut State,
        client: usize,
        why: Why,
        sent: Option<Mark>,
        seen: Seen,
    ) {
        let Some(row) = seen.row else {
            return self.hear_nothing(state, client, why, sent);
        };
        if let Some(cause) = self.judge(state, client, sent, &row) {
            return self.stop(state, client, cause);
        }
        self.raise(state, client, Mark::from(row));
        match why {
            Why::Open if self.setup.reads_births() => {
                let (row, seen) = (Some(row), None);
                state.clients[client].phase = Phase::ReadingBirth { row, seen };
            }
            Why::Open => self.rest(state, client),
            Why::Learn => self.attempt(state, client, row.value, Some(row.node)),
            Why::Confirm(attempt, _) if !self.confirms(&row, &attempt) => {
                self.give_up(state, client, attempt, &row);
            }
            Why::Confirm(attempt, epoch) => {
                state.last.note(Event::ClaimedByAnswer);
                if row.value > attempt.to {
                    state.last.note(Event::ClaimedFurtherOn);
                }
                // What the row shows is owned in the epoch of the read; what is passed, in that of the write.
                let shown = shows(&row, &attempt);
                let epoch = seen.epoch.filter(|_| shown).unwrap_or(epoch);
                self.confirm(state, client, attempt, &row, epoch);
            }
            Why::Doubt(attempt) if self.proves(&row, &attempt) => {
                state.last.note(Event::ClaimedByRead);
                let epoch = seen.epoch.unwrap_or(state.epoch);
                self.confirm(state, client, attempt, &row, epoch);
            }
            Why::Doubt(attempt) => self.give_up(state, client, attempt, &row),
        }
    }

    /// There is no row.
    fn hear_nothing(&self, state: &mut State, client: usize, why: Why, sent: Option<Mark>) {
        let unborn = self.setup.reads_births();
        if why == Why::Open && sent.is_none() && unborn {
            let (row, seen) = (None, None);
            state.clients[client].phase = Phase::ReadingBirth { row, seen };
            return;
        }
        state.handles[self.handle(client)].contradicted |= sent.is_some();
        match self.rules.missing {
            Missing::Stop => self.stop(state, client, Cause::Missing),
            Missing::Recreate => {
                let created = state.store.birth.unwrap_or(FIRST_BIRTH);
                let found = None;
                state.clients[client].phase = Phase::Inserting { created, found };
            }
        }
    }

    /// S3: the range is dropped for ever, and the reservation tried again from what was read.
    fn give_up(&self, state: &mut State, client: usize, attempt: Attempt, row: &Row) {
        self.attempt(state, client, row.value, Some(row.node));
        let unguarded = self.rules.retry == Retry::Unconditional && row.value == attempt.old;
        if let Phase::Writing { attempt, .. } = &mut state.clients[client].phase {
            attempt.conditional = !unguarded;
        }
    }

    /// S7: the write times of a row that confirms a write.
    fn confirm(&self, state: &mut State, client: usize, attempt: Attempt, row: &Row, epoch: u8) {
        if row.written.apart && self.rules.apart == Verdict::Stop {
            self.stop(state, client, Cause::WrittenApart);
        } else if row.written.ahead && self.rules.ahead == Verdict::Stop {
            self.stop(state, client, Cause::WrittenAhead);
        } else {
            self.claim(state, client, attempt, epoch);
        }
    }

    /// The range is this client's own: it gives the ids.
    fn claim(&self, state: &mut State, client: usize, attempt: Attempt, epoch: u8) {
        let given = &mut state.given[usize::from(epoch)];
        let twice = (attempt.old + 1..=attempt.to).find(|id| *given & (1 << id) != 0);
        let ids = (attempt.old + 1..=attempt.to).fold(0, |ids, id| ids | 1 << id);
        *given |= ids;
        if let Some(id) = twice {
            state.violation = Some(Violation::Duplicate { id });
        } else if state.handles[self.handle(client)].contradicted {
            let id = attempt.old + 1;
            state.violation = Some(Violation::GivenBeyondMark { id });
        }
        let own = &mut state.clients[client];
        if own.crashes > 0 {
            state.last.note(Event::ClaimedAfterCrash);
        }
        own.done += 1;
        if state.memory.given & ids != 0 {
            state.last.note(Event::GivenAgain);
        }
        state.memory.given |= ids;
        if state.memory.returned == Some(attempt.created) {
            state.last.note(Event::GivenAfterReturn);
        }
        self.rest(state, client);
    }

    /// Between two reservations. A client that shares its mark may find it raised when it goes on; for the others
    /// waiting is no different from a request that takes its time.
    pub(crate) fn rest(&self, state: &mut State, client: usize) {
        if state.clients[client].done == self.setup.reservations {
            state.clients[client].phase = Phase::Done;
        } else if self.shares(client) {
            state.clients[client].phase = Phase::Idle;
        } else {
            self.begin(state, client);
        }
    }
}
