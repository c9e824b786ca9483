//! Properties of merging many threads.

#[path = "../support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the readers' tests use the rest of the file builders"
)]
mod support;

#[path = "../support/counted.rs"]
mod counted;

mod files;
mod model;
mod order;
mod skip;
mod spans;
