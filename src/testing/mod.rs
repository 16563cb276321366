//! For tests of your own: a store in memory, and the suite that every store must pass.

pub mod conformance;
mod memory;

pub use self::memory::MemoryStore;
pub use crate::identity::{Entropy, OsEntropy};
