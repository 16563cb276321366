//! A node cut off from the others, by a rule of the kernel's packet filter.
//!
//! What comes in for its storage port is dropped. So it hears nothing from the others, neither requests nor answers,
//! while they hear it: what it coordinates may be applied, and it never learns of that.

use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::cluster::{Network, STORAGE_PORT};
use crate::exec;
use crate::interrupt::CleaningUp;
use crate::tools::{self, Tool};

const LIMIT: Duration = Duration::from_secs(20);

/// A table of our own, so that nobody else's rules are touched. Dropping it takes the table away.
pub(super) struct Cut {
    table: String,
}

impl Cut {
    /// Finds out whether this can be had here at all, and clears away what a run that was killed has left.
    pub(super) fn prepare(network: Network) -> anyhow::Result<()> {
        tools::require(&[Tool::Nftables])?;
        let cut = Self { table: table(network) };
        cut.nft(&["add", "table", "inet", &cut.table]).context(
            "`partition` needs nftables in the kernel, and the rights of root: leave it out",
        )
    }

    pub(super) fn node(network: Network, address: IpAddr) -> anyhow::Result<Self> {
        let cut = Self { table: table(network) };
        let port = STORAGE_PORT.to_string();
        let rules = format!(
            "add table inet {table}; \
             add chain inet {table} input {{ type filter hook input priority 0; }}; \
             add rule inet {table} input ip daddr {address} tcp dport {port} counter drop",
            table = cut.table
        );
        cut.nft(&[&rules])?;
        Ok(cut)
    }

    /// How many packets it has dropped.
    pub(super) fn dropped(&self) -> anyhow::Result<u64> {
        let text =
            exec::capture(Command::new("nft").args(["list", "table", "inet", &self.table]), LIMIT)?;
        let (_, count) = text.split_once("counter packets ").context("the rule is not there")?;
        Ok(count.split_whitespace().next().unwrap_or_default().parse()?)
    }

    fn nft(&self, arguments: &[&str]) -> anyhow::Result<()> {
        exec::run(Command::new("nft").args(arguments), LIMIT)
            .with_context(|| format!("the table {} of nftables", self.table))
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        let _cleaning = CleaningUp::start();
        if let Err(error) = self.nft(&["delete", "table", "inet", &self.table]) {
            crate::out::note(format_args!("error: a node may still be cut off: {error:#}"));
        }
    }
}

fn table(network: Network) -> String {
    format!("lseq_soak_{}", network.to_string().replace('.', "_"))
}
