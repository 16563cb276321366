//! What may be concluded from an error of the driver (S3).
//!
//! The list of errors after which a write was certainly not applied, and never will be, is short and explicit.
//! Whatever is not on it, and whatever later versions of the driver add, is unknown. It holds because no statement
//! is ever repeated by the driver (S8): under its default policy the last error hides what an earlier try did.

use std::fmt;
use std::time::Duration;

use scylla::errors::{
    BadQuery, ConnectionPoolError, DbError, ExecutionError, PrepareError, RequestAttemptError,
};

use super::reason;
use crate::store::{StoreError, StoreErrorKind};

/// S3: the table for a statement.
pub(super) fn kind(error: &ExecutionError) -> StoreErrorKind {
    match error {
        // Nothing was sent.
        ExecutionError::EmptyPlan => StoreErrorKind::NotApplied,
        ExecutionError::ConnectionPoolError(error) => pool_kind(error),
        ExecutionError::PrepareError(error) => prepare_kind(error),
        ExecutionError::BadQuery(
            BadQuery::SerializationError(_)
            | BadQuery::PartitionKeyExtraction
            | BadQuery::ValuesTooLongForKey(..),
        ) => StoreErrorKind::Refused,
        ExecutionError::LastAttemptError(error) => attempt_kind(error),
        // `RequestTimeout` above all: the server may be at it still.
        _ => StoreErrorKind::Unknown,
    }
}

/// S3: the table for the one attempt that a statement gets.
fn attempt_kind(error: &RequestAttemptError) -> StoreErrorKind {
    match error {
        // Nothing was sent.
        RequestAttemptError::UnableToAllocStreamId => StoreErrorKind::NotApplied,
        RequestAttemptError::SerializationError(_)
        | RequestAttemptError::CqlRequestSerialization(_) => StoreErrorKind::Refused,
        RequestAttemptError::DbError(error, _) => db_kind(error),
        // A lost connection, an answer that can't be read: the write may have been applied.
        _ => StoreErrorKind::Unknown,
    }
}

/// S3: the table for what the server says.
fn db_kind(error: &DbError) -> StoreErrorKind {
    match error {
        // Refused before the first phase of Paxos. At any other level it may come after the decision.
        DbError::Unavailable { consistency, .. } if consistency.is_serial() => {
            StoreErrorKind::NotApplied
        }
        DbError::IsBootstrapping => StoreErrorKind::NotApplied,
        // Refused before anything is done, and again if asked again.
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::Unauthorized
        | DbError::AuthenticationError
        | DbError::ConfigError => StoreErrorKind::Refused,
        // Timeouts and failures of every write type, Overloaded, ServerError, code 0x1700, whatever comes.
        _ => StoreErrorKind::Unknown,
    }
}

/// Of a statement that could not be prepared, nothing was carried out; some refusals are final.
fn prepare_kind(error: &PrepareError) -> StoreErrorKind {
    match error {
        PrepareError::ConnectionPoolError(error) => pool_kind(error),
        PrepareError::AllAttemptsFailed {
            first_attempt: RequestAttemptError::DbError(error, _),
        } if db_kind(error) == StoreErrorKind::Refused => StoreErrorKind::Refused,
        _ => StoreErrorKind::NotApplied,
    }
}

/// Without a connection nothing was sent; a wrong password stays wrong.
fn pool_kind(error: &ConnectionPoolError) -> StoreErrorKind {
    reason::pool(error).kind
}

/// The error of a statement that was to be sent, and waited for as long as `patience`.
pub(super) fn failed(label: &str, error: &ExecutionError, patience: Duration) -> StoreError {
    let kind = kind(error);
    match error {
        ExecutionError::RequestTimeout(_) => {
            StoreError::new(kind, format!("{label}: no answer within {patience:?}"))
        }
        ExecutionError::EmptyPlan => StoreError::new(kind, format!("{label}: no node is known")),
        ExecutionError::ConnectionPoolError(error) => unreachable(label, error),
        ExecutionError::PrepareError(error) => prepare_failed(label, error),
        ExecutionError::LastAttemptError(error) => attempt_failed(label, kind, error),
        other => StoreError::new(kind, format!("{label}: the driver failed"))
            .with_source(Cause::of(other)),
    }
}

/// The error of a statement that could not be prepared.
pub(super) fn prepare_failed(label: &str, error: &PrepareError) -> StoreError {
    let kind = prepare_kind(error);
    match error {
        PrepareError::ConnectionPoolError(error) => unreachable(label, error),
        PrepareError::AllAttemptsFailed { first_attempt } => {
            attempt_failed(label, kind, first_attempt)
        }
        other => StoreError::new(kind, format!("{label}: the statement can't be prepared"))
            .with_source(Cause::of(other)),
    }
}

/// The error of a statement that was not sent, for lack of time.
pub(super) fn too_late(label: &str) -> StoreError {
    let message = format!("{label}: not sent, the deadline had passed");
    StoreError::new(StoreErrorKind::NotApplied, message)
}

/// The error of an answer that can't be understood. S3: of a write it proves nothing.
pub(super) fn unreadable(
    label: &str,
    kind: StoreErrorKind,
    error: impl fmt::Display,
) -> StoreError {
    let message = format!("{label}: the answer can't be understood");
    StoreError::new(kind, message).with_source(Cause::of(error))
}

fn unreachable(label: &str, error: &ConnectionPoolError) -> StoreError {
    let why = reason::pool(error);
    let message = format!("{label}: no node can be reached");
    why.into_error(&message)
}

fn attempt_failed(label: &str, kind: StoreErrorKind, error: &RequestAttemptError) -> StoreError {
    let what = match (error, kind) {
        (RequestAttemptError::DbError(..), StoreErrorKind::Refused) => "the server refuses",
        (RequestAttemptError::DbError(..), _) => "the server reports a failure",
        (RequestAttemptError::BrokenConnectionError(_), _) => "the connection was lost",
        _ => "the driver failed",
    };
    let mut failure =
        StoreError::new(kind, format!("{label}: {what}")).with_source(Cause::of(error));
    if let RequestAttemptError::DbError(error, reason) = error {
        failure = failure.with_source(Cause::of_server(error, reason));
        if let Some(hint) = advice(error, reason) {
            failure = failure.with_hint(hint);
        }
    }
    failure
}

/// What to do about a server's refusal.
fn advice(error: &DbError, reason: &str) -> Option<&'static str> {
    let reason = reason.to_ascii_lowercase();
    if reason.contains("lwt") && reason.contains("tablets") {
        return Some(
            "this version of ScyllaDB has no lightweight transactions on tablets: create the keyspace \
             with `AND tablets = {'enabled': false}`, or use ScyllaDB 2025.4 or later",
        );
    }
    match error {
        DbError::Unauthorized => {
            Some("cql/grants.cql has the rights that a client needs; a superuser can grant them")
        }
        DbError::Invalid if reason.contains("unconfigured table") => Some(
            "`lseq init` makes empty tables; if sequences were in them, restore them first, or ids repeat",
        ),
        _ => None,
    }
}

/// What the driver or the server said, in one line. Driver types stay out of the public API.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Cause(String);

impl Cause {
    pub(super) fn of(error: impl fmt::Display) -> Self {
        let text = error.to_string();
        Self(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The server's own words, and the numbers that the protocol has for it.
    pub(super) fn of_server(error: &DbError, reason: &str) -> Self {
        match error {
            // The words say it all.
            DbError::Invalid
            | DbError::SyntaxError
            | DbError::Unauthorized
            | DbError::AuthenticationError
            | DbError::ConfigError
                if !reason.is_empty() =>
            {
                Self::of(reason)
            }
            _ if reason.is_empty() => Self::of(error),
            _ => Self::of(format_args!("{error}: {reason}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StoreErrorKind::{NotApplied, Refused, Unknown};
    use scylla::errors::{
        BrokenConnectionErrorKind, ConnectionError, CqlResponseKind, MetadataError, OperationType,
        SchemaAgreementError, UseKeyspaceError, WriteType,
    };
    use scylla::statement::Consistency;

    fn db(error: DbError) -> ExecutionError {
        said(error, "words of the server")
    }

    fn said(error: DbError, reason: &str) -> ExecutionError {
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, reason.to_owned()))
    }

    fn unavailable(consistency: Consistency) -> DbError {
        DbError::Unavailable { consistency, required: 2, alive: 1 }
    }

    fn write_timeout(write_type: WriteType) -> ExecutionError {
        db(DbError::WriteTimeout {
            consistency: Consistency::Serial,
            received: 1,
            required: 2,
            write_type,
        })
    }

    fn write_failure(write_type: WriteType) -> ExecutionError {
        db(DbError::WriteFailure {
            consistency: Consistency::Serial,
            received: 1,
            required: 2,
            numfailures: 1,
            write_type,
        })
    }

    fn prepare(first_attempt: RequestAttemptError) -> ExecutionError {
        ExecutionError::PrepareError(PrepareError::AllAttemptsFailed { first_attempt })
    }

    fn broken() -> RequestAttemptError {
        let kind = BrokenConnectionErrorKind::ChannelError;
        RequestAttemptError::BrokenConnectionError(kind.into())
    }

    fn refused_connection() -> ConnectionPoolError {
        let io = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        ConnectionPoolError::Broken {
            last_connection_error: ConnectionError::IoError(std::sync::Arc::new(io)),
        }
    }

    #[test]
    fn s3_certainly_not_applied() {
        for error in [
            ExecutionError::EmptyPlan,
            ExecutionError::ConnectionPoolError(ConnectionPoolError::Initializing),
            ExecutionError::ConnectionPoolError(ConnectionPoolError::NodeDisabledByHostFilter),
            ExecutionError::ConnectionPoolError(refused_connection()),
            ExecutionError::LastAttemptError(RequestAttemptError::UnableToAllocStreamId),
            db(unavailable(Consistency::Serial)),
            db(unavailable(Consistency::LocalSerial)),
            db(DbError::IsBootstrapping),
            prepare(RequestAttemptError::UnableToAllocStreamId),
            prepare(broken()),
            prepare(RequestAttemptError::DbError(DbError::Overloaded, String::new())),
            ExecutionError::PrepareError(PrepareError::PreparedStatementIdsMismatch),
            ExecutionError::PrepareError(PrepareError::ConnectionPoolError(refused_connection())),
        ] {
            assert_eq!(kind(&error), NotApplied, "{error:?}");
        }
    }

    #[test]
    fn s3_refused_for_good() {
        for error in [
            db(DbError::SyntaxError),
            db(DbError::Invalid),
            db(DbError::Unauthorized),
            db(DbError::AuthenticationError),
            db(DbError::ConfigError),
            ExecutionError::BadQuery(BadQuery::PartitionKeyExtraction),
            ExecutionError::BadQuery(BadQuery::ValuesTooLongForKey(70_000, 65_535)),
            prepare(RequestAttemptError::DbError(DbError::Invalid, String::new())),
        ] {
            assert_eq!(kind(&error), Refused, "{error:?}");
        }
    }

    #[test]
    fn s3_everything_else_is_unknown() {
        let unavailable_at_commit = [
            Consistency::Quorum,
            Consistency::One,
            Consistency::All,
            Consistency::LocalQuorum,
            Consistency::EachQuorum,
        ];
        let write_types = [
            WriteType::Cas,
            WriteType::Simple,
            WriteType::Batch,
            WriteType::UnloggedBatch,
            WriteType::Counter,
            WriteType::BatchLog,
            WriteType::View,
            WriteType::Cdc,
            WriteType::Other("NEW".to_owned()),
        ];
        let mut unknown = vec![
            ExecutionError::RequestTimeout(Duration::from_secs(3)),
            ExecutionError::LastAttemptError(broken()),
            ExecutionError::LastAttemptError(RequestAttemptError::NonfinishedPagingState),
            ExecutionError::LastAttemptError(RequestAttemptError::RepreparedIdMissingInBatch),
            ExecutionError::LastAttemptError(RequestAttemptError::UnexpectedResponse(
                CqlResponseKind::Ready,
            )),
            ExecutionError::LastAttemptError(RequestAttemptError::RepreparedIdChanged {
                statement: String::new(),
                expected_id: vec![],
                reprepared_id: vec![],
            }),
            // CAS_WRITE_UNKNOWN, for which the driver has no name.
            db(DbError::Other(0x1700)),
            db(DbError::Overloaded),
            db(DbError::ServerError),
            db(DbError::TruncateError),
            db(DbError::ProtocolError),
            db(DbError::RateLimitReached {
                op_type: OperationType::Write,
                rejected_by_coordinator: true,
            }),
            db(DbError::ReadTimeout {
                consistency: Consistency::Serial,
                received: 1,
                required: 2,
                data_present: false,
            }),
            db(DbError::ReadFailure {
                consistency: Consistency::Serial,
                received: 1,
                required: 2,
                numfailures: 1,
                data_present: false,
            }),
            ExecutionError::UseKeyspaceError(UseKeyspaceError::RequestTimeout(Duration::ZERO)),
            ExecutionError::SchemaAgreementError(SchemaAgreementError::Timeout(Duration::ZERO)),
            ExecutionError::MetadataError(MetadataError::ConnectionPoolError(
                ConnectionPoolError::Initializing,
            )),
        ];
        unknown.extend(unavailable_at_commit.map(|level| db(unavailable(level))));
        unknown.extend(write_types.clone().map(write_timeout));
        unknown.extend(write_types.map(write_failure));
        for error in unknown {
            assert_eq!(kind(&error), Unknown, "{error:?}");
        }
    }

    fn described(error: &ExecutionError) -> (String, String, String) {
        let error = failed("moving the row on", error, Duration::from_secs(3));
        let source = std::error::Error::source(&error);
        (
            error.to_string(),
            source.map(ToString::to_string).unwrap_or_default(),
            error.hint().unwrap_or_default().to_owned(),
        )
    }

    #[test]
    fn messages_name_the_statement_and_leave_the_words_to_the_source() {
        let (message, source, _) =
            described(&ExecutionError::RequestTimeout(Duration::from_secs(1)));
        assert_eq!(message, "moving the row on: no answer within 3s");
        assert_eq!(source, "");
        let (message, source, hint) = described(&db(DbError::Unauthorized));
        assert_eq!(message, "moving the row on: the server refuses");
        assert_eq!(source, "words of the server");
        assert!(hint.contains("grants.cql"), "{hint}");
        let (message, source, _) = described(&write_timeout(WriteType::Cas));
        assert_eq!(message, "moving the row on: the server reports a failure");
        assert!(source.contains("write_type: Cas") && source.contains("words of the server"));
        let pool = ExecutionError::ConnectionPoolError(refused_connection());
        let (message, source, _) = described(&pool);
        assert_eq!(message, "moving the row on: no node can be reached");
        assert_eq!(source, "connection refused");
    }

    #[test]
    fn scylladb_tablets_without_lwt_get_a_hint() {
        let error = said(DbError::Invalid, "LWT is not yet supported with tablets");
        let (_, source, hint) = described(&error);
        assert_eq!(source, "LWT is not yet supported with tablets");
        assert!(hint.contains("'enabled': false") && hint.contains("2025.4"), "{hint}");
    }
}
