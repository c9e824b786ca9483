//! Helpers for checking the corpus's sessions.

mod outcome;

pub(crate) use atf_conformance::corpus::trace;
pub(crate) use atf_samples::files;
pub(crate) use outcome::Outcome;
pub(crate) use trace::{DETAIL, INDEX, MANIFEST, T, Trace};
