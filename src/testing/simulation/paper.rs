//! Histories in memory, of one clock that counts.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::history::Recorder;
use crate::history::event::{FORMAT, Process};

/// The clock of a simulated world: it tells which of two events was first, and nothing else.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// What one process after another writes down in one place, as restarts of a client do in one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Paper(Arc<Mutex<Sheet>>);

#[derive(Debug, Default)]
struct Sheet {
    text: Vec<u8>,
    /// How many processes have ended.
    ended: u64,
}

impl Paper {
    fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recorder for a process that begins.
    pub(super) fn recorder(&self, client: &str, run: Uuid, ticks: &Ticks) -> io::Result<Recorder> {
        let process = Process {
            format: FORMAT,
            client: client.to_owned().into(),
            run,
            boot_id: "simulated".into(),
            time_namespace: "simulated".into(),
        };
        let (ticks, pen) = (ticks.clone(), Pen { paper: self.clone(), of: self.sheet().ended });
        Recorder::to_writer(pen, process, move || ticks.next())
    }

    /// The process ends, and writes nothing any more.
    pub(super) fn end(&self) {
        self.sheet().ended += 1;
    }

    pub(super) fn text(&self) -> Vec<u8> {
        self.sheet().text.clone()
    }
}

/// What one process writes with.
struct Pen {
    paper: Paper,
    of: u64,
}

impl io::Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sheet = self.paper.sheet();
        if sheet.ended == self.of {
            sheet.text.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
