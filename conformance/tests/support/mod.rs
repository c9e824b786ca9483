//! Helpers to check the corpus's sessions.

mod outcome;

pub(crate) use atf_conformance::corpus::{files, trace};
pub(crate) use outcome::Outcome;
pub(crate) use trace::{DETAIL, INDEX, MANIFEST, OTHER, T, Trace, call};
