//! Encrypted connections, with rustls and the aws-lc-rs provider named here so that no other crate decides it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::options::{TlsFiles, invalid};
use crate::error::Error;

/// What the driver needs to encrypt: the authorities of the cluster, and perhaps a certificate to show.
pub(super) fn config(files: &TlsFiles) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("ca", &files.ca)? {
        roots.add(certificate).map_err(|error| unusable("ca", &files.ca, &error))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(format!("no TLS: {error}")))?
        .with_root_certificates(roots);
    let config = match &files.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(certificates("cert", certificate)?, private_key(key)?)
            .map_err(|error| unusable("cert", certificate, &error))?,
    };
    Ok(Arc::new(config))
}

fn certificates(what: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, pem::Error>>);
    match read {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) | Err(pem::Error::NoItemsFound) => Err(invalid(format!(
            "{what}: there is no certificate in `{}`: it must be PEM, with BEGIN CERTIFICATE in it",
            path.display()
        ))),
        Err(error) => Err(unreadable(what, path, &error)),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    match PrivateKeyDer::from_pem_file(path) {
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) => Err(invalid(format!(
            "key: there is no private key in `{}`: it must be PEM, and not encrypted",
            path.display()
        ))),
        Err(error) => Err(unreadable("key", path, &error)),
    }
}

fn unreadable(what: &str, path: &Path, error: &pem::Error) -> Error {
    let path = path.display();
    match error {
        pem::Error::Io(error) => invalid(format!("{what}: can't read `{path}`: {error}")),
        error => invalid(format!("{what}: `{path}` is no PEM file: {error}")),
    }
}

fn unusable(what: &str, path: &Path, error: &rustls::Error) -> Error {
    let path = path.display();
    invalid(format!("{what}: `{path}` can't be used: {error}"))
}

/// Why encryption failed, if that is what happened.
pub(super) fn reason(error: &io::Error) -> Option<(String, &'static str)> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => (
            "the node's certificate is not signed by the authority that is trusted".to_owned(),
            "give the cluster's own certificate authority as `ca=FILE`",
        ),
        rustls::Error::InvalidCertificate(
            error @ (CertificateError::NotValidForName
            | CertificateError::NotValidForNameContext { .. }),
        ) => (
            format!("the node's certificate is for another host: {error}"),
            "the certificate must name the node's address (subjectAltName)",
        ),
        rustls::Error::InvalidCertificate(error) => (
            format!("the node's certificate is not valid: {error}"),
            "check the dates and names of the node's certificate",
        ),
        rustls::Error::InvalidMessage(_) => (
            "no TLS is spoken there".to_owned(),
            "leave `tls=true` out if the cluster's CQL port is not encrypted",
        ),
        rustls::Error::AlertReceived(alert) => (
            format!("the node refuses the encrypted connection: {alert:?}"),
            "does the cluster ask for a client certificate? give `cert=FILE&key=FILE`",
        ),
        error => (
            format!("encryption failed: {error}"),
            "check `ca`, `cert` and `key`, and the node's own certificate",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(ca: &Path) -> String {
        let files = TlsFiles { ca: ca.to_owned(), identity: None };
        config(&files).unwrap_err().to_string()
    }

    #[test]
    fn every_bad_file_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.pem");
        let error = refusal(&missing);
        assert!(error.contains("can't read") && error.contains("missing.pem"), "{error}");
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "nothing here").unwrap();
        let error = refusal(&empty);
        assert!(error.contains("no certificate in"), "{error}");
        let torn = folder.path().join("torn.pem");
        std::fs::write(&torn, "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n")
            .unwrap();
        let error = refusal(&torn);
        assert!(error.contains("no PEM file"), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_handshake_is_told_apart() {
        let told = |error: rustls::Error| reason(&io::Error::other(error)).unwrap().0;
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert!(told(unknown).contains("authority"));
        let plain = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        assert!(told(plain).contains("no TLS is spoken"));
        assert!(reason(&io::Error::from(io::ErrorKind::ConnectionRefused)).is_none());
    }
}
