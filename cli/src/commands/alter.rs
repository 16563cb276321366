//! `lseq alter`

use lamport_seq::Definition;
use serde_json::json;

use super::Context;
use crate::definition::{self, Column};
use crate::exit::Exit;

/// Widen the bounds of a sequence
///
/// Bounds only ever move outward; nothing else of a definition can be changed. Prints it before and after. Restart
/// clients that expect the old one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"sequence\":..,\"before\":DEFINITION,\"after\":DEFINITION,\"changed\":..} with DEFINITION
{\"start_value\":..,\"increment_by\":..,\"min_value\":..,\"max_value\":..,\"strict\":..}.")]
#[command(group = clap::ArgGroup::new("bound").required(true).multiple(true))]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// The smallest id
    #[arg(long, value_name = "ID", allow_negative_numbers = true, group = "bound")]
    min: Option<i64>,
    /// The largest id
    #[arg(long, value_name = "ID", allow_negative_numbers = true, group = "bound")]
    max: Option<i64>,
    /// The end of what the ids must fit into: the largest of a rising sequence, the smallest of a falling one
    #[arg(long = "type", value_name = "TYPE", group = "bound", conflicts_with_all = ["min", "max"])]
    column: Option<Column>,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = super::name(&self.name)?;
        let client = context.connect()?;
        let before = client.wait(client.catalog().get(&name))?.definition;
        let (min, max) = self.bounds(&before);
        let after = client.wait(client.catalog().alter(&name, min, max))?;
        let changed = before != after;
        let object = json!({
            "sequence": name.as_str(),
            "before": definition::members(&before),
            "after": definition::members(&after),
            "changed": changed,
        });
        super::told(context.printer.answer(format_args!("{name}: {before} -> {after}"), &object))?;
        if !changed {
            context.printer.note("it was so already: nothing was changed");
        }
        Ok(Exit::Done)
    }

    fn bounds(&self, definition: &Definition) -> (Option<i64>, Option<i64>) {
        match self.column.map(Column::bounds) {
            Some((_, max)) if definition.increment_by() > 0 => (None, Some(max)),
            Some((min, _)) => (Some(min), None),
            None => (self.min, self.max),
        }
    }
}
