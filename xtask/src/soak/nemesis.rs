//! Makes faults, makes sure that they really happened, and heals them.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail, ensure};
use lamport_seq::history::Recorder;

use super::clients::Clients;
use super::cut::Cut;
use super::kind::Kind;
use super::lseq::TABLE;
use super::plan::{Plan, Step, Target};
use crate::cluster::{self, Condition, Fault, Shape};
use crate::interrupt::{self, CleaningUp};
use crate::out;

const POLL: Duration = Duration::from_millis(100);
/// How long a node may take to see that its clock was set.
const CLOCK_LIMIT: Duration = Duration::from_secs(10);
/// How much two readings of a clock may differ for other reasons.
const CLOCK_SLACK: Duration = Duration::from_millis(500);
/// How long all is left alone at the end, so that progress after the last fault can be seen.
pub(super) const TAIL: Duration = Duration::from_secs(15);
/// A node that was killed, and all that comes after it.
const LONGEST_STEP: Duration = Duration::from_secs(45);

/// A fault that is over.
pub(super) struct Healed {
    /// What it was, for people.
    pub(super) step: String,
    /// When, by the clock of the histories.
    pub(super) time: u64,
}

/// What has been done.
#[derive(Default)]
pub(super) struct Deeds {
    /// Faults that were seen to happen.
    pub(super) faults: BTreeMap<Kind, u64>,
    pub(super) healed: Vec<Healed>,
    /// How far ahead of its time a row was written, at most: whether a clock that was set was also used.
    pub(super) written_ahead: Duration,
}

/// Who does it, and to whom.
pub(super) struct Nemesis<'a> {
    pub(super) shape: &'a Shape,
    pub(super) recorder: &'a Recorder,
    pub(super) clients: &'a Clients,
}

impl Nemesis<'_> {
    /// Carries out `plan` for so long. An error is a fault that could not be made, or not be healed.
    pub(super) fn work(
        &self,
        plan: Plan,
        duration: Duration,
        deeds: &mut Deeds,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        let over = began + duration.saturating_sub(TAIL);
        self.rest(Duration::from_secs(3))?;
        for step in plan {
            let needs = if step.kind == Kind::Kill { LONGEST_STEP } else { step.lasts };
            if Instant::now() >= over {
                break;
            }
            if Instant::now() + needs >= over {
                // What takes less time may still fit.
                self.rest(POLL)?;
                continue;
            }
            let at = began.elapsed().as_secs();
            out::note(format_args!("{:>3}:{:02}  {step}", at / 60, at % 60));
            self.carry_out(&step, deeds).with_context(|| format!("fault: {step}"))?;
            self.rest(step.rest)?;
        }
        // The clients go on to the end.
        while began.elapsed() < duration {
            self.rest(POLL)?;
        }
        Ok(())
    }

    fn carry_out(&self, step: &Step, deeds: &mut Deeds) -> anyhow::Result<()> {
        let target = step.to_string();
        let operation = self.recorder.nemesis(&step.kind.fault(), None, Some(&target));
        let happened = match (&step.target, step.kind) {
            (Target::Node(node), Kind::Kill) => self.kill(*node, step.lasts),
            (Target::Node(node), Kind::Pause) => self.pause(*node, step.lasts),
            (Target::Node(node), Kind::Partition) => self.partition(*node, step.lasts),
            (Target::Node(node), Kind::Clock) => self.clock(*node, step.ahead, step.lasts),
            (Target::Clients(some), Kind::Pause) => self.pause_clients(some, step.lasts),
            (Target::Clients(some), Kind::RestartClient) => Ok(self.clients.kill(some)? > 0),
            (target, kind) => bail!("{kind:?} can't befall {target:?}"),
        };
        match happened {
            Ok(true) => operation.ok(),
            Ok(false) => {
                out::note(format_args!("        no client ran: not counted"));
                operation.fail("no client ran");
                return Ok(());
            }
            Err(error) => {
                operation.info(&format!("{error:#}"));
                return Err(error);
            }
        }
        deeds.healed.push(Healed { step: target, time: self.recorder.now() });
        *deeds.faults.entry(step.kind).or_default() += 1;
        // The others have to find it again; the next fault waits for that.
        cluster::whole(self.shape)?;
        if step.kind == Kind::Clock {
            let ahead = cluster::written_ahead(self.shape, TABLE, "value")?;
            deeds.written_ahead = deeds.written_ahead.max(ahead);
        }
        Ok(())
    }

    /// A pause between faults or while one lasts.
    fn rest(&self, lasts: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + lasts;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            interrupt::check()?;
            if let Some(complaint) = self.clients.complaint() {
                bail!("{complaint}");
            }
            sleep(left.min(POLL));
        }
        Ok(())
    }

    fn condition(&self, node: u8) -> anyhow::Result<Condition> {
        let found =
            cluster::conditions(self.shape)?.into_iter().find(|(number, _)| *number == node);
        found.map(|(_, condition)| condition).context("no such node")
    }

    fn kill(&self, node: u8, lasts: Duration) -> anyhow::Result<bool> {
        cluster::fault(node, Fault::Kill)?;
        self.rest(lasts)?;
        let condition = self.condition(node)?;
        ensure!(condition == Condition::Dead, "node {node} is not dead but {condition:?}");
        cluster::start(node)?;
        Ok(true)
    }

    fn pause(&self, node: u8, lasts: Duration) -> anyhow::Result<bool> {
        let paused = Heal::new(move || cluster::fault(node, Fault::Resume));
        cluster::fault(node, Fault::Pause)?;
        self.rest(lasts)?;
        let condition = self.condition(node)?;
        ensure!(matches!(condition, Condition::Paused { .. }), "node {node} is {condition:?}");
        paused.now()?;
        Ok(true)
    }

    fn pause_clients(&self, some: &[u16], lasts: Duration) -> anyhow::Result<bool> {
        let paused = self.clients.pause(some)?;
        let standing = paused.standing();
        self.rest(lasts)?;
        drop(paused);
        Ok(standing > 0)
    }

    fn partition(&self, node: u8, lasts: Duration) -> anyhow::Result<bool> {
        let until = Instant::now() + lasts;
        let cut = Cut::node(self.shape.network, self.shape.address(node))?;
        let alone = !cluster::reaches_another(self.shape, node)?;
        self.rest(until.saturating_duration_since(Instant::now()))?;
        let dropped = cut.dropped()?;
        ensure!(alone && dropped > 0, "node {node} was not cut off ({dropped} packets dropped)");
        drop(cut);
        Ok(true)
    }

    fn clock(&self, node: u8, ahead: Duration, lasts: Duration) -> anyhow::Result<bool> {
        let skewed = Heal::new(move || cluster::set_clock(node, Duration::ZERO));
        cluster::set_clock(node, ahead)?;
        self.see_clock(node, ahead)?;
        self.rest(lasts)?;
        skewed.now()?;
        self.see_clock(node, Duration::ZERO)?;
        Ok(true)
    }

    /// Waits until a node has the time that it was given.
    fn see_clock(&self, node: u8, ahead: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + CLOCK_LIMIT;
        loop {
            let off = |time: SystemTime| {
                let wanted = SystemTime::now() + ahead;
                wanted.duration_since(time).unwrap_or_else(|error| error.duration())
            };
            match cluster::clock_of(self.shape, node).map(off) {
                Ok(off) if off < CLOCK_SLACK => return Ok(()),
                Ok(off) if Instant::now() >= deadline => {
                    bail!("the clock of node {node} is {off:?} from what it was set to")
                }
                Err(error) if Instant::now() >= deadline => return Err(error),
                _ => self.rest(POLL)?,
            }
        }
    }
}

/// Heals a fault when it is dropped, however that comes, unless it was healed before.
struct Heal<F: Fn() -> anyhow::Result<()>>(Option<F>);

impl<F: Fn() -> anyhow::Result<()>> Heal<F> {
    fn new(heal: F) -> Self {
        Self(Some(heal))
    }

    fn now(mut self) -> anyhow::Result<()> {
        self.0.take().map_or(Ok(()), |heal| heal())
    }
}

impl<F: Fn() -> anyhow::Result<()>> Drop for Heal<F> {
    fn drop(&mut self) {
        let _cleaning = CleaningUp::start();
        if let Some(Err(error)) = self.0.as_ref().map(|heal| heal()) {
            out::note(format_args!("error: a fault could not be healed: {error:#}"));
        }
    }
}
