//! Finds calls whose ids contradict the order of the calls, over several clocks.
//!
//! For calls that each return an id beyond all ids returned before, an order of all of them that keeps to real time
//! exists if and only if no call that ended before another began has the later id: the ids themselves are the order.
//! So one pass over time is enough, which remembers the latest id of all calls that have ended. The tests compare it
//! with a search through all orders.

use std::collections::BTreeMap;

use super::ledger::index;

/// A call that returned the ids from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) first: i64,
    pub(super) last: i64,
    /// Of which reservation and where, for the caller of this.
    pub(super) reservation: u32,
    pub(super) line: u32,
}

/// A moment of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) clock: u32,
    pub(super) time: u64,
}

/// What came before `from` came before what comes after `to`, which is a moment of another clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: Moment,
    pub(super) to: Moment,
}

/// Calls `found` with each call that does not lie beyond one that came before it, and with that one.
pub(super) fn disorders(
    mut calls: BTreeMap<u32, Vec<Call>>,
    edges: &[Edge],
    mut found: impl FnMut(&Call, &Call),
) {
    let mut carried = vec![Carried::NotYet; edges.len()];
    for edge in edges {
        calls.entry(edge.from.clock).or_default();
        calls.entry(edge.to.clock).or_default();
    }
    let mut timelines: Vec<_> =
        calls.into_iter().map(|(clock, calls)| Timeline::new(clock, calls, edges)).collect();
    loop {
        let mut moved = false;
        let mut waiting = None;
        for timeline in &mut timelines {
            let (progress, edge) = timeline.run(&mut carried, &mut found);
            moved |= progress;
            waiting = waiting.or(edge);
        }
        match waiting {
            None => return,
            // Clocks and causes contradict each other, so nothing is known by this edge.
            Some(edge) if !moved => carried[edge] = Carried::Latest(None),
            Some(_) => {}
        }
    }
}

/// What an edge carries from one clock to the other.
#[derive(Clone, Copy, Debug)]
enum Carried {
    NotYet,
    /// The call with the latest id of those that had ended.
    Latest(Option<Call>),
}

/// The calls of one clock, and the edges that leave and reach it.
struct Timeline {
    /// By their begin.
    calls: Vec<Call>,
    /// By their end: numbers of calls.
    ends: Vec<u32>,
    /// By their time: numbers of edges.
    leaving: Vec<(u64, usize)>,
    arriving: Vec<(u64, usize)>,
    done: Done,
    latest: Option<Call>,
}

/// How many of each have been passed.
#[derive(Default)]
struct Done {
    calls: usize,
    ends: usize,
    leaving: usize,
    arriving: usize,
}

/// What comes next. At one time, what is less comes first, so that nothing is ordered that has no order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Leave(usize),
    Begin,
    End,
    Arrive(usize),
}

impl Timeline {
    fn new(clock: u32, mut calls: Vec<Call>, edges: &[Edge]) -> Self {
        calls.sort_unstable_by_key(|call| call.begin);
        let mut ends: Vec<u32> = (0..index(calls.len())).collect();
        ends.sort_unstable_by_key(|call| calls[*call as usize].end);
        let side = |side: fn(&Edge) -> Moment| {
            let numbered = edges.iter().map(side).enumerate();
            let own = numbered.filter(|(_, moment)| moment.clock == clock);
            let mut own: Vec<_> = own.map(|(edge, moment)| (moment.time, edge)).collect();
            own.sort_unstable();
            own
        };
        let (leaving, arriving) = (side(|edge| edge.from), side(|edge| edge.to));
        Self { calls, ends, leaving, arriving, done: Done::default(), latest: None }
    }

    fn next(&self) -> Option<(u64, Next)> {
        let Done { calls, ends, leaving, arriving } = self.done;
        let leave = self.leaving.get(leaving).map(|(time, edge)| (*time, Next::Leave(*edge)));
        let begin = self.calls.get(calls).map(|call| (call.begin, Next::Begin));
        let end = self.ends.get(ends).map(|call| (self.calls[*call as usize].end, Next::End));
        let arrive = self.arriving.get(arriving).map(|(time, edge)| (*time, Next::Arrive(*edge)));
        [leave, begin, end, arrive].into_iter().flatten().min()
    }

    /// Passes the moments up to the end, or up to an edge that carries nothing yet, which is returned.
    fn run(
        &mut self,
        carried: &mut [Carried],
        found: &mut impl FnMut(&Call, &Call),
    ) -> (bool, Option<usize>) {
        let mut moved = false;
        while let Some((_, next)) = self.next() {
            match next {
                Next::Leave(edge) => {
                    carried[edge] = Carried::Latest(self.latest);
                    self.done.leaving += 1;
                }
                Next::Begin => {
                    let call = &self.calls[self.done.calls];
                    if let Some(before) = self.latest.filter(|before| call.first <= before.last) {
                        found(&before, call);
                    }
                    self.done.calls += 1;
                }
                Next::End => {
                    let call = self.calls[self.ends[self.done.ends] as usize];
                    self.raise(Some(call));
                    self.done.ends += 1;
                }
                Next::Arrive(edge) => {
                    let Carried::Latest(latest) = carried[edge] else { return (moved, Some(edge)) };
                    self.raise(latest);
                    self.done.arriving += 1;
                }
            }
            moved = true;
        }
        (moved, None)
    }

    fn raise(&mut self, ended: Option<Call>) {
        self.latest = match (self.latest, ended) {
            (Some(latest), Some(ended)) if ended.last > latest.last => Some(ended),
            (latest, ended) => latest.or(ended),
        };
    }
}

#[cfg(test)]
mod tests;
