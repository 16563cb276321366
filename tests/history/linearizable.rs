//! The checkers against a search that knows nothing of them: stateright's tester, which tries all orders.
//!
//! A strict sequence promises to be linearizable (S15). Small random histories go through files and all checkers; what
//! these say of the order must be what the search says.

use lamport_seq::history::event::{End, Event, Give, How, Open, Process, Reserve, Shape};
use lamport_seq::history::{Options, Property, Source, check};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use uuid::Uuid;

const HISTORIES: u64 = 20_000;

/// One after another, each call returns ids beyond those returned before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Strict {
    last: i64,
}

impl SequentialSpec for Strict {
    type Op = ();
    type Ret = (i64, i64);

    fn invoke(&mut self, (): &()) -> (i64, i64) {
        self.last += 1;
        (self.last, self.last)
    }

    fn is_valid_step(&mut self, (): &(), (first, last): &(i64, i64)) -> bool {
        let is_valid = *first > self.last;
        self.last = *last;
        is_valid
    }
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }

    fn shuffle<T>(&mut self, items: &mut [T], swaps: u64) {
        let count = items.len() as u64;
        for _ in 0..swaps {
            let (a, b) = (self.roll(count), self.roll(count));
            items.swap(usize::try_from(a).unwrap(), usize::try_from(b).unwrap());
        }
    }
}

/// A call of a generator that makes no other.
#[derive(Clone, Copy, Debug)]
struct Call {
    process: u64,
    begin: u64,
    end: u64,
    first: i64,
    last: i64,
}

/// Up to seven calls, whose ids are nearly in the order in which they ended.
fn calls(dice: &mut Dice) -> Vec<Call> {
    let count = 1 + dice.roll(7);
    let mut times: Vec<_> = (0..count)
        .map(|_| {
            let begin = 100 + dice.roll(20);
            (begin, begin + dice.roll(9))
        })
        .collect();
    times.sort_by_key(|(_, end)| *end);
    let mut places: Vec<i64> = (0..).take(times.len()).collect();
    let swaps = dice.roll(3);
    dice.shuffle(&mut places, swaps);
    let call = |((begin, end), place): ((u64, u64), i64)| {
        let (process, more) = (dice.roll(3), i64::try_from(dice.roll(3)).unwrap());
        Call { process, begin, end, first: place * 10 + 1, last: place * 10 + 1 + more }
    };
    times.into_iter().zip(places).map(call).collect()
}

/// What the search says. What is at one time has no order, so that all begin before any ends.
fn is_linearizable(calls: &[Call]) -> bool {
    let moments = (0..).zip(calls).flat_map(|(number, call)| {
        [(call.begin, false, number, *call), (call.end, true, number, *call)]
    });
    let mut moments: Vec<(u64, bool, usize, Call)> = moments.collect();
    moments.sort_by_key(|(time, ends, number, _)| (*time, *ends, *number));
    let mut tester = LinearizabilityTester::new(Strict::default());
    for (_, ends, number, call) in moments {
        // Each call is of a thread of its own: the generators' own order is no part of this.
        let fine = if ends {
            tester.on_return(number, (call.first, call.last)).is_ok()
        } else {
            tester.on_invoke(number, ()).is_ok()
        };
        assert!(fine, "the tester takes any history");
    }
    tester.is_consistent()
}

/// The calls of one process, as it records them: each of a generator and a reservation of its own.
fn file(process: u64, calls: &[Call]) -> Source {
    let own = || (1..).zip(calls).filter(|(_, call)| call.process == process);
    let mut events = vec![Event::Process(Process {
        format: 1,
        client: process.to_string().into(),
        run: Uuid::from_u128(u128::from(process)),
        boot_id: "b".into(),
        time_namespace: "n".into(),
    })];
    let definition = Shape {
        start_value: 1,
        increment_by: 1.try_into().unwrap(),
        min_value: 1,
        max_value: 1000,
        strict: true,
    };
    for (generator, call) in own() {
        let (operation, old, value) = (u64::from(generator), call.first - 1, call.first + 9);
        let attempt = Uuid::from_u128(u128::from(operation));
        let (handle, sequence) = (generator, "orders".into());
        events.extend([
            Event::Open(Open {
                generator,
                handle,
                sequence,
                definition,
                value: 0,
                duration: 0,
                time: 1,
            }),
            Event::Reserve(Reserve { generator, operation, attempt, old, value, time: 1 }),
            Event::Ok(End { operation, why: None, time: 1 }),
        ]);
    }
    // They are sorted by their end, as the lines of a file are.
    for (generator, Call { begin, end: time, first: id, last, .. }) in own() {
        let (to, duration) = ((last > id).then_some(*last), time - begin);
        let how = if to.is_some() { How::Reserve } else { How::NextId };
        events.push(Event::Give(Give { generator, id: *id, to, how, duration, time: *time }));
    }
    let lines = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n");
    Source::bytes(process.to_string(), lines.collect::<String>().into_bytes())
}

#[test]
fn real_time_is_judged_as_a_search_through_all_orders_judges() {
    let mut dice = Dice(7);
    let mut right = 0;
    for _ in 0..HISTORIES {
        let calls = calls(&mut dice);
        let sources: Vec<_> = (0..3).map(|process| file(process, &calls)).collect();
        let report = check(&sources, Options::default()).unwrap();
        let expected = is_linearizable(&calls);
        assert_eq!(!report.found.contains_key(&Property::RealTime), expected, "{calls:?}");
        assert!(report.found.len() <= 1, "nothing else is wrong: {:?}", report.violations);
        right += u64::from(expected);
    }
    let both = HISTORIES / 10..HISTORIES * 9 / 10;
    assert!(both.contains(&right), "{right} of {HISTORIES} say little");
}
