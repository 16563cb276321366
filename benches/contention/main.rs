//! Many clients, one row: this library against the loop that one writes first.
//!
//!     cargo xtask contention                 # on a three-node cluster that it starts
//!     LSEQ_TEST_CASSANDRA=127.0.0.1,127.0.0.2,127.0.0.3 cargo bench --bench contention
//!
//! Both sides send the same statements to the same cluster in the same run, in turns, so that a machine that gets slower
//! favours neither. Every reservation is of one id, the worst case. No id may come twice on either side.

#![expect(clippy::print_stdout, reason = "its result is what it prints")]

mod counted;
mod naive;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lamport_seq::store::cql::scylla::client::session::Session;
use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;
use lamport_seq::store::cql::{CqlStore, Schema};
use lamport_seq::{Definition, Sequence, StoreHandle};

use self::counted::{Counted, Counts};

/// What one side did in one turn.
#[derive(Debug, Default)]
struct Tally {
    ids: Vec<i64>,
    attempts: u64,
    conflicts: u64,
    unknown: u64,
    /// Ids of the client that got fewest, and of all clients on average.
    fewest: usize,
    seconds: f64,
}

impl Tally {
    fn per_second(&self) -> f64 {
        count(self.ids.len()) / self.seconds
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn count(n: usize) -> f64 {
    n as f64
}

struct Setting {
    clients: usize,
    turn: Duration,
    turns: usize,
}

fn setting() -> Result<Setting> {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text} is not a number")),
        Err(_) => Ok(default),
    };
    Ok(Setting {
        clients: usize::try_from(number("CLIENTS", 32)?)?,
        turn: Duration::from_secs(number("SECONDS", 20)?),
        turns: usize::try_from(number("TURNS", 3)?)?,
    })
}

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo bench` and `cargo test --benches` pass flags of their own; without a cluster there is nothing to measure.
    let Ok(nodes) = std::env::var("LSEQ_TEST_CASSANDRA") else {
        println!(
            "contention: SKIPPED, LSEQ_TEST_CASSANDRA names no cluster (cargo xtask contention)"
        );
        return Ok(());
    };
    let Setting { clients, turn, turns } = setting()?;
    let session = SessionBuilder::new().known_nodes(nodes.split(',')).build().await?;
    let session = Arc::new(session);
    let keyspace = format!("contention_{}", std::process::id());
    let store = CqlStore::from_session(session.clone(), &keyspace)?;
    let schema = Schema::inspect(&store, Duration::from_secs(60)).await?;
    let plan = schema.plan(Some(&"3".parse()?), false)?;
    schema.apply(&plan, Duration::from_secs(60), |_| ()).await?;

    println!("{clients} clients, one row, block size 1, {turn:?} a turn, on {nodes}");
    println!(
        "{:8} {:>10} {:>10} {:>10} {:>9} {:>8}",
        "", "applied/s", "attempts", "conflicts", "unknown", "fewest"
    );
    let mut ratios = Vec::new();
    for number in 0..turns {
        let naive =
            naive::run(&session, &keyspace, &format!("naive{number}"), clients, turn).await?;
        report("naive", &naive)?;
        let ours = ours(&session, &keyspace, &format!("ours{number}"), clients, turn).await?;
        report("ours", &ours)?;
        ratios.push(ours.per_second() / naive.per_second());
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "ours / naive: median {:.1}, from {:.1} to {:.1}",
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    session.query_unpaged(format!("DROP KEYSPACE {keyspace}"), ()).await?;
    Ok(())
}

fn report(side: &str, tally: &Tally) -> Result<()> {
    let Tally { ids, attempts, conflicts, unknown, fewest, .. } = tally;
    println!(
        "{side:8} {:>10.1} {attempts:>10} {conflicts:>10} {unknown:>9} {fewest:>8}",
        tally.per_second()
    );
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != ids.len() {
        bail!("{side}: {} ids came twice", ids.len() - sorted.len());
    }
    Ok(())
}

/// Generators that share nothing but a session, each with a store handle of its own.
async fn ours(
    session: &Arc<Session>,
    keyspace: &str,
    name: &str,
    clients: usize,
    turn: Duration,
) -> Result<Tally> {
    let counts = Arc::new(Counts::default());
    let mut generators = Vec::new();
    for _ in 0..clients {
        let store = CqlStore::from_session(session.clone(), keyspace)?;
        let store = StoreHandle::new(Counted::new(store, counts.clone()));
        let sequence = Sequence::open(&store, name)
            .block_size(1)
            .create_if_missing(Definition::default())
            .await?;
        // Warm-up: statements are prepared before the clock starts.
        sequence.next_id().await?;
        generators.push(sequence);
    }
    counts.reset();
    let began = Instant::now();
    let tasks = generators.into_iter().map(|sequence| {
        tokio::spawn(async move {
            let mut ids = Vec::new();
            while began.elapsed() < turn {
                match sequence.next_id().await {
                    Ok(id) => ids.push(id),
                    // Lost against the others for ten seconds: it shows in the column `fewest`.
                    Err(error) if error.is_retryable() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            anyhow::Ok(ids)
        })
    });
    let mut tally = Tally { fewest: usize::MAX, ..Tally::default() };
    for task in tasks.collect::<Vec<_>>() {
        let ids = task.await??;
        tally.fewest = tally.fewest.min(ids.len());
        tally.ids.extend(ids);
    }
    tally.seconds = began.elapsed().as_secs_f64();
    (tally.attempts, tally.conflicts, tally.unknown) = counts.read();
    Ok(tally)
}
