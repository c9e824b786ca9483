//! Tests which parts of a trace a rewrite keeps, sets aside and drops.

mod convert;
#[cfg(unix)]
mod copies;
mod cut;
mod cuts;
mod guess;
mod large;
mod losses;
mod manifest;
mod places;
mod progress;
mod ring;
mod salvage;
mod samples;
mod scrub;
mod sessions;
#[cfg(unix)]
mod special;
mod symbols;
mod text;
mod thread_ids;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder, and paths in it.
struct Places {
    folder: TempDir,
}

impl Places {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and creates its parent folders.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns the sorted names of all entries.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

/// Returns a finalized index of nine events whose flags state that there is no `detail.atf`.
fn without_details(version: u8) -> Vec<u8> {
    let file = atf_samples::files::IndexFile {
        flags: 0,
        ..atf_samples::files::IndexFile::finalized(version, 9)
    };
    file.bytes()
}

/// Returns all files below a path, keyed by their relative paths.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    atf_samples::tree(path).unwrap()
}
