//! A connection to the store, and the runtime that it needs.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use lamport_seq::{Catalog, Error, StoreHandle};
use tokio::runtime::{Builder, Runtime};

use crate::commands::Context;
use crate::failure::Failure;
use crate::logging;
use crate::settings::{self, Settings};

/// What runs futures, within the time that the user grants. Made only by commands that need a store.
pub(crate) struct Runner {
    /// How long a step may take.
    pub(crate) timeout: Duration,
    deadline: Instant,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Runner {
    pub(crate) fn start(context: &Context, timeout: Duration) -> Result<Self, Failure> {
        logging::start(context.verbose, context.printer)?;
        // A thread for the driver beside this one, which may be busy with printing.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::refused("can't start a thread")
                .source(error)
                .hint("is the limit of processes reached? `ulimit -u` shows it")
        })?;
        let deadline = Instant::now() + timeout;
        Ok(Self { timeout, deadline, runtime: Some(runtime) })
    }

    /// Waits for `future`. The library bounds each of its calls.
    pub(crate) fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        match &self.runtime {
            Some(runtime) => runtime.block_on(async { future.into_future().await }),
            None => unreachable!("the runtime goes with the runner"),
        }
    }

    /// What is left of the time until the first answer.
    pub(crate) fn patience(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.max(Duration::from_millis(1))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // What still runs is of no use to anybody: the command has its answer, or its error.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A runner with a connection.
pub(crate) struct Client {
    pub(crate) store: StoreHandle,
    runner: Runner,
}

impl Client {
    /// `create`: an embedded file is made if there is none.
    pub(crate) fn connect(
        context: &Context,
        settings: Settings,
        create: bool,
    ) -> anyhow::Result<Self> {
        let runner = Runner::start(context, settings.timeout.unwrap_or(settings::TIMEOUT))?;
        if let Some(folder) = &settings.folder {
            settings::create_folder(folder)?;
        }
        // The file in the user's data folder has a name that nobody can have mistyped.
        let create = create || settings.folder.is_some();
        let mut connect = StoreHandle::connect(settings.url).timeout(runner.timeout).create(create);
        if let Some(password) = settings.password {
            connect = connect.password(password);
        }
        let store = runner.wait(connect).map_err(explain)?;
        Ok(Self { store, runner })
    }

    /// How long a step may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.runner.timeout
    }

    /// What connecting has left of the time for the first answer.
    pub(crate) fn patience(&self) -> Duration {
        self.runner.patience()
    }

    pub(crate) fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        self.runner.wait(future)
    }

    pub(crate) fn catalog(&self) -> Catalog {
        Catalog::new(&self.store).timeout(self.patience())
    }
}

/// An error of connecting, with a hint where it is about the URL.
pub(crate) fn explain(error: Error) -> anyhow::Error {
    match error {
        Error::InvalidOption(message) => Failure::usage(message).hint(settings::URLS).into(),
        error => error.into(),
    }
}
