//! Histories as short as they can be told, for tests. A line here is a line there; its time is ten times its number.
//!
//! ```text
//! process a [clock c]
//! open 1 [handle 1] [of orders] [value 0] [by 1] [from 1] [min 1] [max 1000000] [strict]
//! reserve 1 #1 0 -> 10 [attempt 7]
//! ok #1
//! give 1 5 [to 7] [since 12]
//! observe 1 5 [attempt 7]
//! advance 1 5
//! stop 1 missing
//! close 1
//! alter orders 1 9
//! nemesis #2 restore [of orders]
//! ```

use std::borrow::Cow;
use std::fmt::Debug;
use std::num::NonZeroI64;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use uuid::Uuid;

use super::{Options, Property, Report, check};
use crate::history::event::{
    Advance, Alter, Close, End, Event, FORMAT, Give, How, Nemesis, Observe, Open, Process, Reserve,
    Shape, Stop,
};
use crate::history::read::Source;

/// What a check of a script finds.
pub(super) fn report(script: &str) -> Report {
    check(&[source("h", script)], Options::default()).unwrap()
}

/// The violations of one property.
pub(super) fn found(property: Property, script: &str) -> Vec<String> {
    let violations = report(script).violations;
    let own = violations.iter().filter(|violation| violation.property == property);
    own.map(ToString::to_string).collect()
}

/// Fails if there is any violation.
pub(super) fn assert_clean(script: &str) {
    assert_eq!(report(script).violations, []);
}

/// A script as a part of a history.
pub(super) fn source(name: &str, script: &str) -> Source {
    Source::bytes(name, history(name, script).into_bytes())
}

/// A script's lines of JSON.
pub(super) fn history(name: &str, script: &str) -> String {
    let lines = script.lines().filter(|line| !line.trim().is_empty()).enumerate();
    let event = |(i, line): (usize, &str)| {
        let words = Words(line.split_whitespace().collect());
        serde_json::to_string(&event(name, i as u64 + 1, &words)).unwrap() + "\n"
    };
    lines.map(event).collect()
}

struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn word(&self, place: usize) -> &'a str {
        self.0.get(place).unwrap_or_else(|| panic!("word {place} of {:?}", self.0))
    }

    fn number<T: FromStr<Err: Debug>>(&self, place: usize) -> T {
        self.word(place).trim_start_matches('#').parse().unwrap()
    }

    fn after(&self, key: &str) -> Option<&'a str> {
        let place = self.0.iter().position(|word| *word == key)?;
        Some(self.word(place + 1))
    }

    fn number_after<T: FromStr<Err: Debug>>(&self, key: &str) -> Option<T> {
        self.after(key).map(|word| word.parse().unwrap())
    }

    fn uuid(&self) -> Option<Uuid> {
        self.number_after("attempt").map(Uuid::from_u128)
    }
}

/// A name as JSON has it.
fn named<'a, T: Deserialize<'a>>(name: &'a str) -> T {
    let name: StrDeserializer<'a, Error> = name.into_deserializer();
    T::deserialize(name).unwrap()
}

fn event<'a>(name: &str, line: u64, words: &Words<'a>) -> Event<'a> {
    let time = line * 10;
    let began = words.number_after("since").unwrap_or(time);
    let duration = time - began;
    let operation = || words.number(1);
    let end = |operation| End { operation, why: None, time };
    match words.word(0) {
        "process" => process(name, line, words),
        "open" => open(time, words),
        "reserve" => {
            let operation = words.number(2);
            let attempt = words.uuid().unwrap_or(Uuid::from_u128(line.into()));
            let (generator, old, value) = (words.number(1), words.number(3), words.number(5));
            Event::Reserve(Reserve { generator, operation, attempt, old, value, time })
        }
        "ok" => Event::Ok(end(operation())),
        "fail" => Event::Fail(end(operation())),
        "info" => Event::Info(end(operation())),
        "give" => {
            let (generator, id, to) = (words.number(1), words.number(2), words.number_after("to"));
            let how = if to.is_some() { How::Reserve } else { How::NextId };
            Event::Give(Give { generator, id, to, how, duration, time })
        }
        "observe" => {
            let (generator, id, attempt) = (words.number(1), words.number(2), words.uuid());
            Event::Observe(Observe { generator, id, attempt, duration, time })
        }
        "advance" => {
            Event::Advance(Advance { generator: words.number(1), id: words.number(2), time })
        }
        "stop" => {
            Event::Stop(Stop { generator: words.number(1), cause: named(words.word(2)), time })
        }
        "close" => Event::Close(Close { generator: words.number(1), time }),
        "alter" => Event::Alter(Alter {
            sequence: words.word(1).into(),
            min_value: words.number(2),
            max_value: words.number(3),
            time,
        }),
        "nemesis" => Event::Nemesis(Nemesis {
            operation: operation(),
            fault: named(words.word(2)),
            sequence: words.after("of").map(Into::into),
            target: None,
            time,
        }),
        other => panic!("no event is called {other}"),
    }
}

fn process<'a>(name: &str, line: u64, words: &Words<'a>) -> Event<'a> {
    let place = name.bytes().fold(u128::from(line), |sum, byte| sum * 256 + u128::from(byte));
    Event::Process(Process {
        format: FORMAT,
        client: words.word(1).into(),
        run: Uuid::from_u128(place),
        boot_id: Cow::from(words.after("clock").unwrap_or("c")),
        time_namespace: "n".into(),
    })
}

fn open<'a>(time: u64, words: &Words<'a>) -> Event<'a> {
    const ONE: NonZeroI64 = NonZeroI64::new(1).unwrap();
    let definition = Shape {
        start_value: words.number_after("from").unwrap_or(1),
        increment_by: words.number_after("by").unwrap_or(ONE),
        min_value: words.number_after("min").unwrap_or(1),
        max_value: words.number_after("max").unwrap_or(1_000_000),
        strict: words.0.contains(&"strict"),
    };
    let generator = words.number(1);
    Event::Open(Open {
        generator,
        handle: words.number_after("handle").unwrap_or(generator),
        sequence: words.after("of").unwrap_or("orders").into(),
        definition,
        value: words.number_after("value").unwrap_or(0),
        duration: 0,
        time,
    })
}
