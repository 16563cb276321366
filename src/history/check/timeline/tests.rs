//! The pass over time against a search through all orders.

use super::*;

/// Whether all calls can be put in an order that keeps to `before` and to what `apply` allows in each state.
/// It knows nothing of ids, and tries all orders.
fn search<S: Copy>(
    calls: &[Call],
    before: &dyn Fn(usize, usize) -> bool,
    apply: &dyn Fn(S, &Call) -> Option<S>,
    state: S,
    done: u32,
) -> bool {
    let open = |call: &usize| done & (1 << call) == 0;
    let mut open_calls = (0..calls.len()).filter(open).peekable();
    open_calls.peek().is_none()
        || open_calls.any(|next| {
            let is_first = (0..calls.len()).filter(open).all(|other| !before(other, next));
            is_first
                && apply(state, &calls[next])
                    .is_some_and(|state| search(calls, before, apply, state, done | 1 << next))
        })
}

/// A strict sequence: each call returns ids beyond those returned before.
fn next(last: i64, call: &Call) -> Option<i64> {
    (call.first > last).then_some(call.last)
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

fn call(begin: u64, end: u64, place: i64, reservation: u32) -> Call {
    Call { begin, end, first: place * 10, last: place * 10 + place % 3, reservation, line: 0 }
}

/// Up to six calls, whose ids are nearly in the order in which they ended.
fn calls(dice: &mut Dice) -> Vec<Call> {
    let count = 1 + dice.roll(6);
    let mut times: Vec<_> = (0..count)
        .map(|_| {
            let begin = dice.roll(16);
            (begin, begin + dice.roll(8))
        })
        .collect();
    times.sort_by_key(|(_, end)| *end);
    let mut places: Vec<i64> = (1..).take(times.len()).collect();
    for _ in 0..dice.roll(3) {
        let (a, b) = (dice.roll(count), dice.roll(count));
        places.swap(usize::try_from(a).unwrap(), usize::try_from(b).unwrap());
    }
    let numbered = times.iter().zip(places).zip(0..);
    numbered.map(|(((begin, end), place), number)| call(*begin, *end, place, number)).collect()
}

fn count_disorders(calls: BTreeMap<u32, Vec<Call>>, edges: &[Edge]) -> usize {
    let mut count = 0;
    disorders(calls, edges, |before, after| {
        assert!(before.last >= after.first);
        count += 1;
    });
    count
}

#[test]
fn it_agrees_with_a_search_through_all_orders() {
    let mut dice = Dice(1);
    let mut right = 0;
    for _ in 0..20_000 {
        let calls = calls(&mut dice);
        let before = |a: usize, b: usize| calls[a].end < calls[b].begin;
        let linearizable = search(&calls, &before, &next, 0, 0);
        let found = count_disorders(BTreeMap::from([(0, calls.clone())]), &[]);
        assert_eq!(found == 0, linearizable, "{calls:?}");
        right += u32::from(linearizable);
    }
    assert!((2_000..18_000).contains(&right), "{right} of 20000 say little");
}

/// Moments of several clocks, and which of them is known to come before which.
struct Known {
    moments: Vec<Moment>,
    before: Vec<Vec<bool>>,
}

impl Known {
    fn new(moments: Vec<Moment>, edges: &[Edge]) -> Self {
        let on_one_clock = |a: Moment, b: Moment| a.clock == b.clock && a.time < b.time;
        let by_edge = |a, b| edges.iter().any(|edge| (edge.from, edge.to) == (a, b));
        let row =
            |a: &Moment| moments.iter().map(|b| on_one_clock(*a, *b) || by_edge(*a, *b)).collect();
        let mut before: Vec<Vec<bool>> = moments.iter().map(row).collect();
        let all = 0..moments.len();
        for via in all.clone() {
            for from in all.clone().filter(|from| before[*from][via]).collect::<Vec<_>>() {
                for to in all.clone() {
                    before[from][to] |= before[via][to];
                }
            }
        }
        Self { moments, before }
    }

    fn is_before(&self, a: Moment, b: Moment) -> bool {
        let place = |of| self.moments.iter().position(|moment| *moment == of).unwrap();
        self.before[place(a)][place(b)]
    }
}

#[test]
fn it_agrees_on_several_clocks_with_what_causes_tell() {
    let mut dice = Dice(2);
    let (mut right, mut by_cause) = (0, 0);
    for _ in 0..20_000 {
        let calls = calls(&mut dice);
        // What really happened has one time; a clock shows it with an offset, which nobody knows. No two kinds
        // of moments coincide: what is at one time has no order.
        let clocks: Vec<_> = calls.iter().map(|_| u32::try_from(dice.roll(3)).unwrap()).collect();
        let shown = |clock: u32, time: u64, kind: u64| Moment {
            clock,
            time: 4 * time + kind + 1000 * u64::from(clock),
        };
        let mut edges = Vec::new();
        for _ in 0..dice.roll(16) {
            let (from, to) = (dice.roll(3), dice.roll(3));
            let time = dice.roll(20);
            if from != to {
                let from = shown(u32::try_from(from).unwrap(), time, 1);
                let to = shown(u32::try_from(to).unwrap(), time + dice.roll(4), 2);
                edges.push(Edge { from, to });
            }
        }
        let ends = |call: usize| {
            let Call { begin, end, .. } = calls[call];
            (shown(clocks[call], begin, 0), shown(clocks[call], end, 0))
        };
        let mut moments: Vec<_> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        moments.extend((0..calls.len()).flat_map(|call| [ends(call).0, ends(call).1]));
        moments.sort_unstable();
        moments.dedup();
        let known = Known::new(moments, &edges);
        let before = |a: usize, b: usize| known.is_before(ends(a).1, ends(b).0);
        let linearizable = search(&calls, &before, &next, 0, 0);
        let mut by_clock: BTreeMap<u32, Vec<Call>> = BTreeMap::new();
        for (number, call) in calls.iter().enumerate() {
            let (begin, end) = (ends(number).0.time, ends(number).1.time);
            by_clock.entry(clocks[number]).or_default().push(Call { begin, end, ..*call });
        }
        let found = count_disorders(by_clock.clone(), &edges);
        assert_eq!(found == 0, linearizable, "{by_clock:?} {edges:?}");
        right += u32::from(linearizable);
        by_cause += u32::from(count_disorders(by_clock, &[]) < found);
    }
    assert!((2_000..19_000).contains(&right), "{right} of 20000 say little");
    assert!(by_cause > 500, "{by_cause} of 20000 were found by a cause alone");
}

#[test]
fn causes_that_contradict_the_clocks_tell_nothing_and_end() {
    let moment = |clock, time| Moment { clock, time };
    let circle = [
        Edge { from: moment(0, 20), to: moment(1, 10) },
        Edge { from: moment(1, 20), to: moment(0, 10) },
    ];
    let calls = BTreeMap::from([(0, vec![call(5, 6, 1, 0)]), (1, vec![call(30, 31, 2, 0)])]);
    assert_eq!(count_disorders(calls, &circle), 0);
}
