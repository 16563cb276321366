//! The command line as a whole: global options and the list of subcommands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser};

use crate::commands::{Command, Context};
use crate::duration;
use crate::printer::Printer;

/// What `lseq --help` ends with.
const AFTER_HELP: &str = "\
Stores:
  sqlite:FILE                               a file, shared safely by the processes of one machine
  cassandra://[USER@]HOST[:PORT][,HOST...]/KEYSPACE[?dc=..&tls=..&ca=..]
  scylla://...                              alike
  With none given, ids come from lseq/lseq.db in the user's data folder.

Environment (an option wins over it, and it wins over the file named by --config):
  LSEQ_STORE                                the store's URL
  LSEQ_CONFIG                               the configuration file
  LSEQ_PASSWORD, LSEQ_PASSWORD_FILE         the password, or a file that holds it
  RUST_LOG                                  what is logged; wins over -v
  NO_COLOR                                  no colour
  XDG_DATA_HOME                             the user's data folder, ~/.local/share by default

Configuration (--config FILE; none is read unless it is named, paths start where the command does):
  store = \"cassandra://shop@10.0.0.1/ids?dc=dc1\"
  password = \"...\"                          or password_file = \"/run/secrets/lseq\"
  timeout = \"10s\"

Exit codes:
  0  done
  1  refused, or a check found a violation
  2  bad arguments, environment or configuration
  3  outcome unknown: ids may be burned, never given twice
  4  store unavailable or busy, nothing was changed

With --json, standard output has one JSON object a line (`lseq COMMAND --help` says which), and
every error, warning and note on standard error is one too:
{\"error\":..,\"causes\":[..],\"hint\":..,\"exit\":N}, {\"warning\":..}, {\"note\":..}. So is every line that
-v or RUST_LOG logs: {\"timestamp\":..,\"level\":..,\"message\":..,\"target\":..}, and what belongs to it.";

/// Unique integer ids from Apache Cassandra, ScyllaDB or an embedded file.
///
/// No id is ever printed twice, by any number of processes and machines on one store. Ids that were
/// reserved and not printed are burned: a gap, never a duplicate.
#[derive(Debug, Parser)]
#[command(name = "lseq", version, after_help = AFTER_HELP, arg_required_else_help = true)]
#[command(max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every subcommand takes.
#[expect(clippy::doc_markdown, reason = "the comments are help texts")]
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Where the sequences live [env: LSEQ_STORE]
    #[arg(long, value_name = "URL", global = true)]
    store: Option<String>,
    /// Read store, password, password_file and timeout from this TOML file [env: LSEQ_CONFIG]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// How long to wait for the store, as in 500ms, 10s or 2m, up to 1h [default: 10s, init 1m]
    #[arg(long, value_name = "TIME", global = true, value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Print one JSON object a line
    #[arg(long, global = true)]
    json: bool,
    /// Log more on standard error: -v, -vv or -vvv
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
    /// No notes, no warnings, no progress on standard error: only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

impl Global {
    pub(crate) fn context(self) -> Context {
        Context {
            printer: Printer::new(self.json, self.quiet),
            store: self.store,
            config: self.config,
            timeout: self.timeout,
            verbose: self.verbose,
        }
    }
}
