//! Files for tests, written byte by byte from the tables of S0, S1, S2 and S4.

// They come from the golden corpus, which does not use this crate to build them.
#[allow(
    unreachable_pub,
    dead_code,
    unused_imports,
    reason = "the corpus shares them with other crates' tests, and none needs them all"
)]
#[path = "../../../conformance/src/corpus/files/mod.rs"]
mod corpus;

pub(crate) use corpus::*;
