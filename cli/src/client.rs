//! A connection to the store, and the runtime that it needs.

use std::future::Future;
use std::time::{Duration, Instant};

use lamport_seq::{Catalog, Error, StoreHandle};
use tokio::runtime::{Builder, Runtime};

use crate::commands::Context;
use crate::failure::Failure;
use crate::logging;
use crate::settings::{Settings, URLS};

/// Made only by commands that need a store, so that the others start nothing.
pub(crate) struct Client {
    pub(crate) store: StoreHandle,
    /// How long a step may take.
    pub(crate) timeout: Duration,
    deadline: Instant,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Client {
    /// `create`: an embedded file is made if there is none.
    pub(crate) fn connect(context: &Context, create: bool) -> anyhow::Result<Self> {
        logging::start(context.verbose, context.printer)?;
        let settings = Settings::resolve(context)?;
        let timeout = settings.timeout;
        let deadline = Instant::now() + timeout;
        // A thread for the driver beside this one, which may be busy with printing.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Failure::refused("can't start a thread").source(error))?;
        let mut connect =
            StoreHandle::connect(settings.url).timeout(timeout).create(create || settings.embedded);
        if let Some(password) = settings.password {
            connect = connect.password(password);
        }
        let store = runtime.block_on(async { connect.await });
        let store = store.map_err(|error| match error {
            Error::InvalidOption(message) => Failure::usage(message).hint(URLS).into(),
            error => anyhow::Error::from(error),
        })?;
        let runtime = Some(runtime);
        Ok(Self { store, timeout, deadline, runtime })
    }

    /// Waits for `future`. The library bounds each of its calls.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("the runtime goes with the client"),
        }
    }

    /// What connecting has left of the time for the first answer.
    pub(crate) fn patience(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.max(Duration::from_millis(1))
    }

    pub(crate) fn catalog(&self) -> Catalog {
        Catalog::new(&self.store).timeout(self.patience())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // What still runs is of no use to anybody: the command has its answer, or its error.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
