//! The programs that a cluster without Docker needs: found, or installed where that is ours to do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::{exec, out};

const VERSION_LIMIT: Duration = Duration::from_secs(20);
const INSTALL_LIMIT: Duration = Duration::from_secs(600);

/// A program, and the Debian package that has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Cassandra 5.0 runs on Java 11 and 17; one version here means one behaviour to know.
    Java17,
    /// Fetches Cassandra.
    Maven,
    /// Makes the certificates of a cluster with TLS.
    OpenSsl,
    /// Cuts a node off from the others.
    Nftables,
    /// Sets the clock of one process.
    FakeTime,
}

impl Tool {
    fn package(self) -> &'static str {
        match self {
            Self::Java17 => "openjdk-17-jre-headless",
            Self::Maven => "maven",
            Self::OpenSsl => "openssl",
            Self::Nftables => "nftables",
            Self::FakeTime => "faketime",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Java17 => "Java 17",
            Self::Maven => "Maven (mvn)",
            Self::OpenSsl => "openssl",
            Self::Nftables => "nftables (nft)",
            Self::FakeTime => "libfaketime",
        }
    }

    fn is_there(self) -> bool {
        match self {
            Self::Java17 => java17().is_ok(),
            Self::Maven => answers(Command::new("mvn").arg("--version")),
            Self::OpenSsl => answers(Command::new("openssl").arg("version")),
            Self::Nftables => answers(Command::new("nft").arg("--version")),
            Self::FakeTime => libfaketime().is_ok(),
        }
    }
}

/// Makes sure that all of `wanted` are there. As root on Debian or Ubuntu it installs what is
/// missing and says so; elsewhere it says what to install.
pub(crate) fn require(wanted: &[Tool]) -> anyhow::Result<()> {
    let missing = |tool: &Tool| !tool.is_there();
    let absent: Vec<Tool> = wanted.iter().copied().filter(missing).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let names = absent.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(" and ");
    let packages: Vec<&str> = absent.iter().map(|tool| tool.package()).collect();
    let install = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if !rustix::process::geteuid().is_root() || !Path::new("/etc/debian_version").exists() {
        bail!(
            "{names} not found (on Debian or Ubuntu: `{install}`); a cluster needs a running \
             Docker engine with Compose, or Java 17 and Maven"
        );
    }
    out::note(format_args!("{names} not found: running `{install}`"));
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], packages.as_slice()].concat())?;
    match absent.into_iter().find(missing) {
        Some(tool) => bail!("{} is still not found after `{install}`", tool.name()),
        None => Ok(()),
    }
}

fn apt_get(args: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("apt-get");
    exec::run(command.arg("-q").args(args).env("DEBIAN_FRONTEND", "noninteractive"), INSTALL_LIMIT)
}

fn answers(command: &mut Command) -> bool {
    exec::capture(command, VERSION_LIMIT).is_ok()
}

/// The Java 17 to run Cassandra with, which need not be the first `java` of the PATH.
pub(crate) fn java17() -> anyhow::Result<PathBuf> {
    let mut candidates = Vec::new();
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        candidates.push(Path::new(&home).join("bin").join("java"));
    }
    candidates.push(PathBuf::from("java"));
    if let Ok(folders) = std::fs::read_dir("/usr/lib/jvm") {
        candidates.extend(folders.flatten().map(|folder| folder.path().join("bin").join("java")));
    }
    let is_17 = |java: &PathBuf| {
        exec::capture(Command::new(java).arg("-version"), VERSION_LIMIT)
            .is_ok_and(|text| text.contains("version \"17."))
    };
    candidates.into_iter().find(is_17).context("Java 17 not found")
}

/// The library that sets the clock of a process with many threads.
pub(crate) fn libfaketime() -> anyhow::Result<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let places = places.map(|place| place.path()).chain([PathBuf::from("/usr/lib")]);
    places
        .map(|place| place.join("faketime").join("libfaketimeMT.so.1"))
        .find(|library| library.is_file())
        .context("libfaketime not found")
}
