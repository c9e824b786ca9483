//! Errors with temporary files.

use std::path::PathBuf;
use std::{env, io};

use crate::Error;

/// An error with a temporary file, as the source of an [`io::Error`], which is all that a sink can
/// return.
#[derive(Debug, thiserror::Error)]
#[error("temporary file in {}: {error}", folder.display())]
struct OfTemporary {
    folder: PathBuf,
    error: io::Error,
}

/// Marks an error as one with a temporary file, and names the file's folder.
pub(crate) fn of_temporary(error: io::Error) -> io::Error {
    let folder = env::temp_dir();
    io::Error::new(error.kind(), OfTemporary { folder, error })
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.downcast::<OfTemporary>() {
            Ok(OfTemporary { folder, error }) => Self::TemporaryFile { folder, error },
            Err(error) => Self::Output(error),
        }
    }
}
