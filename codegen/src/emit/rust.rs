//! Rust structs.
