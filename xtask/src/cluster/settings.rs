//! The settings of a node that matter to us, the same on every backend.
//!
//! Cassandra takes each key of its configuration file as a system property as well, once that is
//! allowed; so one list serves the Docker image and the plain Java process alike.

use super::shape::Shape;

/// What a node must report once it runs: what it says it does, not what we asked for.
pub(crate) const PROMISED: [(&str, &str); 2] =
    [("paxos_variant", "v2"), ("commitlog_sync", "batch")];

/// The Java options of one node. `tls_dir` is where the node sees the certificates.
pub(crate) fn java_options(shape: &Shape, node: u8, tls_dir: &str) -> Vec<String> {
    let mut options = vec!["-Dcassandra.config.allow_system_properties=true".to_owned()];
    let settings = settings(shape, node, tls_dir);
    options.extend(
        settings.into_iter().map(|(key, value)| format!("-Dcassandra.settings.{key}={value}")),
    );
    options.extend(properties(shape));
    options
}

fn settings(shape: &Shape, node: u8, tls_dir: &str) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        // The variant that is safe across topology changes.
        ("paxos_variant", "v2".to_owned()),
        // Synced before the answer, so that a killed node forgets nothing that it has acknowledged.
        ("commitlog_sync", "batch".to_owned()),
        ("commitlog_sync_period", "0ms".to_owned()),
        // With tokens of its own every node joins at once: nothing to agree upon, nothing to stream.
        ("num_tokens", "1".to_owned()),
        ("initial_token", initial_token(node, shape.nodes).to_string()),
        // A test drops and truncates all the time.
        ("auto_snapshot", "false".to_owned()),
        // Small: three of them share a laptop.
        ("memtable_heap_space", "64MiB".to_owned()),
        ("memtable_offheap_space", "64MiB".to_owned()),
        ("key_cache_size", "4MiB".to_owned()),
        ("networking_cache_size", "16MiB".to_owned()),
        ("file_cache_size", "32MiB".to_owned()),
        ("concurrent_reads", "8".to_owned()),
        ("concurrent_writes", "8".to_owned()),
    ];
    if shape.auth {
        settings.push(("authenticator.class_name", "PasswordAuthenticator".to_owned()));
        settings.push(("authorizer.class_name", "CassandraAuthorizer".to_owned()));
    }
    if shape.tls {
        settings.extend(tls(shape, node, tls_dir));
    }
    settings
}

fn tls(shape: &Shape, node: u8, tls_dir: &str) -> [(&'static str, String); 6] {
    [
        ("client_encryption_options.enabled", "true".to_owned()),
        // Plain text is refused on the same port.
        ("client_encryption_options.optional", "false".to_owned()),
        (
            "client_encryption_options.ssl_context_factory.class_name",
            "org.apache.cassandra.security.PEMBasedSslContextFactory".to_owned(),
        ),
        ("client_encryption_options.keystore", format!("{tls_dir}/node-{node}.pem")),
        ("client_encryption_options.truststore", format!("{tls_dir}/ca.pem")),
        ("client_encryption_options.require_client_auth", shape.client_certs.to_string()),
    ]
}

/// Properties that are not part of the configuration file.
fn properties(shape: &Shape) -> Vec<String> {
    let nodes = shape.nodes;
    let mut options = Vec::new();
    // Every node has everything, so a read of one of these tables at ALL asks every node, and a
    // password is known wherever one node is left.
    for keyspace in ["system_auth", "system_distributed", "system_traces"] {
        options.push(format!("-Dcassandra.{keyspace}.default_rf={nodes}"));
    }
    let quick = [
        // All nodes are seeds and none streams: there is nothing to wait for.
        "ring_delay_ms=2000",
        "skip_wait_for_gossip_to_settle=0",
        "superuser_setup_delay_ms=1000",
        // Measured at every start otherwise, for three seconds.
        "memtable.row_overhead_size=180",
        "shutdown_announce_in_ms=0",
    ];
    options.extend(quick.map(|property| format!("-Dcassandra.{property}")));
    options
}

/// The start of a node's share of the ring, which the nodes divide evenly.
fn initial_token(node: u8, nodes: u8) -> i64 {
    let share = (1_i128 << 64) / i128::from(nodes);
    let token = i128::from(i64::MIN) + share * i128::from(node - 1);
    i64::try_from(token).expect("the shares before the last one end inside the ring")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, Network};

    fn shape(nodes: u8, auth: bool, tls: bool) -> Shape {
        Shape { auth, tls, ..Shape::plain(Kind::Maven, Network::USUAL, nodes) }
    }

    #[test]
    fn the_ring_is_divided_evenly() {
        assert_eq!(initial_token(1, 1), i64::MIN);
        assert_eq!(initial_token(2, 2), 0);
        let tokens: Vec<i64> = (1..=9).map(|node| initial_token(node, 9)).collect();
        assert!(tokens.is_sorted());
    }

    #[test]
    fn what_is_promised_is_asked_for() {
        let options = java_options(&shape(3, false, false), 1, "/tls");
        for (name, value) in PROMISED {
            assert!(options.contains(&format!("-Dcassandra.settings.{name}={value}")));
        }
    }

    #[test]
    fn secrets_and_certificates_only_where_asked_for() {
        let text = |auth, tls| java_options(&shape(1, auth, tls), 1, "/tls").join(" ");
        assert!(!text(false, false).contains("authenticator"));
        assert!(!text(true, false).contains("encryption"));
        assert!(text(true, true).contains("keystore=/tls/node-1.pem"));
    }
}
