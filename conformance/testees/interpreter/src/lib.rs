//! Decodes ATF v2 files by interpreting `atf-derive/layout.json` at run time.
//!
//! No offset and no size stands in this code, and none of it is the library's: what both make of a
//! file can be held against each other. It gives the document of the conformance protocol.
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
mod section;

use std::sync::OnceLock;

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
        Kind::Index => ("index", index::read(layout(), bytes)),
        Kind::Detail => ("detail", detail::read(layout(), bytes)),
    };
    document.unwrap_or_else(|| json!({"kind": name, "verdict": "reject"}))
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
