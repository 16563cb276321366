//! Why there is no connection, dug out of the driver's nested errors and said in one line.

use std::io::{self, ErrorKind};

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind, DbError, FrameHeaderParseError, MetadataError,
    NewSessionError,
};

use super::outcome::Cause;
use crate::store::{StoreError, StoreErrorKind};

/// A reason, what it allows to conclude, and what to do.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) kind: StoreErrorKind,
    text: String,
    hint: Option<&'static str>,
}

/// S3: there is no connection, so nothing was sent.
fn passing(text: impl Into<String>) -> Reason {
    Reason { kind: StoreErrorKind::NotApplied, text: text.into(), hint: None }
}

/// The same again tomorrow, unless somebody changes something.
fn lasting(text: impl Into<String>, hint: &'static str) -> Reason {
    Reason { kind: StoreErrorKind::Refused, text: text.into(), hint: Some(hint) }
}

impl Reason {
    /// The error that says `message`, and this as its cause.
    pub(super) fn into_error(self, message: &str) -> StoreError {
        let error = StoreError::new(self.kind, message).with_source(Cause::of(self.text));
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// Why no session could be built.
pub(super) fn session(error: &NewSessionError) -> Reason {
    match error {
        NewSessionError::FailedToResolveAnyHostname(names) => {
            let names: Vec<_> = names.iter().map(|name| without_port(name)).collect();
            passing(format!("unknown host: {}", names.join(", ")))
        }
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(error)) => pool(error),
        other => passing(other.to_string()),
    }
}

fn without_port(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(host, _)| host)
}

/// Why a node's pool has no connection.
pub(super) fn pool(error: &ConnectionPoolError) -> Reason {
    match error {
        ConnectionPoolError::Broken { last_connection_error } => connection(last_connection_error),
        ConnectionPoolError::Initializing => passing("the first connection is not there yet"),
        other => passing(other.to_string()),
    }
}

fn connection(error: &ConnectionError) -> Reason {
    match error {
        ConnectionError::ConnectTimeout => {
            passing("nobody answers there (no TCP connection in time)")
        }
        ConnectionError::IoError(error) => network(error),
        ConnectionError::BrokenConnection(error) => broken(error),
        ConnectionError::ConnectionSetupRequestError(error) => setup(error.get_error()),
        other => passing(other.to_string()),
    }
}

fn setup(error: &ConnectionSetupRequestErrorKind) -> Reason {
    match error {
        ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, reason) => lasting(
            format!("login refused: {reason}"),
            "check the user in the store URL, and LSEQ_PASSWORD or LSEQ_PASSWORD_FILE",
        ),
        ConnectionSetupRequestErrorKind::MissingAuthentication => lasting(
            "login needed: the cluster asks for a user and a password",
            "put the user in the store URL (cassandra://USER@HOST/...) and the password in LSEQ_PASSWORD",
        ),
        ConnectionSetupRequestErrorKind::DbError(error, reason) => {
            passing(Cause::of_server(error, reason).to_string())
        }
        ConnectionSetupRequestErrorKind::BrokenConnection(error) => broken(error),
        other => passing(other.to_string()),
    }
}

/// Why a connection broke, as far as it has been established.
fn broken(error: &BrokenConnectionError) -> Reason {
    match error.downcast_ref() {
        Some(BrokenConnectionErrorKind::KeepaliveTimeout(_)) => {
            passing("the node accepts connections and says nothing")
        }
        Some(BrokenConnectionErrorKind::WriteError(error)) => network(error),
        Some(BrokenConnectionErrorKind::FrameHeaderParseError(error)) => match error {
            FrameHeaderParseError::HeaderIoError(error)
            | FrameHeaderParseError::BodyChunkIoError(_, error) => network(error),
            FrameHeaderParseError::FrameFromClient
            | FrameHeaderParseError::VersionNotSupported(_)
            | FrameHeaderParseError::UnknownResponseOpcode(_) => lasting(
                "no CQL is spoken there (is it an encrypted port?)",
                "say `tls=true&ca=FILE` in the store URL if the cluster's CQL port is encrypted",
            ),
            _ => passing("the connection was closed"),
        },
        _ => passing("the connection was closed"),
    }
}

fn network(error: &io::Error) -> Reason {
    if let Some(reason) = tls(error) {
        return reason;
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => passing("connection refused"),
        ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Reason {
            hint: Some("is the cluster's CQL port encrypted? then say `tls=true&ca=FILE`"),
            ..passing("the connection was closed before a word was said")
        },
        _ => passing(error.to_string()),
    }
}

#[cfg(feature = "tls")]
fn tls(error: &io::Error) -> Option<Reason> {
    super::tls::reason(error).map(|(text, hint)| lasting(text, hint))
}

#[cfg(not(feature = "tls"))]
fn tls(_: &io::Error) -> Option<Reason> {
    None
}
