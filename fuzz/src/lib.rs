//! The bodies of the fuzz targets. Each checks properties that must hold for arbitrary bytes.
//!
//! `cargo fuzz run TARGET` runs one of these functions. `tests/smoke.rs` ensures that the functions
//! keep working: it runs all of them on real and damaged files with a stable toolchain.

#![allow(
    clippy::missing_panics_doc,
    reason = "a target panics if it finds a mistake"
)]

mod answers;
mod capi;
mod files;
mod follow;
pub mod found;
mod kept;
pub mod mutate;
pub mod packed;
mod ring;
mod scratch;
pub mod seeds;
mod session;
mod spec;
mod whole;
mod writer;

pub use answers::answers;
pub use capi::{capi, capi_detail, capi_index};
pub use files::{detail, differential, index, manifest};
pub use follow::follow;
pub use kept::{Kept, KeptDetail, kept};
pub use ring::ring;
pub use scratch::scratch;
pub use session::{checker, recover};
pub use spec::spec_yaml;
pub use whole::{readers, session};
pub use writer::writer;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, which is also the file name in `fuzz_targets`.
    pub name: &'static str,
    /// The function to run on the input bytes.
    pub body: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    target("answers", answers),
    target("capi", capi),
    target("checker", checker),
    target("detail", detail),
    target("differential", differential),
    target("follow", follow),
    target("index", index),
    target("manifest", manifest),
    target("recover", recover),
    target("ring", ring),
    target("session", session),
    target("spec_yaml", spec_yaml),
    target("writer", writer),
];

const fn target(name: &'static str, body: fn(&[u8])) -> Target {
    Target { name, body }
}
