//! `lseq init`

use std::path::{Path, PathBuf};
use std::time::Duration;

use lamport_seq::Error;
use lamport_seq::store::cql::{CqlOptions, CqlStore, Replication, Schema, SchemaPlan};
use serde_json::json;

use super::Context;
use crate::client::{self, Client, Runner};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

/// Tables take longer than rows: all nodes have to agree on each of them.
const TIMEOUT: Duration = Duration::from_secs(60);

const REPLICATION: &str =
    "`lseq init --rf 3` keeps three copies in each datacenter, and so survives the loss of a node";
/// What the driver takes as time to connect.
const CONNECT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(300));

/// Create what the sequences live in: keyspace and tables, or a file
///
/// Prints the CQL that it runs. Running it again is fine: what is there stays as it is. It waits up to a minute unless
/// --timeout says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: {\"statement\":\"CQL\",\"dry_run\":..} for each statement; for a file {\"file\":..,\"created\":..}.")]
pub(crate) struct Args {
    /// How many replicas each datacenter of a new keyspace has; 3 survive the loss of one
    #[arg(long, value_name = "N", conflicts_with = "replication", allow_negative_numbers = true)]
    #[arg(value_parser = replicas)]
    rf: Option<Replication>,
    /// How many replicas a new keyspace has in which datacenter, as in dc1=3,dc2=3
    #[arg(long, value_name = "DC=N,...", value_parser = datacenters)]
    replication: Option<Replication>,
    /// Take over a table `counters` that was made by hand, as (name text, node uuid, value bigint)
    #[arg(long)]
    adopt: bool,
    /// Only print what would be run
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let settings = Settings::resolve(context)?;
        match settings.url.strip_prefix("sqlite:") {
            Some(path) => {
                let path = PathBuf::from(path);
                self.file(context, settings, &path)?;
            }
            None => self.tables(context, settings)?,
        }
        Ok(Exit::Done)
    }

    fn file(&self, context: &Context, settings: Settings, path: &Path) -> anyhow::Result<()> {
        if self.rf.is_some() || self.replication.is_some() || self.adopt {
            let message = "a file has no replicas, and no table that was made by hand";
            let hint = "--rf, --replication and --adopt are for cassandra:// and scylla://";
            return Err(Failure::usage(message).hint(hint).into());
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let was_there = path.exists();
        if was_there || !self.dry_run {
            Client::connect(context, settings, true)?;
        }
        let what = match (was_there, self.dry_run) {
            (true, _) => "there already",
            (false, true) => "would be created",
            (false, false) => "created",
        };
        let created = !was_there && !self.dry_run;
        let object = json!({ "file": path.to_string_lossy(), "created": created });
        Ok(context.printer.answer(format_args!("{what}: {}", path.display()), &object)?)
    }

    fn tables(self, context: &Context, settings: Settings) -> anyhow::Result<()> {
        let runner = Runner::start(context, settings.timeout.unwrap_or(TIMEOUT))?;
        let mut options = CqlOptions::from_url(&settings.url).map_err(client::explain)?;
        options = options.connect_timeout(runner.timeout.clamp(CONNECT.0, CONNECT.1));
        if let Some(password) = settings.password {
            options = options.password(password);
        }
        let store = runner.wait(CqlStore::connect(options)).map_err(client::explain)?;
        let schema = runner.wait(Schema::inspect(&store, runner.patience()))?;
        let replication = self.rf.as_ref().or(self.replication.as_ref());
        let plan = schema.plan(replication, self.adopt).map_err(|error| match error {
            Error::InvalidOption(message) => Failure::usage(message).hint(REPLICATION).into(),
            error => anyhow::Error::from(error),
        })?;
        self.carry_out(context.printer, &runner, &schema, &plan)
    }

    fn carry_out(
        &self,
        printer: Printer,
        runner: &Runner,
        schema: &Schema,
        plan: &SchemaPlan,
    ) -> anyhow::Result<()> {
        plan.warnings().iter().for_each(|warning| printer.warning(warning));
        plan.notes().iter().for_each(|note| printer.note(note));
        let mut outcome = Ok(());
        let mut print = |statement: &str| {
            if outcome.is_ok() {
                let object = json!({ "statement": statement, "dry_run": self.dry_run });
                outcome = printer.answer(format_args!("{statement};"), &object);
            }
        };
        if self.dry_run {
            plan.statements().for_each(&mut print);
        } else {
            let births = runner.wait(schema.apply(plan, runner.patience(), &mut print))?;
            if births > 0 {
                printer.note(&format!("{births} sequences were adopted"));
            }
        }
        outcome?;
        if plan.statements().next().is_none() {
            printer.note("everything is there already: nothing was changed");
        } else if self.dry_run {
            printer.note("nothing was changed: this was a dry run");
        }
        Ok(())
    }
}

fn replicas(text: &str) -> Result<Replication, String> {
    match super::count(text)?.to_string().parse() {
        Ok(replication) => Ok(replication),
        Err(error) => Err(format!("{error}")),
    }
}

fn datacenters(text: &str) -> Result<Replication, String> {
    let replication = text.contains('=').then(|| text.parse::<Replication>());
    match replication {
        Some(Ok(replication)) => Ok(replication),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("write DATACENTER=N, as in dc1=3,dc2=3".to_owned()),
    }
}
