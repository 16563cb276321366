//! The example that needs a cluster, run as it is.

use crate::example::run;
use crate::support::{Keyspace, contact_points};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "live: needs a Cassandra cluster"]
async fn live_an_existing_session_lends_itself() {
    let keyspace = Keyspace::create(3).await;
    let node = &contact_points()[0];
    let name = keyspace.name.clone();
    let environment = [("CASSANDRA", node.as_str()), ("KEYSPACE", name.as_str())];
    assert_eq!(run("existing_session", &environment), "order 1\n");
    assert_eq!(run("existing_session", &environment), "order 1001\n", "a restart burns a block");
    keyspace.drop().await;
}
