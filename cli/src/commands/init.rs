//! `lseq init`

use super::Context;
use crate::exit::Exit;

/// Create what the sequences live in: keyspace and tables, or a file
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let _client = context.connect()?;
        Ok(Exit::Done)
    }
}
