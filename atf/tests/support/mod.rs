//! Files for tests, written byte by byte from the tables of S0, S1, S2 and S4.

// They are the golden corpus's, which uses nothing of this crate's to build them.
#[allow(
    unreachable_pub,
    dead_code,
    unused_imports,
    reason = "the corpus gives them to other crates' tests, too, and none needs them all"
)]
#[path = "../../../conformance/src/corpus/files/mod.rs"]
mod corpus;

pub(crate) use corpus::*;
