//! Where in which file what is wrong.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::wire::{INDEX_EVENT_SIZE, Wire};

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong, and where: file, field and byte offset.
///
/// Readers return it when they cannot go on, and give it as data for what they merely note, for
/// example in [`Completeness::DamagedFooter`](crate::Completeness::DamagedFooter). Match on
/// [`kind`](Self::kind) and [`offset`](Self::offset); the wording may improve at any time.
///
/// It is one word wide.
///
/// ```
/// let error = atf::index::IndexReader::from_bytes(*b"ATI2").unwrap_err();
/// assert_eq!(error.kind(), &atf::ErrorKind::TooShort { found: 4, needed: 64 });
/// assert_eq!(error.to_string(), "header: the file has 4 bytes, a header needs 64 (at 0x4)");
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

    /// An error that no input, no disk and no caller can bring about: what the code rests on does
    /// not hold. In a debug build it panics, so that no test passes by it.
    #[cold]
    pub(crate) fn internal(broken: &'static str) -> Self {
        debug_assert!(false, "{broken}");
        Self::new(ErrorKind::Internal { broken })
    }

    /// An error of the operating system, or one of ours that came through its type.
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

    /// Not enough memory for the content of a file.
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

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file or folder that it is about, as it was opened.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The field that it is about: `header.event_size`, `footer.event_count`,
    /// `events[12].total_length`, or in a manifest `threads[2].id`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The place that it is about, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
}

/// Appends one of the values of a file; running out of memory is an error instead of an abort.
#[inline]
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() && values.try_reserve(1).is_err() {
        return Err(Error::out_of_memory());
    }
    values.push(value);
    Ok(())
}

/// A number that its field cannot hold.
#[cold]
pub(crate) fn out_of_range(field: &'static str, found: u64, max: u64) -> Error {
    Error::new(ErrorKind::OutOfRange { found, min: 0, max }).with_field(field)
}

/// What follows the last event of an unfinalized file, in words.
fn trailing(trailing_bytes: u64, zero_tail_bytes: u64) -> String {
    let part = |bytes, what| match bytes {
        0 => String::new(),
        _ => format!("; {bytes} {what}"),
    };
    let torn = part(trailing_bytes, "trailing bytes are not a whole event");
    torn + &part(zero_tail_bytes, "bytes of zeros at the end")
}

/// The first few of many names.
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
        // The system's own words, where it refused: with its number they can be looked up.
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

/// What is wrong.
///
/// The message of each kind follows the field's path: `footer.event_count: 3 events need …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused; [`source`](std::error::Error::source) has its error.
    #[error("{0}")]
    Io(io::ErrorKind),
    /// Only regular files are opened: a FIFO or a device could block for ever.
    #[error("not a regular file but a {found}")]
    NotRegular {
        /// What it is: `folder`, `FIFO`, …
        found: &'static str,
    },
    /// A symbolic link in a session could lead out of it, so it is not followed.
    #[error("a symbolic link, which is not followed inside a session")]
    SymbolicLink,
    /// Another file stands at the path than when it was opened.
    #[error("another file stands there now")]
    Replaced,
    /// A field that stays the same for all of a file's life has changed.
    #[error("{found}, was {before} before")]
    Changed {
        /// What stands there now.
        found: u64,
        /// What stood there first.
        before: u64,
    },
    /// An event that a follower gave already is not what stands at its place now.
    #[error("was followed already, and other bytes stand there now")]
    Overwritten,
    /// The file was cut after it was opened.
    #[error("the file ended {missing} bytes early: it was longer when it was opened")]
    UnexpectedEnd {
        /// How many bytes of the read are not there any more.
        missing: u64,
    },

    /// A bug in this library: what it rests on does not hold. Nothing was written by the call.
    #[error("a bug in atf: {broken}; please report it")]
    Internal {
        /// What should have held.
        broken: &'static str,
    },
    /// The file has no bytes: its writer ended before it wrote any, as one does whose buffer was
    /// lost when the process was killed.
    #[error("0 bytes: nothing was written to this file")]
    NothingWritten,
    /// The file cannot hold a header.
    #[error("the file has {found} bytes, a header needs {needed}")]
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
        /// The bytes of that kind of file or footer.
        expected: [u8; 4],
    },
    /// ATF is little-endian only.
    #[error("{found:#04x}, expected {expected:#04x}: only little-endian files exist")]
    BadEndian {
        /// The byte in the file.
        found: u8,
        /// The byte of little-endian files.
        expected: u8,
    },
    /// No such wire version is known.
    #[error("{found}, expected {} or {}", Wire::V1.version(), Wire::V2.version())]
    UnknownVersion {
        /// The byte in the file.
        found: u8,
    },
    /// The header has the layout of one wire version and the number of the other.
    #[error("says {version}, but the header has the layout of {layout}")]
    WrongLayoutForVersion {
        /// What the `version` byte says.
        version: Wire,
        /// What the fields show.
        layout: Wire,
    },
    /// Index events have one size.
    #[error("{found}, expected {expected}")]
    BadEventSize {
        /// Bytes for each event, says the header.
        found: u32,
        /// Bytes for each event.
        expected: u32,
    },
    /// The events cannot begin there.
    #[error("{found}, expected {min} to {max}: behind the header and inside the file")]
    BadEventsOffset {
        /// Where the events begin, says the header.
        found: u64,
        /// The end of the header.
        min: u64,
        /// The end of the file.
        max: u64,
    },
    /// Events that do not follow the header at once need a verified footer that agrees.
    #[error("{found}, and no footer confirms that events begin there")]
    UnprovenEventsOffset {
        /// Where the events begin, says the header.
        found: u64,
    },

    /// The file has no footer: its writer never finalized it, or it was truncated since.
    #[error(
        "no footer: the file was {}{}",
        if *is_cut { "truncated" } else { "not finalized" },
        trailing(*trailing_bytes, *zero_tail_bytes)
    )]
    NotFinalized {
        /// Whether the header counts events, as only a writer that has finalized lets it.
        is_cut: bool,
        /// Bytes of a torn event, or of a torn footer, after the last event.
        trailing_bytes: u64,
        /// Bytes of zeros at the end.
        zero_tail_bytes: u64,
    },
    /// The file was finalized, and truncated or damaged since.
    #[error("{stated} events, but only {found} are there")]
    EventsMissing {
        /// Events that are there.
        found: u64,
        /// Events that the header counts.
        stated: u64,
    },
    /// The events are not those that the footer's checksum was made of.
    #[error(
        "{stored:#010x}, but the CRC-32C of the events is {computed:#010x}: \
         the events or the checksum changed"
    )]
    ChecksumMismatch {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// Events that are nothing but zeros, and no checksum says that they were written so: blocks
    /// that never reached the disk.
    #[error("a gap: {count} events of zeros, of which nothing is known")]
    Gap {
        /// How many events of zeros the file has, in this gap and in later ones.
        count: u64,
    },
    /// Index events link to details that `detail.atf` does not have.
    #[error("links go up to detail event {greatest}, and {count} are there")]
    DanglingLinks {
        /// The greatest `detail_seq` of all events.
        greatest: u64,
        /// How many detail events there are.
        count: u64,
    },

    /// The footer's count does not fit the bytes between header and footer.
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
    /// The footer's length is not that of the bytes between header and footer.
    #[error("{found} bytes, the events section has {section_bytes}")]
    LengthDoesNotFit {
        /// The footer's length in bytes.
        found: u64,
        /// Bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// Two places state one fact differently.
    #[error("{found}, {by} has {expected}")]
    Disagrees {
        /// What stands at this field.
        found: u64,
        /// What stands at the place that is believed.
        expected: u64,
        /// The place that is believed: `the footer`, `the events section`, …
        by: &'static str,
    },
    /// The header's flag and the thread's folder disagree on whether there is a `detail.atf`.
    #[error(
        "has_detail_file is {}set, but there is {} detail.atf",
        if *flag { "" } else { "not " },
        if *file { "a" } else { "no" }
    )]
    WrongDetailFlag {
        /// What the flag says.
        flag: bool,
        /// Whether the file is there.
        file: bool,
    },
    /// A detail event is shorter than its header or reaches past the end of its section.
    #[error("{found}, expected {min} to {available}")]
    BadTotalLength {
        /// Bytes of the event, it says.
        found: u32,
        /// Bytes of an event without payload.
        min: u32,
        /// Bytes from here to the end of the section.
        available: u64,
    },
    /// The detail section ends in the midst of an event's header.
    #[error("an event needs {needed} bytes, the events section has {available} left")]
    EventCutShort {
        /// Bytes from here to the end of the section.
        available: u64,
        /// Bytes of an event without payload.
        needed: u64,
    },
    /// The payload is longer than the caller wants to read.
    #[error("{found} bytes, more than the limit of {limit}")]
    PayloadTooLarge {
        /// The payload's length in bytes.
        found: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },

    /// A number that its field, or the format, does not allow.
    #[error("{found}, expected {min} to {max}")]
    OutOfRange {
        /// The number.
        found: u64,
        /// The least number.
        min: u64,
        /// The greatest number.
        max: u64,
    },
    /// An event that is earlier than the one before it.
    #[error("{found} ns, before the last event's {last} ns")]
    TimeGoesBack {
        /// The event's timestamp in nanoseconds.
        found: u64,
        /// The timestamp of the event before it in nanoseconds.
        last: u64,
    },
    /// The file has as many events as its wire version can count.
    #[error("{limit} are there, and the wire version counts no further")]
    LimitReached {
        /// How many events a file can have.
        limit: u64,
    },
    /// Index events link to details that were reserved and never written.
    #[error("{count} reserved and not yet written")]
    DetailsMissing {
        /// How many details are open.
        count: u64,
    },
    /// A detail event that no index event has reserved.
    #[error("no index event has reserved a detail")]
    NotReserved,
    /// Details were reserved much faster than written.
    #[error("{limit} reserved and not yet written, no more can be")]
    TooManyReservations {
        /// How many may be open.
        limit: u64,
    },
    /// The file is finalized, so nothing can follow.
    #[error("is finalized already")]
    AlreadyFinalized,
    /// What a ring holds for a file is not what the file has at that place: it belongs to others.
    #[error("{file} has other bytes at the place that these belong to")]
    RingDiffers {
        /// The file of which it is.
        file: &'static str,
    },
    /// A ring changed with each look at it.
    #[error("changed with each look at it")]
    Unsteady,
    /// The writer was made by another process, of which this one is a child: both would write to
    /// one ring.
    #[error("belongs to process {owner}, of which this one is a fork")]
    Forked {
        /// The process that made the writer.
        owner: u32,
    },
    /// The session has a writer for this thread already.
    #[error("thread {id} has a writer already")]
    ThreadHasWriter {
        /// The thread's id.
        id: u32,
    },
    /// Threads whose writers are neither finalized nor dropped.
    #[error("{count} {} still being written", if *count == 1 { "thread is" } else { "threads are" })]
    ThreadsNotFinalized {
        /// How many.
        count: u64,
    },

    /// The folder has neither a manifest nor thread folders.
    #[error("no session: neither a manifest.json nor a folder thread_N")]
    NotASession,
    /// The folder is no session, but there are some below it, of which one is to be opened.
    #[error("no session, but there are some below it: {}", few(folders))]
    SessionsBelow {
        /// Their paths from the folder on; the first 100.
        folders: Vec<String>,
    },
    /// The folder has the sessions of several processes, and one is to be opened.
    #[error("has several processes: {}", folders.join(", "))]
    SeveralProcesses {
        /// The names of their folders, by process id; the first 100.
        folders: Vec<String>,
    },
    /// What is rewritten gets a place of its own, and something stands there.
    #[error("already exists")]
    OutputExists,
    /// What is rewritten would stand inside what is read.
    #[error("lies inside of what is read, or would be taken for a part of a trace")]
    OutputInside,
    /// A folder whose name begins as a thread's does, and has no id.
    #[error("not read: no thread's id follows `thread_`; rename the folder to have it read")]
    NoThreadId,
    /// The manifest lists a thread that has no folder.
    #[error("listed in the manifest, but there is no such folder")]
    MissingFolder,

    /// The manifest is larger than [`OpenOptions::manifest_limit`](crate::OpenOptions::manifest_limit).
    #[error("{found} bytes, more than the limit of {limit} for a manifest")]
    ManifestTooLarge {
        /// The file's size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The manifest begins with a byte-order mark, which JSON forbids.
    #[error("begins with a byte-order mark")]
    ByteOrderMark,
    /// The manifest has no content.
    #[error("is empty")]
    Empty,
    /// The manifest gives a function a name without a letter, which is read as none.
    #[error("is empty: a function without a name has no such key")]
    EmptyName,
    /// The manifest is no UTF-8 text.
    #[error("is not UTF-8 text")]
    NotUtf8,
    /// The manifest is no JSON text; the parser's message.
    #[error("is not JSON: {0}")]
    NotJson(String),
    /// A value of the manifest has the wrong type or is out of range.
    #[error("{found}, expected {expected}")]
    WrongType {
        /// The value, shortened.
        found: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A key that an object of the manifest must have.
    #[error("missing")]
    MissingKey,
    /// A key of the manifest that is not known.
    #[error("unknown key")]
    UnknownKey,
    /// A key of the manifest that its object has already; the first one counts.
    #[error("the key occurs before")]
    DuplicateKey,
    /// A thread that the manifest lists already.
    #[error("thread {id} is listed before")]
    DuplicateThread {
        /// The thread's id.
        id: u32,
    },
}
