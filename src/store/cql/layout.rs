//! What the cluster's system tables say of the store's tables, and whether that is what they must be (S9).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scylla::cluster::Node;
use scylla::errors::ExecutionError;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::{Consistency, Statement};
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use super::client::{Client, decoded};
use super::outcome;
use super::routing::{Route, Suspects};
use super::statements::{Tables, by_the_rules};
use crate::store::{StoreError, StoreErrorKind};

/// The keyspace as the cluster has it.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) keyspace: Option<Keyspace>,
    tables: BTreeMap<String, Table>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keyspace {
    pub(super) replication: BTreeMap<String, String>,
    pub(super) durable_writes: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    default_ttl: i32,
    flags: Vec<String>,
    /// Kind and type by name.
    columns: BTreeMap<String, (String, String)>,
}

/// What is to be said of one table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Fine,
    Missing,
    /// Made by hand: these columns of a row's definition are not there.
    Lacks(Vec<&'static str>),
    /// It can't be used.
    Wrong {
        what: String,
        hint: String,
    },
}

/// The columns of each table and their types. The first is the primary key, and `required` of them there must be.
pub(super) struct Expected {
    pub(super) table: &'static str,
    pub(super) columns: &'static [(&'static str, &'static str)],
    required: usize,
}

pub(super) const EXPECTED: [Expected; 3] = [
    Expected {
        table: Tables::COUNTERS,
        columns: &[
            ("name", "text"),
            ("node", "uuid"),
            ("value", "bigint"),
            ("created", "uuid"),
            ("start_value", "bigint"),
            ("increment_by", "bigint"),
            ("min_value", "bigint"),
            ("max_value", "bigint"),
            ("strict", "boolean"),
            ("retired", "boolean"),
        ],
        required: 3,
    },
    Expected {
        table: Tables::SEQUENCES,
        columns: &[("name", "text"), ("created", "uuid"), ("created_at", "timestamp")],
        required: 3,
    },
    Expected { table: Tables::META, columns: &[("key", "text"), ("value", "text")], required: 2 },
];

impl Expected {
    /// S9: the expected columns and types, no counters, no default TTL.
    pub(super) fn judge(&self, layout: &Layout, tables: &Tables) -> Finding {
        let cql = tables.cql(self.table);
        let Some(table) = layout.tables.get(&tables.name(self.table)) else {
            return Finding::Missing;
        };
        let wrong = |what: String, hint: &str| {
            let hint = hint.to_owned();
            Finding::Wrong { what, hint }
        };
        if table.flags.iter().any(|flag| flag == "counter") {
            let what = format!("table {cql} has counter columns, which know no conditions");
            return wrong(what, "drop the table, or use another keyspace or prefix");
        }
        if table.default_ttl != 0 {
            let what = format!("rows of table {cql} expire after {} s", table.default_ttl);
            let alter = format!("ALTER TABLE {cql} WITH default_time_to_live = 0");
            return wrong(
                what,
                &format!("`{alter}`, then write anew what was written with a time to live"),
            );
        }
        let mut lacks = Vec::new();
        for (at, (column, column_type)) in self.columns.iter().enumerate() {
            let kind = if at == 0 { "partition_key" } else { "regular" };
            match table.columns.get(*column) {
                Some((k, t)) if k == kind && t == column_type => {}
                Some((k, t)) => {
                    let what = format!(
                        "column {column} of table {cql} is {t} ({k}), not {column_type} ({kind})"
                    );
                    return wrong(
                        what,
                        "use another keyspace or prefix: this table is not of this store",
                    );
                }
                None if at < self.required => {
                    let what = format!("table {cql} has no column {column}");
                    return wrong(
                        what,
                        "use another keyspace or prefix: this table is not of this store",
                    );
                }
                None => lacks.push(*column),
            }
        }
        let is_key = |kind: &str| matches!(kind, "partition_key" | "clustering");
        let keys = table.columns.values().filter(|(kind, _)| is_key(kind)).count();
        if keys != 1 {
            let what = format!("the primary key of table {cql} has {keys} columns, not 1");
            return wrong(what, "use another keyspace or prefix: this table is not of this store");
        }
        if lacks.is_empty() { Finding::Fine } else { Finding::Lacks(lacks) }
    }
}

/// What one node says: which version of the schema it has, and which tables.
struct View {
    version: Uuid,
    tables: BTreeMap<String, (Option<Uuid>, Table)>,
}

const ASKING: &str = "asking a node about the tables";
const POLL: Duration = Duration::from_millis(200);

/// The layout, as soon as all nodes that answer agree on it.
///
/// S9: agreement is reached, and the ids of the tables are the same on all nodes: two nodes that made the same table at
/// once hold two registers under one name. A node that is down or silent is not waited for; it takes the schema from
/// the others when it comes back.
pub(super) async fn agreed(client: &Arc<Client>, deadline: Instant) -> Result<Layout, StoreError> {
    loop {
        let views = views(client, deadline).await?;
        let Some(first) = views.first() else {
            return Err(outcome::too_late(ASKING));
        };
        let ids = |view: &View| -> Vec<_> {
            view.tables.iter().map(|(name, (id, _))| (name.clone(), *id)).collect()
        };
        let same = |view: &View| view.version == first.version && ids(view) == ids(first);
        if views.iter().all(same) {
            let tables = first.tables.iter();
            let tables = tables.map(|(name, (_, table))| (name.clone(), table.clone())).collect();
            return described(client, tables, deadline).await;
        }
        if Instant::now() + POLL >= deadline {
            let message = "the nodes have not agreed on the tables yet";
            return Err(StoreError::new(StoreErrorKind::NotApplied, message).with_hint(
                "`nodetool describecluster` shows the versions of the schema; they should be one",
            ));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// What each node says that can be reached and answers.
async fn views(client: &Arc<Client>, deadline: Instant) -> Result<Vec<View>, StoreError> {
    let cluster = client.session.get_cluster_state();
    let mut asked = JoinSet::new();
    for node in cluster.get_nodes_info().iter().filter(|node| node.is_connected()) {
        let query = Query::new(client, deadline).of_node(node);
        let tables = client.tables.clone();
        asked.spawn(async move { view(query, &tables).await });
    }
    let mut views = Vec::new();
    let mut failure =
        StoreError::new(StoreErrorKind::NotApplied, format!("{ASKING}: none is there"));
    while let Some(answer) = asked.join_next().await {
        match answer {
            Ok(Ok(view)) => views.push(view),
            Ok(Err(error)) => failure = error,
            Err(_) => {}
        }
    }
    if views.is_empty() { Err(failure) } else { Ok(views) }
}

async fn view(query: Query, tables: &Tables) -> Result<View, StoreError> {
    type Rows = Vec<(String, Option<Uuid>, Option<i32>, Option<Vec<String>>)>;
    let keyspace = &tables.keyspace;
    let ours = EXPECTED.map(|expected| tables.name(expected.table));
    let local: Vec<(Uuid,)> =
        query.rows("SELECT schema_version FROM system.local WHERE key = 'local'").await?;
    let rows: Rows = query
        .rows(&format!(
            "SELECT table_name, id, default_time_to_live, flags FROM system_schema.tables \
             WHERE keyspace_name = '{keyspace}'"
        ))
        .await?;
    let rows = rows.into_iter().filter(|(name, ..)| ours.contains(name));
    let tables = rows.map(|(name, id, ttl, flags)| {
        let table = Table {
            default_ttl: ttl.unwrap_or(0),
            flags: flags.unwrap_or_default(),
            columns: BTreeMap::new(),
        };
        (name, (id, table))
    });
    Ok(View {
        version: local.first().map(|(version,)| *version).unwrap_or_default(),
        tables: tables.collect(),
    })
}

/// The tables with their columns, and the keyspace around them.
async fn described(
    client: &Arc<Client>,
    mut tables: BTreeMap<String, Table>,
    deadline: Instant,
) -> Result<Layout, StoreError> {
    let keyspace = &client.tables.keyspace;
    let query = Query::new(client, deadline);
    let keyspaces: Vec<(BTreeMap<String, String>, Option<bool>)> = query
        .rows(&format!(
            "SELECT replication, durable_writes FROM system_schema.keyspaces \
             WHERE keyspace_name = '{keyspace}'"
        ))
        .await?;
    let columns: Vec<(String, String, String, String)> = query
        .rows(&format!(
            "SELECT table_name, column_name, kind, type FROM system_schema.columns \
             WHERE keyspace_name = '{keyspace}'"
        ))
        .await?;
    for (table, column, kind, column_type) in columns {
        if let Some(table) = tables.get_mut(&table) {
            table.columns.insert(column, (kind, column_type));
        }
    }
    let keyspace = keyspaces.into_iter().next();
    let keyspace = keyspace.map(|(replication, durable_writes)| Keyspace {
        replication,
        durable_writes: durable_writes.unwrap_or(true),
    });
    Ok(Layout { keyspace, tables })
}

/// A question about system tables, which every node keeps for itself: to any node, or to one.
pub(super) struct Query {
    session: Arc<scylla::client::session::Session>,
    suspects: Arc<Suspects>,
    node: Option<Arc<Node>>,
    patience: Duration,
}

impl Query {
    pub(super) fn new(client: &Arc<Client>, deadline: Instant) -> Self {
        let left = deadline.saturating_duration_since(Instant::now());
        Self {
            session: client.session.clone(),
            suspects: client.suspects.clone(),
            node: None,
            // Two of them fit into what is left.
            patience: client.request_timeout.min(left / 2),
        }
    }

    pub(super) fn of_node(mut self, node: &Arc<Node>) -> Self {
        self.node = Some(node.clone());
        self
    }

    /// `cql` is put together from names that have been checked, and has no values.
    pub(super) async fn rows<T>(&self, cql: &str) -> Result<Vec<T>, StoreError>
    where
        T: for<'frame, 'metadata> scylla::deserialize::row::DeserializeRow<'frame, 'metadata>,
    {
        let mut statement = Statement::new(cql);
        by_the_rules(&mut statement);
        statement.set_consistency(Consistency::One);
        statement.set_request_timeout(Some(self.patience));
        let any = Route::new(self.suspects.clone(), None);
        statement.set_load_balancing_policy(Some(match &self.node {
            Some(node) => {
                let node = NodeIdentifier::Node(node.clone());
                SingleTargetLoadBalancingPolicy::new(node, None)
            }
            None => any.clone(),
        }));
        let answer = self.session.query_unpaged(statement, ()).await;
        let answer = answer.map_err(|error| {
            // S13: what is silent here is not asked first afterwards.
            match (&error, &self.node) {
                (ExecutionError::RequestTimeout(_), Some(node)) => {
                    self.suspects.was_silent(node.host_id, self.patience);
                }
                (ExecutionError::RequestTimeout(_), None) => any.was_silent(self.patience),
                _ => {}
            }
            outcome::failed(ASKING, &error, self.patience)
        })?;
        decoded(answer).map_err(|error| outcome::unreadable(ASKING, StoreErrorKind::Refused, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, &str, &str)]) -> Table {
        let columns = columns.iter();
        let columns = columns
            .map(|(name, kind, t)| ((*name).to_owned(), ((*kind).to_owned(), (*t).to_owned())));
        Table { columns: columns.collect(), ..Table::default() }
    }

    fn by_hand() -> Table {
        table(&[
            ("name", "partition_key", "text"),
            ("node", "regular", "uuid"),
            ("value", "regular", "bigint"),
        ])
    }

    fn judged(table: Table) -> Finding {
        let tables = BTreeMap::from([("counters".to_owned(), table)]);
        let layout = Layout { tables, keyspace: None };
        EXPECTED[0].judge(&layout, &Tables::new("shop", ""))
    }

    fn wrong(table: Table) -> String {
        match judged(table) {
            Finding::Wrong { what, .. } => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_table_made_by_hand_lacks_the_definition() {
        let Finding::Lacks(columns) = judged(by_hand()) else {
            panic!("not seen");
        };
        assert_eq!(columns.len(), 7);
        assert_eq!(columns[0], "created");
    }

    #[test]
    fn s9_what_would_break_a_sequence_is_refused() {
        let expiring = Table { default_ttl: 60, ..by_hand() };
        assert!(wrong(expiring).contains("expire after 60 s"));
        let counting =
            Table { flags: vec!["compound".to_owned(), "counter".to_owned()], ..by_hand() };
        assert!(wrong(counting).contains("counter columns"));
        let mut narrow = by_hand();
        narrow.columns.insert("value".to_owned(), ("regular".to_owned(), "int".to_owned()));
        assert!(wrong(narrow).contains("value of table shop.counters is int"));
        let mut wide = by_hand();
        wide.columns.insert("day".to_owned(), ("clustering".to_owned(), "date".to_owned()));
        assert!(wrong(wide).contains("has 2 columns"));
        let mut headless = by_hand();
        headless.columns.remove("node");
        assert!(wrong(headless).contains("no column node"));
    }

    #[test]
    fn a_missing_table_is_missing() {
        let found = EXPECTED[1].judge(&Layout::default(), &Tables::new("shop", ""));
        assert_eq!(found, Finding::Missing);
    }
}
