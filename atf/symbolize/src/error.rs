//! The reasons why no names can be read from a file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum number of bytes read from one file: 2 GiB. A file with debug information may be
/// larger because only its headers and symbol tables are read.
pub const LIMIT: u64 = 2 << 30;

/// The reason why no names can be read from a file.
#[derive(Debug, Clone)]
pub struct Error {
    path: PathBuf,
    kind: Arc<ErrorKind>,
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An error from the operating system.
    Io(io::Error),
    /// The path is a folder, a pipe or a device.
    NotAFile,
    /// The file is neither ELF nor Mach-O, or it is damaged.
    Malformed(String),
    /// The file's tables or, if its checksum is needed, the whole file are larger than
    /// [`LIMIT`](crate::LIMIT).
    TooLarge,
    /// The file is a Mach-O file for several architectures.
    Universal,
    /// The file's build id differs from the traced module's.
    OtherBuild {
        /// The file's build id in hexadecimal, if it has one.
        found: Option<String>,
        /// The module's build id.
        expected: String,
    },
    /// The file's checksum differs from the one that the module's `.gnu_debuglink` states.
    OtherChecksum,
    /// The file has no function symbols.
    NoFunctions,
}

impl Error {
    pub(crate) fn new(path: &Path, kind: ErrorKind) -> Self {
        let (path, kind) = (path.to_path_buf(), Arc::new(kind));
        Self { path, kind }
    }

    /// Returns the same error for a file that was also found at this path.
    pub(crate) fn at(&self, path: &Path) -> Self {
        let (path, kind) = (path.to_path_buf(), Arc::clone(&self.kind));
        Self { path, kind }
    }

    /// Returns the file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &*self.kind {
            ErrorKind::Io(error) => error.fmt(f),
            ErrorKind::NotAFile => f.write_str("not a regular file"),
            ErrorKind::Malformed(what) => f.write_str(what),
            ErrorKind::TooLarge => {
                let limit = LIMIT >> 30;
                write!(f, "more than {limit} GiB would have to be read")
            }
            ErrorKind::Universal => {
                f.write_str("has several architectures; extract one with `lipo -thin`")
            }
            ErrorKind::OtherBuild { found, expected } => {
                let found = found.as_deref().unwrap_or("none");
                write!(f, "build id {found}, expected {expected}")
            }
            ErrorKind::OtherChecksum => {
                f.write_str("not the debug file of this build: its checksum differs")
            }
            ErrorKind::NoFunctions => f.write_str("no function symbols"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
