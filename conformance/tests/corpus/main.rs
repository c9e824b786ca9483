//! The golden corpus: its cases are what they say, and what is committed is what they make.

mod cases;
mod committed;
mod editions;

use std::sync::LazyLock;

use atf_conformance::corpus::{self, Case};

static CASES: LazyLock<Vec<Case>> = LazyLock::new(corpus::cases);
