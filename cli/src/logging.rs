//! Logs, on standard error.

use std::io;

use tracing::subscriber::set_global_default;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::failure::Failure;
use crate::printer::Printer;

/// Starts logging: as `RUST_LOG` says, otherwise as `-v` does.
pub(crate) fn start(verbose: u8, printer: Printer) -> Result<(), Failure> {
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => {
            EnvFilter::try_new(&directives).map_err(|error| {
                Failure::usage("RUST_LOG does not say what to log")
                    .source(error)
                    .hint("write a level, or module=level, as in RUST_LOG=lamport_seq=debug")
            })?
        }
        _ => EnvFilter::builder()
            .with_default_directive(LevelFilter::OFF.into())
            .parse_lossy(directives(verbose)),
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // It can only be set once, and only here.
    drop(if printer.is_json() {
        set_global_default(subscriber.json().flatten_event(true).finish())
    } else {
        set_global_default(subscriber.with_ansi(printer.colours_errors()).finish())
    });
    Ok(())
}

fn directives(verbose: u8) -> &'static str {
    match verbose {
        // What matters to the caller is the command's error, and told once.
        0 => "off",
        1 => "lamport_seq=info,warn",
        2 => "lamport_seq=debug,info",
        _ => "trace",
    }
}
