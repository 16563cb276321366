//! Ctrl-C and SIGTERM set a flag that every wait looks at, so that what was started is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From here on a signal no longer ends this process at once: its waits end, with an error.
pub(crate) fn install() -> anyhow::Result<()> {
    let flag = FLAG.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(flag))
            .context("cannot install a signal handler")?;
    }
    Ok(())
}

pub(crate) fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// An error once a signal has come: called in every wait that is worth ending early.
pub(crate) fn check() -> anyhow::Result<()> {
    if requested() {
        bail!("interrupted");
    }
    Ok(())
}
