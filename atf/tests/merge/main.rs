//! Events of many threads in one order, by property.

#[path = "../support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of reading use the rest of what builds files"
)]
mod support;

#[path = "../support/counted.rs"]
mod counted;

mod files;
mod model;
mod order;
mod skip;
mod spans;
