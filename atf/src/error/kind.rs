//! The kinds of errors.

use std::io;

use crate::wire::Wire;

/// The kind of an [`Error`](super::Error).
///
/// Its message follows the field's path: `footer.event_count: 3 events need …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system returned an error: see [`source`](std::error::Error::source).
    Io(io::ErrorKind),
    /// Not a regular file. Nothing else is opened: a FIFO or a device could block forever.
    NotRegular {
        /// The type of the file: `folder`, `FIFO`, …
        found: &'static str,
    },
    /// A symlink in a session. It could lead out of the session, so it is not followed.
    SymbolicLink,
    /// The path now refers to a different file than when it was opened.
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
        /// How many bytes of the read are missing.
        missing: u64,
    },

    /// A bug in this library: an invariant is broken. The call wrote nothing.
    Internal {
        /// The broken invariant.
        broken: &'static str,
    },
    /// The file has no bytes: its writer stopped before it wrote any, for example because the
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
    /// Unknown wire version.
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
    /// The header states an event size other than that of index events.
    BadEventSize {
        /// Bytes per event, from the header.
        found: u64,
        /// Bytes per event.
        expected: u32,
    },
    /// `events_offset` lies inside the header or past the end of the file.
    BadEventsOffset {
        /// Offset of the first event, from the header.
        found: u64,
        /// The end of the header.
        min: u64,
        /// The end of the file.
        max: u64,
    },
    /// Events may begin later than right after the header only if a verified footer agrees.
    UnprovenEventsOffset {
        /// Offset of the first event, from the header.
        found: u64,
    },

    /// The file has no footer: its writer never finalized it, or it was truncated later.
    NotFinalized {
        /// Whether the header has an event count, which writers set only when finalizing.
        is_cut: bool,
        /// Bytes of a torn event, or of a torn footer, after the last event.
        trailing_bytes: u64,
        /// Bytes of zeros at the end.
        zero_tail_bytes: u64,
    },
    /// The file was finalized, then truncated or damaged.
    EventsMissing {
        /// Events in the file.
        found: u64,
        /// Events according to the header.
        stated: u64,
    },
    /// The events do not match the footer's checksum.
    ChecksumMismatch {
        /// The footer's checksum.
        stored: u32,
        /// The CRC-32C of the events.
        computed: u32,
    },
    /// All-zero events that no checksum confirms: blocks that never reached the disk.
    Gap {
        /// How many all-zero events the file has, in this gap and later ones.
        count: u64,
    },
    /// Index events link to details that `detail.atf` does not contain.
    DanglingLinks {
        /// The greatest `detail_seq` of all events.
        greatest: u64,
        /// How many detail events there are.
        count: u64,
    },

    /// The footer's count does not match the bytes between header and footer.
    CountDoesNotFit {
        /// The footer's count.
        found: u64,
        /// Bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// The footer's length does not match the bytes between header and footer.
    LengthDoesNotFit {
        /// The footer's length in bytes.
        found: u64,
        /// Bytes between `events_offset` and the footer.
        section_bytes: u64,
    },
    /// Two places state the same fact differently.
    Disagrees {
        /// The value of this field.
        found: u64,
        /// The value at the trusted place.
        expected: u64,
        /// The trusted place: `the footer`, `the events section`, …
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
        /// Bytes of the event, from its header.
        found: u32,
        /// Bytes of an event without payload.
        min: u32,
        /// Bytes from here to the end of the section.
        available: u64,
    },
    /// The detail section ends within an event's header.
    EventCutShort {
        /// Bytes from here to the end of the section.
        available: u64,
        /// Bytes of an event without payload.
        needed: u64,
    },
    /// The payload is longer than the caller's limit.
    PayloadTooLarge {
        /// The payload's length in bytes.
        found: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },

    /// The number does not fit its field, or the format does not allow it.
    OutOfRange {
        /// The number.
        found: u64,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// An event is earlier than the previous one.
    TimeGoesBack {
        /// The event's timestamp in nanoseconds.
        found: u64,
        /// The previous event's timestamp in nanoseconds.
        last: u64,
    },
    /// The file has as many events as its wire version can count.
    LimitReached {
        /// How many events a file can have.
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
        /// How many may be outstanding.
        limit: u64,
    },
    /// The file is already finalized, so nothing can be added.
    AlreadyFinalized,
    /// A ring's bytes for a file differ from the file's: the ring belongs to other files.
    RingDiffers {
        /// The name of that file.
        file: &'static str,
    },
    /// A ring changed during every attempt to read it.
    Unsteady,
    /// The writer was created by the parent of this process. Both would write to the same ring.
    Forked {
        /// The process that created the writer.
        owner: u32,
    },
    /// This option needs rings, which a session that survives kills does not have.
    NeedsRings,
    /// The session already has a writer for this thread.
    ThreadHasWriter {
        /// The thread's id.
        id: u32,
    },
    /// Some threads' writers are neither finalized nor dropped.
    ThreadsNotFinalized {
        /// The number of these threads.
        count: u64,
    },

    /// More calls were open at once than an analysis keeps: the outermost ones were given up.
    TooManyOpenCalls {
        /// How many were given up.
        given_up: u64,
        /// How many are kept: [`CallStack::LIMIT`](crate::spans::CallStack::LIMIT).
        limit: u64,
    },

    /// The folder has neither a manifest nor thread folders.
    NotASession,
    /// The folder is not a session but contains some; open one of them.
    SessionsBelow {
        /// Their paths relative to the folder; the first 100.
        folders: Vec<String>,
    },
    /// The folder has the sessions of several processes; open one of them.
    SeveralProcesses {
        /// The names of their folders, by process id; the first 100.
        folders: Vec<String>,
    },
    /// Segments of a recording are missing between two others.
    SegmentsMissing {
        /// The number of the first one.
        first: u32,
        /// The number of the last one.
        last: u32,
    },
    /// The output path already exists. A rewrite needs a new one.
    OutputExists,
    /// The output path is inside the input, or would be read as part of a trace.
    OutputInside,
    /// A folder's name begins with `thread_` but has no thread id.
    NoThreadId,
    /// The manifest lists a thread that has no folder.
    MissingFolder,

    /// The manifest is larger than [`OpenOptions::manifest_limit`](crate::OpenOptions::manifest_limit).
    ManifestTooLarge {
        /// The file's size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The manifest begins with a byte-order mark, which JSON forbids.
    ByteOrderMark,
    /// The manifest is empty.
    Empty,
    /// The manifest gives a function an empty name, which is read as no name.
    EmptyName,
    /// The manifest is not UTF-8.
    NotUtf8,
    /// The manifest is not JSON; holds the parser's message.
    NotJson(String),
    /// A value of the manifest has the wrong type or is out of range.
    WrongType {
        /// The value, shortened.
        found: String,
        /// The expected type or range.
        expected: &'static str,
    },
    /// An object of the manifest lacks a required key.
    MissingKey,
    /// The manifest has an unknown key.
    UnknownKey,
    /// An object of the manifest has a key twice; the first one counts.
    DuplicateKey,
    /// The manifest lists a thread twice.
    DuplicateThread {
        /// The thread's id.
        id: u32,
    },
}
