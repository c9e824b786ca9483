//! Tests the golden corpus: its cases are consistent, and the committed files match them.

mod cases;
mod committed;
mod editions;
mod export;
mod fair;
mod pairs;

use std::sync::LazyLock;

use atf_conformance::corpus::{self, Case};

static CASES: LazyLock<Vec<Case>> = LazyLock::new(corpus::cases);
/// With the large cases.
static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| corpus::all(|_| true));
