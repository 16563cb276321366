//! Processes that outlive us, told from strangers that later got the same id.

use std::path::Path;

use anyhow::Context as _;
use rustix::process::{Pid, Signal};

/// What is known of a live process.
struct Facts {
    /// When it started, in the words of the operating system.
    started: String,
    state: char,
    /// Empty while the process is being taken down.
    command: String,
    /// Nothing of it is left but its exit status: no memory, no sockets.
    is_over: bool,
}

/// A process as it was written down when it started.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) pid: i32,
    started: String,
}

impl Recorded {
    /// This very process.
    pub(crate) fn myself() -> anyhow::Result<Self> {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let facts = facts(pid).context("cannot see this very process")?;
        Ok(Self { pid, started: facts.started })
    }

    /// Writes the record in one step, so that nobody reads half of it.
    pub(crate) fn save(&self, path: &Path) -> anyhow::Result<()> {
        let draft = path.with_extension("draft");
        std::fs::write(&draft, format!("{} {}\n", self.pid, self.started))
            .and_then(|()| std::fs::rename(&draft, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn load(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let (pid, started) = text.trim_end().split_once(' ')?;
        Some(Self { pid: pid.parse().ok()?, started: started.to_owned() })
    }

    /// The state of the process (`T` is stopped), or nothing when it has ended, be it that another
    /// process has its id now. Ours is the one that started when ours did and has `folder` in its
    /// command line.
    pub(crate) fn state(&self, folder: &Path) -> Option<char> {
        let facts = facts(self.pid)?;
        let mark = format!("{}/", folder.display());
        let is_ours = facts.command.is_empty() || facts.command.contains(&mark);
        (facts.started == self.started && is_ours && !facts.is_over).then_some(facts.state)
    }

    /// Signals the process if it still is the one that was recorded.
    pub(crate) fn signal(&self, folder: &Path, signal: Signal) -> anyhow::Result<bool> {
        if self.state(folder).is_none() {
            return Ok(false);
        }
        let pid = Pid::from_raw(self.pid).context("0 is no process id")?;
        match rustix::process::kill_process(pid, signal) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::SRCH) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot signal process {}", self.pid)),
        }
    }
}

/// The state of any process: `T` is stopped.
pub(crate) fn state(pid: i32) -> Option<char> {
    facts(pid).map(|facts| facts.state)
}

#[cfg(target_os = "linux")]
fn facts(pid: i32) -> Option<Facts> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may itself contain blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let state = fields.first()?.chars().next()?;
    let threads: u32 = fields.get(17)?.parse().ok()?;
    Some(Facts {
        started: (*fields.get(19)?).to_owned(),
        state,
        command: String::from_utf8_lossy(&command).replace('\0', " "),
        // The first thread of a killed process can be over while others still hold its ports.
        is_over: matches!(state, 'Z' | 'X') && threads <= 1,
    })
}

#[cfg(not(target_os = "linux"))]
fn facts(pid: i32) -> Option<Facts> {
    let mut ps = std::process::Command::new("ps");
    ps.args(["-ww", "-o", "state=,lstart=,command=", "-p", &pid.to_string()]).env("LC_ALL", "C");
    let line = crate::exec::capture(&mut ps, std::time::Duration::from_secs(10)).ok()?;
    // A date is five words.
    let words: Vec<&str> = line.split_whitespace().collect();
    let state = words.first()?.chars().next()?;
    Some(Facts {
        started: words.get(1..6)?.join(" "),
        state,
        command: words.get(6..)?.join(" "),
        is_over: state == 'Z',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_start_time_or_folder_is_a_stranger() {
        let myself = Recorded::myself().unwrap();
        let command = facts(myself.pid).unwrap().command;
        let program = command.split(' ').next().unwrap();
        let folder = Path::new(program).parent().unwrap();
        assert!(myself.state(folder).is_some());
        assert!(myself.state(Path::new("/no/such/folder")).is_none());
        let earlier = Recorded { started: "1".to_owned(), ..myself };
        assert!(earlier.state(folder).is_none());
        assert!(!earlier.signal(folder, Signal::TERM).unwrap(), "a stranger is never signalled");
    }
}
