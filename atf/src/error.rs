//! Errors with file, field and byte offset.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::wire::{INDEX_EVENT_SIZE, Wire};

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what is wrong, and the file, field and byte offset it concerns.
///
/// Readers return it when they cannot continue. They also hand it out as data for problems that
/// they only note, for example in
/// [`Completeness::DamagedFooter`](crate::Completeness::DamagedFooter). Match on
/// [`kind`](Self::kind) and [`offset`](Self::offset); the wording may improve at any time.
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
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: None,
            field: None,
            offset: None,
            io: None,
        }))
    }

    /// An error that no input, disk or caller can cause: an invariant of this library is broken.
    /// Debug builds panic, so that tests notice.
    #[cold]
    pub(crate) fn internal(broken: &'static str) -> Self {
        debug_assert!(false, "{broken}");
        Self::new(ErrorKind::Internal { broken })
    }

    /// Wraps an error of the operating system, or returns the [`Error`] inside it if it is one of
    /// ours.
    pub(crate) fn io(error: io::Error) -> Self {
        if let Some(ours) = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Self>())
        {
            return ours.clone();
        }
        let mut this = Self::new(ErrorKind::Io(error.kind()));
        this.0.io = Some(Arc::new(error));
        this
    }

    /// Not enough memory for the contents of a file.
    #[cold]
    pub(crate) fn out_of_memory() -> Self {
        Self::new(ErrorKind::Io(io::ErrorKind::OutOfMemory))
    }

    pub(crate) fn with_field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    pub(crate) fn with_offset(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn with_path(mut self, path: Option<&Path>) -> Self {
        self.0.path = path.map(Path::to_path_buf);
        self
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the path of the file or folder concerned, as it was opened.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Returns the field concerned: `header.event_size`, `footer.event_count`,
    /// `events[12].total_length`, or in a manifest `threads[2].id`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// Returns the offset concerned, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
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

/// A number that does not fit its field.
#[cold]
pub(crate) fn out_of_range(field: &'static str, found: u64, max: u64) -> Error {
    Error::new(ErrorKind::OutOfRange { found, min: 0, max }).with_field(field)
}

/// Describes what follows the last event of an unfinalized file.
fn trailing(trailing_bytes: u64, zero_tail_bytes: u64) -> String {
    let part = |bytes, what| match bytes {
        0 => String::new(),
        _ => format!("; {bytes} {what}"),
    };
    let torn = part(trailing_bytes, "trailing bytes are not a whole event");
    torn + &part(zero_tail_bytes, "bytes of zeros at the end")
}

/// Lists the first few names.
fn few(names: &[String]) -> String {
    const FEW: usize = 5;
    let first = names.iter().take(FEW).map(String::as_str);
    let first = first.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(FEW) {
        0 => first,
        more => format!("{first}, and {more} more"),
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
        // The system's own message includes its error number, which can be looked up.
        match &self.0.io {
            Some(system) => write!(f, "{system}")?,
            None => write!(f, "{}", self.0.kind)?,
        }
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
        self.0
            .io
            .as_deref()
            .map(|error| error as &(dyn std::error::Error + 'static))
    }
}

/// The kind of an [`Error`].
///
/// Its message follows the field's path: `footer.event_count: 3 events need …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system returned an error; [`source`](std::error::Error::source) has it.
    #[error("{0}")]
    Io(io::ErrorKind),
    /// Not a regular file. Nothing else is opened: a FIFO or a device could block forever.
    #[error("not a regular file but a {found}")]
    NotRegular {
        /// The type of the file: `folder`, `FIFO`, …
        found: &'static str,
    },
    /// A symlink in a session. It could lead out of the session, so it is not followed.
    #[error("a symlink, which is not followed inside a session")]
    SymbolicLink,
    /// The path now names a different file than when it was opened.
    #[error("replaced by another file")]
    Replaced,
    /// A field that never changes during a file's lifetime has changed.
    #[error("changed from {before} to {found}")]
    Changed {
        /// The current value.
        found: u64,
        /// The original value.
        before: u64,
    },
    /// The bytes of an event that a follower already returned have changed.
    #[error("was already read, but its bytes have changed since")]
    Overwritten,
    /// The file was truncated after it was opened.
    #[error("the file was truncated after it was opened: {missing} bytes are missing")]
    UnexpectedEnd {
        /// How many bytes of the read are missing.
        missing: u64,
    },

    /// A bug in this library: an invariant is broken. The call wrote nothing.
    #[error("a bug in atf: {broken}; please report it")]
    Internal {
        /// The broken invariant.
        broken: &'static str,
    },
    /// The file has no bytes: its writer stopped before it wrote any, for example because the
    /// process was killed while its events were still in the buffer.
    #[error("the file is empty: nothing was written to it")]
    NothingWritten,
    /// The file is too short for a header.
    #[error("truncated: {found} of {needed} bytes")]
    TooShort {
        /// The file's size in bytes.
        found: u64,
        /// The header's size in bytes.
        needed: u64,
    },
    /// The file does not begin with the magic bytes of its kind.
    #[error("\"{}\", expected \"{}\"", found.escape_ascii(), expected.escape_ascii())]
    BadMagic {
        /// The bytes in the file.
        found: [u8; 4],
        /// The magic bytes of that kind of file or footer.
        expected: [u8; 4],
    },
    /// The file is not little-endian; ATF is little-endian only.
    #[error("{found:#04x}, expected {expected:#04x}: ATF is little-endian")]
    BadEndian {
        /// The byte in the file.
        found: u8,
        /// The value in little-endian files.
        expected: u8,
    },
    /// Unknown wire version.
    #[error("{found}, expected {} or {}", Wire::V1.version(), Wire::V2.version())]
    UnknownVersion {
        /// The byte in the file.
        found: u8,
    },
    /// The header has the layout of one wire version and the `version` byte of the other.
    #[error("{version}, but the header has the layout of {layout}")]
    WrongLayoutForVersion {
        /// The version in the `version` byte.
        version: Wire,
        /// The version that the fields match.
        layout: Wire,
    },
    /// The header states an event size other than that of index events.
    #[error("{found}, expected {expected}")]
    BadEventSize {
        /// Bytes per event, from the header.
        found: u64,
        /// Bytes per event.
        expected: u32,
    },
    /// `events_offset` lies inside the header or past the end of the file.
    #[error("{found}, expected {min} to {max}: after the header and within the file")]
    BadEventsOffset {
        /// Offset of the first event, from the header.
        found: u64,
        /// The end of the header.
        min: u64,
        /// The end of the file.
        max: u64,
    },
    /// Events may begin later than right after the header only if a verified footer agrees.
    #[error("{found}, but no footer confirms that events begin there")]
    UnprovenEventsOffset {
        /// Offset of the first event, from the header.
        found: u64,
    },

    /// The file has no footer: its writer never finalized it, or it was truncated later.
    #[error(
        "no footer: the file was {}{}",
        if *is_cut { "truncated" } else { "not finalized" },
        trailing(*trailing_bytes, *zero_tail_bytes)
    )]
    NotFinalized {
        /// Whether the header counts events, which only a finalizing writer lets it do.
        is_cut: bool,
        /// Bytes of a torn event, or of a torn footer, after the last event.
        trailing_bytes: u64,
        /// Bytes of zeros at the end.
        zero_tail_bytes: u64,
    },
    /// The file was finalized, then truncated or damaged.
    #[error("{stated} events, but the file has only {found}")]
    EventsMissing {
        /// Events in the file.
        found: u64,
        /// Events according to the header.
        stated: u64,
    },
    /// The events do not match the footer's checksum.
    #[error(
        "checksum mismatch: the footer has {stored:#010x}, \
         the CRC-32C of the events is {computed:#010x}"
    )]
    ChecksumMismatch {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// All-zero events that no checksum confirms: blocks that never reached the disk.
    #[error(
        "a gap: {count} {} all zeros, their contents unknown",
        if *count == 1 { "event is" } else { "events are" }
    )]
    Gap {
        /// How many all-zero events the file has, in this gap and later ones.
        count: u64,
    },
    /// Index events link to details that `detail.atf` does not contain.
    #[error("links reach detail event {greatest}, but there are only {count}")]
    DanglingLinks {
        /// The greatest `detail_seq` of all events.
        greatest: u64,
        /// How many detail events there are.
        count: u64,
    },

    /// The footer's count does not match the bytes between header and footer.
    #[error(
        "{found} events need {} bytes, the events section has {section_bytes}",
        u128::from(*found).saturating_mul(u128::from(INDEX_EVENT_SIZE))
    )]
    CountDoesNotFit {
        /// The footer's count.
        found: u64,
        /// Bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// The footer's length does not match the bytes between header and footer.
    #[error("{found} bytes, the events section has {section_bytes}")]
    LengthDoesNotFit {
        /// The footer's length in bytes.
        found: u64,
        /// Bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// Two places state the same fact differently.
    #[error("{found}, {by} has {expected}")]
    Disagrees {
        /// The value of this field.
        found: u64,
        /// The value at the trusted place.
        expected: u64,
        /// The trusted place: `the footer`, `the events section`, …
        by: &'static str,
    },
    /// The header's flag and the thread's folder disagree on whether there is a `detail.atf`.
    #[error(
        "has_detail_file is {}set, but there is {} detail.atf",
        if *flag { "" } else { "not " },
        if *file { "a" } else { "no" }
    )]
    WrongDetailFlag {
        /// The flag.
        flag: bool,
        /// Whether the file exists.
        file: bool,
    },
    /// A detail event is shorter than its header or extends past the end of its section.
    #[error("{found}, expected {min} to {available}")]
    BadTotalLength {
        /// Bytes of the event, as it states.
        found: u32,
        /// Bytes of an event without payload.
        min: u32,
        /// Bytes from here to the end of the section.
        available: u64,
    },
    /// The detail section ends within an event's header.
    #[error("an event needs {needed} bytes, the events section has {available} left")]
    EventCutShort {
        /// Bytes from here to the end of the section.
        available: u64,
        /// Bytes of an event without payload.
        needed: u64,
    },
    /// The payload is longer than the caller's limit.
    #[error("{found} bytes, more than the limit of {limit}")]
    PayloadTooLarge {
        /// The payload's length in bytes.
        found: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },

    /// The number does not fit its field, or the format does not allow it.
    #[error("{found}, expected {min} to {max}")]
    OutOfRange {
        /// The number.
        found: u64,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// An event is earlier than the previous one.
    #[error("{found} ns is before the previous event's {last} ns")]
    TimeGoesBack {
        /// The event's timestamp in nanoseconds.
        found: u64,
        /// The previous event's timestamp in nanoseconds.
        last: u64,
    },
    /// The file has as many events as its wire version can count.
    #[error("the file has {limit}, the most its wire version can count")]
    LimitReached {
        /// How many events a file can have.
        limit: u64,
    },
    /// Index events link to details that were reserved but never written.
    #[error("{count} reserved but not yet written")]
    DetailsMissing {
        /// How many details are outstanding.
        count: u64,
    },
    /// No index event reserved this detail event.
    #[error("no index event reserved a detail")]
    NotReserved,
    /// Details were reserved much faster than they were written.
    #[error("{limit} are reserved but not yet written, which is the maximum")]
    TooManyReservations {
        /// How many may be outstanding.
        limit: u64,
    },
    /// The file is already finalized, so nothing can be added.
    #[error("already finalized")]
    AlreadyFinalized,
    /// A ring's bytes for a file differ from the file's: the ring belongs to other files.
    #[error("{file} has different bytes at the same position")]
    RingDiffers {
        /// The name of that file.
        file: &'static str,
    },
    /// A ring changed during every attempt to read it.
    #[error("changed during every attempt to read it")]
    Unsteady,
    /// The writer was created by the parent of this process. Both would write to the same ring.
    #[error("belongs to process {owner}; this process is a fork of it")]
    Forked {
        /// The process that created the writer.
        owner: u32,
    },
    /// The session already has a writer for this thread.
    #[error("thread {id} already has a writer")]
    ThreadHasWriter {
        /// The thread's id.
        id: u32,
    },
    /// Some threads' writers are neither finalized nor dropped.
    #[error("{count} {} still being written", if *count == 1 { "thread is" } else { "threads are" })]
    ThreadsNotFinalized {
        /// The number of these threads.
        count: u64,
    },

    /// The folder has neither a manifest nor thread folders.
    #[error("not a session: it has neither a manifest.json nor a thread_N folder")]
    NotASession,
    /// The folder is not a session but contains some; open one of them.
    #[error("not a session, but it contains sessions: {}", few(folders))]
    SessionsBelow {
        /// Their paths relative to the folder; the first 100.
        folders: Vec<String>,
    },
    /// The folder has the sessions of several processes; open one of them.
    #[error("has several processes; open one of them: {}", folders.join(", "))]
    SeveralProcesses {
        /// The names of their folders, by process id; the first 100.
        folders: Vec<String>,
    },
    /// The output path already exists. A rewrite needs a new one.
    #[error("already exists")]
    OutputExists,
    /// The output path is inside the input, or would be read as part of a trace.
    #[error("is inside the input, or would be read as part of a trace")]
    OutputInside,
    /// A folder's name begins with `thread_` but has no thread id.
    #[error(
        "not read: the name has no thread id after `thread_`; rename the folder to have it read"
    )]
    NoThreadId,
    /// The manifest lists a thread that has no folder.
    #[error("listed in the manifest, but the folder does not exist")]
    MissingFolder,

    /// The manifest is larger than [`OpenOptions::manifest_limit`](crate::OpenOptions::manifest_limit).
    #[error("{found} bytes, more than the manifest limit of {limit}")]
    ManifestTooLarge {
        /// The file's size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The manifest begins with a byte-order mark, which JSON forbids.
    #[error("begins with a byte-order mark, which JSON forbids")]
    ByteOrderMark,
    /// The manifest is empty.
    #[error("is empty")]
    Empty,
    /// The manifest gives a function an empty name, which is read as no name.
    #[error("is empty; omit the key if the function has no name")]
    EmptyName,
    /// The manifest is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The manifest is not JSON; holds the parser's message.
    #[error("is not JSON: {0}")]
    NotJson(String),
    /// A value of the manifest has the wrong type or is out of range.
    #[error("{found}, expected {expected}")]
    WrongType {
        /// The value, shortened.
        found: String,
        /// The expected type or range.
        expected: &'static str,
    },
    /// An object of the manifest lacks a required key.
    #[error("missing")]
    MissingKey,
    /// The manifest has an unknown key.
    #[error("unknown key")]
    UnknownKey,
    /// An object of the manifest has a key twice; the first one counts.
    #[error("duplicate key")]
    DuplicateKey,
    /// The manifest lists a thread twice.
    #[error("thread {id} is already listed")]
    DuplicateThread {
        /// The thread's id.
        id: u32,
    },
}
