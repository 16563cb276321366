//! One statement at a time: prepared once, sent at most once, and what became of it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{ExecutionError, PrepareError, RequestAttemptError};
use scylla::frame::response::result::TableSpec;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::routing::Token;
use scylla::serialize::row::SerializeRow;
use scylla::statement::Statement;
use scylla::statement::prepared::PreparedStatement;
use tokio::time::Instant;

use super::outcome;
use super::routing::{Route, Suspects};
use super::rows::Verdict;
use super::statements::{Action, Tables, by_the_rules};
use crate::definition::SequenceName;
use crate::store::{StoreError, StoreErrorKind, Swapped};

/// A session and what is known through it.
pub(super) struct Client {
    pub(super) session: Arc<Session>,
    pub(super) tables: Tables,
    pub(super) request_timeout: Duration,
    pub(super) suspects: Arc<Suspects>,
    prepared: RwLock<Prepared>,
}

#[derive(Default)]
struct Prepared {
    statements: HashMap<Action, PreparedStatement>,
    /// Until when no statement is prepared, because a node held that up.
    held_up_until: Option<Instant>,
}

/// How long a node that holds up the preparing of statements is expected to go on so.
const HOLD_UP: Duration = Duration::from_secs(10);

impl Client {
    pub(super) fn new(session: Arc<Session>, tables: Tables, request_timeout: Duration) -> Self {
        Self {
            session,
            tables,
            request_timeout,
            suspects: Arc::default(),
            prepared: RwLock::default(),
        }
    }

    /// Sends a read about `key`, or about all rows.
    pub(super) async fn read<T>(
        self: &Arc<Self>,
        action: Action,
        key: Option<&SequenceName>,
        values: impl SerializeRow,
        deadline: Instant,
    ) -> Result<Vec<T>, StoreError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let answer = self.send(action, key, values, deadline).await?;
        // S9: what is stored is not what is expected.
        decoded(answer)
            .map_err(|error| outcome::unreadable(action.label(), StoreErrorKind::Corrupt, error))
    }

    /// Sends a conditional write, of `key`'s row if there is a key.
    pub(super) async fn write(
        self: &Arc<Self>,
        action: Action,
        key: Option<&SequenceName>,
        values: impl SerializeRow,
        deadline: Instant,
    ) -> Result<Swapped, StoreError> {
        let answer = self.send(action, key, values, deadline).await?;
        // S3: an answer that can't be understood proves nothing.
        let unclear =
            |error: String| outcome::unreadable(action.label(), StoreErrorKind::Unknown, error);
        let verdicts = decoded::<Verdict>(answer).map_err(unclear)?;
        let verdict = verdicts.into_iter().next().and_then(Verdict::outcome);
        verdict.ok_or_else(|| unclear("it has no column `[applied]`".to_owned()))
    }

    /// Sends a statement, at most once (S8).
    pub(super) async fn send(
        self: &Arc<Self>,
        action: Action,
        key: Option<&SequenceName>,
        values: impl SerializeRow,
        deadline: Instant,
    ) -> Result<QueryResult, StoreError> {
        let prepared = self.prepared(action, deadline).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(outcome::too_late(action.label()));
        }
        // S13: the caller's deadline wins. S8: set on the statement, over the session's own.
        let patience = left.min(self.request_timeout);
        let place = match prepared {
            // The driver works it out.
            Some(_) => None,
            None => key.and_then(|key| self.place(action, key)),
        };
        let route = Route::new(self.suspects.clone(), place);
        let answer = if let Some(mut statement) = prepared {
            statement.set_request_timeout(Some(patience));
            statement.set_load_balancing_policy(Some(route.clone()));
            self.session.execute_unpaged(&statement, values).await
        } else {
            let mut statement = action.statement(&self.tables);
            statement.set_request_timeout(Some(patience));
            statement.set_load_balancing_policy(Some(route.clone()));
            self.session.query_unpaged(statement, values).await
        };
        answer.map_err(|error| {
            match &error {
                ExecutionError::RequestTimeout(_) => route.was_silent(patience),
                // The servers were upgraded: it has to be prepared anew.
                ExecutionError::LastAttemptError(RequestAttemptError::RepreparedIdChanged {
                    ..
                }) => self.forget(action),
                _ => {}
            }
            with_advice(action, outcome::failed(action.label(), &error, patience))
        })
    }

    /// Prepares a statement, if it is not prepared yet. `None`: a stuck node holds that up.
    ///
    /// The driver prepares on all nodes and waits for every one of them without a bound. S13: one that is stuck must
    /// not hold up the others, so the statement then goes unprepared, which costs a round trip more.
    pub(super) async fn prepared(
        self: &Arc<Self>,
        action: Action,
        deadline: Instant,
    ) -> Result<Option<PreparedStatement>, StoreError> {
        {
            let prepared = self.prepared.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(statement) = prepared.statements.get(&action) {
                return Ok(Some(statement.clone()));
            }
            if prepared.held_up_until > Some(Instant::now()) {
                return Ok(None);
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(outcome::too_late(action.label()));
        }
        let patience = left.min(self.request_timeout) / 3;
        // A task of its own: a caller in a hurry must not make the next one begin again.
        let preparing = tokio::spawn(self.clone().prepare(action));
        match tokio::time::timeout(patience, preparing).await {
            Ok(Ok(Ok(statement))) => Ok(Some(statement)),
            Ok(Ok(Err(error))) => Err(outcome::prepare_failed(action.label(), &error)),
            Ok(Err(_)) => Ok(None),
            Err(_) => {
                self.change_prepared().held_up_until = Some(Instant::now() + HOLD_UP);
                Ok(None)
            }
        }
    }

    async fn prepare(self: Arc<Self>, action: Action) -> Result<PreparedStatement, PrepareError> {
        let statement = action.statement(&self.tables);
        let statement = self.session.prepare(statement).await?;
        let mut prepared = self.change_prepared();
        prepared.statements.insert(action, statement.clone());
        prepared.held_up_until = None;
        Ok(statement)
    }

    fn forget(&self, action: Action) {
        self.change_prepared().statements.remove(&action);
    }

    fn change_prepared(&self) -> RwLockWriteGuard<'_, Prepared> {
        self.prepared.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the schema, and waits until the driver has seen the nodes agree.
    pub(super) async fn define(&self, cql: &str, deadline: Instant) -> Result<(), StoreError> {
        let label = "changing the schema";
        let patience = deadline.saturating_duration_since(Instant::now());
        let mut statement = Statement::new(cql);
        by_the_rules(&mut statement);
        statement.set_request_timeout(Some(patience));
        statement.set_load_balancing_policy(Some(Route::new(self.suspects.clone(), None)));
        let sent = self.session.query_unpaged(statement, ());
        // The driver's own wait for agreement comes after the statement's timeout.
        let answer = tokio::time::timeout_at(deadline, sent).await;
        let answer = answer.unwrap_or(Err(ExecutionError::RequestTimeout(patience)));
        answer.map_err(|error| outcome::failed(label, &error, patience))?;
        Ok(())
    }

    /// Where a row is on the ring, which the driver only works out for prepared statements.
    fn place(&self, action: Action, key: &SequenceName) -> Option<(TableSpec<'static>, Token)> {
        let table = self.tables.spec(action);
        let cluster = self.session.get_cluster_state();
        let token = cluster.compute_token(table.ks_name(), table.table_name(), &(key.as_str(),));
        Some((table, token.ok()?))
    }
}

/// S6: creating needs every replica, which surprises.
fn with_advice(action: Action, error: StoreError) -> StoreError {
    let asks_all = matches!(action, Action::ConfirmNoRow | Action::ConfirmNoBirth);
    if asks_all && error.hint().is_none() {
        return error.with_hint(
            "before a sequence is created, every replica is asked once: wait until all nodes are up",
        );
    }
    error
}

/// All rows of an answer.
pub(super) fn decoded<T>(answer: QueryResult) -> Result<Vec<T>, String>
where
    T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
{
    let rows: QueryRowsResult = answer.into_rows_result().map_err(|e| e.to_string())?;
    let rows = rows.rows::<T>().map_err(|e| e.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|e| e.to_string())
}
