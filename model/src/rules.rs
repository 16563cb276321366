//! The rules of docs/design.md as switches: of each choice, the first is the rule, the others are ways to break it.

/// What the clients, and the operators, hold to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// S1: what in a row proves a write of unknown outcome.
    pub proof: Proof,
    /// S1: whether a clean `[applied] = false` can be claimed.
    pub clean_false: CleanFalse,
    /// S2: how many writes share one uuid.
    pub uuid: UuidPer,
    /// S3: how a range is tried again after an unknown outcome.
    pub retry: Retry,
    /// S4: a row behind the mark.
    pub behind: Verdict,
    /// S4: the mark's value with another node.
    pub changed_hands: Verdict,
    /// S4, S6: a row that is not there.
    pub missing: Missing,
    /// S4: which mark a read is compared with.
    pub compared: Compared,
    /// S4: what the value in a clean `[applied] = false` does.
    pub hint: Hint,
    /// S5: who stops.
    pub stop: Stops,
    /// S6: whether a row has to be the one that the birth announces.
    pub birth: Birth,
    /// S6: what a creator makes of a row or a birth that came while it was about to create.
    pub overtaken: Overtaken,
    /// S6: how a sequence is dropped.
    pub drop: Drop,
    /// S6: beyond what an operator brings a sequence back.
    pub above: Above,
    /// S6: which row an operator makes the birth agree with, when another row has come before its own.
    pub settles: Settles,
    /// S7: when a write is confirmed by a read.
    pub verify: Verify,
    /// S7: what the read has to show after a write was applied.
    pub shows: Shows,
    /// S7: a value and a node that were not written together.
    pub apart: Verdict,
    /// S7: a row that was written over a minute ahead of the client's clock.
    pub ahead: Verdict,
    /// S8: where the read that confirms a write is answered from.
    pub confirming: Confirming,
    /// S8: whether all clients vote together.
    pub electorate: Electorate,
    /// The idea: what a write is conditional on.
    pub condition: Condition,
}

impl Rules {
    /// What docs/design.md says.
    pub const PUBLISHED: Self = Self {
        proof: Proof::NodeAndValue,
        clean_false: CleanFalse::Lost,
        uuid: UuidPer::Attempt,
        retry: Retry::Conditional,
        behind: Verdict::Stop,
        changed_hands: Verdict::Stop,
        missing: Missing::Stop,
        compared: Compared::WhenSent,
        hint: Hint::NextTry,
        stop: Stops::Handle,
        birth: Birth::Compared,
        overtaken: Overtaken::LooksAgain,
        drop: Drop::Retires,
        above: Above::Reserved,
        settles: Settles::FarEnough,
        verify: Verify::Always,
        shows: Shows::OwnOrFurther,
        apart: Verdict::Stop,
        ahead: Verdict::Stop,
        confirming: Confirming::Serial,
        electorate: Electorate::Serial,
        condition: Condition::All,
    };
}

/// S1: what in a row proves a write of unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The attempt's uuid and its value.
    NodeAndValue,
    /// Its uuid alone: the published algorithm.
    Node,
    /// Its value alone.
    Value,
}

/// S1: whether a clean `[applied] = false` can be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanFalse {
    /// Never, whatever the row says.
    Lost,
    /// It is treated as an unknown outcome: read, and claimed by proof.
    Doubted,
}

/// S2: how many writes share one uuid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UuidPer {
    /// Each attempt has its own.
    Attempt,
    /// The tries of one reservation share one.
    Reservation,
    /// All attempts of a client, before and after a restart, share one.
    Client,
    /// All generators of a process share one.
    Process,
}

/// S3: how a range is tried again after an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// By another conditional write, from the value that was read.
    Conditional,
    /// Without a condition, since a clean read has shown that the first try was not applied.
    Unconditional,
    /// At once, conditional, and without reading back what became of the first try.
    Unread,
}

/// What a contradiction leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// S5: a stop.
    Stop,
    /// The client goes on with what it has read.
    Accept,
}

/// S4, S6: a row that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Missing, for everybody.
    Stop,
    /// The client inserts it anew.
    Recreate,
}

/// S4: which mark a read is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The mark as it stood when the read was sent.
    WhenSent,
    /// The mark as it stands when the answer is there.
    OnArrival,
}

/// S4: what the value in a clean `[applied] = false` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// It says where to try next.
    NextTry,
    /// It raises the mark, too.
    RaisesMark,
}

/// S5: who stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stops {
    /// All generators on the store handle.
    Handle,
    /// Only the one that has noticed.
    Client,
}

/// S6: whether a row has to be the one that the birth announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Birth {
    /// It has.
    Compared,
    /// Any row will do.
    Ignored,
}

/// S6: what a creator makes of a row or a birth that came while it was about to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaken {
    /// Another creator's: it looks again.
    LooksAgain,
    /// A row that lost its birth: the client refuses.
    Refuses,
}

/// S6: how a sequence is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// The row is marked.
    Retires,
    /// The row is deleted.
    Deletes,
}

/// S6: beyond what an operator brings a sequence back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// Everything that was ever reserved.
    Reserved,
    /// Everything that was ever given: the largest id in the application's data, while its clients run.
    Given,
}

/// S6: which row an operator makes the birth agree with, when another row has come before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settles {
    /// One that is as far as the operator wants it, as another operator's is.
    FarEnough,
    /// Any.
    Any,
}

/// S7: when a write is confirmed by a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Always.
    Always,
    /// Only if its outcome is unknown.
    OnDoubt,
}

/// S7: what the read has to show after a write was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The attempt, or a value further on.
    OwnOrFurther,
    /// The attempt itself; what was overtaken before it was confirmed is burned.
    Own,
    /// The attempt, or one whose uuid tells that it came right after it; what was overtaken twice is burned.
    OwnOrNext,
}

/// S8: where the read that confirms a write is answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirming {
    /// A serial read.
    Serial,
    /// One replica, which may not have the last write yet.
    OneReplica,
}

/// S8: whether all clients vote together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Electorate {
    /// All at SERIAL.
    Serial,
    /// The first client is at `LOCAL_SERIAL`.
    FirstIsLocal,
}

/// The idea: what a write is conditional on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `IF value = <old> AND node = <old node> AND created = <created>`.
    All,
    /// `IF value = <old> AND created = <created>`.
    WithoutNode,
    /// `IF value = <old> AND node = <old node>`.
    WithoutCreated,
}
