//! The rules S1 to S14 on a store in memory with faults: each test fails if its rule is not kept.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod birth;
mod catalog;
mod claims;
mod edges;
#[path = "../common/example.rs"]
mod example;
mod examples;
mod faulty;
mod flight;
mod marks;
mod observe;
mod simulation;
mod stories;
