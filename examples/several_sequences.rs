//! Several sequences of one store: for 32-bit columns, for JavaScript, and downwards.
//!
//!     cargo run --example several_sequences --features sqlite

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use lamport_seq::{Advance, Catalog, Definition, Sequence, StoreHandle};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("LSEQ_STORE").unwrap_or_else(|_| "sqlite:several.db".to_owned());
    // One handle per process: it remembers what was seen of each sequence, and whether one has stopped.
    let store = StoreHandle::connect(&url).await?;
    let catalog = Catalog::new(&store);

    let definitions = [
        ("customers", Definition::builder().int().start_value(5001).build()?),
        ("tickets", Definition::builder().javascript_safe().increment_by(10).build()?),
        ("refunds", Definition::builder().increment_by(-1).build()?),
    ];
    for (name, definition) in definitions {
        catalog.create_if_missing(name, definition).await?;
    }

    // Ids that came from elsewhere: nothing up to 6000 is given any more.
    catalog.advance("customers", Advance::above(6000)).await?;

    for (name, _) in definitions {
        let sequence = Sequence::open(&store, name).block_size(10).await?;
        let ids = [sequence.next_id().await?, sequence.next_id().await?];
        println!("{name}: {ids:?}");
    }
    for info in catalog.list(None, 100).await? {
        let info = info?;
        println!("{}: {} left", info.name, info.remaining());
    }
    Ok(())
}
