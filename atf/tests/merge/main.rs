//! Tests merges of many threads.

#[path = "../support/counted.rs"]
mod counted;

mod files;
mod model;
mod order;
mod skip;
mod spans;
