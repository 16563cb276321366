//! `lseq completions`

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Context;
use crate::args::Cli;
use crate::exit::Exit;

/// Print a completion script for a shell
///
/// For bash: `source <(lseq completions bash)`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "lseq", &mut script);
        context.printer.raw(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
