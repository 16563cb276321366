//! Exploring a model, and what was found.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::history;
use crate::model::Protocol;
use crate::rules::Rules;
use crate::setup::Setup;

/// What an exploration has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Different states, with those that differ only in names counted once.
    pub states: usize,
    /// Steps taken, those into known states included.
    pub steps: usize,
    /// The longest history that was followed.
    pub depth: usize,
    /// How long it took, by the clock on the wall.
    pub took: Duration,
    /// What must always hold, and does, by name.
    pub holds: Vec<&'static str>,
    /// What must be possible: name, and whether it is.
    pub possible: Vec<(&'static str, bool)>,
    /// What is violated, and how.
    pub violations: Vec<Violated>,
}

/// A property that does not hold, and a history that shows it.
#[derive(Clone, Debug)]
pub struct Violated {
    /// Its name.
    pub property: &'static str,
    /// How long the history is.
    pub steps: usize,
    /// The history, a line for each step and one for what is wrong at its end.
    pub history: Vec<String>,
}

/// Explores everything, depth first: it needs little memory, and the order plays no part.
pub fn exhaust(setup: Setup, rules: Rules) -> Found {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let began = Instant::now();
    let checker = Protocol::new(setup, rules).checker().threads(threads);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_dfs();
    report(&checker.join(), began)
}

/// Looks for the shortest history that violates `property`: breadth first, in one thread, which keeps the order.
///
/// The checker looks at states by the block and keeps the last violation of a block, so it is asked again for
/// anything shorter until there is nothing: the last time, it has gone through all histories that are shorter.
pub fn shortest(setup: Setup, rules: Rules, property: &'static str) -> Found {
    let began = Instant::now();
    let mut best: Option<Found> = None;
    loop {
        let wanted = HasDiscoveries::AllOf([property].into());
        let checker = Protocol::new(setup, rules).checker().threads(1).finish_when(wanted);
        let violated = best.as_ref().and_then(|found| found.violations.first());
        let checker = match violated {
            // A state is one deeper than the steps that lead to it.
            Some(violated) => checker.target_max_depth(violated.steps + 1),
            None => checker,
        };
        let mut found = report(&checker.spawn_bfs().join(), began);
        found.violations.retain(|violated| violated.property == property);
        match best {
            Some(best) if found.violations.is_empty() => {
                return Found { took: began.elapsed(), ..best };
            }
            None if found.violations.is_empty() => return found,
            _ => best = Some(found),
        }
    }
}

fn report(checker: &impl Checker<Protocol>, began: Instant) -> Found {
    let took = began.elapsed();
    let (mut holds, mut possible, mut violations) = (Vec::new(), Vec::new(), Vec::new());
    for property in checker.model().properties() {
        let found = checker.discovery(property.name);
        match (property.expectation, found) {
            (Expectation::Sometimes, found) => possible.push((property.name, found.is_some())),
            (_, None) => holds.push(property.name),
            (_, Some(path)) => {
                let history = history::tell(checker.model(), path);
                violations.push(Violated {
                    property: property.name,
                    steps: history.len() - 1,
                    history,
                });
            }
        }
    }
    Found {
        states: checker.unique_state_count(),
        steps: checker.state_count(),
        depth: checker.max_depth(),
        took,
        holds,
        possible,
        violations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{self, Outcome};
    use crate::runs::QUICK;

    /// A model in which every name counts, and which may remember everything.
    fn plain(setup: Setup, rules: Rules, tidies: bool) -> Protocol {
        let model = Protocol::new(setup, rules);
        Protocol { symmetry: model.symmetry.broken(), tidies, ..model }
    }

    #[test]
    fn states_that_differ_only_in_names_or_in_what_can_t_matter_have_the_same_future() {
        for setup in QUICK.map(Setup::smaller) {
            let found = exhaust(setup, Rules::PUBLISHED);
            let mut states = found.states;
            for tidies in [true, false] {
                let model = plain(setup, Rules::PUBLISHED, tidies);
                let plain = report(&model.checker().spawn_dfs().join(), Instant::now());
                assert_eq!(plain.holds, found.holds, "{setup:?}");
                assert_eq!(plain.possible, found.possible, "{setup:?}");
                assert!(plain.states > states, "{setup:?}: {} > {states}", plain.states);
                states = plain.states;
            }
        }
    }

    #[test]
    fn no_shorter_history_is_hidden_behind_a_name() {
        for case in cases::all() {
            let Outcome::Violates(property) = case.outcome else {
                continue;
            };
            let steps = case.run().violations[0].steps;
            let model = plain(case.setup, case.rules, false);
            let shorter = model.checker().target_max_depth(steps + 1).spawn_bfs();
            let found = report(&shorter.join(), Instant::now());
            assert!(found.holds.contains(&property), "{}", case.name);
        }
    }
}
