//! Errors with file, field and byte offset.

mod kind;
mod message;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::rules::{Rule, table as rules};
use crate::wire::OutOfRange;

pub use kind::ErrorKind;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what is wrong, in which file and field, and at which byte offset.
///
/// Readers return an `Error` when they cannot continue. They also use it to describe problems that
/// do not stop them, for example in
/// [`Completeness::DamagedFooter`](crate::Completeness::DamagedFooter). Match on
/// [`kind`](Self::kind) and [`offset`](Self::offset), because the wording of messages may change at
/// any time.
///
/// An `Error` is one word wide.
///
/// ```
/// let error = atf::index::IndexReader::from_bytes(*b"ATI2").unwrap_err();
/// assert_eq!(error.kind(), &atf::ErrorKind::TooShort { found: 4, needed: 64 });
/// assert_eq!(error.to_string(), "header: truncated: 4 of 64 bytes (at 0x4)");
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    path: Option<PathBuf>,
    field: Option<Cow<'static, str>>,
    offset: Option<u64>,
    io: Option<Arc<io::Error>>,
    rule: Option<&'static Rule>,
}

/// Constructors that `atf-record` shares.
#[doc(hidden)]
impl Error {
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: None,
            field: None,
            offset: None,
            io: None,
            rule: None,
        }))
    }

    /// Creates the error for a broken invariant of this library, which no input, disk or caller can
    /// cause. Panics in debug builds, so that tests detect it.
    #[cold]
    pub fn internal(broken: &'static str) -> Self {
        debug_assert!(false, "{broken}");
        Self::new(ErrorKind::Internal { broken })
    }

    /// Wraps an operating system error, or returns the [`Error`] inside it if there is one.
    pub fn io(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(|error| {
            let mut this = Self::new(ErrorKind::Io(error.kind()));
            this.0.io = Some(Arc::new(error));
            this
        })
    }

    pub fn with_field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    pub fn with_path(mut self, path: Option<&Path>) -> Self {
        self.0.path = path.map(Path::to_path_buf);
        self
    }

    /// Returns the message without the location; for a system error, also without the number.
    pub fn reason(&self) -> String {
        let Some(system) = &self.0.io else {
            return self.0.kind.to_string();
        };
        let text = system.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_lowercase);
        first.chain(letters).collect()
    }
}

impl Error {
    /// Creates the error for a symlink in a session.
    pub(crate) fn symlink(path: &Path) -> Self {
        let error = Self::new(ErrorKind::SymbolicLink).with_path(Some(path));
        error.with_rule(&rules::ATF_SESS_003)
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.0.kind == ErrorKind::Io(io::ErrorKind::NotFound)
    }

    /// Returns the message without the location. The system's own message includes its error
    /// number, which can be looked up.
    pub(crate) fn message(&self) -> String {
        match &self.0.io {
            Some(system) => system.to_string(),
            None => self.0.kind.to_string(),
        }
    }

    /// Creates the error for a file whose contents do not fit in memory.
    #[cold]
    pub(crate) fn out_of_memory() -> Self {
        Self::new(ErrorKind::Io(io::ErrorKind::OutOfMemory))
    }

    pub(crate) fn with_offset(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Adds the rule that a file with this problem breaks.
    pub(crate) fn with_rule(mut self, rule: &'static Rule) -> Self {
        self.0.rule = Some(rule);
        self
    }

    /// Replaces the start of the path, for a folder that was opened by another path.
    pub(crate) fn moved(mut self, from: &Path, to: &Path) -> Self {
        let path = self.0.path.as_deref();
        if let Some(rest) = path.and_then(|path| path.strip_prefix(from).ok()) {
            self.0.path = Some(if rest.as_os_str().is_empty() {
                to.to_path_buf()
            } else {
                to.join(rest)
            });
        }
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the path of the affected file or folder, as it was opened.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Returns the affected field, such as `header.event_size`, `footer.event_count`,
    /// `events[12].total_length`, or, in a manifest, `threads[2].id`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// Returns the offset of the problem, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns the rule that the file breaks, or `None` if the problem is not in the file's contents,
    /// for example because the file cannot be read.
    #[must_use]
    pub fn rule(&self) -> Option<&'static Rule> {
        self.0.rule
    }

    /// Returns the error's text, followed by the id of the broken rule: `… [ATF-IFTR-001]`.
    #[must_use]
    pub fn text_with_rule(&self) -> String {
        match self.0.rule {
            Some(rule) => format!("{self} [{}]", rule.id),
            None => self.to_string(),
        }
    }
}

/// Returns a function that adds a path to an operating system error.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    |error| Error::io(error).with_path(Some(path))
}

/// Appends a value read from a file; returns an error instead of aborting if memory runs out.
#[inline]
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() && values.try_reserve(1).is_err() {
        return Err(Error::out_of_memory());
    }
    values.push(value);
    Ok(())
}

/// Returns this many zeros, or an error instead of aborting if memory runs out.
pub(crate) fn zeros(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = bytes.try_reserve_exact(size);
    found.map_err(|_| Error::out_of_memory())?;
    bytes.resize(size, 0);
    Ok(bytes)
}

impl From<OutOfRange> for Error {
    #[cold]
    fn from(OutOfRange { field, found, max }: OutOfRange) -> Self {
        Self::new(ErrorKind::OutOfRange { found, min: 0, max }).with_field(field)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(field) = &self.0.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message())?;
        match self.0.offset {
            Some(offset) => write!(f, " (at {offset:#x})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}, \"{self}\")", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let error = self.0.io.as_deref()?;
        Some(error)
    }
}
