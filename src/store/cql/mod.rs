//! Sequences in Apache Cassandra or ScyllaDB: one row per sequence, lightweight transactions only.
//!
//! docs/protocol.md has the tables, the statements and their consistency levels. Each statement sets its own
//! consistency, timeout, retry policy and routing, so that a session that an application already has can be used as
//! it is: see [`CqlStore::from_session`].

mod bind;
mod check;
mod client;
mod connect;
mod ddl;
mod layout;
mod list;
mod options;
mod outcome;
mod reason;
mod routing;
mod rows;
mod schema;
mod statements;
#[cfg(feature = "tls")]
mod tls;
mod url;
mod warnings;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use scylla;
use scylla::client::session::Session;
use tokio::time::Instant;
use uuid::Uuid;

use self::client::Client;
pub use self::options::CqlOptions;
use self::rows::{Birth, Counter};
pub use self::schema::{Replication, Schema, SchemaPlan};
use self::statements::{Action, Tables};
use super::{Change, Listed, Row, Store, StoreError, StoreErrorKind, StoreFuture, Swapped};
use crate::definition::SequenceName;
use crate::error::Error;
use crate::timestamp::LamportTimestamp;

/// The store on Cassandra and ScyllaDB. Cheap to clone.
///
/// The driver's connections live on the runtime on which they were made: keep that one alive as long as the store.
///
/// # Example
///
/// ```no_run
/// use lamport_seq::StoreHandle;
/// use lamport_seq::store::cql::{CqlOptions, CqlStore};
///
/// # async fn example() -> Result<(), lamport_seq::Error> {
/// let options = CqlOptions::from_url("cassandra://127.0.0.1/shop")?;
/// let store = StoreHandle::new(CqlStore::connect(options).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CqlStore {
    client: Arc<Client>,
    location: Arc<str>,
}

impl CqlStore {
    /// Connects to a cluster. Nothing is written, and the tables are not looked at yet.
    ///
    /// Ends within the options' connect timeout.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`]: an option is wrong, or a certificate can't be read.
    /// [`Error::Refused`]: the login or the encryption failed.
    /// [`Error::Unavailable`]: no node answers. Nothing was changed in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes what was opened.
    pub async fn connect(options: CqlOptions) -> Result<Self, Error> {
        let session = connect::session(&options).await?;
        let tables = Tables::new(options.keyspace.clone(), options.prefix.clone());
        let client = Client::new(Arc::new(session), tables, options.request_timeout);
        Ok(Self { client: Arc::new(client), location: options.location().into() })
    }

    /// Uses a session that the application has already. Nothing is sent.
    ///
    /// The session needs no change: consistency levels, retry policy, timeouts and routing are set on each statement
    /// of this store and on no other. If it prefers a datacenter, so does the store. Sessions that fetch no schema
    /// metadata work, and meet with more contention, because the driver then can't tell where a row lives.
    ///
    /// ```no_run
    /// # async fn example(
    /// #     session: std::sync::Arc<lamport_seq::store::cql::scylla::client::session::Session>,
    /// # ) -> Result<(), lamport_seq::Error> {
    /// use lamport_seq::store::cql::CqlStore;
    ///
    /// let store = CqlStore::from_session(session, "shop")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `keyspace` can't be the name of one.
    pub fn from_session(session: Arc<Session>, keyspace: &str) -> Result<Self, Error> {
        let keyspace = options::identifier("keyspace", keyspace)?;
        let timeout = options::DEFAULT_REQUEST_TIMEOUT;
        let client = Client::new(session, Tables::new(keyspace, ""), timeout);
        Ok(Self::of(client))
    }

    /// The same store with other tables: their names begin with `prefix`. The default is nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if it is not 1 to 32 of `a-z A-Z 0-9 _`, a letter first.
    pub fn with_prefix(self, prefix: &str) -> Result<Self, Error> {
        let prefix = options::table_prefix(prefix)?;
        let Client { session, tables, request_timeout, .. } = &*self.client;
        let tables = Tables::new(tables.keyspace.clone(), prefix);
        Ok(Self::of(Client::new(session.clone(), tables, *request_timeout)))
    }

    /// The same store with another [request timeout](CqlOptions::request_timeout), 100 ms to 5 min.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if it is out of bounds.
    pub fn with_request_timeout(self, timeout: Duration) -> Result<Self, Error> {
        options::check_timeout("request_timeout", timeout)?;
        let Client { session, tables, .. } = &*self.client;
        Ok(Self::of(Client::new(session.clone(), tables.clone(), timeout)))
    }

    /// The driver's session underneath.
    pub fn session(&self) -> &Arc<Session> {
        &self.client.session
    }

    /// A store on a session that was not made here: its location is where its nodes are.
    fn of(client: Client) -> Self {
        let cluster = client.session.get_cluster_state();
        let mut hosts: Vec<_> = cluster
            .get_nodes_info()
            .iter()
            .map(|node| options::Host::of(node.address.ip(), node.address.port()).to_string())
            .collect();
        hosts.sort_unstable();
        hosts.truncate(3);
        let tables = &client.tables;
        let location =
            options::location("cassandra", &hosts.join(","), &tables.keyspace, tables.prefix());
        Self { location: location.into(), client: Arc::new(client) }
    }
}

impl Store for CqlStore {
    fn location(&self) -> String {
        self.location.to_string()
    }

    fn check(&self, deadline: Instant) -> StoreFuture<'_, ()> {
        Box::pin(check::check(&self.client, deadline))
    }

    fn read<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let key = (name.as_str(),);
            let rows: Vec<Counter> =
                self.client.read(Action::Read, Some(name), key, deadline).await?;
            let row = rows.first().map(Counter::row).transpose();
            row.map_err(|error| StoreError::new(StoreErrorKind::Corrupt, error))
        })
    }

    fn peek<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> Option<StoreFuture<'a, Option<LamportTimestamp>>> {
        Some(Box::pin(async move {
            let key = (name.as_str(),);
            let rows: Vec<Counter> =
                self.client.read(Action::Peek, Some(name), key, deadline).await?;
            Ok(rows.first().and_then(Counter::timestamp))
        }))
    }

    fn read_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, Option<Uuid>> {
        Box::pin(async move {
            let key = (name.as_str(),);
            let rows: Vec<Birth> =
                self.client.read(Action::ReadBirth, Some(name), key, deadline).await?;
            let Some(birth) = rows.first() else {
                return Ok(None);
            };
            let corrupt = || StoreError::new(StoreErrorKind::Corrupt, "its birth has no identity");
            birth.created.map(Some).ok_or_else(corrupt)
        })
    }

    fn confirm_absent<'a>(
        &'a self,
        name: &'a SequenceName,
        deadline: Instant,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            for action in [Action::ConfirmNoBirth, Action::ConfirmNoRow] {
                let key = (name.as_str(),);
                let rows: Vec<Birth> = self.client.read(action, Some(name), key, deadline).await?;
                if !rows.is_empty() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn write_birth<'a>(
        &'a self,
        name: &'a SequenceName,
        created: Uuid,
        replaces: Option<Uuid>,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let key = name.as_str();
            match replaces {
                None => {
                    let values = (key, created);
                    self.client.write(Action::WriteBirth, Some(name), values, deadline).await
                }
                Some(old) => {
                    let values = (created, key, old);
                    self.client.write(Action::ReplaceBirth, Some(name), values, deadline).await
                }
            }
        })
    }

    fn insert<'a>(
        &'a self,
        name: &'a SequenceName,
        row: &'a Row,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let (action, values) = bind::insert(name, row)?;
            self.client.write(action, Some(name), values, deadline).await
        })
    }

    fn swap<'a>(
        &'a self,
        name: &'a SequenceName,
        expected: &'a Row,
        change: Change,
        deadline: Instant,
    ) -> StoreFuture<'a, Swapped> {
        Box::pin(async move {
            let (action, values) = bind::swap(name, expected, change)?;
            self.client.write(action, Some(name), values, deadline).await
        })
    }

    fn list<'a>(
        &'a self,
        after: Option<&'a SequenceName>,
        limit: u32,
        deadline: Instant,
    ) -> StoreFuture<'a, Vec<Listed>> {
        Box::pin(list::list(&self.client, after, limit, deadline))
    }
}

impl fmt::Debug for CqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CqlStore").field(&self.location).finish()
    }
}
