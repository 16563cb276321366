//! `lseq completions`

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;
use crate::printer::Printer;

/// Print a completion script for a shell
///
/// For bash: `source <(lseq completions bash)`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "lseq", &mut script);
        Printer::lines(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
