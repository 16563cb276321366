//! Nodes whose clocks can be set while they run, by libfaketime.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;

use crate::{paths, tools};

/// How far ahead a node's clock is, in the words of libfaketime.
fn clock_file(node: u8) -> PathBuf {
    paths::node_dir(node).join("clock")
}

/// What a node's process finds in its environment, a line each.
fn environment_file(node: u8) -> PathBuf {
    paths::node_dir(node).join("environment")
}

/// Lets a node that is started from now on read its clock from a file.
pub(super) fn write(node: u8) -> anyhow::Result<()> {
    let library = tools::libfaketime()?;
    let mut text = String::new();
    for (name, value) in [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", clock_file(node).display().to_string()),
        ("FAKETIME_CACHE_DURATION", "1".to_owned()),
        // Java waits and measures by the monotonic clock: that one goes on as it is.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        // With the mend for old C libraries every timed wait returns at once, and Java spins.
        ("FAKETIME_FORCE_MONOTONIC_FIX", "0".to_owned()),
        // Otherwise a node that is ahead takes every message of the others for one that is too old: it would be cut
        // off, which is another fault.
        ("JDK_JAVA_OPTIONS", "-Dcassandra.settings.internode_timeout=false".to_owned()),
    ] {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{name}={value}");
    }
    std::fs::write(environment_file(node), text)?;
    set(node, Duration::ZERO)
}

/// What [`write()`] has left for a node, if it has.
pub(super) fn environment(node: u8) -> anyhow::Result<Vec<(String, String)>> {
    let path = environment_file(node);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path)?;
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Sets a node's clock ahead of the machine's. The node sees it within two seconds.
pub(crate) fn set(node: u8, ahead: Duration) -> anyhow::Result<()> {
    let path = clock_file(node);
    let draft = path.with_extension("draft");
    std::fs::write(&draft, format!("+{}\n", ahead.as_secs()))
        .and_then(|()| std::fs::rename(&draft, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}
