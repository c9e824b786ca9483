//! The contract between the kit and an implementation under test: the input, the answers, and what
//! they mean.
//!
//! `docs/conformance/protocol.md` documents it.

pub mod compare;
pub mod document;
pub mod exit;
mod json;
mod locate;
pub mod manifest;
pub mod schema;
pub(crate) mod text;

pub use compare::{Mismatch, Step, differences, holds_events};
pub(crate) use compare::{is_rejected, is_same_thread};
pub use document::{Answer, Broken};
pub use locate::{beginning, locate, locate_beginning, locate_field};
pub use manifest::{Feature, Manifest, ManifestError};
