//! The loop that one writes first: the driver's own routing, and again at once after a conflict. It is correct, and slow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use lamport_seq::store::cql::CqlStore;
use lamport_seq::store::cql::scylla::client::session::Session;
use lamport_seq::store::cql::scylla::statement::prepared::PreparedStatement;
use lamport_seq::store::cql::scylla::statement::{Consistency, SerialConsistency};
use lamport_seq::store::cql::scylla::value::{CqlValue, Row};
use lamport_seq::{Catalog, Definition, StoreHandle};
use uuid::Uuid;

use crate::Tally;

/// The two statements of a reservation, with the consistency levels that they need and nothing else set.
struct Statements {
    session: Arc<Session>,
    write: PreparedStatement,
    read: PreparedStatement,
}

impl Statements {
    async fn prepare(session: &Arc<Session>, keyspace: &str) -> Result<Self> {
        let write = "UPDATE {ks}.counters SET node = ?, value = ? WHERE name = ? \
                     IF value = ? AND node = ? AND created = ?";
        let read = "SELECT node, value, created, start_value, increment_by, min_value, max_value, strict, \
                    retired, WRITETIME(node), WRITETIME(value) FROM {ks}.counters WHERE name = ?";
        let mut write = session.prepare(write.replace("{ks}", keyspace)).await?;
        write.set_consistency(Consistency::Quorum);
        write.set_serial_consistency(Some(SerialConsistency::Serial));
        write.set_request_timeout(Some(Duration::from_secs(3)));
        let mut read = session.prepare(read.replace("{ks}", keyspace)).await?;
        read.set_consistency(Consistency::Serial);
        Ok(Self { session: session.clone(), write, read })
    }

    /// Node, value and birth, as often asked as it takes.
    async fn row(&self, name: &str) -> Result<(Uuid, i64, Uuid)> {
        loop {
            let Ok(answer) = self.session.execute_unpaged(&self.read, (name,)).await else {
                continue;
            };
            let row = answer.into_rows_result()?.single_row::<Row>()?;
            let uuid = |index: usize| row.columns[index].as_ref().and_then(CqlValue::as_uuid);
            let value = row.columns[1].as_ref().and_then(CqlValue::as_bigint);
            return Ok((
                uuid(0).unwrap_or_default(),
                value.unwrap_or_default(),
                uuid(2).unwrap_or_default(),
            ));
        }
    }
}

pub(crate) async fn run(
    session: &Arc<Session>,
    keyspace: &str,
    name: &str,
    clients: usize,
    turn: Duration,
) -> Result<Tally> {
    let store = StoreHandle::new(CqlStore::from_session(session.clone(), keyspace)?);
    Catalog::new(&store).create(name, Definition::default()).await?;
    let statements = Arc::new(Statements::prepare(session, keyspace).await?);
    let began = Instant::now();
    let tasks = (0..clients).map(|_| {
        let (statements, name) = (statements.clone(), name.to_owned());
        tokio::spawn(async move { client(&statements, &name, began, turn).await })
    });
    let mut tally = Tally { fewest: usize::MAX, ..Tally::default() };
    for task in tasks.collect::<Vec<_>>() {
        let one = task.await??;
        tally.fewest = tally.fewest.min(one.ids.len());
        tally.ids.extend(one.ids);
        tally.attempts += one.attempts;
        tally.conflicts += one.conflicts;
        tally.unknown += one.unknown;
    }
    tally.seconds = began.elapsed().as_secs_f64();
    Ok(tally)
}

async fn client(
    statements: &Statements,
    name: &str,
    began: Instant,
    turn: Duration,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let (mut node, mut value, created) = statements.row(name).await?;
    while began.elapsed() < turn {
        let attempt = Uuid::new_v4();
        let bound = (attempt, value + 1, name, value, node, created);
        let answer = statements.session.execute_unpaged(&statements.write, bound).await;
        tally.attempts += 1;
        let applied = match answer {
            Ok(answer) => {
                let row = answer.into_rows_result()?.single_row::<Row>()?;
                let applied = row.columns[0].as_ref().and_then(CqlValue::as_boolean);
                tally.conflicts += u64::from(applied != Some(true));
                applied == Some(true)
            }
            Err(_) => {
                tally.unknown += 1;
                false
            }
        };
        let target = value + 1;
        (node, value, _) = statements.row(name).await?;
        if applied || (node == attempt && value == target) {
            tally.ids.push(target);
        }
    }
    Ok(tally)
}
