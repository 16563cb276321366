//! What makes a cluster less safe than it could be.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::client::Client;
use super::layout::{Keyspace, Query};
use super::statements::Tables;

/// A setting of one node, and its value there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
}

/// The settings that matter, of every node that shows them: Cassandra does, to those who may look.
pub(super) async fn settings(client: &Arc<Client>, deadline: Instant) -> Vec<Setting> {
    let cluster = client.session.get_cluster_state();
    let mut settings = Vec::new();
    for node in cluster.get_nodes_info().iter().filter(|node| node.is_connected()) {
        if node.sharder().is_some() {
            continue;
        }
        let query = Query::new(client, deadline).of_node(node);
        for name in ["paxos_variant", "commitlog_sync"] {
            let cql = format!("SELECT value FROM system_views.settings WHERE name = '{name}'");
            // Whoever may not look is not warned.
            let rows: Vec<(Option<String>,)> = query.rows(&cql).await.unwrap_or_default();
            settings.extend(
                rows.into_iter()
                    .filter_map(|(value,)| Some(Setting { name: name.to_owned(), value: value? })),
            );
        }
    }
    settings
}

pub(super) fn of_settings(settings: &[Setting]) -> Vec<String> {
    let has = |name: &str, bad: &dyn Fn(&str) -> bool| {
        let found = settings.iter().filter(|setting| setting.name == name);
        found.filter(|setting| bad(&setting.value)).count()
    };
    let mut warnings = Vec::new();
    let nodes = |n: usize| {
        if n == 1 { "1 node".to_owned() } else { format!("{n} nodes") }
    };
    let unsafe_reads = has("paxos_variant", &|v| v.contains("without_linearizable"));
    if unsafe_reads > 0 {
        warnings.push(format!(
            "{} with a paxos_variant `..._without_linearizable_...`: reads may miss what was written; set it to v2",
            nodes(unsafe_reads)
        ));
    }
    let v1 = has("paxos_variant", &|v| v == "v1");
    if v1 > 0 {
        warnings.push(format!(
            "{} with `paxos_variant: v1`: a change of the topology may set sequences back, and every reservation \
             costs two round trips more; set it to v2",
            nodes(v1)
        ));
    }
    let periodic = has("commitlog_sync", &|v| v == "periodic");
    if periodic > 0 {
        warnings.push(format!(
            "{} with `commitlog_sync: periodic`: a power failure forgets what was acknowledged, and ids repeat; \
             set it to batch or group",
            nodes(periodic)
        ));
    }
    warnings
}

pub(super) fn of_replicas(replicas: &BTreeMap<String, u32>) -> Vec<String> {
    let few = replicas.iter().filter(|(_, replicas)| **replicas < 3);
    few.map(|(datacenter, replicas)| {
        let replicas = match replicas {
            1 => "1 replica".to_owned(),
            n => format!("{n} replicas"),
        };
        format!(
            "{replicas} in datacenter {datacenter}: with fewer than 3, no ids while one node is away, and a lost \
             disk loses the sequences"
        )
    })
    .collect()
}

/// What a keyspace that is there already makes one fear.
pub(super) fn of_keyspace(
    keyspace: &Keyspace,
    tables: &Tables,
    datacenters: &BTreeMap<String, u32>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let name = &tables.keyspace;
    let class = keyspace.replication.get("class").map_or("", String::as_str);
    let factor = |value: &str| value.split('/').next().and_then(|n| n.parse().ok());
    let replicas: BTreeMap<String, u32> = if class.ends_with("SimpleStrategy") {
        warnings.push(format!(
            "keyspace {name} has SimpleStrategy, which knows no datacenters; use NetworkTopologyStrategy, and \
             repair after the change"
        ));
        let replicas = keyspace.replication.get("replication_factor");
        let replicas = replicas.and_then(|value| factor(value)).unwrap_or(0);
        datacenters.keys().take(1).map(|dc| (dc.clone(), replicas)).collect()
    } else {
        let options = keyspace.replication.iter();
        options.filter_map(|(dc, value)| Some((dc.clone(), factor(value)?))).collect()
    };
    warnings.extend(of_replicas(&replicas));
    if !keyspace.durable_writes {
        warnings.push(format!(
            "keyspace {name} has durable_writes = false: a crash sets its sequences back, and clients refuse it"
        ));
    }
    warnings
}

/// What whoever adopts a table must know.
pub(super) fn of_adoption(tables: &Tables) -> Vec<String> {
    let table = tables.cql(Tables::COUNTERS);
    vec![
        "stop every old writer of the table first, for good: a write without a condition makes ids repeat".to_owned(),
        "`value` must be the LAST id that was used: the next id will be value + 1".to_owned(),
        format!(
            "where `value` was the next id to use instead, one id is skipped and none repeats; to mend it, before a \
             client opens the sequence: UPDATE {table} SET value = V - 1 WHERE name = 'N' IF value = V, with the \
             numbers written out"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: &str) -> Setting {
        let (name, value) = (name.to_owned(), value.to_owned());
        Setting { name, value }
    }

    #[test]
    fn settings_that_lose_ids_are_warned_of() {
        let safe = [setting("paxos_variant", "v2"), setting("commitlog_sync", "batch")];
        assert!(of_settings(&safe).is_empty());
        let unsafe_ones = [
            setting("paxos_variant", "v1"),
            setting("paxos_variant", "v2_without_linearizable_reads"),
            setting("commitlog_sync", "periodic"),
            setting("commitlog_sync", "periodic"),
        ];
        let warnings = of_settings(&unsafe_ones);
        assert_eq!(warnings.len(), 3);
        assert!(warnings[2].starts_with("2 nodes with `commitlog_sync: periodic`"));
    }

    fn keyspace(options: &[(&str, &str)]) -> Keyspace {
        let options = options.iter();
        let options = options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Keyspace { replication: options.collect(), durable_writes: true }
    }

    #[test]
    fn weak_replication_is_warned_of() {
        let datacenters = BTreeMap::from([("dc1".to_owned(), 3)]);
        let of =
            |keyspace: &Keyspace| of_keyspace(keyspace, &Tables::new("shop", ""), &datacenters);
        let class = ("class", "org.apache.cassandra.locator.NetworkTopologyStrategy");
        assert!(of(&keyspace(&[class, ("dc1", "3")])).is_empty());
        let few = of(&keyspace(&[class, ("dc1", "3"), ("dc2", "2")]));
        assert_eq!(few.len(), 1);
        assert!(few[0].contains("2 replicas in datacenter dc2"), "{few:?}");
        let class = ("class", "org.apache.cassandra.locator.SimpleStrategy");
        let simple = of(&keyspace(&[class, ("replication_factor", "1")]));
        assert_eq!(simple.len(), 2, "{simple:?}");
        let forgetful = Keyspace { durable_writes: false, ..keyspace(&[]) };
        assert_eq!(of(&forgetful).len(), 1);
    }
}
