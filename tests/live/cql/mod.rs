//! The CQL store on a real cluster.

mod adoption;
mod refusals;
mod register;
mod schema;
#[cfg(feature = "tls")]
mod secured;
mod session;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lamport_seq::store::cql::{CqlOptions, CqlStore, Schema};
use lamport_seq::store::{Row, Store, StoreError, Swapped};
use lamport_seq::{Definition, LamportTimestamp, SequenceName};
use tokio::sync::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use crate::support::contact_points;

const TIMEOUT: Duration = Duration::from_secs(60);

/// One keyspace for all tests of this process.
fn keyspace() -> String {
    format!("lseq_live_{}", std::process::id())
}

fn deadline() -> Instant {
    Instant::now() + TIMEOUT
}

/// Tables of a test's own.
fn prefix() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("t{}_", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn options(prefix: &str) -> CqlOptions {
    let options = CqlOptions::new(&contact_points().join(","), &keyspace()).unwrap();
    options.prefix(prefix).unwrap().connect_timeout(TIMEOUT)
}

/// A store whose tables are not there yet, but whose keyspace is.
async fn empty() -> CqlStore {
    let store = CqlStore::connect(options(&prefix())).await.unwrap();
    let nodes: u32 = Schema::inspect(&store, TIMEOUT).await.unwrap().datacenters().values().sum();
    let keyspace = keyspace();
    run(
        &store,
        &format!(
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
             {{'class': 'NetworkTopologyStrategy', 'replication_factor': {}}}",
            nodes.min(3)
        ),
    )
    .await;
    store
}

/// A store with its tables.
async fn store() -> CqlStore {
    let store = empty().await;
    init(&store, false).await;
    store.check(deadline()).await.unwrap();
    store
}

async fn init(store: &CqlStore, adopt: bool) -> u64 {
    let _one = ONE_CHANGE.lock().await;
    let schema = Schema::inspect(store, TIMEOUT).await.unwrap();
    let plan = schema.plan(None, adopt).unwrap();
    schema.apply(&plan, TIMEOUT, |_| ()).await.unwrap()
}

/// Changes of the schema by many clients at once are not what these tests are about.
static ONE_CHANGE: Mutex<()> = Mutex::const_new(());

/// Any CQL, with what the driver makes of it.
async fn run(store: &CqlStore, cql: &str) {
    let _one = ONE_CHANGE.lock().await;
    store.session().query_unpaged(cql, ()).await.unwrap();
}

/// A table of a store as it stands in CQL.
fn table(store: &CqlStore, name: &str) -> String {
    let location = store.location();
    let (_, prefix) = location.split_once("?prefix=").unwrap();
    format!("{}.{prefix}{name}", keyspace())
}

fn name(text: &str) -> SequenceName {
    text.parse().unwrap()
}

fn fresh(definition: Definition) -> Row {
    Row::unused(definition, Uuid::from_u128(7))
}

fn at(value: i64, node: u128) -> LamportTimestamp {
    LamportTimestamp::new(value, Uuid::from_u128(node))
}

/// Without the times, which are the cluster's own.
fn untimed(row: Option<Row>) -> Option<Row> {
    row.map(|row| Row { written: None, ..row })
}

fn value_in_the_way(swapped: Result<Swapped, StoreError>) -> Option<i64> {
    match swapped.unwrap() {
        Swapped::NotApplied { found } => found.map(|found| found.value),
        Swapped::Applied => panic!("it was applied"),
    }
}
