//! Grades writers, readers and validators of ATF v2, and reports on captured traces.
//!
//! The rules and the checker are in [`atf::check`]. This crate contains everything else needed to
//! grade an implementation: the [`corpus`] of test cases, the [`scripts`] that writers execute, the
//! [`mod@reference`] answers, the runner in [`run`], and the [`report`]s. The command `check`, and
//! code shared with its reports, are in `atf-report`.

#![forbid(unsafe_code)]

pub mod cause;
pub mod charge;
mod checked;
pub mod compare;
pub mod corpus;
pub mod fingerprint;
mod hex;
pub mod lacks;
mod named;
pub mod protocol;
pub mod queries;
pub mod reference;
pub mod report;
pub mod results;
pub mod run;
pub mod scripts;
pub mod written;

pub use atf::check::{self, FileReport, Finding, Kind, Output, Place, Summary, Verdict};
pub use atf::rules;
pub use checked::Checked;

/// All verdicts, mildest first.
pub(crate) const VERDICTS: [Verdict; 3] = [Verdict::Accept, Verdict::Recover, Verdict::Reject];

/// Returns the verdict in a document, if it has one.
#[must_use]
pub fn verdict_in(document: &serde_json::Value) -> Option<Verdict> {
    let name = document.get("verdict")?.as_str()?;
    VERDICTS.into_iter().find(|verdict| verdict.name() == name)
}

/// Returns a rule of the spec.
///
/// # Panics
///
/// If there is no such rule, which is a mistake in the kit.
#[must_use]
pub fn rule(id: &str) -> &'static rules::Rule {
    rules::find(id).unwrap_or_else(|| panic!("there is no rule {id}"))
}
