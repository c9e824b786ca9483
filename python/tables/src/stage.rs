//! A temporary folder for output that is moved to its final paths at the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The temporary folder, which is removed on drop.
pub(crate) struct Stage {
    pub(crate) path: PathBuf,
}

impl Stage {
    pub(crate) fn new(folder: &Path) -> Result<Self, Error> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!(".atf-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    number = number.checked_add(1).ok_or_else(|| output(&path, &error))?;
                }
                Err(error) => return Err(output(&path, error)),
            }
        }
    }

    /// Moves folders below this one to their final paths, in the given order. Moves either all of
    /// them or none.
    pub(crate) fn publish(self, targets: &[(PathBuf, PathBuf)]) -> Result<(), Error> {
        for (place, (written, target)) in targets.iter().enumerate() {
            // If the session has no threads, a table that is split by thread has no files.
            let result = fs::create_dir_all(written)
                .and_then(|()| target.parent().map_or(Ok(()), fs::create_dir_all))
                .and_then(|()| fs::rename(written, target));
            if let Err(error) = result {
                for (_, published) in targets.iter().take(place) {
                    // Report the first error instead of this one.
                    let _ = fs::remove_dir_all(published);
                }
                return Err(output(target, error));
            }
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Ignore errors, because nothing can be done if the folder cannot be removed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

// Errors are passed by value, for use with `map_err`.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn output(path: &Path, why: impl ToString) -> Error {
    Error::Output {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}
