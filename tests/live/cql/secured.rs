//! A cluster that wants a password and TLS. `cargo xtask test` starts one for these tests.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lamport_seq::Error;
use lamport_seq::store::cql::{CqlOptions, CqlStore, Schema};
use lamport_seq::store::{Change, Store, StoreErrorKind, Swapped};
use tracing::field::{Field, Visit};
use tracing::span;

use super::{TIMEOUT, at, deadline, fresh, keyspace, name};

const PATIENCE: Duration = Duration::from_secs(10);

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} must be set: `cargo xtask test` does it, with a cluster that wants a password and TLS")
    })
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(variable("LSEQ_TEST_TLS_DIR")).join(name)
}

fn plain() -> CqlOptions {
    let options = CqlOptions::new(&variable("LSEQ_TEST_SECURED"), &keyspace()).unwrap();
    options.prefix("secured_").unwrap().connect_timeout(PATIENCE)
}

fn encrypted() -> CqlOptions {
    plain().tls(file("ca.pem"))
}

fn superuser() -> CqlOptions {
    encrypted().user("cassandra").password("cassandra")
}

/// The error, its causes and its hint; it came in time, and the password is not in it.
async fn failure(options: CqlOptions) -> (Error, String) {
    let began = Instant::now();
    let error = CqlStore::connect(options.password("s3cret")).await;
    let error = error.map(|_| ()).unwrap_err();
    assert!(began.elapsed() < PATIENCE + Duration::from_secs(1), "{error}");
    let told = format!("{:#}; hint: {:?}", anyhow::Error::from(error.clone()), error.hint());
    assert!(!format!("{told}{error:?}").contains("s3cret"), "{told}");
    assert!(!told.contains('\n'), "{told}");
    (error, told)
}

#[tokio::test]
#[ignore = "secured: needs a Cassandra cluster with a password and TLS"]
async fn secured_failures_are_distinct_clear_and_in_time() {
    let (error, told) = failure(encrypted().user("cassandra")).await;
    assert!(matches!(error, Error::Refused { .. }));
    assert!(told.contains("login refused") && told.contains("LSEQ_PASSWORD"), "{told}");

    let (error, told) = failure(encrypted()).await;
    assert!(matches!(error, Error::Refused { .. }));
    assert!(told.contains("login needed") && told.contains("USER@HOST"), "{told}");

    let (error, told) = failure(plain().tls(file("other-ca.pem")).user("cassandra")).await;
    assert!(matches!(error, Error::Refused { .. }));
    assert!(told.contains("not signed by the authority that is trusted"), "{told}");

    let (_, told) = failure(plain().user("cassandra")).await;
    assert!(told.contains("closed before a word was said"), "{told}");
    assert!(told.contains("tls=true&ca=FILE"), "{told}");
}

async fn make(store: &CqlStore) {
    let keyspace = keyspace();
    let cql = format!(
        "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
         {{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}}"
    );
    store.session().query_unpaged(cql, ()).await.unwrap();
    let schema = Schema::inspect(store, TIMEOUT).await.unwrap();
    let plan = schema.plan(None, false).unwrap();
    schema.apply(&plan, TIMEOUT, |_| ()).await.unwrap();
}

/// Runs `cql/grants.cql` for a role of this test, without the lines that contain `without`.
async fn grant(store: &CqlStore, role: &str, without: &str) {
    let table_prefix = format!("{}.secured_", keyspace());
    let file = include_str!("../../../cql/grants.cql");
    let lines = file.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.replace("lseq_client", role).replace("lseq.", &table_prefix);
    for statement in text.split(';').map(str::trim).filter(|s| !s.is_empty()) {
        if without.is_empty() || !statement.contains(without) {
            store.session().query_unpaged(statement, ()).await.unwrap();
        }
    }
}

#[tokio::test]
#[ignore = "secured: needs a Cassandra cluster with a password and TLS"]
async fn secured_the_grants_suffice_for_a_client() {
    let admin = CqlStore::connect(superuser()).await.unwrap();
    make(&admin).await;
    grant(&admin, "suffices", "").await;
    let client = encrypted().user("suffices").password("change me");
    let client = CqlStore::connect(client).await.unwrap();
    client.check(deadline()).await.unwrap();
    let orders = name("suffices");
    let row = fresh(lamport_seq::Definition::default());
    assert!(client.confirm_absent(&orders, deadline()).await.unwrap());
    let birth = client.write_birth(&orders, row.created.unwrap(), None, deadline()).await;
    assert_eq!(birth.unwrap(), Swapped::Applied);
    let inserted = client.insert(&orders, &row, deadline()).await;
    assert_eq!(inserted.unwrap(), Swapped::Applied);
    let moved = client.swap(&orders, &row, Change::Move { to: at(9, 1) }, deadline()).await;
    assert_eq!(moved.unwrap(), Swapped::Applied);
    let found = client.read(&orders, deadline()).await.unwrap().unwrap();
    assert_eq!(found.timestamp, at(9, 1));
    assert!(!client.list(None, 10, deadline()).await.unwrap().is_empty());
}

#[tokio::test]
#[ignore = "secured: needs a Cassandra cluster with a password and TLS"]
async fn secured_a_missing_right_is_named() {
    let admin = CqlStore::connect(superuser()).await.unwrap();
    make(&admin).await;
    grant(&admin, "reads_only", "MODIFY").await;
    let client = encrypted().user("reads_only").password("change me");
    let client = CqlStore::connect(client).await.unwrap();
    client.check(deadline()).await.unwrap();
    let (nobody, row) = (name("none"), fresh(lamport_seq::Definition::default()));
    let moved = client.swap(&nobody, &row, Change::Move { to: at(9, 1) }, deadline());
    let error = moved.await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Refused);
    let told = format!("{:#}", anyhow::Error::from(error.clone()));
    assert!(told.contains("MODIFY permission"), "{told}");
    assert!(error.hint().unwrap().contains("grants.cql"), "{told}");
}

#[tokio::test]
#[ignore = "secured: needs a Cassandra cluster with a password and TLS"]
async fn secured_the_password_is_in_no_log() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let admin = CqlStore::connect(superuser()).await.unwrap();
    make(&admin).await;
    let create = "CREATE ROLE IF NOT EXISTS careful WITH LOGIN = true AND PASSWORD = 's3cret'";
    admin.session().query_unpaged(create, ()).await.unwrap();
    drop(admin);
    log.0.lock().unwrap().clear();

    let options = encrypted().user("careful").password("s3cret");
    CqlStore::connect(options).await.unwrap();
    failure(encrypted().user("nobody")).await;
    let log = log.0.lock().unwrap();
    assert!(log.contains("control connection"), "there is no log to speak of: {log}");
    assert!(!log.contains("s3cret"), "{log}");
}

/// Everything that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut log = self.0.lock().unwrap();
        write!(log, "{field}={value:?} ").unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
