//! `lseq create`

use serde_json::json;

use super::Context;
use crate::definition::{self, DefinitionArgs};
use crate::exit::Exit;

/// Create a sequence
///
/// Words and defaults are those of PostgreSQL's CREATE SEQUENCE: a rising sequence starts at 1, a falling one at
/// -1. The definition is immutable, but that `lseq alter` widens its bounds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"sequence\":..,\"created\":true,\"start_value\":..,\"increment_by\":..,\"min_value\":..,
\"max_value\":..,\"strict\":false}")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    #[command(flatten)]
    definition: DefinitionArgs,
    /// Accept a sequence that is there already, if it is defined alike
    #[arg(long)]
    if_not_exists: bool,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let definition = self.definition.build()?;
        let name = super::name(&self.name)?;
        let client = context.connect_or_create()?;
        let catalog = client.catalog();
        let created = if self.if_not_exists {
            client.wait(catalog.create_if_missing(&name, definition))?
        } else {
            client.wait(catalog.create(&name, definition))?;
            true
        };
        let verb = if created { "created" } else { "found" };
        let mut object = json!({ "sequence": name.as_str(), "created": created });
        if let Some(members) = object.as_object_mut() {
            members.append(&mut definition::members(&definition));
        }
        super::told(context.printer.answer(format_args!("{verb} {name}: {definition}"), &object))?;
        Ok(Exit::Done)
    }
}
