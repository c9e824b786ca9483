//! Decodes ATF v2 files and sessions by interpreting the layout, the grammar of files and the
//! schema of `manifest.json` at run time.
//!
//! This crate contains no offsets, sizes, manifest keys or rules for finding events, and shares no
//! code with the library, so each can reveal mistakes in the other. It returns the documents of the
//! conformance protocol.
//!
//! ```
//! use atf_interpreter::{Kind, read_as};
//!
//! let document = read_as(Kind::Index, b"ATI2, but no more");
//! assert_eq!(document["verdict"], "reject");
//! ```

#![forbid(unsafe_code)]
#![warn(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

mod document;
mod evaluate;
mod file;
mod manifest;
mod session;
mod view;

use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

use serde_json::{Value, json};

use atf_spec::grammar::Grammar;
use atf_spec::layout::{self, Layout};
use document::Decoded;

pub use file::{File, Refusal};
pub use view::View;

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
    pub fn detect(bytes: &[u8]) -> Self {
        match grammar_of(layout(), bytes) {
            Some(grammar) if grammar.name == Self::Detail.name() => Self::Detail,
            _ => Self::Index,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Detail => "detail",
        }
    }
}

/// Returns the grammar of a file's kind, judging by its magic, or `None` if it has none.
#[must_use]
pub fn grammar_of<'a>(layout: &'a Layout, bytes: &[u8]) -> Option<&'a Grammar> {
    let has_magic = |grammar: &&Grammar| {
        let header = grammar.records.iter().find(|role| role.role == "header");
        let header = header.and_then(|role| layout.record(&role.record));
        let layouts = header.into_iter().flat_map(|header| &header.layouts);
        let mut magics = layouts.filter_map(|layout| layout.field("magic")?.value.as_ref());
        magics.any(|magic| match magic {
            layout::Value::Text(magic) => bytes.starts_with(magic.as_bytes()),
            layout::Value::Number(_) => false,
        })
    };
    layout.grammars.iter().find(has_magic)
}

/// Returns the document of a file of this kind. Memory use depends on the size of the file's events
/// as JSON, not on the numbers in the file.
#[must_use]
pub fn read_as(kind: Kind, bytes: &[u8]) -> Value {
    decode(kind, bytes).map_or_else(|| rejected(kind), |file| file.document)
}

fn decode(kind: Kind, bytes: &[u8]) -> Option<Decoded> {
    let mut grammars = layout().grammars.iter();
    let grammar = grammars.find(|grammar| grammar.name == kind.name())?;
    let file = File::open(layout(), grammar, bytes).ok()?;
    Some(document::decode(&file))
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
        Kind::detect(&bytes)
    };
    Ok(read_as(kind, &bytes))
}

/// Returns a document that rejects the file or session.
fn rejected(kind: Kind) -> Value {
    json!({"kind": kind.name(), "verdict": "reject"})
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
        serde_json::from_str(layout::JSON).unwrap_or_else(|fault| panic!("layout.json: {fault}"))
    })
}
