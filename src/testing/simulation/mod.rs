//! Whole worlds by chance: clients, an operator and a store that goes wrong, in virtual time.
//!
//! [`run`] makes a world from a seed, lets it run with the library's real code, and judges its history by
//! [`history::check`](crate::history::check()). The same seed gives the same world, to the byte. A seed that fails is
//! run again alone: `cargo run --release -p lamport-seq-simulate -- --seed 42`.
//!
//! Authors of stores and of clients can use the parts: [`SimulatedStore`] is a store with faults to order.
//!
//! # Example: an answer is lost
//!
//! ```
//! use lamport_seq::testing::simulation::{Chance, Faults, SimulatedStore};
//! use lamport_seq::{Definition, Sequence, StoreHandle};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), lamport_seq::Error> {
//! let store = SimulatedStore::new(Chance::new(1));
//! let sequence = Sequence::open(&StoreHandle::new(store.connect()), "orders")
//!     .create_if_missing(Definition::default())
//!     .await?;
//! store.set_faults(Faults { answer_lost: 500, ..Faults::default() });
//! // Half of the answers never come. Ids do, though some of them may be burned.
//! assert!(sequence.next_id().await? >= 1);
//! # Ok(())
//! # }
//! ```

mod chance;
mod client;
mod operator;
mod paper;
mod store;
mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

pub use self::chance::Chance;
use self::operator::Operator;
use self::paper::Paper;
pub use self::store::{Faults, SimulatedConnection, SimulatedStore};
use self::world::World;
use crate::definition::{Definition, SequenceName};
use crate::history::{Options, Report, Source, check};

/// A world that has ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The seed that it was made from.
    pub seed: u64,
    /// What was written down, by client.
    pub histories: Vec<(String, Vec<u8>)>,
    /// What the checkers say.
    pub report: Report,
    /// Who got no id though everything had healed, and what else did not go on.
    pub stuck: Vec<String>,
    /// How often what has gone wrong.
    pub happened: BTreeMap<&'static str, u64>,
}

impl Run {
    /// Whether everything was as it must be.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean() && self.stuck.is_empty()
    }
}

/// What is wrong, one thing a line.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.report.violations {
            writeln!(f, "seed {}: {violation}", self.seed)?;
        }
        for stuck in &self.stuck {
            writeln!(f, "seed {}: stuck: {stuck}", self.seed)?;
        }
        Ok(())
    }
}

/// Runs the world of a seed. It takes some milliseconds, and about a minute of virtual time.
///
/// # Panics
///
/// If no runtime can be made.
pub fn run(seed: u64) -> Run {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let Ok(runtime) = runtime else { panic!("no runtime can be made for seed {seed}") };
    let (papers, mut stuck, happened) = runtime.block_on(simulate(seed));
    let histories: Vec<_> = papers.into_iter().map(|(name, paper)| (name, paper.text())).collect();
    let source = |(name, text): &(String, Vec<u8>)| Source::bytes(name.clone(), text.clone());
    let sources: Vec<_> = histories.iter().map(source).collect();
    let report = check(&sources, Options::default()).unwrap_or_else(|error| {
        stuck.push(format!("the history can't be judged: {error}"));
        Report::default()
    });
    Run { seed, histories, report, stuck, happened }
}

async fn simulate(seed: u64) -> (Vec<(String, Paper)>, Vec<String>, BTreeMap<&'static str, u64>) {
    let chance = Chance::new(seed);
    let store = SimulatedStore::new(chance.clone());
    let sequences = (0..chance.number(1..=2)).map(|number| sequence(&chance, number)).collect();
    let lasts = chance.millis(5_000..=40_000);
    let world = Arc::new(World::new(chance.clone(), store, sequences, lasts));

    let mut papers = vec![("operator".to_owned(), Paper::default())];
    let recorder = papers[0].1.recorder("operator", chance.uuid(), &world.ticks);
    let recorder = match recorder {
        Ok(recorder) => recorder,
        Err(error) => {
            return (papers, vec![format!("the operator can't record: {error}")], BTreeMap::new());
        }
    };
    let operator = Operator::new(world.clone(), recorder);
    if let Err(error) = operator.create().await {
        world.is_stuck(format!("no sequence can be created: {error}"));
    }
    let mut tasks = JoinSet::new();
    tasks.spawn(operator::weather(world.clone()));
    tasks.spawn(operator.work());
    for number in 1..=chance.number(1..=4) {
        let (name, paper) = (format!("client{number}"), Paper::default());
        papers.push((name.clone(), paper.clone()));
        tasks.spawn(client::live(world.clone(), name, paper));
    }
    // Far beyond all bounds of the world.
    let end = world.heals + Duration::from_secs(600);
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                world.is_stuck(format!("a task has panicked: {error}"));
            }
        }
    };
    if tokio::time::timeout_at(end, all).await.is_err() {
        world.is_stuck("the world does not end".to_owned());
    }
    (papers, world.stuck(), world.store.happened())
}

/// A sequence of any direction, stride and size.
fn sequence(chance: &Chance, number: u64) -> (SequenceName, Definition) {
    let strides = [1, 1, 1, 3, -1, -2, 10];
    let stride = chance.of(&strides).copied().unwrap_or(1);
    let mut builder = Definition::builder().increment_by(stride);
    // Some are so small that they come to their end.
    if chance.happens(250) {
        let ids = i64::try_from(chance.number(5..=300)).unwrap_or(5);
        builder = if stride > 0 {
            builder.max_value(ids * stride)
        } else {
            builder.min_value(ids * stride)
        };
    }
    let definition = builder.build().unwrap_or_default();
    let name = SequenceName::try_from(format!("s{number}"));
    let Ok(name) = name else { panic!("s{number} is a name") };
    (name, definition)
}
