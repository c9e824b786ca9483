//! Temporary folders.

use std::fs;
use std::path::Path;

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
