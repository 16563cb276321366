//! For tests of your own: a store in memory, the suite that every store must pass, and simulated worlds.

pub mod conformance;
mod memory;
#[cfg(feature = "history")]
pub mod simulation;

pub use self::memory::MemoryStore;
pub use crate::identity::{Entropy, OsEntropy};
