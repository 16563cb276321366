//! What a check found.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// What must be true of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Property {
    /// No id is given twice within an epoch.
    Unique,
    /// No two claimed reservations of an epoch overlap (S1).
    Ranges,
    /// No two attempts share a uuid (S2).
    Attempts,
    /// Every id lies in a reservation that the generator which gave it has, or may have.
    Explained,
    /// Every id lies within the definition's bounds, on its grid (S10, S12).
    Bounds,
    /// The ids of a generator only move in the sequence's direction.
    Order,
    /// Ids of a strict sequence have the order of the calls, over all clients (S15).
    RealTime,
    /// Ids given after an observation, or an advance, lie beyond it (S14).
    Observe,
    /// No reservation starts from a value that is behind what its handle has seen (S4).
    Marks,
    /// Nothing is given after a stop or a close (S5).
    Stop,
    /// Every stop has a cause in the history: none is a false alarm.
    Cause,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unique => "unique",
            Self::Ranges => "ranges",
            Self::Attempts => "attempts",
            Self::Explained => "explained",
            Self::Bounds => "bounds",
            Self::Order => "order",
            Self::RealTime => "real_time",
            Self::Observe => "observe",
            Self::Marks => "marks",
            Self::Stop => "stop",
            Self::Cause => "cause",
        })
    }
}

/// A property that does not hold, and the operations that show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// What should be true.
    pub property: Property,
    /// The sequence.
    pub sequence: String,
    /// What is true instead.
    pub problem: String,
    /// Where it is seen.
    pub operations: Vec<Shown>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: sequence `{}`: {}", self.property, self.sequence, self.problem)?;
        for (i, operation) in self.operations.iter().enumerate() {
            write!(f, "{}{operation}", if i == 0 { ": " } else { "; " })?;
        }
        Ok(())
    }
}

/// An operation that shows a violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// What it is: `give 7`, `reserve 0 -> 10`, `restore`.
    pub operation: String,
    /// The client.
    pub client: String,
    /// The client's generator, where it was one.
    pub generator: Option<u32>,
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.operation, self.client)?;
        if let Some(generator) = self.generator {
            write!(f, "/{generator}")?;
        }
        write!(f, " at {}:{}", self.file, self.line)
    }
}

/// What a check found: violations, and how much there was to judge.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The violations, at most [`Report::KEPT`] of each property; [`found`](Self::found) counts them all.
    pub violations: Vec<Violation>,
    /// How many violations of each property there are.
    pub found: BTreeMap<Property, u64>,
    /// Lines that a crash cut off, which are not judged: at most the last of each run.
    pub torn: Vec<Torn>,
    /// What the history holds.
    pub summary: Summary,
}

impl Report {
    /// How many violations of each property are kept.
    pub const KEPT: usize = 100;

    /// Whether there is no violation.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }
}

/// A line that a crash cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Torn {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

/// How much a history holds. A check of nothing finds nothing: look here before you trust it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Lines that were read.
    pub events: u64,
    /// Runs of processes.
    pub processes: u64,
    /// Incarnations of generators.
    pub generators: u64,
    /// Sequences.
    pub sequences: u64,
    /// Calls that gave ids; one that gave several ranges counts for each.
    pub gives: u64,
    /// Ids that were given.
    pub ids: u64,
    /// Attempts to reserve that succeeded.
    pub reserved: u64,
    /// Ids that they reserved. What was not given of them is burned, or still buffered.
    pub reserved_ids: u64,
    /// Attempts that certainly failed: conflicts, mostly.
    pub failed: u64,
    /// Attempts of unknown outcome, of which those that were never ended are a part.
    pub unknown: u64,
    /// Observations and advances.
    pub observed: u64,
    /// Stops.
    pub stops: u64,
    /// Faults by kind.
    pub faults: BTreeMap<String, u64>,
    /// Reservations that overlap a restore or a plain write, or can't be placed before or after one for want of a
    /// common clock. Their ids are not judged for uniqueness.
    pub unplaced: u64,
}
