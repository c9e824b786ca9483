//! ATF v2 files for tests: [sessions](folder) of a real tracer, and [files] written byte by byte.
//!
//! Nothing here uses the library's structs or constants, so a mistake in them cannot hide.

#![allow(
    missing_docs,
    reason = "fields and methods have the names of the format's documents"
)]
#![allow(
    clippy::missing_panics_doc,
    reason = "a file that cannot be is a mistake in a test"
)]

use std::path::{Path, PathBuf};

pub mod files;

/// Returns the folder of the captured sessions; its `README.md` describes them.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}
