//! What all checkers know of a history: who is who, and what became of each reservation.
//!
//! Ids are kept as positions: the id itself in a rising sequence, its complement in a falling one, so that later is
//! always greater. Everything has a number of its own over all files, where the events have one per process.

use std::collections::HashMap;

use uuid::Uuid;

use super::book::Here;
use super::findings::{At, Witness};
use super::reservations::{Reservation, Reservations};
use crate::history::event::Shape;
use crate::history::fault::Fault;

/// One run of one process.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) file: u32,
    pub(super) client: Box<str>,
    /// Processes with the same number share a clock.
    pub(super) clock: u32,
}

/// One sequence, in all files.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) name: Box<str>,
    /// As it was opened first, with the widest bounds that were recorded.
    pub(super) definition: Shape,
}

/// One incarnation.
#[derive(Debug)]
pub(super) struct Generator {
    pub(super) number: u32,
    pub(super) at: At,
    pub(super) sequence: u32,
    /// What generators of one sequence on one handle share.
    pub(super) register: u32,
    pub(super) definition: Shape,
    pub(super) value: i64,
    /// When opening it ended.
    pub(super) opened: u64,
    pub(super) reservations: Reservations,
}

/// A fault, while it lasted.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) at: At,
    pub(super) fault: Fault<'static>,
    pub(super) sequence: Option<Box<str>>,
    pub(super) began: u64,
    pub(super) ended: u64,
    /// It certainly was not done.
    pub(super) failed: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) files: Vec<String>,
    pub(super) processes: Vec<Run>,
    pub(super) sequences: Vec<Sequence>,
    pub(super) generators: Vec<Generator>,
    pub(super) registers: u32,
    pub(super) reservations: Vec<Reservation>,
    pub(super) troubles: Vec<Trouble>,
    /// Bounds that sequences were given later.
    pub(super) alters: Vec<(Box<str>, i64, i64)>,
    pub(super) names: HashMap<Box<str>, u32>,
    pub(super) clocks: HashMap<(String, String), u32>,
    /// In which file each run is.
    pub(super) runs: HashMap<Uuid, u32>,
    pub(super) here: Here,
}

impl Ledger {
    /// All is read: the bounds of a sequence are the widest that it ever had.
    pub(super) fn settle(&mut self) {
        for (name, min_value, max_value) in self.alters.drain(..) {
            if let Some(&sequence) = self.names.get(&name) {
                let known = &mut self.sequences[sequence as usize].definition;
                known.min_value = known.min_value.min(min_value);
                known.max_value = known.max_value.max(max_value);
            }
        }
    }

    /// The faults that concern a sequence, but for those that certainly were not done.
    pub(super) fn troubles_of(&self, sequence: u32) -> impl Iterator<Item = &Trouble> {
        let name = &self.sequences[sequence as usize].name;
        let concerns = move |trouble: &&Trouble| {
            !trouble.failed && trouble.sequence.as_ref().is_none_or(|its| its == name)
        };
        self.troubles.iter().filter(concerns)
    }

    pub(super) fn position(&self, generator: u32, id: i64) -> i64 {
        self.sequence_of(generator).position(id)
    }

    pub(super) fn sequence_of(&self, generator: u32) -> &Sequence {
        &self.sequences[self.generators[generator as usize].sequence as usize]
    }

    /// Which clock the times of a generator are of.
    pub(super) fn clock_of(&self, at: At) -> u32 {
        self.processes[at.process as usize].clock
    }

    /// The place of a line of a generator.
    pub(super) fn at(&self, generator: u32, line: u32) -> At {
        At { process: self.generators[generator as usize].at.process, line }
    }

    /// A line of a generator, as it shows a violation.
    pub(super) fn witness(&self, generator: u32, line: u32, operation: String) -> Witness {
        let at = self.at(generator, line);
        Witness { operation, generator: Some(generator), at, sought: None }
    }
}

impl Sequence {
    pub(super) fn is_rising(&self) -> bool {
        self.definition.increment_by.get() > 0
    }

    /// Where an id is; greater is later.
    pub(super) fn position(&self, id: i64) -> i64 {
        if self.is_rising() { id } else { !id }
    }

    /// The id at a position.
    pub(super) fn id(&self, position: i64) -> i64 {
        self.position(position)
    }

    /// How far apart two ids are.
    pub(super) fn step(&self) -> u64 {
        self.definition.increment_by.get().unsigned_abs()
    }
}

/// More things than a `u32` counts do not fit into memory.
pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
