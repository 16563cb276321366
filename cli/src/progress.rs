//! A bar for long counts, where a person watches.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::printer::Printer;

/// What is over sooner needs no bar.
const SOON: Duration = Duration::from_millis(500);

/// How far a command has come. It shows on a terminal, after a while, and only if the ids go elsewhere.
pub(crate) struct Progress {
    total: u64,
    done: u64,
    began: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(printer: Printer, total: u64) -> Self {
        let watched = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let wanted = watched && !printer.is_quiet() && !printer.is_json();
        Self { total, done: 0, began: Instant::now(), wanted, bar: None }
    }

    pub(crate) fn advance(&mut self, ids: u64) {
        self.done = self.done.saturating_add(ids);
        if !self.wanted || self.began.elapsed() < SOON {
            return;
        }
        let (total, done) = (self.total, self.done);
        self.bar.get_or_insert_with(|| bar(total)).set_position(done);
    }
}

fn bar(total: u64) -> ProgressBar {
    let template = "{bar:32} {human_pos} of {human_len} ids, {per_sec}, {eta} left";
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
