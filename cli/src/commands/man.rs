//! `lseq man`

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Print a manual page, or write all of them to a folder
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The subcommand that the page is about; without one, the command as a whole
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    subcommand: Option<String>,
    /// Write lseq.1, lseq-alloc.1 and so on into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

impl Args {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let mut cli = Cli::command();
        // Global options go down to the subcommands here.
        cli.build();
        if let Some(folder) = self.dir {
            write_all(&cli, &folder)?;
            return Ok(Exit::Done);
        }
        let command = match &self.subcommand {
            None => &cli,
            Some(name) => cli.find_subcommand(name).ok_or_else(|| {
                let names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
                Failure::usage(format!("there is no subcommand `{name}`"))
                    .hint(format!("they are {}", names.join(", ")))
            })?,
        };
        Printer::lines(&page(command)?)?;
        Ok(Exit::Done)
    }
}

fn write_all(cli: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    for command in std::iter::once(cli).chain(cli.get_subcommands()) {
        let path = folder.join(format!("{}.1", title(command)));
        std::fs::write(&path, page(command)?).map_err(|error| {
            Failure::refused(format!("can't write {}", path.display()))
                .source(error)
                .hint("--dir names a folder that is there")
        })?;
    }
    Ok(())
}

fn title(command: &clap::Command) -> String {
    match command.get_name() {
        "lseq" => "lseq".to_owned(),
        name => format!("lseq-{name}"),
    }
}

fn page(command: &clap::Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(title(command)).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
