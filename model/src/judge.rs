//! What a client makes of a row: marks, contradictions and proofs.

use crate::model::Protocol;
use crate::rules::{Compared, Condition, Proof, Shows, Verdict};
use crate::state::{Attempt, Cause, Mark, Row, State};
use crate::store::{Against, against, same_uuid};

impl Protocol {
    /// S4: what in `row` contradicts the mark. It is remembered that it did, whatever the rules make of it.
    pub(crate) fn judge(
        &self,
        state: &mut State,
        client: usize,
        sent: Option<Mark>,
        row: &Row,
    ) -> Option<Cause> {
        let handle = &mut state.handles[self.handle(client)];
        let truly = sent.map_or(Against::Consistent, |mark| against(mark, row, |a, b| a == b));
        handle.contradicted |= truly != Against::Consistent;
        let mark = match self.rules.compared {
            Compared::WhenSent => sent,
            Compared::OnArrival => handle.mark,
        };
        let same = |a, b| same_uuid(a, b, &self.rules, &self.setup);
        let (verdict, cause) = match mark.map(|mark| against(mark, row, same)) {
            Some(Against::Reborn) => (Verdict::Stop, Cause::Recreated),
            Some(Against::Behind) => (self.rules.behind, Cause::Regressed),
            Some(Against::ChangedHands) => (self.rules.changed_hands, Cause::ChangedHands),
            _ if row.retired => (Verdict::Stop, Cause::Retired),
            _ => return None,
        };
        (verdict == Verdict::Stop).then_some(cause)
    }

    /// S4: raises the mark; it never goes back.
    pub(crate) fn raise(&self, state: &mut State, client: usize, to: Mark) {
        let mark = self.mark(state, client);
        let further = |mark: &Mark| to.value > mark.value || to.created != mark.created;
        if mark.as_ref().is_none_or(further) {
            *mark = Some(to);
        }
    }

    /// S1, S3: whether `row` proves that `attempt` was applied.
    pub(crate) fn proves(&self, row: &Row, attempt: &Attempt) -> bool {
        let node = same_uuid(row.node, attempt.node, &self.rules, &self.setup);
        let value = row.value == attempt.to;
        match self.rules.proof {
            Proof::NodeAndValue => node && value,
            Proof::Node => node,
            Proof::Value => value,
        }
    }

    /// Whether the condition names the node of the row that was learnt.
    pub(crate) fn names_node(&self) -> bool {
        self.rules.condition != Condition::WithoutNode
    }

    /// S7: whether a row that is not behind the mark confirms `attempt`, which was applied.
    pub(crate) fn confirms(&self, row: &Row, attempt: &Attempt) -> bool {
        self.rules.shows == Shows::OwnOrFurther || shows(row, attempt)
    }
}

/// Whether `row` shows that `attempt` was in it: by its uuid, or by one that tells what it came after.
pub(crate) fn shows(row: &Row, attempt: &Attempt) -> bool {
    row.node == attempt.node || row.after == Some((attempt.to, attempt.node))
}

impl Attempt {
    /// The mark once it was applied.
    pub(crate) fn after(&self) -> Mark {
        Mark { value: self.to, node: self.node, created: self.created }
    }
}
