//! `cargo xtask soak`: client processes reserve ids on a real cluster while a nemesis disturbs it, and everything that
//! they have recorded is checked.

mod clients;
mod cut;
mod kind;
mod lseq;
mod nemesis;
mod outcome;
mod plan;
mod random;
mod tally;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use lamport_seq::history::Recorder;

use self::clients::{Clients, Work, history};
use self::cut::Cut;
pub(crate) use self::kind::Kind;
use self::lseq::Lseq;
use self::nemesis::{Deeds, Nemesis, TAIL};
use self::outcome::Outcome;
use self::plan::Plan;
use self::tally::Tally;
use crate::cluster::{self, Kind as Backend, Shape, With};
use crate::test::live::Cluster;
use crate::{interrupt, out, paths};

/// Less is over before anything has happened.
const SHORTEST: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
#[command(after_help = "\
It starts a fresh three-node cluster with Paxos v2 and the commit log in batch mode, asks each node whether that is so,
and lets processes of a release build of `lseq alloc --history` run, each started again when it ends. Faults come one
after the other, to one node at most; each is seen to happen, is recorded, and is healed before the next. At the end
`lseq check` judges all histories as one. The seed decides which faults come, to whom and for how long.

It fails if there is a violation, a stop, a sequence that gives nothing for ten seconds after a fault is over, a client
that ends as none should, fewer faults than one of each kind in 200 s, or no outcome that is unknown.

`partition` and `clock` need Linux, root, the packages nftables and faketime, and nodes without Docker.")]
pub(crate) struct Options {
    /// How long, as in 90s or 20m
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = duration)]
    duration: Duration,
    /// How many client processes at a time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=64))]
    clients: u16,
    /// How many sequences they share
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    sequences: u16,
    /// Which faults
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    nemesis: Vec<Kind>,
    /// What decides the faults and the clients' work [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take the build that the tests have made, not a release build
    #[arg(long)]
    dev: bool,
    /// Leave the histories in this folder, which must be new or empty [default: target/soak, if it fails]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write the summary to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    with: With,
}

/// What a run is to be.
pub(crate) struct Soak {
    pub(crate) duration: Duration,
    pub(crate) clients: u16,
    pub(crate) sequences: u16,
    pub(crate) nemesis: Vec<Kind>,
    pub(crate) seed: u64,
    /// A release build, or the one that the tests have made.
    pub(crate) release: bool,
    /// Where histories are written.
    pub(crate) dir: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    interrupt::install()?;
    let (backend, network) = options.with.resolve()?;
    let soak = Soak {
        duration: options.duration,
        clients: options.clients,
        sequences: options.sequences,
        nemesis: options.nemesis.clone(),
        seed: options.seed.unwrap_or_else(draw),
        release: !options.dev,
        dir: folder(options.keep.as_deref())?,
    };
    if soak.clients < soak.sequences {
        bail!("{} clients leave some of {} sequences alone", soak.clients, soak.sequences);
    }
    let can = |kind| soak.nemesis.contains(&kind);
    if backend == Backend::Docker && (can(Kind::Partition) || can(Kind::Clock)) {
        bail!("`partition` and `clock` can't be had with nodes in Docker: `--backend maven`");
    }
    if can(Kind::Partition) {
        Cut::prepare(network)?;
    }
    cluster::prepare(backend)?;
    let shape = Shape { clocks: can(Kind::Clock), ..Shape::plain(backend, network, 3) };
    // One that is up already has lived through something else.
    cluster::down()?;
    let _cluster = Cluster::up(&shape, false)?;
    let outcome = soak.on(&shape)?;
    if let Some(path) = &options.json {
        let text = format!("{:#}\n", outcome.json());
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    soak.judge(&outcome, options.keep.is_some())
}

impl Soak {
    /// The two minutes of the test command, on a cluster that is up.
    pub(crate) fn brief() -> anyhow::Result<Self> {
        Ok(Self {
            duration: Duration::from_secs(120),
            clients: 9,
            sequences: 3,
            nemesis: vec![Kind::Kill, Kind::Pause, Kind::RestartClient],
            seed: draw(),
            release: false,
            dir: folder(None)?,
        })
    }

    /// Runs it and passes judgement.
    pub(crate) fn run_on(&self, shape: &Shape) -> anyhow::Result<()> {
        self.judge(&self.on(shape)?, false)
    }

    /// What a person types to have the same again.
    pub(crate) fn again(&self) -> String {
        let kinds: Vec<&str> = self.nemesis.iter().map(|kind| kind.as_str()).collect();
        format!(
            "cargo xtask soak --duration {}s --clients {} --sequences {} --nemesis {} --seed {}{}",
            self.duration.as_secs(),
            self.clients,
            self.sequences,
            kinds.join(","),
            self.seed,
            if self.release { "" } else { " --dev" }
        )
    }

    fn on(&self, shape: &Shape) -> anyhow::Result<Outcome> {
        out::result(format_args!("\n==> soak\n    {}", self.again()));
        let lseq = Lseq::build(shape, self.release)?;
        lseq.prepare(self.sequences)?;
        // A cluster that is not fresh may have been here before.
        let reserved_before = lseq.reserved(self.sequences)?;
        let settings = cluster::promises(shape)?;
        let faults = self.dir.join("nemesis.jsonl");
        let recorder = Recorder::to_file(&faults)?;
        let work = Work {
            lseq: lseq.clone(),
            sequences: self.sequences,
            seed: self.seed,
            dir: self.dir.clone(),
        };
        let started = Instant::now();
        let clients = Clients::start(self.clients, work);
        let nemesis = Nemesis { shape, recorder: &recorder, clients: &clients };
        let plan = Plan::new(self.seed, &self.nemesis, shape.nodes, self.clients);
        let mut deeds = Deeds::default();
        let cut_short = match nemesis.work(plan, self.duration, &mut deeds) {
            Ok(()) => None,
            Err(error) if interrupt::requested() => return Err(error),
            // What was recorded until then is worth a verdict all the same.
            Err(error) => Some(format!("{error:#}")),
        };
        let duration = started.elapsed();
        let end = recorder.now();
        let runs = clients.finish();
        if let Some(why) = recorder.failure() {
            bail!("the faults could not be recorded: {why}");
        }
        let mut tally = Tally::default();
        let mut files: Vec<PathBuf> =
            (1..=self.clients).map(|number| history(&self.dir, number)).collect();
        files.retain(|file| file.exists());
        for file in &files {
            tally.read(file)?;
        }
        tally.settle();
        files.push(faults);
        let check = lseq.check(&files, &self.dir.join("check.json"))?;
        let healed: Vec<_> = deeds.healed.into_iter().map(|it| (it.time, it.step)).collect();
        Ok(Outcome {
            command: self.again(),
            seed: self.seed,
            duration,
            clients: self.clients,
            sequences: self.sequences,
            nemesis: self.nemesis.clone(),
            settings,
            faults: deeds.faults,
            written_ahead: deeds.written_ahead,
            runs,
            check,
            conflicts: tally.conflicts,
            active: tally.sequences(),
            reserved: lseq.reserved(self.sequences)?.saturating_sub(reserved_before),
            after_heal: tally.longest_after(&healed, end),
            longest: tally.longest(),
            cut_short,
        })
    }

    fn judge(&self, outcome: &Outcome, keep: bool) -> anyhow::Result<()> {
        out::result(format_args!("\n{}", outcome.table()));
        let problems = outcome.problems();
        let dir = self.dir.display();
        if problems.is_empty() {
            if !keep {
                std::fs::remove_dir_all(&self.dir).with_context(|| format!("remove {dir}"))?;
            }
            out::result(format_args!("<== soak: passed"));
            return Ok(());
        }
        bail!("the soak has failed; its histories are in {dir}\n  {}", problems.join("\n  "));
    }
}

/// An empty folder for histories.
fn folder(keep: Option<&Path>) -> anyhow::Result<PathBuf> {
    let dir = match keep {
        Some(dir) => dir.to_owned(),
        None => {
            let dir = paths::workspace().join("target").join("soak");
            if dir.exists() {
                std::fs::remove_dir_all(&dir)?;
            }
            dir
        }
    };
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    if std::fs::read_dir(&dir)?.next().is_some() {
        bail!("{} is not empty: histories of two runs would be taken for one", dir.display());
    }
    Ok(std::path::absolute(dir)?)
}

/// A seed from the clock: nobody has to guess it, and it is printed.
fn draw() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs()
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = [("s", 1), ("m", 60), ("h", 3600)].into_iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(seconds).map(Duration::from_secs)
    });
    match parsed {
        Some(duration) if duration >= SHORTEST + TAIL => Ok(duration),
        Some(_) => Err(format!("at least {} s, or nothing happens", (SHORTEST + TAIL).as_secs())),
        None => Err("write a number and a unit, as in 90s or 20m".to_owned()),
    }
}
