//! The kinds of errors.

use std::io;
use std::path::PathBuf;

use crate::clock::MediaClockError;
use crate::wire::Wire;

/// The kind of an [`Error`](super::Error).
///
/// Its message follows the field's path: `footer.event_count: 3 events need …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system returned an error (see [`source`](std::error::Error::source)).
    Io(io::ErrorKind),
    /// The path is not a regular file. Only regular files are opened, because a FIFO or a device
    /// could block forever.
    NotRegular {
        /// The type of the file: `folder`, `FIFO`, …
        found: &'static str,
    },
    /// A symlink in a session. It could lead out of the session, so it is not followed.
    SymbolicLink,
    /// The path now refers to a different file than the one that was opened. This is permanent for
    /// the reader or follower: to read the new file, open it.
    Replaced,
    /// A field that never changes during a file's lifetime has changed.
    Changed {
        /// The current value.
        found: u64,
        /// The original value.
        before: u64,
    },
    /// The bytes of an event that a follower already returned have changed.
    Overwritten,
    /// The file was truncated after it was opened.
    UnexpectedEnd {
        /// The number of bytes that could not be read.
        missing: u64,
    },

    /// A bug in this library: an invariant is broken. Nothing was written.
    Internal {
        /// The broken invariant.
        broken: &'static str,
    },
    /// The file is empty: its writer stopped before it wrote anything, for example because the
    /// process was killed while its events were still in the buffer.
    NothingWritten,
    /// The file is too short for a header.
    TooShort {
        /// The file's size in bytes.
        found: u64,
        /// The header's size in bytes.
        needed: u64,
    },
    /// The file does not begin with the magic bytes of its kind.
    BadMagic {
        /// The bytes in the file.
        found: [u8; 4],
        /// The magic bytes of that kind of file or footer.
        expected: [u8; 4],
    },
    /// The file is not little-endian; ATF is little-endian only.
    BadEndian {
        /// The byte in the file.
        found: u8,
        /// The value in little-endian files.
        expected: u8,
    },
    /// The wire version is unknown.
    UnknownVersion {
        /// The byte in the file.
        found: u8,
    },
    /// The header has the layout of one wire version and the `version` byte of the other.
    WrongLayoutForVersion {
        /// The version in the `version` byte.
        version: Wire,
        /// The version that the fields match.
        layout: Wire,
    },
    /// The event size in the header is not the size of an index event.
    BadEventSize {
        /// The number of bytes per event in the header.
        found: u64,
        /// The actual number of bytes per event.
        expected: u32,
    },
    /// `events_offset` lies inside the header or past the end of the file.
    BadEventsOffset {
        /// The offset of the first event according to the header.
        found: u64,
        /// The end of the header.
        min: u64,
        /// The end of the file.
        max: u64,
    },
    /// The events do not begin right after the header, and no verified footer confirms this.
    UnprovenEventsOffset {
        /// The offset of the first event according to the header.
        found: u64,
    },

    /// The file has no footer, because its writer never finalized it or it was truncated later.
    NotFinalized {
        /// Whether the header has an event count. Writers set the count only when they finalize a
        /// file.
        is_cut: bool,
        /// The number of bytes of a torn event or torn footer after the last event.
        trailing_bytes: u64,
        /// The number of zero bytes at the end.
        zero_tail_bytes: u64,
    },
    /// The file was finalized, then truncated or damaged.
    EventsMissing {
        /// The number of events in the file.
        found: u64,
        /// The number of events according to the header.
        stated: u64,
    },
    /// The events do not match the footer's checksum.
    ChecksumMismatch {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// The footer's checksum is the IEEE CRC-32 of the events, not their CRC-32C: the events are
    /// intact, but were written with the wrong polynomial.
    IeeeChecksum {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// All-zero events that no checksum confirms, from blocks that never reached the disk.
    Gap {
        /// The number of all-zero events in this gap and later ones.
        count: u64,
    },
    /// Index events link to details that `detail.atf` does not contain.
    DanglingLinks {
        /// The largest `detail_seq` of all events.
        greatest: u64,
        /// The number of detail events.
        count: u64,
        /// Whether the missing details may have been lost, because one of the two files is
        /// unfinalized or damaged.
        may_be_lost: bool,
    },

    /// The footer's count does not match the bytes between header and footer.
    CountDoesNotFit {
        /// The footer's count.
        found: u64,
        /// The number of bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// The footer's length does not match the bytes between header and footer.
    LengthDoesNotFit {
        /// The footer's length in bytes.
        found: u64,
        /// The number of bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// Two values that must agree contradict each other.
    Disagrees {
        /// The value of this field.
        found: u64,
        /// The value in the trusted location.
        expected: u64,
        /// The trusted location: `the footer`, `the events section`, …
        by: &'static str,
    },
    /// The header's flag and the thread's folder disagree on whether there is a `detail.atf`.
    WrongDetailFlag {
        /// The flag.
        flag: bool,
        /// Whether the file exists.
        file: bool,
    },
    /// A detail event is shorter than its header or extends past the end of its section.
    BadTotalLength {
        /// The event's length in bytes according to its header.
        found: u32,
        /// The length in bytes of an event without payload.
        min: u32,
        /// The number of bytes from the event's start to the end of the section.
        available: u64,
    },
    /// The events section ends within a detail event's header.
    TornEvent {
        /// The number of bytes from the event's start to the end of the section.
        available: u64,
        /// The length in bytes of an event without payload.
        needed: u64,
    },
    /// The payload is longer than the caller's limit.
    PayloadTooLarge {
        /// The payload's length in bytes.
        found: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },

    /// The number does not fit in its field, or the format forbids it.
    OutOfRange {
        /// The number.
        found: u64,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// An event is earlier than its predecessor.
    TimeGoesBack {
        /// The event's timestamp in nanoseconds.
        found: u64,
        /// The previous event's timestamp in nanoseconds.
        last: u64,
    },
    /// A limit was reached: the wire version cannot count more events or details, or one of the
    /// recording's options does not allow more.
    LimitReached {
        /// The maximum number of events, details, threads or bytes.
        limit: u64,
    },
    /// Index events link to details that were reserved but never written.
    DetailsMissing {
        /// How many details are outstanding.
        count: u64,
    },
    /// No index event reserved this detail event.
    NotReserved,
    /// Details were reserved much faster than they were written.
    TooManyReservations {
        /// The maximum number of outstanding details.
        limit: u64,
    },
    /// The file is already finalized, so nothing can be added.
    AlreadyFinalized,
    /// The session has, or had, another recording.
    HasRecording,
    /// A ring and a file have different bytes at the same offset, so the ring belongs to other
    /// files.
    RingDiffers {
        /// The name of the file.
        file: &'static str,
    },
    /// The ring changed during every attempt to read it.
    Unsteady,
    /// The writer was created by this process's parent, so both processes would write to the same
    /// ring.
    Forked {
        /// The process that created the writer.
        owner: u32,
    },
    /// This option needs rings, which a session with `survive_kill` does not have.
    NeedsRings,
    /// The session already has a writer for this thread.
    ThreadHasWriter {
        /// The thread's id.
        id: u32,
    },
    /// Some thread writers are neither finalized nor dropped.
    ThreadsNotFinalized {
        /// The number of these writers.
        count: u64,
    },

    /// More calls were open at once than are kept, so the outermost ones were given up.
    TooManyOpenCalls {
        /// How many calls were given up.
        given_up: u64,
        /// The maximum number of calls that are kept:
        /// [`CallStack::LIMIT`](crate::spans::CallStack::LIMIT).
        limit: u64,
    },

    /// The folder has neither a manifest nor thread folders.
    NotASession,
    /// The folder is more than [`SEARCH_DEPTH`](crate::session::SEARCH_DEPTH) folders deep and was
    /// not searched.
    TooDeep,
    /// The folder is not a session but contains several sessions; open one of them.
    SessionsBelow {
        /// The paths of the first 100 sessions, relative to the folder.
        folders: Vec<String>,
    },
    /// The folder contains the sessions of several processes; open one of them.
    SeveralProcesses {
        /// The names of the first 100 session folders, by process id.
        folders: Vec<String>,
    },
    /// The path does not lead to a trace.
    NotATrace {
        /// A description of the object at the path.
        found: String,
    },
    /// Another path leads to the same trace, whose events would count twice.
    SameTrace {
        /// The other path.
        other: PathBuf,
    },
    /// The trace cannot be shown on the clock of a recording.
    NoMediaClock(MediaClockError),
    /// Segments of a recording are missing between two others.
    SegmentsMissing {
        /// The number of the first missing segment.
        first: u32,
        /// The number of the last missing segment.
        last: u32,
    },
    /// The output path already exists. A rewrite needs a new path.
    OutputExists,
    /// The output path is inside the input, or would be read as part of a trace.
    OutputInside,
    /// A folder's name begins with `thread_` but has no thread id.
    NoThreadId,
    /// The manifest lists a thread that has no folder.
    MissingFolder,

    /// The manifest is larger than
    /// [`OpenOptions::manifest_limit`](crate::OpenOptions::manifest_limit), or a new manifest would
    /// be larger than [`Manifest::LIMIT`](crate::manifest::Manifest::LIMIT).
    ManifestTooLarge {
        /// The manifest's size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The manifest begins with a byte-order mark, which JSON forbids.
    ByteOrderMark,
    /// The manifest is empty.
    Empty,
    /// A function in the manifest has an empty name, so it is treated as unnamed.
    EmptyName,
    /// The manifest is not UTF-8.
    NotUtf8,
    /// The manifest is not JSON. Contains the parser's message.
    NotJson(String),
    /// A value in the manifest has the wrong type or is out of range.
    WrongType {
        /// The value, shortened.
        found: String,
        /// The expected type or range.
        expected: &'static str,
    },
    /// A required key is missing from an object in the manifest.
    MissingKey,
    /// The manifest has an unknown key.
    UnknownKey,
    /// An object in the manifest has a key twice; the first one is used.
    DuplicateKey,
    /// The manifest lists a thread twice.
    DuplicateThread {
        /// The thread's id.
        id: u32,
    },
    /// A recovery lost or guessed events or details.
    LostInRecovery {
        /// The thread; `None` for the session.
        thread: Option<u32>,
        /// A description of the loss.
        what: String,
    },
}

impl ErrorKind {
    /// Returns whether readers ignore the problem, because nothing that they return depends on it:
    /// an unknown key or an empty name in a manifest.
    #[must_use]
    pub const fn is_ignored(&self) -> bool {
        matches!(self, Self::UnknownKey | Self::EmptyName)
    }
}
