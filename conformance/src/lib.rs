//! Grades ATF v2 traces against the rules of the format.
//!
//! [`check`](check::check) takes a path to a session, to a thread's folder, to a file, or to a
//! folder with such things below it, and gives each file a [`Verdict`]: what a reader must do
//! about it. What it rests on are [`Finding`]s, broken [`rules`] with the place in the file.
//! Files are read by the crate `atf`; what a rule asks for is judged here.
//!
//! ```
//! use atf_conformance::{FileReport, Output, Verdict, check::check};
//!
//! struct Verdicts(Vec<Verdict>);
//! impl Output for Verdicts {
//!     fn file(&mut self, report: FileReport) {
//!         self.0.push(report.verdict());
//!     }
//!     fn unreadable(&mut self, _path: &std::path::Path, why: &str) {
//!         panic!("{why}");
//!     }
//! }
//!
//! let mut verdicts = Verdicts(Vec::new());
//! check("../samples/sample-small".as_ref(), &mut verdicts);
//! assert_eq!(verdicts.0, [Verdict::Accept; 6]);
//! ```

#![forbid(unsafe_code)]

pub mod cause;
pub mod check;
pub mod corpus;
mod finding;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
pub mod scripts;
pub mod written;

pub use check::Output;
pub use finding::{FileReport, Finding, Kind, Place, Summary, Verdict};
