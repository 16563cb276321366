//! Simulated worlds, one for each seed: clients, an operator and a store that goes wrong. Fails if one is not clean.
//!
//!     cargo run --release -p lamport-seq-simulate -- --seeds 20000
//!     cargo run --release -p lamport-seq-simulate -- --seed 42 --print

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its result is what it prints")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use lamport_seq::testing::simulation::{Run, run};

const USAGE: &str = "usage: simulate [--seeds N] [--from N] [--seed N] [--threads N] [--print]

  --seeds N    how many worlds (1000)
  --from N     the first seed (0)
  --seed N     this seed alone
  --threads N  how many at once (as many as there are processors)
  --print      the histories, for a single seed";

struct Args {
    from: u64,
    seeds: u64,
    threads: usize,
    print: bool,
}

fn args() -> Result<Args, String> {
    let processors = thread::available_parallelism().map_or(1, Into::into);
    let mut args = Args { from: 0, seeds: 1000, threads: processors, print: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or(format!("{word} needs a number"))?;
            value.parse::<u64>().map_err(|_| format!("{word} {value}: not a number"))
        };
        match word.as_str() {
            "--seeds" => args.seeds = number()?,
            "--from" => args.from = number()?,
            "--seed" => (args.from, args.seeds) = (number()?, 1),
            "--threads" => args.threads = usize::try_from(number()?.max(1)).unwrap_or(1),
            "--print" => args.print = true,
            other => return Err(format!("{other}: not an option\n\n{USAGE}")),
        }
    }
    Ok(args)
}

/// What there was in all worlds together.
#[derive(Default)]
struct Total {
    worlds: u64,
    sums: BTreeMap<&'static str, u64>,
    happened: BTreeMap<&'static str, u64>,
    accidents: BTreeMap<String, u64>,
}

impl Total {
    fn add(&mut self, run: &Run) {
        let summary = &run.report.summary;
        self.worlds += 1;
        for (what, number) in [
            ("generators", summary.generators),
            ("ids", summary.ids),
            ("reservations", summary.reserved),
            ("conflicts and refusals", summary.failed),
            ("unknown outcomes", summary.unknown),
            ("observations", summary.observed),
            ("stops", summary.stops),
        ] {
            *self.sums.entry(what).or_default() += number;
        }
        for (what, times) in &run.happened {
            *self.happened.entry(what).or_default() += times;
        }
        for (what, times) in &summary.faults {
            *self.accidents.entry(what.clone()).or_default() += times;
        }
    }
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let began = Instant::now();
    let (next, failed) = (AtomicU64::new(args.from), AtomicBool::new(false));
    let end = args.from.saturating_add(args.seeds);
    let total = Mutex::new(Total::default());
    let work = || {
        let mut mine = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end || failed.load(Ordering::Relaxed) {
                break;
            }
            let run = run(seed);
            if args.print {
                for (client, history) in &run.histories {
                    println!("# {client}\n{}", String::from_utf8_lossy(history));
                }
            }
            if !run.is_clean() && !failed.swap(true, Ordering::Relaxed) {
                eprint!("{run}");
                eprintln!(
                    "again: cargo run --release -p lamport-seq-simulate -- --seed {seed} --print"
                );
            }
            mine.push(run);
            if mine.len() == 100 {
                flush(&total, &mut mine);
            }
        }
        flush(&total, &mut mine);
    };
    thread::scope(|scope| {
        for _ in 0..args.threads {
            scope.spawn(work);
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!(
        "{} worlds from seed {} in {seconds:.1} s on {} threads",
        total.worlds, args.from, args.threads
    );
    for (what, number) in total.sums.iter().chain(&total.happened) {
        println!("{number:>12} {what}");
    }
    for (what, number) in &total.accidents {
        println!("{number:>12} {what} of a row");
    }
    if failed.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn flush(total: &Mutex<Total>, runs: &mut Vec<Run>) {
    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
    runs.drain(..).for_each(|run| total.add(&run));
}
