//! Unique integer ids.
