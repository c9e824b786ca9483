//! Temporary folders.

use std::fs;
use std::path::{Path, PathBuf};

use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_interpreter::Kind;

/// Creates a temporary folder, in memory if possible.
#[must_use]
pub fn scratch() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    let made = if shm.is_dir() {
        tempfile::tempdir_in(shm)
    } else {
        tempfile::tempdir()
    };
    made.expect("a temporary folder can be created")
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("we own this folder");
}

/// Writes a trace file into a folder, named after its kind. Returns its path.
pub(crate) fn put_detected(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join(match Kind::detect(bytes) {
        Kind::Index => INDEX_FILE,
        Kind::Detail => DETAIL_FILE,
    });
    put(&path, bytes);
    path
}
