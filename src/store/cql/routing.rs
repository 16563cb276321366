//! Which node is asked first (S13).
//!
//! Every client asks the same replica of a sequence first: two coordinators of one row get in each other's way, which
//! costs more than anything else (docs/design.md has the figures). The driver does this for statements that it knows
//! to be lightweight transactions, which on Cassandra is none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scylla::cluster::{ClusterState, NodeRef};
use scylla::errors::{DbError, RequestAttemptError};
use scylla::frame::response::result::TableSpec;
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::{Shard, Token};
use tokio::time::Instant;
use uuid::Uuid;

type Target<'a> = (NodeRef<'a>, Option<Shard>);

/// Nodes that have kept somebody waiting, and until when they are asked last.
#[derive(Debug, Default)]
pub(super) struct Suspects(Mutex<HashMap<Uuid, Instant>>);

/// A node that refuses or fails is avoided for this long: asking it again costs little.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// A node that says nothing is avoided ten times as long as it was waited for, within these bounds.
const AFTER_SILENCE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl Suspects {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// S13: the node gave no answer within `waited`.
    pub(super) fn was_silent(&self, node: Uuid, waited: Duration) {
        let (least, most) = AFTER_SILENCE;
        self.avoid(node, waited.saturating_mul(10).clamp(least, most));
    }

    fn avoid(&self, node: Uuid, time: Duration) {
        let until = Instant::now() + time;
        let mut suspects = self.lock();
        let known = suspects.entry(node).or_insert(until);
        *known = until.max(*known);
    }

    fn acquit(&self, node: Uuid) {
        self.lock().remove(&node);
    }

    /// Until when a node is avoided, if it is.
    fn until(&self, node: Uuid) -> Option<Instant> {
        self.lock().get(&node).copied().filter(|until| *until > Instant::now())
    }
}

/// The order of nodes for one statement, and which of them it was sent to.
#[derive(Debug)]
pub(super) struct Route {
    suspects: Arc<Suspects>,
    /// Where the row is, for a statement that the driver can't tell it of.
    place: Option<(TableSpec<'static>, Token)>,
    tried: Mutex<Option<Uuid>>,
}

impl Route {
    pub(super) fn new(
        suspects: Arc<Suspects>,
        place: Option<(TableSpec<'static>, Token)>,
    ) -> Arc<Self> {
        let tried = Mutex::default();
        Arc::new(Self { suspects, place, tried })
    }

    /// The statement got no answer within `waited`. The driver doesn't tell the policy, so the store does.
    pub(super) fn was_silent(&self, waited: Duration) {
        if let Some(node) = *self.tried() {
            self.suspects.was_silent(node, waited);
        }
    }

    fn tried(&self) -> MutexGuard<'_, Option<Uuid>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row's replicas as the ring has them, those of the preferred datacenter first; then everybody else.
    fn candidates<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Vec<Target<'a>> {
        let preferred = request.node_location_preference.datacenter();
        let mut found: Vec<Target<'a>> = Vec::new();
        let mut add = |targets: &mut dyn Iterator<Item = Target<'a>>| {
            for (node, shard) in targets {
                if node.is_enabled() && !found.iter().any(|(known, _)| *known == node) {
                    found.push((node, shard));
                }
            }
        };
        let place = self.place.as_ref().map(|(table, token)| (table, *token));
        if let Some((table, token)) = request.table.zip(request.token).or(place)
            && let Some(keyspace) = cluster.get_keyspace(table.ks_name())
        {
            let locator = cluster.replica_locator();
            let replicas = |datacenter| {
                locator
                    .replicas_for_token(token, &keyspace.strategy, datacenter, table)
                    .into_replicas_ordered()
                    .into_iter()
                    .map(|(node, shard)| (node, Some(shard)))
            };
            if preferred.is_some() {
                add(&mut replicas(preferred));
            }
            add(&mut replicas(None));
        }
        let nodes = || cluster.get_nodes_info().iter().map(|node| (node, None));
        add(&mut nodes()
            .filter(|(node, _)| preferred.is_some() && node.datacenter.as_deref() == preferred));
        add(&mut nodes());
        found
    }
}

impl LoadBalancingPolicy for Route {
    /// Always none: the driver then takes all of [`fallback`](Self::fallback).
    fn pick<'a>(&'a self, _: &'a RoutingInfo<'_>, _: &'a ClusterState) -> Option<Target<'a>> {
        None
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        let mut order = self.candidates(request, cluster);
        // S13: nodes that are known to be down last, suspects before them, the longest unseen of these first.
        // The sort is stable, so that all clients keep the same order otherwise.
        order.sort_by_cached_key(|(node, _)| {
            (!node.is_connected(), self.suspects.until(node.host_id))
        });
        let note = |(node, _): &Target<'a>| *self.tried() = Some(node.host_id);
        Box::new(order.into_iter().inspect(note))
    }

    fn on_request_success(&self, _: &RoutingInfo<'_>, _: Duration, node: NodeRef<'_>) {
        self.suspects.acquit(node.host_id);
    }

    fn on_request_failure(
        &self,
        _: &RoutingInfo<'_>,
        _: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        if blames_node(error) {
            self.suspects.avoid(node.host_id, AFTER_FAILURE);
        }
    }

    fn name(&self) -> String {
        "lamport-seq: one replica first".to_owned()
    }
}

/// Whether another coordinator may do better: this one may be cut off from the other replicas, or drowning.
fn blames_node(error: &RequestAttemptError) -> bool {
    match error {
        RequestAttemptError::BrokenConnectionError(_)
        | RequestAttemptError::UnableToAllocStreamId => true,
        RequestAttemptError::DbError(error, _) => matches!(
            error,
            DbError::Unavailable { .. }
                | DbError::Overloaded
                | DbError::IsBootstrapping
                | DbError::ServerError
                | DbError::ReadTimeout { .. }
                | DbError::WriteTimeout { .. }
                | DbError::ReadFailure { .. }
                | DbError::WriteFailure { .. }
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Uuid = Uuid::from_u128(1);

    async fn is_suspect_after(suspects: &Suspects, time: Duration) -> bool {
        tokio::time::advance(time).await;
        suspects.until(NODE).is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn s13_a_silent_node_is_avoided_for_a_bounded_time() {
        let suspects = Suspects::default();
        suspects.was_silent(NODE, Duration::from_secs(3));
        assert!(is_suspect_after(&suspects, Duration::from_secs(29)).await);
        assert!(!is_suspect_after(&suspects, Duration::from_secs(1)).await);
        suspects.was_silent(NODE, Duration::from_secs(3600));
        assert!(!is_suspect_after(&suspects, Duration::from_secs(30)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_in_a_hurry_does_not_banish_a_node_for_long() {
        let suspects = Suspects::default();
        suspects.was_silent(NODE, Duration::from_millis(5));
        assert!(is_suspect_after(&suspects, Duration::from_millis(999)).await);
        assert!(!is_suspect_after(&suspects, Duration::from_millis(1)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_suspicion_does_not_shorten_a_long_one() {
        let suspects = Suspects::default();
        suspects.was_silent(NODE, Duration::from_secs(3));
        suspects.avoid(NODE, AFTER_FAILURE);
        assert!(is_suspect_after(&suspects, Duration::from_secs(29)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_acquits() {
        let suspects = Suspects::default();
        suspects.was_silent(NODE, Duration::from_secs(3));
        suspects.acquit(NODE);
        assert!(suspects.until(NODE).is_none());
    }

    #[test]
    fn a_refused_statement_is_not_the_nodes_fault() {
        let db = |error| RequestAttemptError::DbError(error, String::new());
        for refusal in [DbError::Invalid, DbError::Unauthorized, DbError::SyntaxError] {
            assert!(!blames_node(&db(refusal)));
        }
        assert!(blames_node(&db(DbError::Overloaded)));
        assert!(blames_node(&RequestAttemptError::UnableToAllocStreamId));
    }
}
