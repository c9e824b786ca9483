//! The contract between the kit and an implementation under test: the input, the answers and their
//! meaning.
//!
//! `docs/conformance/protocol.md` documents it.

pub mod compare;
pub mod document;
pub mod exit;
mod grade;
pub(crate) mod lacks;
mod locate;
pub mod manifest;
pub mod schema;

pub use compare::{Mismatch, Step, differences};
pub use document::{Answer, Broken};
pub use grade::holds_events;
pub use lacks::Lack;
pub use locate::{beginning, locate, locate_beginning, locate_field};
pub use manifest::{Feature, Manifest, ManifestError};
