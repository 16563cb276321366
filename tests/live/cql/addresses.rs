//! Nodes that are reached elsewhere than they say, and datacenters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lamport_seq::store::Store;
use lamport_seq::store::cql::{CqlOptions, CqlStore};
use lamport_seq::{Definition, Error};
use tokio::net::{TcpListener, TcpStream};

use super::{deadline, empty, fresh, init, keyspace, name};
use crate::support::contact_points;

/// A port that leads to `node`, and how many connections have come through it.
async fn forward(node: SocketAddr) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut far = TcpStream::connect(node).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (address, count)
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_forwarded_ports_are_reached_by_the_map() {
    let direct = empty().await;
    init(&direct, false).await;
    let location = direct.location();
    let (_, prefix) = location.split_once("?prefix=").unwrap();
    let mut map = Vec::new();
    let mut ways = Vec::new();
    for node in direct.session().get_cluster_state().get_nodes_info() {
        let private = SocketAddr::new(node.address.ip(), node.address.port());
        let (public, count) = forward(private).await;
        map.push(format!("{private}={public}"));
        ways.push((public, count));
    }
    let (contact, map) = (ways[0].0, map.join(","));
    let url = format!("cassandra://{contact}/{}?prefix={prefix}&map={map}", keyspace());
    let store = CqlStore::connect(CqlOptions::from_url(&url).unwrap()).await.unwrap();
    store.check(deadline()).await.unwrap();
    let row = fresh(Definition::default());
    store.insert(&name("orders"), &row, deadline()).await.unwrap();
    for (public, count) in ways {
        assert!(count.load(Ordering::Relaxed) > 0, "nobody came by {public}");
    }
}

#[tokio::test]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_a_datacenter_that_is_not_there_is_refused() {
    let options = || CqlOptions::new(&contact_points().join(","), &keyspace()).unwrap();
    let error = CqlStore::connect(options().datacenter("atlantis")).await;
    let error = error.map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::InvalidOption(_)));
    assert!(error.to_string().contains("no datacenter `atlantis`"), "{error}");

    let direct = empty().await;
    let cluster = direct.session().get_cluster_state();
    let there = cluster.get_nodes_info()[0].datacenter.clone().unwrap();
    CqlStore::connect(options().datacenter(there)).await.unwrap();
}
