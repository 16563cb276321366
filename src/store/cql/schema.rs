//! Making the tables: what `lseq init` does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CqlStore;
use super::check;
use super::client::Client;
use super::ddl;
pub use super::ddl::Replication;
use super::layout::{self, EXPECTED, Finding, Layout, Query};
use super::options::invalid;
use super::statements::{Action, Tables};
use super::warnings::{self, Setting};
use crate::error::Error;
use crate::identity::{Identity, OsEntropy};
use crate::store::{StoreError, StoreErrorKind, Swapped};

/// What a cluster has of the tables of a [`CqlStore`], and how to make the rest.
///
/// # Example: what `lseq init --rf 3` does
///
/// ```no_run
/// use std::time::Duration;
/// use lamport_seq::store::cql::{CqlOptions, CqlStore, Schema};
///
/// # async fn example() -> Result<(), lamport_seq::Error> {
/// let timeout = Duration::from_secs(60);
/// let store = CqlStore::connect(CqlOptions::new("127.0.0.1", "shop")?).await?;
/// let schema = Schema::inspect(&store, timeout).await?;
/// let plan = schema.plan(Some(&"3".parse()?), false)?;
/// schema.apply(&plan, timeout, |statement| println!("{statement};")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    store: CqlStore,
    datacenters: BTreeMap<String, u32>,
    has_tablets: bool,
    layout: Arc<Layout>,
    format: Option<String>,
    settings: Arc<[Setting]>,
}

/// What is missing, as statements in the order in which they are run, and what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct SchemaPlan {
    steps: Vec<Step>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Define(String),
    WriteFormat(String),
    /// For every row without an identity.
    WriteBirths(String),
}

impl Step {
    fn text(&self) -> &str {
        match self {
            Self::Define(text) | Self::WriteFormat(text) | Self::WriteBirths(text) => text,
        }
    }
}

impl SchemaPlan {
    /// The CQL, without semicolons. Empty if everything is there already.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(Step::text)
    }

    /// What makes the cluster less safe than it could be. Nobody is stopped by it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What whoever runs the plan must know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Schema {
    /// Looks at the cluster and at what there is of the tables. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the nodes don't answer or don't agree within `timeout`, [`Error::Refused`] if the
    /// system tables can't be read. Nothing was changed.
    pub async fn inspect(store: &CqlStore, timeout: Duration) -> Result<Self, Error> {
        let began = Instant::now();
        let found = Self::look(store, began + timeout).await;
        found.map_err(|error| store.error(error, began))
    }

    async fn look(store: &CqlStore, deadline: Instant) -> Result<Self, StoreError> {
        let client = &store.client;
        let layout = layout::agreed(client, deadline).await?;
        let meta = EXPECTED[2].judge(&layout, &client.tables);
        let format = match meta {
            Finding::Fine => check::format(client, deadline).await?,
            _ => None,
        };
        let query = Query::new(client, deadline);
        Ok(Self {
            store: store.clone(),
            datacenters: datacenters(&query).await?,
            has_tablets: has_tablets(client, &query).await?,
            settings: warnings::settings(client, deadline).await.into(),
            layout: Arc::new(layout),
            format,
        })
    }

    /// The datacenters of the cluster, and how many nodes each has.
    pub fn datacenters(&self) -> &BTreeMap<String, u32> {
        &self.datacenters
    }

    /// What has to be done for the tables to be complete. Nothing is sent.
    ///
    /// `replication` is for a keyspace that is not there yet; one that is there is left as it is. A cluster of one node
    /// needs none. With `adopt`, a table `counters` that was made by hand, in the published form `(name text primary
    /// key, node uuid, value bigint)`, gets the missing columns, and its rows get births.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`]: the replication is missing, or does not fit the cluster. [`Error::Refused`]: a table
    /// is there and can't be used, or was made by hand and `adopt` is false. Nothing was changed.
    pub fn plan(
        &self,
        replication: Option<&Replication>,
        adopt: bool,
    ) -> Result<SchemaPlan, Error> {
        let mut plan = SchemaPlan::default();
        let tables = self.tables();
        let replicas = match &self.layout.keyspace {
            Some(keyspace) => {
                plan.warnings.extend(warnings::of_keyspace(keyspace, tables, &self.datacenters));
                if replication.is_some() {
                    plan.notes.push(format!(
                        "keyspace {} is there already: its replication is left as it is",
                        tables.keyspace
                    ));
                }
                None
            }
            None => Some(self.replicas(replication)?),
        };
        if let Some(replicas) = replicas {
            plan.warnings.extend(warnings::of_replicas(&replicas));
            let statement = ddl::keyspace(tables, &replicas, self.has_tablets);
            plan.steps.push(Step::Define(statement));
        }
        plan.warnings.extend(warnings::of_settings(&self.settings));
        for expected in &EXPECTED {
            let finding = expected.judge(&self.layout, tables);
            plan.steps.extend(self.mend(expected.table, finding, adopt)?);
        }
        self.finish(&mut plan, adopt)?;
        Ok(plan)
    }

    fn tables(&self) -> &Tables {
        &self.store.client.tables
    }

    /// What makes one table complete.
    fn mend(&self, table: &str, finding: Finding, adopt: bool) -> Result<Option<Step>, Error> {
        let tables = self.tables();
        let refused = |error| self.store.error(error, Instant::now());
        match finding {
            Finding::Fine => Ok(None),
            Finding::Missing => Ok(ddl::table(tables, table).map(Step::Define)),
            Finding::Lacks(columns) if adopt => {
                Ok(Some(Step::Define(ddl::adopt(tables, &columns))))
            }
            Finding::Lacks(columns) => Err(refused(check::by_hand(&tables.cql(table), &columns))),
            Finding::Wrong { what, hint } => {
                let error = StoreError::new(StoreErrorKind::Refused, what);
                Err(refused(error.with_hint(hint)))
            }
        }
    }

    /// The rows that go with the tables.
    fn finish(&self, plan: &mut SchemaPlan, adopt: bool) -> Result<(), Error> {
        match self.format.as_deref() {
            None => {
                let text = Action::WriteFormat.text(self.tables());
                plan.steps.push(Step::WriteFormat(text));
            }
            some => {
                let understood = check::understood(some);
                understood.map_err(|error| self.store.error(error, Instant::now()))?;
            }
        }
        let there = EXPECTED[0].judge(&self.layout, self.tables()) != Finding::Missing;
        if adopt && there {
            let text = Action::WriteBirth.text(self.tables());
            plan.steps.push(Step::WriteBirths(text));
            plan.notes.extend(warnings::of_adoption(self.tables()));
        }
        Ok(())
    }

    /// How many replicas each datacenter is to have.
    fn replicas(&self, replication: Option<&Replication>) -> Result<BTreeMap<String, u32>, Error> {
        let known = &self.datacenters;
        let list: Vec<_> = known.iter().map(|(name, n)| format!("{name} ({n} nodes)")).collect();
        let list = list.join(", ").replace("(1 nodes)", "(1 node)");
        let replicas = match replication {
            Some(Replication::PerDatacenter(replicas)) => replicas.clone(),
            Some(Replication::Everywhere(n)) => known.keys().map(|dc| (dc.clone(), *n)).collect(),
            None if known.values().sum::<u32>() == 1 => {
                known.keys().map(|dc| (dc.clone(), 1)).collect()
            }
            None => {
                return Err(invalid(format!(
                    "how many replicas should keyspace {} have? The cluster has {list}: say `--rf N` for each of \
                     them, or `--replication dc1=N,...`",
                    self.tables().keyspace
                )));
            }
        };
        for (datacenter, replicas) in &replicas {
            match known.get(datacenter) {
                None => {
                    return Err(invalid(format!(
                        "there is no datacenter `{}`: the cluster has {list}",
                        datacenter.escape_debug()
                    )));
                }
                Some(nodes) if nodes < replicas => {
                    return Err(invalid(format!(
                        "datacenter {datacenter} can't hold {replicas} replicas: the cluster has {list}"
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(replicas)
    }

    /// Carries out a plan, calling `before` with each statement before it is sent.
    ///
    /// Running the same plan twice, or by two processes at once, is fine. Tables are waited for until all nodes have
    /// them. Gives the number of births that were written.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: no rights, or the server refuses. [`Error::Unavailable`], [`Error::Unknown`]: a statement
    /// may have been carried out; run it again. What came before it stays.
    pub async fn apply(
        &self,
        plan: &SchemaPlan,
        timeout: Duration,
        mut before: impl FnMut(&str),
    ) -> Result<u64, Error> {
        let began = Instant::now();
        let deadline = began + timeout;
        let mut births = 0;
        for step in &plan.steps {
            before(step.text());
            let done = self.carry_out(step, deadline).await;
            births += done.map_err(|error| self.store.error(error, began))?;
        }
        Ok(births)
    }

    async fn carry_out(&self, step: &Step, deadline: Instant) -> Result<u64, StoreError> {
        let client = &self.store.client;
        match step {
            Step::Define(cql) => {
                client.define(cql, deadline).await?;
                layout::agreed(client, deadline).await?;
                Ok(0)
            }
            Step::WriteFormat(_) => {
                let written = client.write(Action::WriteFormat, None, (), deadline).await?;
                if written != Swapped::Applied {
                    // Another init was first.
                    check::understood(check::format(client, deadline).await?.as_deref())?;
                }
                Ok(0)
            }
            Step::WriteBirths(_) => self.write_births(deadline).await,
        }
    }

    /// S6: a birth for every row that has no identity of its own. Those that have one already keep it.
    async fn write_births(&self, deadline: Instant) -> Result<u64, StoreError> {
        let client = &self.store.client;
        let no_entropy =
            |error: Error| StoreError::new(StoreErrorKind::NotApplied, error.to_string());
        let identity = Identity::draw(Arc::new(OsEntropy)).map_err(no_entropy)?;
        let mut written = 0;
        let mut last = None;
        loop {
            let rows = super::list::list(client, last.as_ref(), 1000, deadline).await?;
            let Some(end) = rows.last().map(|row| row.name.clone()) else {
                return Ok(written);
            };
            last = Some(end);
            for listed in rows.iter().filter(|listed| is_adopted(&listed.row)) {
                let birth = identity.birth().map_err(no_entropy)?;
                let (name, values) = (&listed.name, (listed.name.as_str(), birth));
                let outcome =
                    client.write(Action::WriteBirth, Some(name), values, deadline).await?;
                written += u64::from(outcome == Swapped::Applied);
            }
        }
    }
}

fn is_adopted(row: &Result<crate::store::Row, String>) -> bool {
    row.as_ref().is_ok_and(|row| row.created.is_none())
}

async fn datacenters(query: &Query) -> Result<BTreeMap<String, u32>, StoreError> {
    let mut found = BTreeMap::new();
    for table in ["local", "peers"] {
        let rows: Vec<(Option<String>,)> =
            query.rows(&format!("SELECT data_center FROM system.{table}")).await?;
        for name in rows.into_iter().filter_map(|(name,)| name) {
            *found.entry(name).or_insert(0) += 1;
        }
    }
    Ok(found)
}

/// Whether this is a ScyllaDB that would make tablets.
async fn has_tablets(client: &Arc<Client>, query: &Query) -> Result<bool, StoreError> {
    let cluster = client.session.get_cluster_state();
    if !cluster.get_nodes_info().iter().any(|node| node.sharder().is_some()) {
        return Ok(false);
    }
    // The driver knows tablets by the same column.
    let tablets = "SELECT initial_tablets FROM system_schema.scylla_keyspaces LIMIT 1";
    match query.rows::<(Option<i32>,)>(tablets).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == StoreErrorKind::Refused => Ok(false),
        Err(error) => Err(error),
    }
}

impl CqlStore {
    /// An error of this store as the library's own.
    fn error(&self, source: StoreError, began: Instant) -> Error {
        let location = self.location.clone();
        let waited = began.elapsed();
        match source.kind() {
            StoreErrorKind::NotApplied => {
                Error::Unavailable { location, waited, source: Some(source) }
            }
            StoreErrorKind::Unknown => Error::Unknown { location, source },
            _ => Error::Refused { location, source },
        }
    }
}
