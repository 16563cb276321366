//! Other programs, always with a bound on the time that they may take.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt;

/// How often a wait looks again.
const POLL: Duration = Duration::from_millis(50);
/// How long a program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

/// A program in a process group of its own, so that it can be ended with all that it started.
///
/// Dropping it ends the whole group.
pub(crate) struct Group {
    child: Child,
    name: String,
}

impl Group {
    pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run `{name}`"))?;
        Ok(Self { child, name })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the program has ended. Out of time, or interrupted: its group is ended.
    pub(crate) fn wait(&mut self, limit: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            interrupt::check()?;
            if Instant::now() >= deadline {
                bail!("`{}` has not ended within {} s", self.name, limit.as_secs());
            }
            sleep(POLL);
        }
    }

    fn signal(&self, signal: Signal) {
        // A group without members is what we want: no error.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.signal(Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            sleep(POLL);
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Runs a program with its output on our stderr; anything but success is an error.
pub(crate) fn run(command: &mut Command, limit: Duration) -> anyhow::Result<()> {
    let line = display(command);
    let status = Group::spawn(command.stdout(std::io::stderr()))?.wait(limit)?;
    if !status.success() {
        bail!("`{line}` failed with {status}");
    }
    Ok(())
}

/// Runs a program quietly and returns what it printed on stdout and stderr, together, if it
/// succeeded. The output must be short: it is read when the program has ended.
pub(crate) fn capture(command: &mut Command, limit: Duration) -> anyhow::Result<String> {
    let line = display(command);
    let mut group = Group::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let status = group.wait(limit)?;
    let mut text = String::new();
    if let Some(mut stdout) = group.child().stdout.take() {
        stdout.read_to_string(&mut text)?;
    }
    if let Some(mut stderr) = group.child().stderr.take() {
        stderr.read_to_string(&mut text)?;
    }
    if !status.success() {
        bail!("`{line}` failed with {status}: {}", text.trim());
    }
    Ok(text)
}

/// A command as a person would type it.
pub(crate) fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
