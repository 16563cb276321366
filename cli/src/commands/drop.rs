//! `lseq drop`

use serde_json::Value;

use super::{Context, status};
use crate::exit::Exit;
use crate::failure::Failure;

/// Drop a sequence for good
///
/// It refuses everything from then on, and its clients stop. Its row stays, so that no id can come again: the name
/// comes back only beyond its old value, by `lseq advance --recreate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "With --json: what `lseq status` prints, \"retired\":true.")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// Consent to what can't be undone
    #[arg(long)]
    yes: bool,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = super::name(&self.name)?;
        let client = context.connect()?;
        let catalog = client.catalog();
        if self.yes {
            let info = client.wait(catalog.drop(&name))?;
            let object: Value = status::object(&info);
            let text = format!("dropped {name} at {}", info.timestamp.value);
            super::told(context.printer.answer(text, &object))?;
            return Ok(Exit::Done);
        }
        let value = client.wait(catalog.get(&name))?.timestamp.value;
        let message = format!(
            "dropping sequence `{name}` stops all its clients, and brings its name back only beyond {value}"
        );
        let hint = format!("`lseq drop --yes {}` does it", name.shell_argument());
        Err(Failure::refused(message).hint(hint).into())
    }
}
