//! One command at a time starts or stops nodes.

use std::fs::{File, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::{interrupt, out, paths};

/// Longer than any `cluster up` takes.
const LIMIT: Duration = Duration::from_secs(600);

/// Held until dropped; the operating system lets go of it when the process ends in any way.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take() -> anyhow::Result<Self> {
        let path = paths::cluster_dir().join("lock");
        std::fs::create_dir_all(paths::cluster_dir())?;
        let file =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let deadline = Instant::now() + LIMIT;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", path.display()));
                }
            }
            if !told {
                out::note(format_args!("waiting for another `cargo xtask cluster` to end"));
                told = true;
            }
            interrupt::check()?;
            if Instant::now() >= deadline {
                bail!("another `cargo xtask cluster` has not ended for {} s", LIMIT.as_secs());
            }
            sleep(Duration::from_millis(200));
        }
    }
}
