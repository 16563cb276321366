//! Ctrl-C and SIGTERM set a flag that every wait looks at, so that what was started is stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static CLEANERS: AtomicUsize = AtomicUsize::new(0);

/// From here on a signal no longer ends this process at once: its waits end, with an error.
pub(crate) fn install() -> anyhow::Result<()> {
    let mut result = Ok(());
    FLAG.get_or_init(|| {
        let flag = Arc::default();
        result = [SIGINT, SIGTERM, SIGHUP].into_iter().try_for_each(|signal| {
            signal_hook::flag::register(signal, Arc::clone(&flag)).map(drop)
        });
        flag
    });
    result.context("cannot install a signal handler")
}

pub(crate) fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// An error once a signal has come: called in every wait that is worth ending early.
pub(crate) fn check() -> anyhow::Result<()> {
    if requested() && CLEANERS.load(Ordering::Relaxed) == 0 {
        bail!("interrupted");
    }
    Ok(())
}

/// While it lives, waits go on after a signal: stopping what was started is not to be cut short.
pub(crate) struct CleaningUp(());

impl CleaningUp {
    pub(crate) fn start() -> Self {
        CLEANERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for CleaningUp {
    fn drop(&mut self) {
        CLEANERS.fetch_sub(1, Ordering::Relaxed);
    }
}
