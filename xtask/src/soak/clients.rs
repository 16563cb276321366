//! The clients: processes of `lseq alloc`, each started again as soon as it ends.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};

use super::lseq::Lseq;
use super::random::Random;
use crate::cluster;

/// How often it is looked whether a client has ended.
const POLL: Duration = Duration::from_millis(20);
/// What a client that could not reach the store waits before it is started again.
const AFTER_FAILURE: Duration = Duration::from_millis(200);
/// How long a client may take to end by itself when the run is over: it has a few seconds of work, and its timeout.
const END_LIMIT: Duration = Duration::from_secs(60);
/// How long the operating system may take to stop a process.
const SIGNAL_LIMIT: Duration = Duration::from_secs(5);

/// How the runs of clients ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) started: u64,
    /// Exit code 0.
    pub(super) done: u64,
    /// Exit code 3: the outcome of a write is not known.
    pub(super) unknown: u64,
    /// Exit code 4: not available, nothing was changed.
    pub(super) unavailable: u64,
    /// By the nemesis.
    pub(super) killed: u64,
    /// All else: none of it has a right to happen.
    pub(super) complaints: Vec<String>,
}

/// One client at a time, in one place.
struct Slot {
    number: u16,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    child: Option<Child>,
    /// The nemesis has killed it.
    killed: bool,
    runs: Runs,
}

/// All of them. Dropping it ends them.
pub(super) struct Clients {
    slots: Vec<Arc<Slot>>,
    threads: Vec<JoinHandle<()>>,
    over: Arc<AtomicBool>,
}

/// What a client does.
pub(super) struct Work {
    pub(super) lseq: Lseq,
    pub(super) sequences: u16,
    pub(super) seed: u64,
    pub(super) dir: PathBuf,
}

/// Where a client records what it does.
pub(super) fn history(dir: &Path, number: u16) -> PathBuf {
    dir.join(format!("client-{number}.jsonl"))
}

impl Clients {
    pub(super) fn start(count: u16, work: Work) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let work = Arc::new(work);
        let slots: Vec<_> = (1..=count)
            .map(|number| Arc::new(Slot { number, running: Mutex::default() }))
            .collect();
        let threads = slots.iter().map(|slot| {
            let (slot, work, over) = (slot.clone(), work.clone(), over.clone());
            std::thread::spawn(move || slot.keep_running(&work, &over))
        });
        Self { threads: threads.collect(), slots, over }
    }

    /// Kills those of `numbers` that run, and returns how many there were.
    pub(super) fn kill(&self, numbers: &[u16]) -> anyhow::Result<usize> {
        let mut killed = 0;
        for slot in self.of(numbers) {
            let mut running = slot.lock();
            // One that has ended by itself is not killed any more.
            let alive =
                running.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
            if alive {
                running.signal(Signal::KILL)?;
                running.killed = true;
                killed += 1;
            }
        }
        Ok(killed)
    }

    /// Stops those of `numbers` that run (SIGSTOP), until what is returned is dropped.
    pub(super) fn pause(&self, numbers: &[u16]) -> anyhow::Result<Paused> {
        let mut paused = Paused(Vec::new());
        for slot in self.of(numbers) {
            let running = slot.lock();
            if running.child.is_some() {
                paused.0.push(slot.clone());
                running.signal(Signal::STOP)?;
            }
        }
        Ok(paused)
    }

    fn of<'a>(&'a self, numbers: &'a [u16]) -> impl Iterator<Item = &'a Arc<Slot>> {
        self.slots.iter().filter(|slot| numbers.contains(&slot.number))
    }

    /// What has been complained of so far.
    pub(super) fn complaint(&self) -> Option<String> {
        self.slots.iter().find_map(|slot| slot.lock().runs.complaints.first().cloned())
    }

    /// Lets every client finish what it does, starts none again, and says how it went.
    pub(super) fn finish(mut self) -> Runs {
        self.end(END_LIMIT);
        let mut all = Runs::default();
        for slot in &self.slots {
            let runs = std::mem::take(&mut slot.lock().runs);
            all.started += runs.started;
            all.done += runs.done;
            all.unknown += runs.unknown;
            all.unavailable += runs.unavailable;
            all.killed += runs.killed;
            all.complaints.extend(runs.complaints);
        }
        all
    }

    fn end(&mut self, limit: Duration) {
        self.over.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && self.threads.iter().any(|thread| !thread.is_finished()) {
            sleep(POLL);
        }
        for slot in &self.slots {
            let mut running = slot.lock();
            if running.child.is_some() {
                // It ends in any case; that it has ended already is as good.
                let _ = running.signal(Signal::KILL);
                if !running.killed && limit > Duration::ZERO {
                    let complaint = format!("client {} did not end within {limit:?}", slot.number);
                    running.runs.complaints.push(complaint);
                }
                running.killed = true;
            }
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl Running {
    /// Signals the child. It has not been waited for, so its id is still its own.
    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.pid().context("no client runs here")?;
        kill_process(pid, signal).with_context(|| format!("cannot signal client {pid:?}"))
    }

    fn pid(&self) -> Option<Pid> {
        let child = self.child.as_ref()?;
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    fn state(&self) -> Option<char> {
        cluster::process_state(self.pid()?.as_raw_nonzero().get())
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_running(&self, work: &Work, over: &AtomicBool) {
        let mut random = Random::new(work.seed, self.number.into());
        let errors = work.dir.join(format!("client-{}.err", self.number));
        while !over.load(Ordering::Relaxed) {
            let mut command = self.command(work, &mut random);
            let started = File::create(&errors)
                .and_then(|file| command.stdout(Stdio::null()).stderr(file).spawn());
            match started {
                Ok(child) => {
                    let mut running = self.lock();
                    (running.child, running.killed) = (Some(child), false);
                    running.runs.started += 1;
                }
                Err(error) => {
                    let complaint = format!("client {} can't be started: {error}", self.number);
                    self.lock().runs.complaints.push(complaint);
                    return;
                }
            }
            let status = self.wait();
            let failed = status.is_none_or(|status| !status.success());
            self.count(status, &errors);
            if failed {
                sleep(AFTER_FAILURE);
            }
        }
    }

    /// Small blocks, so that there are many reservations, and some single ranges between them.
    fn command(&self, work: &Work, random: &mut Random) -> Command {
        // Always the same one, so that none is ever left without a client.
        let sequence = format!("s{}", (self.number - 1) % work.sequences + 1);
        let block = random.between(1, 20);
        let count = if random.between(1, 8) == 1 { block } else { block * random.between(10, 60) };
        let mut command = work.lseq.command(&["--timeout", "10s", "alloc", &sequence]);
        command.arg("--count").arg(count.to_string());
        if count == block {
            command.arg("--range");
        } else {
            command.arg("--block").arg(block.to_string());
        }
        command.arg("--history").arg(history(&work.dir, self.number));
        // Ctrl-C is for us: we end them.
        command.stdin(Stdio::null()).process_group(0);
        command
    }

    fn wait(&self) -> Option<ExitStatus> {
        loop {
            {
                let mut running = self.lock();
                match running.child.as_mut()?.try_wait() {
                    Ok(None) => {}
                    Ok(Some(status)) => {
                        running.child = None;
                        return Some(status);
                    }
                    Err(_) => {
                        running.child = None;
                        return None;
                    }
                }
            }
            sleep(POLL);
        }
    }

    fn count(&self, status: Option<ExitStatus>, errors: &Path) {
        let mut running = self.lock();
        let killed = running.killed;
        let runs = &mut running.runs;
        match status.map(|status| (status.code(), status.signal())) {
            Some((Some(0), _)) => runs.done += 1,
            Some((Some(3), _)) => runs.unknown += 1,
            Some((Some(4), _)) => runs.unavailable += 1,
            Some((None, Some(9))) if killed => runs.killed += 1,
            _ => {
                let said = std::fs::read_to_string(errors).unwrap_or_default();
                let status = status.map_or_else(|| "was lost".to_owned(), |it| it.to_string());
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                runs.complaints.push(format!("client {}: {status}: {said}", self.number));
            }
        }
    }
}

/// Clients that stand still. Dropping it lets them go on.
pub(super) struct Paused(Vec<Arc<Slot>>);

impl Paused {
    /// How many of them really stand still, after a moment: a process stops when it is next about to run.
    pub(super) fn standing(&self) -> usize {
        let standing = || {
            let stands = |slot: &&Arc<Slot>| slot.lock().state().is_some_and(|state| state == 'T');
            self.0.iter().filter(stands).count()
        };
        let deadline = Instant::now() + SIGNAL_LIMIT;
        while standing() < self.0.len() && Instant::now() < deadline {
            sleep(POLL);
        }
        standing()
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        for slot in &self.0 {
            // One that has ended needs nothing; one that was started since minds nothing.
            let _ = slot.lock().signal(Signal::CONT);
        }
    }
}
