//! What is on the wire between a client and real nodes, and faults there.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lamport_seq::StoreHandle;
use lamport_seq::store::cql::CqlStore;
use lamport_seq::store::cql::scylla::client::session::Session;
use lamport_seq::store::cql::scylla::client::session_builder::SessionBuilder;
use scylla_proxy::{
    Condition, Node, Proxy, Reaction, RequestFrame, RequestOpcode, RequestReaction, RequestRule,
    ResponseRule, RunningProxy, ShardAwareness, TargetShard, get_exclusive_local_address,
};
use tokio::sync::mpsc;

use crate::support::{Keyspace, contact_points};

/// The tag of the one generator that is watched: its attempts carry it, and nothing else on the wire does.
pub(crate) const TAG: [u8; 6] = *b"WATCHD";

/// A client whose every frame goes through a proxy. It ends with the test's runtime: the proxy's own `finish` panics now
/// and then ("Worker await logic bug!", scylla-proxy 0.0.8) once a fault has cut connections.
pub(crate) struct Wire {
    pub(crate) store: StoreHandle,
    pub(crate) session: Arc<Session>,
    proxy: RunningProxy,
    attempts: mpsc::UnboundedReceiver<(RequestFrame, Option<TargetShard>)>,
    feedback: mpsc::UnboundedSender<(RequestFrame, Option<TargetShard>)>,
}

/// Frames that carry an attempt: conditional writes of the watched generator.
pub(crate) fn is_attempt() -> Condition {
    let tagged = Condition::BodyContainsCaseSensitive(Box::new(TAG));
    Condition::RequestOpcode(RequestOpcode::Execute).and(tagged)
}

/// Answers to conditional writes, at most `times` of each node.
pub(crate) fn is_answer(times: usize) -> Condition {
    Condition::BodyContainsCaseSensitive(Box::new(*b"[applied]"))
        .and(Condition::TrueForLimitedTimes(times))
}

impl Wire {
    pub(crate) async fn tap(keyspace: &Keyspace, request_timeout: Duration) -> Self {
        let real: Vec<SocketAddr> =
            contact_points().iter().map(|node| format!("{node}:9042").parse().unwrap()).collect();
        let taps: Vec<_> =
            real.iter().map(|_| SocketAddr::new(get_exclusive_local_address(), 9042)).collect();
        let nodes = real.iter().zip(&taps).map(|(real, tap)| {
            Node::builder()
                .real_address(*real)
                .proxy_address(*tap)
                .shard_awareness(ShardAwareness::Unaware)
                .build()
        });
        let proxy = Proxy::new(nodes);
        let translation = proxy.translation_map();
        let proxy = proxy.run().await.unwrap();
        let session = SessionBuilder::new()
            .known_node_addr(taps[0])
            .address_translator(Arc::new(translation))
            .build()
            .await
            .unwrap();
        let session = Arc::new(session);
        let store = CqlStore::from_session(session.clone(), &keyspace.name).unwrap();
        let store = StoreHandle::new(store.with_request_timeout(request_timeout).unwrap());
        let (feedback, attempts) = mpsc::unbounded_channel();
        let mut wire = Self { store, session, proxy, attempts, feedback };
        wire.set_request_fault(None);
        wire
    }

    /// What happens to attempts before they reach a node; each is counted all the same.
    pub(crate) fn set_request_fault(&mut self, fault: Option<(usize, RequestReaction)>) {
        let watch = |reaction: RequestReaction| {
            reaction.with_feedback_when_performed(self.feedback.clone())
        };
        let mut rules = Vec::new();
        if let Some((times, fault)) = fault {
            let condition = is_attempt().and(Condition::TrueForLimitedTimes(times));
            rules.push(RequestRule(condition, watch(fault)));
        }
        rules.push(RequestRule(is_attempt(), watch(RequestReaction::noop())));
        for node in &mut self.proxy.running_nodes {
            node.change_request_rules(Some(rules.clone()));
        }
    }

    /// What happens to answers on their way back.
    pub(crate) fn set_answer_fault(&mut self, fault: Option<&ResponseRule>) {
        for node in &mut self.proxy.running_nodes {
            node.change_response_rules(fault.map(|rule| vec![rule.clone()]));
        }
    }

    /// The attempts that were sent since the last call, in order, each with how often it was sent.
    pub(crate) fn attempts(&mut self) -> HashMap<[u8; 16], usize> {
        let mut seen = HashMap::new();
        while let Ok((frame, _)) = self.attempts.try_recv() {
            let execute = Execute::parse(&frame.body);
            // S8: what every conditional write says of itself.
            assert_eq!(execute.consistency, 0x0004, "QUORUM");
            assert_eq!(execute.serial_consistency, Some(0x0008), "SERIAL, not LOCAL_SERIAL");
            let attempt = execute.values[0].as_slice().try_into().unwrap();
            *seen.entry(attempt).or_default() += 1;
        }
        seen
    }
}

/// An EXECUTE frame of the native protocol, version 4.
struct Execute {
    consistency: u16,
    values: Vec<Vec<u8>>,
    serial_consistency: Option<u16>,
}

impl Execute {
    fn parse(body: &[u8]) -> Self {
        let mut rest = body;
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at(count);
            rest = tail;
            head.to_vec()
        };
        let short = |bytes: Vec<u8>| u16::from_be_bytes(bytes.try_into().unwrap());
        let id_length = short(take(2));
        take(id_length.into());
        let consistency = short(take(2));
        let flags = take(1)[0];
        let mut values = Vec::new();
        if flags & 0x01 != 0 {
            for _ in 0..short(take(2)) {
                let length = i32::from_be_bytes(take(4).try_into().unwrap());
                values.push(take(usize::try_from(length).unwrap_or(0)));
            }
        }
        if flags & 0x04 != 0 {
            take(4);
        }
        let serial_consistency = (flags & 0x10 != 0).then(|| short(take(2)));
        Self { consistency, values, serial_consistency }
    }
}
