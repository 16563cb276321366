//! The cluster that the live tests run on, and what they do to it.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lamport_seq::store::cql::scylla::client::session::Session;
use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;
use lamport_seq::store::cql::{CqlOptions, CqlStore, Schema};
use lamport_seq::{Definition, Sequence, SequenceBuilder, SequenceName, StoreHandle};

/// Long enough for a busy machine, short enough for a test: the servers' own limit is 2 s.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// The nodes' addresses. Without a cluster a live test fails: it must not pass for want of one.
pub(crate) fn contact_points() -> Vec<String> {
    let nodes = std::env::var("LSEQ_TEST_CASSANDRA").expect(
        "LSEQ_TEST_CASSANDRA names the nodes of a test cluster; `cargo xtask test` sets it",
    );
    nodes.split(',').map(str::to_owned).collect()
}

/// A session of the driver, as an application has it, with the driver's own defaults.
pub(crate) async fn session() -> Arc<Session> {
    let session = SessionBuilder::new().known_nodes(contact_points()).build().await;
    Arc::new(session.expect("the cluster answers"))
}

/// A keyspace of the test's own, with the tables in it.
pub(crate) struct Keyspace {
    pub(crate) name: String,
    pub(crate) session: Arc<Session>,
}

impl Keyspace {
    pub(crate) async fn create(replicas: u32) -> Self {
        let name = format!("live_{}", &uuid::Uuid::new_v4().simple().to_string()[..12]);
        let keyspace = Self { name, session: session().await };
        keyspace.init(replicas).await;
        keyspace
    }

    /// What `lseq init` does.
    pub(crate) async fn init(&self, replicas: u32) {
        let timeout = Duration::from_secs(60);
        let schema = Schema::inspect(&self.store(), timeout).await.unwrap();
        let replication = replicas.to_string().parse().unwrap();
        let plan = schema.plan(Some(&replication), false).unwrap();
        schema.apply(&plan, timeout, |_| ()).await.unwrap();
    }

    /// A store with connections of its own, as another process has them.
    pub(crate) async fn connect(&self) -> StoreHandle {
        let options = CqlOptions::new(&contact_points().join(","), &self.name).unwrap();
        let options = options.request_timeout(REQUEST_TIMEOUT);
        StoreHandle::new(CqlStore::connect(options).await.unwrap())
    }

    fn store(&self) -> CqlStore {
        CqlStore::from_session(self.session.clone(), &self.name).unwrap()
    }

    /// A plain statement, which no client of this library ever sends. `{t}` stands for the table of counters.
    pub(crate) async fn plain(&self, cql: &str) {
        let cql = cql.replace("{t}", &format!("{}.counters", self.name));
        self.session.query_unpaged(cql, ()).await.unwrap();
    }

    /// Takes the keyspace away, so that the next test's schema changes are quick.
    pub(crate) async fn drop(self) {
        let cql = format!("DROP KEYSPACE {}", self.name);
        self.session.query_unpaged(cql, ()).await.unwrap();
    }
}

/// A generator of blocks of ten, created on demand.
pub(crate) fn tens(store: &StoreHandle, name: &str) -> SequenceBuilder {
    Sequence::open(store, SequenceName::new(name).unwrap())
        .block_size(10)
        .timeout(Duration::from_secs(20))
        .create_if_missing(Definition::default())
}

/// `cargo xtask cluster ...` on the cluster that the tests run on.
pub(crate) fn cluster(arguments: &[&str]) {
    let program = std::env::var("LSEQ_TEST_XTASK").expect(
        "LSEQ_TEST_XTASK is the program that holds the cluster; `cargo xtask test` sets it",
    );
    let status = Command::new(program).arg("cluster").args(arguments).status().unwrap();
    assert!(status.success(), "cluster {arguments:?}: {status}");
}

/// Resumes paused nodes when the test ends, however it ends.
pub(crate) struct Paused(Vec<usize>);

impl Paused {
    pub(crate) fn nodes(nodes: impl IntoIterator<Item = usize>) -> Self {
        let paused = Self(nodes.into_iter().collect());
        for node in &paused.0 {
            cluster(&["pause", &node.to_string()]);
        }
        paused
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        for node in &self.0 {
            cluster(&["resume", &node.to_string()]);
        }
    }
}

/// The number, as the launcher counts, of the node that is asked first for this sequence.
pub(crate) fn first_replica(keyspace: &Keyspace, name: &str) -> usize {
    let state = keyspace.session.get_cluster_state();
    let endpoints = state.get_endpoints(&keyspace.name, "counters", &(name,)).unwrap();
    let address = endpoints[0].0.address.ip();
    let index = contact_points().iter().position(|node| *node == address.to_string());
    index.expect("a replica is a contact point") + 1
}

/// Every id of these calls, sorted; fails if one is there twice.
pub(crate) fn distinct(ids: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut ids: Vec<_> = ids.into_iter().collect();
    ids.sort_unstable();
    let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "given twice: {twice:?}");
    ids
}
