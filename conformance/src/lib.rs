//! Grades writers, readers and validators of ATF v2, and reports on captured traces.
//!
//! The rules and the checker are in [`atf::check`]. This crate contains everything else needed to
//! grade an implementation: the [`corpus`] of test cases, the [`scripts`] that writers execute, the
//! [`mod@reference`] answers, the runner in [`run`], and the [`report`]s. Without the feature
//! `kit`, it contains only the check reports and the `check` [`command`], which `atf` shares.

#![forbid(unsafe_code)]

#[cfg(feature = "kit")]
pub mod cause;
#[cfg(feature = "kit")]
mod charge;
pub mod command;
#[cfg(feature = "kit")]
pub mod compare;
#[cfg(feature = "kit")]
pub mod corpus;
pub mod editions;
#[cfg(feature = "kit")]
pub mod fingerprint;
#[cfg(feature = "kit")]
pub mod lacks;
#[cfg(feature = "kit")]
mod named;
#[cfg(feature = "kit")]
pub mod protocol;
#[cfg(feature = "kit")]
pub mod reference;
pub mod report;
#[cfg(feature = "kit")]
pub mod results;
#[cfg(feature = "kit")]
pub mod run;
#[cfg(feature = "kit")]
pub mod scripts;
#[cfg(feature = "kit")]
pub mod written;

pub use atf::check::{self, FileReport, Finding, Kind, Output, Place, Summary, Verdict, rules};
