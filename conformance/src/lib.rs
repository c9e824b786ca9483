//! Grades writers, readers and validators of ATF v2, and reports on captured traces.
//!
//! The rules and the judge are in [`atf::check`]. This crate has what an implementation is graded with:
//! the [`corpus`] of test cases, the [`scripts`] that writers carry out, the [`reference`] answers, the
//! runner in [`run`], and the [`report`]s.

#![forbid(unsafe_code)]

pub mod cause;
pub mod corpus;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod results;
pub mod run;
pub mod scripts;
pub mod written;

pub use atf::check::{self, FileReport, Finding, Kind, Output, Place, Summary, Verdict, rules};
