//! What happens, in which order, to whom and for how long: the seed decides it, before anything is done.

use std::time::Duration;

use super::kind::Kind;
use super::random::Random;

/// The nemesis' stream of the seed; the clients have theirs.
const STREAM: u64 = 0;
/// How long a fault lasts. From the second on, requests of three seconds run out; no node is declared dead for much
/// less than the third.
const BRIEF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(8));
const LONG: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(16));
/// How long all is well between a fault and the next.
const REST: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(6));
/// How far a clock goes ahead: each of these comes before one comes again. The library warns from a minute on.
const AHEAD_SECONDS: [u64; 4] = [1, 30, 120, 3600];
/// Of so many clients one is disturbed at a time.
const CLIENTS_SHARE: u16 = 3;

/// Whom a fault befalls. Never more than one node: a minority of three (design.md, section 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Node(u8),
    Clients(Vec<u16>),
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) target: Target,
    pub(super) lasts: Duration,
    /// How far a clock goes ahead, where it is one.
    pub(super) ahead: Duration,
    /// What comes after it.
    pub(super) rest: Duration,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ", self.kind.as_str())?;
        match &self.target {
            Target::Node(node) => write!(f, "node {node}")?,
            Target::Clients(clients) => {
                let clients: Vec<String> = clients.iter().map(ToString::to_string).collect();
                write!(f, "clients {}", clients.join(" "))?;
            }
        }
        if self.kind == Kind::Clock {
            write!(f, " {} s ahead", self.ahead.as_secs())?;
        }
        if self.kind != Kind::RestartClient {
            write!(f, " for {:.1} s", self.lasts.as_secs_f64())?;
        }
        Ok(())
    }
}

/// All faults, without an end.
pub(super) struct Plan {
    random: Random,
    kinds: Vec<Kind>,
    /// What is left of a round, in which every kind comes once.
    round: Vec<Kind>,
    /// What is left of the seconds by which clocks go ahead.
    ahead: Vec<u64>,
    nodes: u8,
    clients: u16,
}

impl Plan {
    pub(super) fn new(seed: u64, kinds: &[Kind], nodes: u8, clients: u16) -> Self {
        let mut kinds = kinds.to_vec();
        // The order in which somebody writes them is nobody's wish.
        kinds.sort_unstable();
        kinds.dedup();
        let (round, ahead) = (Vec::new(), Vec::new());
        Self { random: Random::new(seed, STREAM), kinds, round, ahead, nodes, clients }
    }

    fn ahead(&mut self) -> Duration {
        if self.ahead.is_empty() {
            self.ahead = AHEAD_SECONDS.to_vec();
            self.random.shuffle(&mut self.ahead);
        }
        Duration::from_secs(self.ahead.pop().unwrap_or_default())
    }

    fn node(&mut self) -> Target {
        let number = self.random.between(1, self.nodes.into());
        Target::Node(u8::try_from(number).unwrap_or(1))
    }

    fn some_clients(&mut self) -> Target {
        let mut all: Vec<u16> = (1..=self.clients).collect();
        self.random.shuffle(&mut all);
        all.truncate(usize::from(self.clients.div_ceil(CLIENTS_SHARE)));
        all.sort_unstable();
        Target::Clients(all)
    }
}

impl Iterator for Plan {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.round.is_empty() {
            self.round.clone_from(&self.kinds);
            self.random.shuffle(&mut self.round);
        }
        let kind = self.round.pop()?;
        let clients =
            kind == Kind::RestartClient || (kind == Kind::Pause && self.random.between(1, 3) == 1);
        let target = if clients { self.some_clients() } else { self.node() };
        let (least, most) = match kind {
            Kind::Kill | Kind::Pause => BRIEF,
            Kind::Partition | Kind::Clock => LONG,
            Kind::RestartClient => (Duration::ZERO, Duration::ZERO),
        };
        let lasts = self.random.duration(least, most);
        let ahead = if kind == Kind::Clock { self.ahead() } else { Duration::ZERO };
        let rest = self.random.duration(REST.0, REST.1);
        Some(Step { kind, target, lasts, ahead, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kind; 5] =
        [Kind::Kill, Kind::Pause, Kind::Partition, Kind::Clock, Kind::RestartClient];

    fn steps(seed: u64, kinds: &[Kind]) -> Vec<Step> {
        Plan::new(seed, kinds, 3, 16).take(100).collect()
    }

    #[test]
    fn one_seed_is_one_schedule() {
        let mut turned = ALL;
        turned.reverse();
        assert_eq!(steps(1, &ALL), steps(1, &turned));
        assert_ne!(steps(1, &ALL), steps(2, &ALL));
    }

    #[test]
    fn every_kind_comes_in_every_round() {
        for round in steps(3, &ALL).chunks(ALL.len()) {
            let mut kinds: Vec<Kind> = round.iter().map(|step| step.kind).collect();
            kinds.sort_unstable();
            assert_eq!(kinds, ALL);
        }
    }

    #[test]
    fn a_clock_goes_ahead_by_an_hour_in_every_run() {
        let clocks = |step: &Step| step.kind == Kind::Clock;
        let steps = steps(5, &ALL);
        let ahead = steps.iter().filter(|step| clocks(step)).take(AHEAD_SECONDS.len());
        assert!(ahead.into_iter().any(|step| step.ahead == Duration::from_secs(3600)));
        assert!(steps.iter().filter(|step| !clocks(step)).all(|step| step.ahead.is_zero()));
    }

    #[test]
    fn every_node_and_every_client_has_its_turn_and_no_fault_takes_two_nodes() {
        let steps = steps(4, &ALL);
        for node in 1..=3 {
            assert!(steps.iter().any(|step| step.target == Target::Node(node)), "{node}");
        }
        for client in 1..=16 {
            let hit =
                |step: &Step| matches!(&step.target, Target::Clients(all) if all.contains(&client));
            assert!(steps.iter().any(hit), "{client}");
        }
    }
}
