//! The published algorithm, read literally, beside the library: one uuid for a whole process, ownership by `node`
//! alone after a timeout, the same range asked for again at once. The checker must be able to convict somebody.

use std::sync::Arc;
use std::time::Duration;

use lamport_seq::history::{How, Incarnation, Options, Property, Recorder, Report, Source, check};
use lamport_seq::store::cql::scylla::client::session::Session;
use lamport_seq::store::cql::scylla::statement::prepared::PreparedStatement;
use lamport_seq::store::cql::scylla::statement::{Consistency, SerialConsistency};
use lamport_seq::{Definition, IdRange, LamportTimestamp};
use scylla_proxy::{Reaction, RequestReaction};
use uuid::Uuid;

use crate::support::{Keyspace, tens};
use crate::wire::{TAG, Wire};

const IMPATIENT: Duration = Duration::from_millis(700);
/// So often each node does not answer an attempt; the literal client makes two.
const TIMES: usize = 2;
const BLOCK: i64 = 10;

/// A client that does what the three lines of the published description say, and no more.
struct Literal {
    node: Uuid,
    sequence: String,
    update: PreparedStatement,
    select: PreparedStatement,
    session: Arc<Session>,
    history: Incarnation,
}

impl Literal {
    async fn open(wire: &Wire, keyspace: &Keyspace, sequence: &str, recorder: &Recorder) -> Self {
        let began = recorder.now();
        let session = wire.session.clone();
        let table = format!("{}.counters", keyspace.name);
        let cql = format!("UPDATE {table} SET node = ?, value = ? WHERE name = ? IF value = ?");
        let mut update = session.prepare(cql).await.unwrap();
        // The levels are right: it is not for them that it goes wrong.
        update.set_consistency(Consistency::Quorum);
        update.set_serial_consistency(Some(SerialConsistency::Serial));
        update.set_request_timeout(Some(IMPATIENT));
        let cql = format!("SELECT node, value FROM {table} WHERE name = ?");
        let mut select = session.prepare(cql).await.unwrap();
        select.set_consistency(Consistency::Serial);
        // One uuid for the life of the process; it begins as what is watched on the wire does.
        let mut node = *Uuid::new_v4().as_bytes();
        node[..TAG.len()].copy_from_slice(&TAG);
        let node = Uuid::from_bytes(node);
        let definition = Definition::default();
        let history = recorder.open(recorder.handle(), sequence, &definition, 0, began);
        Self { node, sequence: sequence.to_owned(), update, select, session, history }
    }

    async fn row(&self) -> (Option<Uuid>, i64) {
        let answer = self.session.execute_unpaged(&self.select, (&self.sequence,)).await.unwrap();
        answer.into_rows_result().unwrap().single_row().unwrap()
    }

    /// Reserves ten ids and gives them.
    async fn next_ids(&self) -> Vec<i64> {
        loop {
            let began = self.history.now();
            let (_, old) = self.row().await;
            let new = old + BLOCK;
            let operation = self.history.reserve(old, LamportTimestamp::new(new, self.node));
            let values = (self.node, new, &self.sequence, old);
            // "On a timeout it is tried again": at once, with the same range.
            for _ in 0..TIMES {
                if self.session.execute_unpaged(&self.update, values).await.is_ok() {
                    break;
                }
            }
            // "The client whose node is in the row has won": whatever the row's value is.
            if self.row().await.0 == Some(self.node) {
                operation.ok();
                let range = IdRange::new(old + 1, new, 1).unwrap();
                self.history.give_ranges(How::Reserve, &[range], began);
                return range.into_iter().collect();
            }
            operation.fail("another node");
        }
    }
}

/// Two clients take turns, and what the first sends for its second block is lost or late. Gives the ids of both, and
/// what the checker says.
async fn judged(fault: RequestReaction, literally: bool) -> (Vec<i64>, Report) {
    let keyspace = Keyspace::create(3).await;
    let mut wire = Wire::tap(&keyspace, IMPATIENT).await;
    let direct = keyspace.connect().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.jsonl");
    let recorder = Recorder::to_file(&file).unwrap();
    let name = "literal";
    // It creates the sequence.
    let rival = tens(&direct, name).record(&recorder).await.unwrap();
    let mut ids = Vec::new();
    if literally {
        let client = Literal::open(&wire, &keyspace, name, &recorder).await;
        ids.extend(client.next_ids().await);
        wire.set_request_fault(Some((TIMES, fault)));
        ids.extend(client.next_ids().await);
    } else {
        let client = tens(&wire.store, name).tag(TAG).record(&recorder).await.unwrap();
        ids.extend(client.next_ids(10).await.unwrap().into_iter().flatten());
        wire.set_request_fault(Some((TIMES, fault)));
        ids.extend(client.next_ids(10).await.unwrap().into_iter().flatten());
    }
    ids.extend(rival.next_ids(10).await.unwrap().into_iter().flatten());
    keyspace.drop().await;
    let report = check(&[Source::file(&file)], Options::default()).unwrap();
    (ids, report)
}

fn faults() -> [(&'static str, RequestReaction); 2] {
    let late = RequestReaction::delay(Duration::from_secs(3));
    [("lost", RequestReaction::drop_frame()), ("late", late)]
}

/// Every reading of the description that takes `node` alone for a proof: the row shows this client's node
/// from its block before, and so a write that never arrived looks like one that did.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s1_s2_the_literal_client_gives_ids_twice_and_the_checker_convicts_it() {
    for (what, fault) in faults() {
        let (mut ids, report) = judged(fault, true).await;
        let given = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() < given, "{what}: no duplicate, so there is nothing to see");
        let violation = report.violations.iter().find(|it| it.property == Property::Unique);
        let violation = violation.unwrap_or_else(|| panic!("{what}: {:#?}", report.violations));
        println!("{what}: {violation}");
        assert!(violation.problem.ends_with("given twice"), "{what}: {violation}");
        assert_eq!(violation.operations.len(), 2, "{what}: {violation}");
        assert!(report.found.contains_key(&Property::Ranges), "{what}: {:?}", report.found);
        assert!(report.found.contains_key(&Property::Attempts), "{what}: {:?}", report.found);
    }
}

/// The same faults, for the same client as far as the wire can tell: a uuid for every attempt, and node *and* value as
/// the proof.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_s1_s2_the_library_gives_no_id_twice_where_the_literal_client_does() {
    for (what, fault) in faults() {
        let (mut ids, report) = judged(fault, false).await;
        let given = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), given), (30, 30), "{what}: {ids:?}");
        assert!(report.is_clean(), "{what}: {:#?}", report.violations);
        assert!(report.summary.unknown > 0, "{what}: the fault met nobody: {:?}", report.summary);
    }
}
