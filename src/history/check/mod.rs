//! Judges histories.

mod attempts;
mod book;
mod bounds;
mod cause;
mod epochs;
mod explained;
mod findings;
mod ledger;
mod locate;
mod marks;
mod observe;
mod order;
mod overlaps;
mod ranges;
mod realtime;
mod report;
mod reservations;
mod step;
mod stop;
mod summary;
mod timeline;
mod unique;

#[cfg(test)]
mod script;

pub use self::report::{Property, Report, Shown, Summary, Torn, Violation};

use self::book::Misplaced;
use self::findings::Findings;
use self::ledger::Ledger;
use self::step::Checker;
use super::event::Event;
use super::read::{HistoryError, Line, Source};

/// How to check, and whom to tell how far it is.
#[derive(Default)]
pub struct Options<'a> {
    allow_unexplained_stops: bool,
    progress: Option<&'a mut dyn FnMut(Progress)>,
}

impl<'a> Options<'a> {
    /// Accepts stops of which the history holds no cause, as that of a production run, which records no faults.
    ///
    /// By default each is a violation.
    #[must_use]
    pub fn allow_unexplained_stops(mut self) -> Self {
        self.allow_unexplained_stops = true;
        self
    }

    /// Calls `progress` now and then, from this thread.
    #[must_use]
    pub fn progress(mut self, progress: &'a mut dyn FnMut(Progress)) -> Self {
        self.progress = Some(progress);
        self
    }
}

/// How far a check has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes there are; a file that grows meanwhile has more.
    pub total: u64,
    /// Lines read.
    pub events: u64,
}

/// Checks that all of `sources`, as one history of one store, keep every [`Property`].
///
/// Each is read once, line by line. What is kept in memory grows with the number of reservations, not of ids, as long
/// as ids are given in runs: some 150 bytes for each. In a strict sequence 44 bytes are kept for each call.
///
/// # Errors
///
/// If a file can't be read, or is no history. There is no report then: what was not read may hold a violation.
pub fn check(sources: &[Source], options: Options<'_>) -> Result<Report, HistoryError> {
    let total = sources.iter().map(Source::size).sum();
    let mut judge = Judge::new(options, Progress { total, ..Progress::default() });
    for source in sources {
        judge.read(source)?;
    }
    judge.finish(sources)
}

/// Lines that are the beginning of an event. A crash cut them off if the next run follows them, or nothing does.
#[derive(Default)]
struct Cut(Vec<(u32, HistoryError)>);

impl Cut {
    fn add(&mut self, line: Line<'_>, error: HistoryError) -> Result<(), HistoryError> {
        let is_torn = line.is_torn();
        self.0.push((line.number, error));
        if is_torn { Ok(()) } else { self.refuse() }
    }

    fn accept(&mut self, source: &Source, findings: &mut Findings) {
        for (line, _) in self.0.drain(..) {
            findings.torn(source.name(), line);
        }
    }

    /// Fails with the first of them.
    fn refuse(&mut self) -> Result<(), HistoryError> {
        self.0.drain(..).next().map_or(Ok(()), |(_, error)| Err(error))
    }
}

struct Judge<'a> {
    ledger: Ledger,
    checkers: Vec<Box<dyn Checker>>,
    findings: Findings,
    progress: Progress,
    told: Option<&'a mut dyn FnMut(Progress)>,
}

/// How many bytes are read between two words about it.
const STRIDE: u64 = 1 << 20;

impl<'a> Judge<'a> {
    fn new(options: Options<'a>, progress: Progress) -> Self {
        let mut checkers: Vec<Box<dyn Checker>> = vec![
            Box::<summary::Tally>::default(),
            Box::<unique::Unique>::default(),
            Box::<ranges::Ranges>::default(),
            Box::<attempts::Attempts>::default(),
            Box::<explained::Explained>::default(),
            Box::<bounds::Bounds>::default(),
            Box::<order::Order>::default(),
            Box::<realtime::RealTime>::default(),
            Box::<observe::Observations>::default(),
            Box::<marks::Marks>::default(),
            Box::<stop::Stops>::default(),
        ];
        if !options.allow_unexplained_stops {
            checkers.push(Box::<cause::Causes>::default());
        }
        let (ledger, findings) = (Ledger::default(), Findings::default());
        Self { ledger, checkers, findings, progress, told: options.progress }
    }

    fn read(&mut self, source: &Source) -> Result<(), HistoryError> {
        self.ledger.begin_file(source.name());
        let mut lines = source.lines()?;
        let (before, mut told) = (self.progress.bytes, 0);
        let mut torn = Cut::default();
        while let Some((line, bytes)) = lines.next()? {
            let event = match line.event() {
                Ok(event) => event,
                Err(problem) => {
                    let error = source.malformed(line.number, problem);
                    torn.add(line, error)?;
                    if !line.whole {
                        torn.accept(source, &mut self.findings);
                    }
                    continue;
                }
            };
            if matches!(event, Event::Process(_)) {
                torn.accept(source, &mut self.findings);
            }
            torn.refuse()?;
            self.judge(source, line.number, &event)?;
            self.progress.bytes = before + bytes;
            if bytes - told >= STRIDE {
                told = bytes;
                self.tell();
            }
        }
        self.tell();
        torn.refuse()
    }

    fn judge(&mut self, source: &Source, line: u32, event: &Event<'_>) -> Result<(), HistoryError> {
        self.progress.events += 1;
        let step = self.ledger.book(line, event).map_err(|misplaced| match misplaced {
            Misplaced::Because(problem) => source.malformed(line, problem),
            Misplaced::Twice(other) => HistoryError::Twice {
                file: source.name().to_owned(),
                line,
                other: self.ledger.files[other as usize].clone(),
            },
        })?;
        for checker in &mut self.checkers {
            checker.step(&self.ledger, &step, &mut self.findings);
        }
        Ok(())
    }

    fn tell(&mut self) {
        if let Some(told) = &mut self.told {
            told(self.progress);
        }
    }

    fn finish(mut self, sources: &[Source]) -> Result<Report, HistoryError> {
        self.ledger.settle();
        for mut checker in self.checkers {
            // Each goes as soon as it is done, and with it what it has kept.
            checker.finish(&self.ledger, &mut self.findings);
        }
        locate::locate(sources, &self.ledger, &mut self.findings)?;
        self.findings.summary().events = self.progress.events;
        Ok(self.findings.into_report(&self.ledger))
    }
}
