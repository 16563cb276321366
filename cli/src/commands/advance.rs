//! `lseq advance`

use lamport_seq::Advance;
use serde_json::json;

use super::Context;
use crate::definition::DefinitionArgs;
use crate::exit::Exit;
use crate::failure::Failure;

/// Move a sequence on, so that all its ids lie beyond a given one
///
/// Only ever forward, aligned to the increment; prints the value before and after. Ids that other processes have
/// buffered may be lower, and are still given: restart those that must not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"sequence\":..,\"before\":..,\"after\":..,\"next\":..,\"changed\":..,\"recreated\":..,
\"dry_run\":..}. before is null if there was no row, next is null if no id is left.")]
pub(crate) struct Args {
    /// The sequence
    name: String,
    /// The id beyond which all further ids lie
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    above: i64,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Consent to use more than a million ids and a hundredth of what is left, which can't be undone
    #[arg(long)]
    yes: bool,
    /// Bring back a sequence that was dropped or has lost its row; clients that knew the old one stop
    ///
    /// A dropped one keeps its definition. One without a row gets the definition that the flags give.
    #[arg(long)]
    recreate: bool,
    #[command(flatten)]
    definition: DefinitionArgs,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let name = super::name(&self.name)?;
        let advance = self.advance()?;
        let client = context.connect()?;
        let advanced = client.wait(client.catalog().advance(&name, advance))?;
        let changed = advanced.recreated || advanced.before != Some(advanced.after);
        let before = advanced.before.map_or("no row".to_owned(), |value| value.to_string());
        let next = advanced.next.map_or("no id is left".to_owned(), |id| format!("next id {id}"));
        let recreated = if advanced.recreated { ", created anew" } else { "" };
        let object = json!({
            "sequence": name.as_str(),
            "before": advanced.before,
            "after": advanced.after,
            "next": advanced.next,
            "changed": changed && !self.dry_run,
            "recreated": advanced.recreated && !self.dry_run,
            "dry_run": self.dry_run,
        });
        let text = format!("{name}: {before} -> {}, {next}{recreated}", advanced.after);
        super::told(context.printer.answer(text, &object))?;
        context.printer.note(match (changed, self.dry_run) {
            (false, _) => "it was there already: nothing was changed",
            (true, true) => "nothing was changed: this was a dry run",
            (true, false) if advanced.recreated => "clients that knew the old one have stopped: restart them",
            (true, false) => {
                "ids that running clients have buffered may be lower; restart those that must not give them"
            }
        });
        Ok(Exit::Done)
    }

    fn advance(&self) -> anyhow::Result<Advance> {
        let mut advance = Advance::above(self.above);
        if self.yes {
            advance = advance.max_jump(u64::MAX);
        }
        if self.dry_run {
            advance = advance.dry_run();
        }
        if self.recreate {
            advance = advance.recreate(self.definition.build()?);
        } else if self.definition.is_given() {
            let message = "a definition goes with --recreate only";
            let hint = "`lseq alter` widens the bounds of a sequence that is there";
            return Err(Failure::usage(message).hint(hint).into());
        }
        Ok(advance)
    }
}
