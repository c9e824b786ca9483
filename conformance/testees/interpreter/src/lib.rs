//! Decodes ATF v2 files and sessions by interpreting `atf-derive/layout.json` at run time, and the
//! schema of `manifest.json` beside it.
//!
//! No offset, no size and no key of a manifest stands in this code, and none of it is the library's:
//! what both make of a trace can be held against each other. It gives the document of the conformance
//! protocol.
//!
//! ```
//! let document = atf_interpreter::read(b"ATI2, but no more");
//! assert_eq!(document["verdict"], "reject");
//! ```

#![forbid(unsafe_code)]
#![warn(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

mod detail;
mod index;
mod layout;
mod links;
mod manifest;
mod section;
mod session;

use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

use serde_json::{Value, json};

pub use layout::{Field, Layout, Record, View};

/// The two kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `index.atf`.
    Index,
    /// `detail.atf`.
    Detail,
}

impl Kind {
    /// By its magic; what has none is held to be an index file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match layout().record("detail_header", 1).has_magic(bytes) {
            true => Self::Detail,
            false => Self::Index,
        }
    }
}

/// The document of a file that is known by its magic.
#[must_use]
pub fn read(bytes: &[u8]) -> Value {
    read_as(Kind::of(bytes), bytes)
}

/// The document of a file of a kind. It takes as much memory as the file's events take as JSON,
/// whatever numbers stand in the file.
#[must_use]
pub fn read_as(kind: Kind, bytes: &[u8]) -> Value {
    let (name, document) = match kind {
        Kind::Index => (
            "index",
            index::read(layout(), bytes).map(|file| file.document),
        ),
        Kind::Detail => (
            "detail",
            detail::read(layout(), bytes).map(|file| file.document),
        ),
    };
    document.unwrap_or_else(|| rejected(name))
}

/// The document of a file, or of a session's folder.
///
/// # Errors
///
/// Where the file cannot be read or the folder cannot be listed.
pub fn read_path(path: &Path) -> io::Result<Value> {
    if path.is_dir() {
        return session::read(path);
    }
    let bytes = fs::read(path)?;
    let kind = match path.ends_with("detail.atf") {
        true => Kind::Detail,
        false => Kind::of(&bytes),
    };
    Ok(read_as(kind, &bytes))
}

/// A document that refuses.
fn rejected(kind: &str) -> Value {
    json!({"kind": kind, "verdict": "reject"})
}

/// The layout that is committed.
///
/// # Panics
///
/// If that file is not a layout: its tests show that it is one.
#[must_use]
pub fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT.get_or_init(|| {
        let text = include_str!("../../../../atf-derive/layout.json");
        Layout::parse(text).unwrap_or_else(|fault| panic!("layout.json: {fault}"))
    })
}
