//! What each fuzz target does with its bytes, and what must hold whatever they are.
//!
//! `cargo fuzz run TARGET` drives one of these functions; `tests/smoke.rs` feeds them real files
//! and damaged ones on a stable toolchain, so that they cannot rot.

mod capi;
mod files;
mod session;
mod spec;
mod writer;

pub use capi::capi;
pub use files::{detail, index, manifest};
pub use session::{checker, recover};
pub use spec::spec_yaml;
pub use writer::writer;
