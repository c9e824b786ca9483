//! Tests merges of many threads.

#[path = "../support/source.rs"]
mod support_source;

mod files;
mod model;
mod order;
mod skip;
mod spans;
