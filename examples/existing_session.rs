//! Ids through the driver session that the application already has. It needs no change for this.
//!
//!     cargo run --example existing_session

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::sync::Arc;

use lamport_seq::store::cql::{CqlStore, scylla::client::session_builder::SessionBuilder};
use lamport_seq::{Definition, Sequence, StoreHandle};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::var("CASSANDRA").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let keyspace = std::env::var("KEYSPACE").unwrap_or_else(|_| "shop".to_owned());
    let session = Arc::new(SessionBuilder::new().known_node(node).build().await?);

    // Consistency, timeouts and routing are set on each statement, whatever the session's defaults are.
    let store = StoreHandle::new(CqlStore::from_session(session.clone(), &keyspace)?);
    let orders = Sequence::open(&store, "orders").create_if_missing(Definition::default()).await?;
    let id = orders.next_id().await?;

    session
        .query_unpaged(
            format!(
                "CREATE TABLE IF NOT EXISTS {keyspace}.orders (id bigint PRIMARY KEY, what text)"
            ),
            (),
        )
        .await?;
    let insert = format!("INSERT INTO {keyspace}.orders (id, what) VALUES (?, ?)");
    session.query_unpaged(insert, (id, "a table")).await?;
    println!("order {id}");
    Ok(())
}
