//! Ten order numbers. Needs no server: without `LSEQ_STORE` it keeps them in a file.
//!
//!     cargo run --example quick_start --features sqlite
//!     LSEQ_STORE=cassandra://127.0.0.1/shop cargo run --example quick_start --features sqlite

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use lamport_seq::{Definition, Sequence, StoreHandle};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("LSEQ_STORE").unwrap_or_else(|_| "sqlite:orders.db".to_owned());
    let store = StoreHandle::connect(&url).await?;

    // Created by whoever comes first. A restart burns what is left of a block: 100 ids at most.
    let orders = Sequence::open(&store, "orders")
        .block_size(100)
        .create_if_missing(Definition::default())
        .await?;

    for _ in 0..10 {
        // From memory, but for every hundredth, which waits for the database.
        let id = orders.next_id().await?;
        println!("order {id}");
    }
    println!("{} buffered, {} left", orders.buffered(), orders.remaining());
    Ok(())
}
