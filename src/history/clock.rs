//! Which clock the times of a history are of.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use uuid::Uuid;

use super::event::{FORMAT, Process};

impl Process<'static> {
    /// This process, on this host.
    ///
    /// Elsewhere than on Linux, and where the host doesn't say which boot or which time namespace this is, an id that
    /// was drawn for this run stands for it: its times are then compared with nobody else's.
    pub fn current(client: impl Into<Cow<'static, str>>) -> Self {
        let run = random();
        let boot_id = boot_id().unwrap_or_else(|| run.to_string());
        let time_namespace = time_namespace().unwrap_or_else(|| run.to_string());
        Self {
            format: FORMAT,
            client: client.into(),
            run,
            boot_id: boot_id.into(),
            time_namespace: time_namespace.into(),
        }
    }
}

/// A monotonic time in nanoseconds, which all processes of one boot and one time namespace share.
pub(super) enum Clock {
    /// The host's.
    Host,
    /// A simulation's.
    Given(Box<dyn Fn() -> u64 + Send + Sync>),
}

impl Clock {
    pub(super) fn now(&self) -> u64 {
        match self {
            Self::Host => host_time(),
            Self::Given(clock) => clock(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "Host",
            Self::Given(_) => "Given",
        })
    }
}

/// `CLOCK_MONOTONIC` itself: `Instant` reads it too and does not tell what it read.
#[cfg(target_os = "linux")]
fn host_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

#[cfg(not(target_os = "linux"))]
fn host_time() -> u64 {
    static BEGAN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    u64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = id.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// The time namespace; a kernel that has other namespaces and not this one has one time for all.
fn time_namespace() -> Option<String> {
    match std::fs::read_link("/proc/self/ns/time") {
        Ok(namespace) => Some(namespace.to_string_lossy().into_owned()),
        Err(_) if Path::new("/proc/self/ns/mnt").is_symlink() => {
            let other = !Path::new("/proc/self/ns/time").is_symlink();
            other.then(|| "none".to_owned())
        }
        Err(_) => None,
    }
}

/// Without randomness the run can't be told from another; nothing else depends on it.
fn random() -> Uuid {
    let mut bytes = [0; 16];
    let drawn = getrandom::fill(&mut bytes);
    drawn.map_or_else(|_| Uuid::nil(), |()| uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processes_of_one_host_share_their_clock_and_no_run() {
        let (one, other) = (Process::current("a"), Process::current("b"));
        assert_ne!(one.run, other.run);
        if cfg!(target_os = "linux") && Path::new("/proc/sys/kernel/random/boot_id").exists() {
            assert_eq!(one.boot_id, other.boot_id);
            assert_eq!(one.time_namespace, other.time_namespace);
        }
    }

    #[test]
    fn the_host_clock_never_goes_back() {
        let clock = Clock::Host;
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
