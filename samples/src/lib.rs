//! ATF v2 files for tests: [sessions](folder) of a real tracer, and [files] written byte by byte.
//! Also contains the [layout] of all records, written by hand, the [tools] and [random] numbers that
//! tests need, and the generated [readers] with a check of their [accessors].
//!
//! Nothing here uses the library's structs or constants, so a mistake in them cannot stay hidden.

#![allow(
    missing_docs,
    reason = "fields and methods are named as in the format's documents"
)]
#![allow(
    clippy::missing_panics_doc,
    reason = "an impossible file is a mistake in a test"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub mod accessors;
pub mod files;
pub mod layout;
pub mod random;
pub mod readers;
pub mod tools;

/// Returns the folder of the captured sessions; its `README.md` describes them.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Returns all files below a folder, by their relative names.
///
/// # Errors
///
/// Returns an error if a folder or file cannot be read.
pub fn tree(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path);
                files.insert(name.to_string_lossy().into_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}
