//! Violations on their way into the report.

use super::ledger::Ledger;
use super::report::{Property, Report, Shown, Summary, Torn, Violation};

/// A place in the history: the run of a process, and the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) process: u32,
    pub(super) line: u32,
}

/// An operation that shows a violation; one of a run of gives is looked for when all is read.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    pub(super) operation: String,
    pub(super) generator: Option<u32>,
    pub(super) at: At,
    /// The last line where it may be, if it is not known yet which one gives this id.
    pub(super) sought: Option<Sought>,
}

/// An id that was given between two lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought {
    pub(super) id: i64,
    pub(super) until: u32,
}

/// A violation in the ledger's numbers.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) property: Property,
    pub(super) sequence: u32,
    pub(super) problem: String,
    pub(super) witnesses: Vec<Witness>,
}

/// All violations so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) kept: Vec<Finding>,
    report: Report,
}

impl Findings {
    /// Counts a violation, and describes it if not too many are described already.
    pub(super) fn add<W>(
        &mut self,
        property: Property,
        sequence: u32,
        describe: impl FnOnce() -> (String, W),
    ) where
        W: IntoIterator<Item = Witness>,
    {
        let found = self.report.found.entry(property).or_default();
        *found += 1;
        if *found <= Report::KEPT as u64 {
            let (problem, witnesses) = describe();
            let witnesses = witnesses.into_iter().collect();
            self.kept.push(Finding { property, sequence, problem, witnesses });
        }
    }

    /// Counts a reservation whose epoch is not known.
    pub(super) fn unplaced(&mut self) {
        self.report.summary.unplaced += 1;
    }

    /// Notes a line that a crash cut off.
    pub(super) fn torn(&mut self, file: &str, line: u32) {
        self.report.torn.push(Torn { file: file.to_owned(), line });
    }

    pub(super) fn summary(&mut self) -> &mut Summary {
        &mut self.report.summary
    }

    /// The report, in the order of the properties.
    pub(super) fn into_report(mut self, ledger: &Ledger) -> Report {
        self.kept.sort_by_key(|finding| finding.property);
        for finding in &mut self.kept {
            // Found by sorting ids; people read from the top.
            if matches!(finding.property, Property::Unique | Property::Ranges) {
                finding.witnesses.sort_by_key(|witness| witness.at);
            }
        }
        let violations = self.kept.into_iter().map(|finding| Violation {
            property: finding.property,
            sequence: ledger.sequences[finding.sequence as usize].name.to_string(),
            problem: finding.problem,
            operations: finding.witnesses.into_iter().map(|w| ledger.shown(w)).collect(),
        });
        Report { violations: violations.collect(), ..self.report }
    }
}

impl Ledger {
    fn shown(&self, witness: Witness) -> Shown {
        let process = &self.processes[witness.at.process as usize];
        Shown {
            operation: witness.operation,
            client: process.client.to_string(),
            generator: witness.generator.map(|g| self.generators[g as usize].number),
            file: self.files[process.file as usize].clone(),
            line: witness.at.line,
        }
    }
}
