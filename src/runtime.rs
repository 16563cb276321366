//! Where work runs that must not end with its caller, or whose caller has no runtime.

use std::future::Future;
use std::sync::{OnceLock, mpsc};
use std::thread;

use tokio::runtime::{Builder, Handle};

/// Runs `future` on the library's own thread and blocks this thread until it is done.
///
/// The thread is started by the first call and shared by all.
///
/// # Panics
///
/// If the operating system has no thread to give, or `future` panics.
pub(crate) fn block_on<F>(future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let (sender, receiver) = mpsc::sync_channel(1);
    background().spawn(async move {
        // A receiver that has gone has panicked: there is nobody to tell.
        drop(sender.send(future.await));
    });
    let Ok(output) = receiver.recv() else { panic!("the call panicked on the runtime's thread") };
    output
}

/// Runs `future` in a task of its own, so that dropping the caller's future does not end it half way (S11).
///
/// # Panics
///
/// If `future` does.
pub(crate) async fn detached<F>(future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    match tokio::spawn(future).await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going away, and this caller with it.
            Err(_) => std::future::pending().await,
        },
    }
}

fn background() -> &'static Handle {
    static BACKGROUND: OnceLock<Handle> = OnceLock::new();
    BACKGROUND.get_or_init(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let run = move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => {
                    drop(sender.send(Ok(runtime.handle().clone())));
                    runtime.block_on(std::future::pending::<()>());
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("lamport-seq".to_owned()).spawn(run);
        match thread.map(|_| receiver.recv()) {
            Ok(Ok(Ok(handle))) => handle,
            failure => panic!("no thread for a runtime: {failure:?}"),
        }
    })
}
