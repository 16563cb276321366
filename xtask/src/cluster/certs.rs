//! Certificates for a cluster with TLS, made anew by every `cluster up --tls`.
//!
//! They are for tests: short-lived, with keys that anyone on this machine may read (a node in a
//! container reads them under another user).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::shape::Shape;
use crate::tools::{self, Tool};
use crate::{exec, paths};

const LIMIT: Duration = Duration::from_secs(30);
const DAYS: &str = "30";

/// Makes two authorities, a certificate for every node and one for a client.
pub(crate) fn make(shape: &Shape) -> anyhow::Result<()> {
    tools::require(&[Tool::OpenSsl])?;
    let dir = paths::tls_dir();
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    authority(&dir, "ca", "lseq test authority")?;
    authority(&dir, "other-ca", "an unrelated authority")?;
    for node in shape.numbers() {
        let name = format!("node-{node}");
        let san = format!("subjectAltName=IP:{}\n", shape.address(node));
        signed(&dir, &name, &format!("{san}extendedKeyUsage=serverAuth\n"))?;
        // Cassandra wants key and certificate in one file.
        let key = std::fs::read_to_string(dir.join(format!("{name}-key.pem")))?;
        let certificate = dir.join(format!("{name}.pem"));
        let text = key + &std::fs::read_to_string(&certificate)?;
        std::fs::write(&certificate, text)?;
    }
    signed(&dir, "client", "extendedKeyUsage=clientAuth\n")
}

fn authority(dir: &Path, name: &str, subject: &str) -> anyhow::Result<()> {
    key(dir, name)?;
    openssl(dir, &["req", "-x509", "-new", "-sha256", "-days", DAYS])
        .args(["-subj", &format!("/CN={subject}"), "-key", &format!("{name}-key.pem")])
        .args(["-addext", "keyUsage=critical,keyCertSign,cRLSign"])
        .args(["-out", &format!("{name}.pem")])
        .done()
}

/// A certificate signed by the first authority.
fn signed(dir: &Path, name: &str, extensions: &str) -> anyhow::Result<()> {
    key(dir, name)?;
    let request = format!("{name}.csr");
    let extension_file = format!("{name}.ext");
    let all = format!("basicConstraints=CA:FALSE\n{extensions}");
    std::fs::write(dir.join(&extension_file), all)?;
    openssl(dir, &["req", "-new", "-subj", &format!("/CN={name}")])
        .args(["-key", &format!("{name}-key.pem"), "-out", &request])
        .done()?;
    openssl(dir, &["x509", "-req", "-sha256", "-days", DAYS, "-in", &request])
        .args(["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial"])
        .args(["-extfile", &extension_file, "-out", &format!("{name}.pem")])
        .done()?;
    std::fs::remove_file(dir.join(request))?;
    std::fs::remove_file(dir.join(extension_file))?;
    Ok(())
}

fn key(dir: &Path, name: &str) -> anyhow::Result<()> {
    openssl(dir, &["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        .args(["-out", &format!("{name}-key.pem")])
        .done()
}

struct OpenSsl(Command);

fn openssl(dir: &Path, arguments: &[&str]) -> OpenSsl {
    let mut command = Command::new("openssl");
    command.args(arguments).current_dir(dir);
    OpenSsl(command)
}

impl OpenSsl {
    fn args<const N: usize>(mut self, arguments: [&str; N]) -> Self {
        self.0.args(arguments);
        self
    }

    fn done(mut self) -> anyhow::Result<()> {
        exec::capture(&mut self.0, LIMIT).context("cannot make certificates")?;
        Ok(())
    }
}
