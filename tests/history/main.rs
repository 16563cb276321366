//! Histories through the public API: a recorder that is killed, and files as large as they get.

#![cfg(feature = "history")]
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod killed;
mod large;
mod linearizable;
#[cfg(feature = "testing")]
mod recorded;
