//! The targets of the attacks: a reader, a checker, a recovery and the C API. Tests replace each of
//! them with a broken version.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexEvent, IndexReader};
use atf::rewrite::{RecoverOptions, recover};
use atf::{Checksum, Completeness, FileKind, OpenOptions, ReadAt, Seekable};
use atf_conformance::Checked;
use atf_conformance::check::check_bytes;

/// An event of either file, reduced to numbers for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The offset at which the event ends, in bytes.
    pub end: u64,
    /// The timestamp in nanoseconds.
    pub time: u64,
    /// The thread's id.
    pub thread_id: u32,
    /// The kind or type, along with the depth or the flags.
    pub kind: (u32, Option<u32>),
    /// The function, or the index event that a detail belongs to.
    pub of: u64,
    /// The link, or a hash of the payload.
    pub rest: Option<u64>,
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// All events.
    pub events: Vec<Event>,
    /// Whether a footer's checksum matches the events, and the header agrees with the footer.
    pub is_proven: bool,
}

/// The number of events before the first gap in each thread of a session, and a hash of these events
/// and their payloads.
pub type Events = BTreeMap<u32, (usize, u64)>;
/// The names of a session's functions, by id.
pub type Names = BTreeMap<u64, String>;

/// The source that a file is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// Bytes in memory, read directly.
    Bytes(&'a [u8]),
    /// Bytes, read through positioned reads that return only a few bytes at a time.
    Positioned(&'a [u8]),
    /// Bytes, read through a lock and seeks.
    Seekable(&'a [u8]),
    /// A file, read through positioned reads.
    Path(&'a Path),
}

/// The target of the attacks.
pub struct Subject {
    /// Reads a file, or returns `None` if it is rejected.
    pub read: fn(FileKind, Source<'_>) -> Option<Reading>,
    /// Returns whether a check of this file alone has any findings.
    pub notices: fn(FileKind, &[u8]) -> bool,
    /// Compares the C API with the library. Panics if they differ.
    pub capi: fn(FileKind, &[u8]),
    /// Reads the threads of a session. Returns an error if the session is rejected, or if an event
    /// of an open file cannot be read.
    pub session: fn(&Path) -> Result<(Events, Names), String>,
    /// Recovers the folder of a thread or session into another folder.
    pub recover: fn(&Path, &Path) -> atf::Result<()>,
}

/// The unmodified library.
pub const LIBRARY: Subject = Subject {
    read: |kind, source| match kind {
        FileKind::Index => index(source),
        FileKind::Detail => detail(source),
    },
    notices: |kind, bytes| {
        let mut checked = Checked::default();
        check_bytes("file".as_ref(), kind, bytes.to_vec(), &mut checked);
        checked.findings().next().is_some() || !checked.unreadable.is_empty()
    },
    capi: |kind, bytes| match kind {
        FileKind::Index => atf_fuzz::capi_index(bytes),
        FileKind::Detail => atf_fuzz::capi_detail(bytes),
    },
    session,
    recover: |path, out| recover(path, out, &RecoverOptions::default()).map(drop),
};

fn index(source: Source<'_>) -> Option<Reading> {
    let index = match source {
        Source::Bytes(bytes) => IndexReader::from_bytes(bytes),
        Source::Positioned(bytes) => IndexReader::from_source(Dribble(bytes.to_vec())),
        Source::Seekable(bytes) => IndexReader::from_source(seekable(bytes)?),
        Source::Path(path) => IndexReader::open_with(path, OpenOptions::new()),
    };
    let index = index.ok()?;
    let event = |(seq, event): (u64, IndexEvent)| Event {
        end: index.header().events_offset + (seq + 1) * IndexEvent::SIZE as u64,
        time: event.timestamp_ns,
        thread_id: event.thread_id,
        kind: (event.event_kind.into(), event.call_depth),
        of: event.function_id,
        rest: event.detail_seq,
    };
    let events: atf::Result<Vec<_>> = index.events_in(..).collect();
    let events = (0..).zip(events.ok()?).map(event).collect();
    Some(Reading {
        events,
        is_proven: index.checksum().ok()? == Checksum::Good
            && matches!(index.completeness(), Completeness::Finalized)
            && index.disagreements().is_empty(),
    })
}

fn detail(source: Source<'_>) -> Option<Reading> {
    let detail = match source {
        Source::Bytes(bytes) => DetailReader::from_bytes(bytes),
        Source::Positioned(bytes) => DetailReader::from_source(Dribble(bytes.to_vec())),
        Source::Seekable(bytes) => DetailReader::from_source(seekable(bytes)?),
        Source::Path(path) => DetailReader::open_with(path, OpenOptions::new()),
    };
    let detail = detail.ok()?;
    let event = |event: atf::Result<DetailEvent>| {
        let event = event.ok()?;
        // Not the format's own checksum, whose code is tested here.
        let payload = match detail.payload_bytes(&event) {
            Some(payload) => crc32fast::hash(payload),
            None => crc32fast::hash(&detail.payload(&event, usize::MAX).ok()?),
        };
        Some(Event {
            end: event.payload_offset() + event.payload_size(),
            time: event.header.timestamp,
            thread_id: event.header.thread_id,
            kind: (
                u16::from(event.header.event_type).into(),
                Some(event.header.flags.into()),
            ),
            of: event.header.index_seq,
            rest: Some(payload.into()),
        })
    };
    Some(Reading {
        events: detail.events_in(..).map(event).collect::<Option<_>>()?,
        is_proven: detail.checksum().ok()? == Checksum::Good
            && matches!(detail.completeness(), Completeness::Finalized)
            && detail.disagreements().is_empty(),
    })
}

/// Reads the events and payloads before the first gap in each thread of a session, and looks up the
/// name of every function.
fn session(path: &Path) -> Result<(Events, Names), String> {
    let text = |error: atf::Error| error.to_string();
    let session = atf::session::SessionReader::open(path).map_err(text)?;
    let symbols = session.symbols();
    let (mut events, mut names) = (Events::new(), Names::new());
    for entry in session.threads() {
        let Ok(thread) = entry.open() else { continue };
        let mut hasher = DefaultHasher::new();
        let kept = atf_fuzz::kept(&thread).map_err(text)?;
        for event in &kept {
            let name = || symbols.function(event.function).to_string();
            names.entry(event.function).or_insert_with(name);
            event.hash(&mut hasher);
        }
        events.insert(entry.id(), (kept.len(), hasher.finish()));
    }
    Ok((events, names))
}

fn seekable(bytes: &[u8]) -> Option<Seekable<std::io::Cursor<Vec<u8>>>> {
    Seekable::new(std::io::Cursor::new(bytes.to_vec())).ok()
}

/// Bytes that can only be read a few at a time.
struct Dribble(Vec<u8>);

impl ReadAt for Dribble {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let few = buffer
            .len()
            .min(if buffer.len() > 4096 { 4093 } else { 61 });
        self.0.read_at(offset, &mut buffer[..few])
    }
}
