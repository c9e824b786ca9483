//! Errors in reading and writing tables.

use std::fmt;

use arrow_schema::ArrowError;

/// An error before the first row, or while reading or writing rows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// An option is invalid. Contains the message.
    Usage(String),
    /// The trace could not be read.
    Atf(atf::Error),
    /// The output could not be written.
    Output {
        /// The file or folder.
        path: std::path::PathBuf,
        /// The reason.
        why: String,
    },
    /// A file of a session or an archive is unreadable or invalid.
    File {
        /// The file or folder.
        path: std::path::PathBuf,
        /// The reason, including the position in the file.
        why: String,
    },
    /// The trace is damaged or incomplete.
    Incomplete(Incomplete),
    /// A bug in this library: arrays do not match their schema. Contains Arrow's message.
    Internal(String),
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::Atf(error) => error.fmt(f),
            Self::Output { path, why } | Self::File { path, why } => {
                write!(f, "{}: {why}", path.display())
            }
            Self::Incomplete(incomplete) => incomplete.fmt(f),
            Self::Internal(message) => write!(f, "a bug in atf-tables: {message}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<atf::Error> for Error {
    fn from(error: atf::Error) -> Self {
        Self::Atf(error)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::Internal(error.to_string()),
            },
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

/// A problem in a trace that may cause missing or wrong rows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The id in the name of the thread's folder; `None` if the problem concerns the session.
    pub thread: Option<u32>,
    /// The error, with file, field and offset.
    pub error: atf::Error,
}

impl Problem {
    /// Returns the name of the error's kind, such as `NotFinalized`.
    #[must_use]
    pub fn kind(&self) -> String {
        kind_name(self.error.kind())
    }
}

/// Returns the name of a kind of error, such as `NotFinalized`.
#[must_use]
pub fn kind_name(kind: &atf::ErrorKind) -> String {
    let name = format!("{kind:?}");
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.next().unwrap_or(&name).to_owned()
}

/// All readable rows were returned, but the trace is damaged or incomplete.
#[derive(Debug, Clone)]
pub struct Incomplete {
    /// The number of returned rows.
    pub rows: u64,
    /// The reasons.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, problems } = self;
        write!(
            f,
            "the trace is incomplete or damaged; it has {rows} readable rows"
        )?;
        if let Some(first) = problems.first() {
            write!(f, ". {}", first.error)?;
        }
        match problems.len().saturating_sub(1) {
            0 => {}
            1 => f.write_str("; and 1 more problem")?,
            more => write!(f, "; and {more} more problems")?,
        }
        f.write_str(". To get the rows without this error, read with problems=\"keep\"")
    }
}
