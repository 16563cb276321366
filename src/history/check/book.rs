//! Books one event after another in the ledger.

use std::collections::HashMap;

use super::findings::At;
use super::ledger::{Generator, Ledger, Run, Sequence, Trouble, index};
use super::reservations::{Outcome, Reservation, Reservations};
use super::step::{Given, Step};
use crate::history::event::{
    Advance, Alter, End, Event, Give, Nemesis, Observe, Open, Process, Reserve,
};

/// The numbers of the process whose lines are being read.
#[derive(Debug, Default)]
pub(super) struct Here {
    process: Option<u32>,
    time: u64,
    generators: HashMap<u32, u32>,
    /// The generator of the line before, which is most often this line's too.
    latest: Option<(u32, u32)>,
    registers: HashMap<(u32, u32), u32>,
    pending: HashMap<u64, Pending>,
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    Reservation(u32),
    Trouble(usize),
}

/// Why an event can't be at its place.
#[derive(Debug)]
pub(super) enum Misplaced {
    /// In words.
    Because(String),
    /// The run is in that file already.
    Twice(u32),
}

impl<T: Into<String>> From<T> for Misplaced {
    fn from(problem: T) -> Self {
        Self::Because(problem.into())
    }
}

impl Ledger {
    /// Books an event, and says what it means to the checkers.
    pub(super) fn book(&mut self, line: u32, event: &Event<'_>) -> Result<Step, Misplaced> {
        if let Event::Process(process) = event {
            return self.process(process).map(|()| Step::Nothing);
        }
        let Some(process) = self.here.process else {
            return Err("the first line of a history says which process it is of".into());
        };
        let at = At { process, line };
        self.tick(event)?;
        match event {
            Event::Give(give) => self.give(line, give),
            Event::Reserve(reserve) => self.reserve(line, reserve),
            Event::Ok(end) => self.end(end, Outcome::Ok),
            Event::Fail(end) => self.end(end, Outcome::Fail),
            Event::Info(end) => self.end(end, Outcome::Info),
            Event::Open(open) => self.open(at, open),
            Event::Observe(observe) => self.observe(at, observe),
            Event::Advance(Advance { generator, id, time }) => {
                let generator = self.generator(*generator)?;
                let floor = self.position(generator, *id);
                Ok(Step::Advance { generator, floor, ended: *time, at })
            }
            Event::Stop(stop) => {
                let generator = self.generator(stop.generator)?;
                Ok(Step::Stop { generator, cause: stop.cause, time: stop.time, at })
            }
            Event::Close(close) => {
                Ok(Step::Close { generator: self.generator(close.generator)?, at })
            }
            Event::Alter(Alter { sequence, min_value, max_value, .. }) => {
                self.alters.push((sequence.as_ref().into(), *min_value, *max_value));
                Ok(Step::Nothing)
            }
            Event::Nemesis(nemesis) => self.nemesis(at, nemesis),
            Event::Process(_) => Ok(Step::Nothing),
        }
    }

    fn process(&mut self, process: &Process<'_>) -> Result<(), Misplaced> {
        let file = index(self.files.len()).saturating_sub(1);
        if let Some(other) = self.runs.insert(process.run, file) {
            return Err(Misplaced::Twice(other));
        }
        let clock = (process.boot_id.to_string(), process.time_namespace.to_string());
        let next = index(self.clocks.len());
        let clock = *self.clocks.entry(clock).or_insert(next);
        self.here = Here { process: Some(index(self.processes.len())), ..Here::default() };
        self.processes.push(Run { file, client: process.client.as_ref().into(), clock });
        Ok(())
    }

    /// Another file begins; its first line has to say of which process it is.
    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.push(name.to_owned());
        self.here = Here::default();
    }

    /// A process writes its lines in the order of their times: the checkers rely on it.
    fn tick(&mut self, event: &Event<'_>) -> Result<(), Misplaced> {
        let time = event.time();
        if time < self.here.time {
            return Err(format!("time goes back, from {} to {time}", self.here.time).into());
        }
        self.here.time = time;
        Ok(())
    }

    fn open(&mut self, at: At, open: &Open<'_>) -> Result<Step, Misplaced> {
        let sequence = self.sequence(open);
        let next = self.registers;
        let register = *self.here.registers.entry((open.handle, sequence)).or_insert(next);
        self.registers = self.registers.max(register.saturating_add(1));
        let generator = index(self.generators.len());
        if self.here.generators.insert(open.generator, generator).is_some() {
            return Err(format!("generator {} was opened before", open.generator).into());
        }
        self.here.latest = None;
        let known = &mut self.sequences[sequence as usize].definition;
        known.min_value = known.min_value.min(open.definition.min_value);
        known.max_value = known.max_value.max(open.definition.max_value);
        self.generators.push(Generator {
            number: open.generator,
            at,
            sequence,
            register,
            definition: open.definition,
            value: self.sequences[sequence as usize].position(open.value),
            opened: open.time,
            reservations: Reservations::default(),
        });
        Ok(Step::Open { generator })
    }

    fn reserve(&mut self, line: u32, reserve: &Reserve) -> Result<Step, Misplaced> {
        let generator = self.generator(reserve.generator)?;
        let (old, last) =
            (self.position(generator, reserve.old), self.position(generator, reserve.value));
        if old >= last {
            return Err("a reservation moves the value on".into());
        }
        let reservation = index(self.reservations.len());
        let (begin, sent) = (reserve.time, line);
        self.reservations.push(Reservation::sent(generator, (old, last), begin, sent));
        self.generators[generator as usize].reservations.sent(reservation);
        self.pend(reserve.operation, Pending::Reservation(reservation))?;
        Ok(Step::Sent { reservation, attempt: reserve.attempt })
    }

    fn nemesis(&mut self, at: At, nemesis: &Nemesis<'_>) -> Result<Step, Misplaced> {
        let sequence = nemesis.sequence.as_deref().map(Into::into);
        self.pend(nemesis.operation, Pending::Trouble(self.troubles.len()))?;
        self.troubles.push(Trouble {
            at,
            fault: nemesis.fault.clone().into_owned(),
            sequence,
            began: nemesis.time,
            ended: u64::MAX,
            failed: false,
        });
        Ok(Step::Nothing)
    }

    fn pend(&mut self, operation: u64, pending: Pending) -> Result<(), Misplaced> {
        match self.here.pending.insert(operation, pending) {
            None => Ok(()),
            Some(_) => Err(format!("operation {operation} is under way already").into()),
        }
    }

    fn end(&mut self, end: &End<'_>, outcome: Outcome) -> Result<Step, Misplaced> {
        match self.here.pending.remove(&end.operation) {
            None => Err(format!("no operation {} is under way", end.operation).into()),
            Some(Pending::Trouble(trouble)) => {
                let trouble = &mut self.troubles[trouble];
                // Not known whether and when it was done: it lasts.
                trouble.ended = if outcome == Outcome::Info { u64::MAX } else { end.time };
                trouble.failed = outcome == Outcome::Fail;
                Ok(Step::Nothing)
            }
            Some(Pending::Reservation(number)) => {
                let reservation = &mut self.reservations[number as usize];
                reservation.end(outcome, end.time);
                let generator = &mut self.generators[reservation.generator as usize];
                generator.reservations.ended(number, reservation);
                Ok(Step::Ended { reservation: number })
            }
        }
    }

    fn give(&mut self, line: u32, give: &Give) -> Result<Step, Misplaced> {
        let generator = self.generator(give.generator)?;
        let to = give.to.unwrap_or(give.id);
        let (first, last) = (self.position(generator, give.id), self.position(generator, to));
        if first > last {
            return Err("a range runs in the sequence's direction".into());
        }
        let own = &self.generators[generator as usize].reservations;
        let reservation = own.of(first, last, &self.reservations);
        if let Some(reservation) = reservation {
            self.reservations[reservation as usize].given = true;
        }
        let (begin, end) = (give.time.saturating_sub(give.duration), give.time);
        Ok(Step::Give(Given { generator, first, last, reservation, begin, end, line }))
    }

    fn observe(&mut self, at: At, observe: &Observe) -> Result<Step, Misplaced> {
        let generator = self.generator(observe.generator)?;
        let floor = self.position(generator, observe.id);
        let began = observe.time.saturating_sub(observe.duration);
        Ok(Step::Observe { generator, floor, attempt: observe.attempt, began, at })
    }

    fn generator(&mut self, number: u32) -> Result<u32, Misplaced> {
        if let Some((latest, generator)) = self.here.latest
            && latest == number
        {
            return Ok(generator);
        }
        let Some(&generator) = self.here.generators.get(&number) else {
            return Err(format!("generator {number} was not opened").into());
        };
        self.here.latest = Some((number, generator));
        Ok(generator)
    }

    /// The sequence that is opened, which is what it was when it was opened first.
    fn sequence(&mut self, open: &Open<'_>) -> u32 {
        if let Some(&number) = self.names.get(open.sequence.as_ref()) {
            return number;
        }
        let number = index(self.sequences.len());
        let name: Box<str> = open.sequence.as_ref().into();
        self.names.insert(name.clone(), number);
        self.sequences.push(Sequence { name, definition: open.definition });
        number
    }
}
