//! Sessions to check, and what a check said of them.

// Another crate's tests build the same files, and use more of what builds them.
#[allow(dead_code, unused_imports)]
#[path = "../../../atf/tests/support/mod.rs"]
pub(crate) mod files;
mod outcome;
mod trace;

pub(crate) use outcome::Outcome;
pub(crate) use trace::{T, Trace, call, record};

/// The files of the clean session.
pub(crate) const INDEX: &str = "thread_7/index.atf";
pub(crate) const DETAIL: &str = "thread_7/detail.atf";
pub(crate) const OTHER: &str = "thread_9/index.atf";
pub(crate) const MANIFEST: &str = "manifest.json";
