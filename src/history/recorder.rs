//! Writes a history.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::clock::Clock;
use super::event::{Alter, End, Event, Nemesis, Open, Process};
use super::fault::Fault;
use super::incarnation::Incarnation;
use crate::definition::Definition;

/// Records what happens to one store's sequences in this process, for [`check`](super::check()) to judge.
///
/// Give it to every generator of the store, from any thread; clones write to one place. Use one recorder per store: a
/// history knows sequences by their names.
///
/// An event reaches `write(2)` before its caller hears of what it tells: an id that was given is in the file, also if
/// the process is killed in the next instant. Nothing is synced to the disk, so a crash of the *host* may cut off the
/// end. That costs a system call for every call that gives ids, of about a microsecond.
///
/// If a write fails the recorder says so once in the log, records nothing more, and ids are given all the same:
/// [`failure`](Self::failure) tells. What was recorded until then is a history as good as any.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    clock: Clock,
    generators: AtomicU32,
    handles: AtomicU32,
    operations: AtomicU64,
    tape: Mutex<Tape>,
    broken: AtomicBool,
    failure: OnceLock<String>,
}

struct Tape {
    out: Box<dyn Write + Send>,
    lines: Vec<u8>,
    last: u64,
}

impl Recorder {
    /// Records to a file, which is created or appended to. Only one process at a time can record to it.
    ///
    /// # Errors
    ///
    /// What the file system says; [`io::ErrorKind::WouldBlock`] if another recorder has the file.
    pub fn to_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let program = std::env::args_os().next().unwrap_or_default();
        let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        let client = format!("{program}-{}", std::process::id());
        Self::to_file_as(path, Process::current(client))
    }

    /// [`to_file`](Self::to_file) under a name of your own: `Process::current("web-1")`.
    ///
    /// # Errors
    ///
    /// As [`to_file`](Self::to_file).
    pub fn to_file_as(path: impl AsRef<Path>, process: Process<'_>) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::WouldBlock, "another recorder has this file")
            }
            TryLockError::Error(error) => error,
        })?;
        // What an earlier run left torn stays as it is, on a line of its own.
        let before: &[u8] = if ends_torn(&mut file)? { b"\n" } else { b"" };
        Self::start(Box::new(file), before, process, Clock::Host)
    }

    /// Records to anything, by a clock of your own that gives nanoseconds. For simulations.
    ///
    /// The clock should never give the same time twice: what happens at one time has no order.
    ///
    /// # Errors
    ///
    /// What `out` says to the first line.
    pub fn to_writer(
        out: impl Write + Send + 'static,
        process: Process<'_>,
        clock: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start(Box::new(out), b"", process, Clock::Given(Box::new(clock)))
    }

    fn start(
        out: Box<dyn Write + Send>,
        before: &[u8],
        process: Process<'_>,
        clock: Clock,
    ) -> io::Result<Self> {
        let mut tape = Tape { out, lines: before.to_vec(), last: 0 };
        tape.add(&Event::Process(process))?;
        tape.flush()?;
        let numbers = || AtomicU32::new(1);
        Ok(Self(Arc::new(Inner {
            clock,
            generators: numbers(),
            handles: numbers(),
            operations: AtomicU64::new(1),
            tape: Mutex::new(tape),
            broken: AtomicBool::new(false),
            failure: OnceLock::new(),
        })))
    }

    /// Now, in nanoseconds, as the history has it.
    pub fn now(&self) -> u64 {
        self.0.clock.now()
    }

    /// Why recording has ended early, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.0.failure.get().map(String::as_str)
    }

    /// Whether this and `other` write to one place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number for what the generators of one sequence on one store handle share (S5).
    pub fn handle(&self) -> u32 {
        self.0.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// Records that a generator was opened, by a call that began at `began`, and found `value` in the row.
    pub fn open(
        &self,
        handle: u32,
        sequence: &str,
        definition: &Definition,
        value: i64,
        began: u64,
    ) -> Incarnation {
        let generator = self.0.generators.fetch_add(1, Ordering::Relaxed);
        self.write(|time| {
            Event::Open(Open {
                generator,
                handle,
                sequence: sequence.into(),
                definition: definition.into(),
                value,
                duration: time.saturating_sub(began),
                time,
            })
        });
        Incarnation::new(self.clone(), generator)
    }

    /// Records that something is about to be done to the system, to one sequence or to all.
    ///
    /// Call it before it is done, and end the operation afterwards.
    pub fn nemesis(
        &self,
        fault: &Fault<'_>,
        sequence: Option<&str>,
        target: Option<&str>,
    ) -> Operation {
        let operation = self.number();
        self.write(|time| {
            Event::Nemesis(Nemesis {
                operation,
                fault: fault.clone(),
                sequence: sequence.map(Into::into),
                target: target.map(Into::into),
                time,
            })
        });
        Operation { recorder: self.clone(), number: operation }
    }

    /// Records that a sequence's bounds are about to be widened.
    pub fn alter(&self, sequence: &str, wanted: &Definition) {
        let (min_value, max_value) = (wanted.min_value(), wanted.max_value());
        self.write(|time| {
            Event::Alter(Alter { sequence: sequence.into(), min_value, max_value, time })
        });
    }

    pub(super) fn number(&self) -> u64 {
        self.0.operations.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn operation(&self, number: u64) -> Operation {
        Operation { recorder: self.clone(), number }
    }

    /// Writes one event, made for the time at which it is written.
    pub(super) fn write<'a>(&self, event: impl FnOnce(u64) -> Event<'a>) {
        self.write_all(|time| [event(time)]);
    }

    /// Writes some events by one system call. The lines of a history are in the order of their times.
    pub(super) fn write_all<'a, E>(&self, events: impl FnOnce(u64) -> E)
    where
        E: IntoIterator<Item = Event<'a>>,
    {
        if self.0.broken.load(Ordering::Relaxed) {
            return;
        }
        let mut tape = self.0.tape.lock().unwrap_or_else(PoisonError::into_inner);
        let time = self.0.clock.now().max(tape.last);
        tape.last = time;
        let written =
            events(time).into_iter().try_for_each(|e| tape.add(&e)).and_then(|()| tape.flush());
        if let Err(error) = written {
            self.0.broken.store(true, Ordering::Relaxed);
            self.0.failure.get_or_init(|| {
                tracing::error!(%error, "the history can't be written and ends here");
                error.to_string()
            });
        }
    }
}

impl Tape {
    fn add(&mut self, event: &Event<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.lines, event)?;
        self.lines.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.lines).and_then(|()| self.out.flush());
        self.lines.clear();
        written
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// An operation of two lines, of which the first is written. Dropping it leaves its outcome unknown.
#[derive(Debug)]
#[must_use = "an operation that is not ended has an unknown outcome"]
pub struct Operation {
    recorder: Recorder,
    number: u64,
}

impl Operation {
    /// It was done.
    pub fn ok(self) {
        self.end(None, Event::Ok);
    }

    /// It certainly did not happen, and never will.
    pub fn fail(self, why: &str) {
        self.end(Some(why), Event::Fail);
    }

    /// It may have happened, or may happen yet. A timeout is this, never a [`fail`](Self::fail) (S3).
    pub fn info(self, why: &str) {
        self.end(Some(why), Event::Info);
    }

    fn end<'a>(self, why: Option<&'a str>, end: impl FnOnce(End<'a>) -> Event<'a>) {
        let (operation, why) = (self.number, why.map(Into::into));
        self.recorder.write(|time| end(End { operation, why, time }));
    }
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests;
