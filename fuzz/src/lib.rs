//! The bodies of the fuzz targets, and the properties they check for any bytes.
//!
//! `cargo fuzz run TARGET` drives one of these functions. `tests/smoke.rs` runs all of them on real
//! and damaged files with a stable toolchain, so they cannot rot.

mod answers;
mod capi;
mod differential;
mod files;
mod follow;
pub mod found;
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
pub use differential::differential;
pub use files::{detail, index, manifest};
pub use follow::follow;
pub use ring::ring;
pub use session::{checker, recover};
pub use spec::spec_yaml;
pub use whole::session;
pub use writer::writer;

/// One fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of its file in `fuzz_targets`.
    pub name: &'static str,
    /// The function that it runs on its bytes.
    pub body: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    of("answers", answers),
    of("capi", capi),
    of("checker", checker),
    of("detail", detail),
    of("differential", differential),
    of("follow", follow),
    of("index", index),
    of("manifest", manifest),
    of("recover", recover),
    of("ring", ring),
    of("session", session),
    of("spec_yaml", spec_yaml),
    of("writer", writer),
];

const fn of(name: &'static str, body: fn(&[u8])) -> Target {
    Target { name, body }
}
