//! Decodes ATF v2 files and sessions by interpreting `spec/layout.json` and the schema of
//! `manifest.json` at run time.
//!
//! This crate contains no offsets, sizes or manifest keys, and shares no code with the library, so
//! each can reveal mistakes in the other. It returns the documents of the conformance protocol.
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
    /// Returns the kind of a file, judging by its magic. A file without a magic counts as an index
    /// file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        if layout().record("detail_header", 1).has_magic(bytes) {
            Self::Detail
        } else {
            Self::Index
        }
    }
}

/// Returns the document of a file. Its magic identifies its kind.
#[must_use]
pub fn read(bytes: &[u8]) -> Value {
    read_as(Kind::of(bytes), bytes)
}

/// Returns the document of a file of this kind. Memory use depends on the size of the file's events
/// as JSON, not on the numbers in the file.
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

/// Returns the document of a file, or of a session's folder.
///
/// # Errors
///
/// Returns an error if the file is unreadable or the folder cannot be listed.
pub fn read_path(path: &Path) -> io::Result<Value> {
    if path.is_dir() {
        return session::read(path);
    }
    let bytes = fs::read(path)?;
    let kind = if path.ends_with("detail.atf") {
        Kind::Detail
    } else {
        Kind::of(&bytes)
    };
    Ok(read_as(kind, &bytes))
}

/// Returns a document that rejects the file or session.
fn rejected(kind: &str) -> Value {
    json!({"kind": kind, "verdict": "reject"})
}

/// Returns the committed layout.
///
/// # Panics
///
/// Panics if the committed file is not a valid layout. A test ensures that it is valid.
#[must_use]
pub fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT.get_or_init(|| {
        let text = include_str!("../../../../spec/layout.json");
        Layout::parse(text).unwrap_or_else(|fault| panic!("layout.json: {fault}"))
    })
}
