//! Writes the two files of a thread.

mod check;
mod ends;
mod push;
mod reserve;

use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use super::registry::Registration;
use super::ring::{Buffer, Journal};
use super::section::{Section, whole_events};
use super::{
    Detail, Disk, Durability, Event, Link, Storage, ThreadSummary, WriteOptions, at, create_held,
    sync_name,
};
use crate::detail::DetailEventHeader;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use crate::index::IndexEvent;
use crate::manifest::Loss;
use crate::wire::{EventKind, Wire};
use check::EVENT;
use ends::index_header;
use push::with_payload;
use reserve::Reservations;
pub use reserve::ReservedDetail;

/// A writer for a thread's folder: `index.atf`, and `detail.atf` once there is a detail.
///
/// The positions of an event and its detail are assigned together, so their links always agree.
/// Events go into a buffer. A call that encounters an operating system error returns it, and so do
/// all later calls. A writer that is dropped before it is finalized writes its buffers and leaves
/// files that readers treat as unfinalized.
///
/// After a fork, the child must not use its parent's writers, because both would write to the same
/// files. With [`survive_kill`](WriteOptions::survive_kill), a call that writes to them returns
/// [`ErrorKind::Forked`] in the child, but events that fit into the buffers change the parent's.
///
/// ```
/// use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
/// use atf::{DetailEventType, EventKind};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("thread_0");
///
/// let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
/// let call = Event::new(1000, 0x0000_0001_0000_0007, EventKind::CALL, 1);
/// let detail = Detail::new(DetailEventType::FUNCTION_CALL, b"any bytes");
/// writer.write_with_detail(&call, &detail)?;
/// writer.write(&call.timestamp_ns(1250).event_kind(EventKind::RETURN))?;
/// let summary = writer.finalize()?;
/// assert_eq!((summary.event_count, summary.detail_count), (2, 1));
///
/// let reader = atf::thread::ThreadReader::open(&folder)?;
/// assert_eq!(reader.index().event_count(), 2);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct ThreadWriter {
    index: Section,
    /// The size up to which the index buffer may be filled. Near the wire version's limit, this is
    /// less than the buffer's size; it is 0 if no more events may be written.
    room_end: usize,
    last_timestamp: u64,
    next_index_seq: u64,
    /// The number of details written, excluding reserved ones.
    detail_count: u64,
    wire: Wire,
    thread_id: u32,
    state: State,
    first_timestamp: Option<u64>,
    detail: Option<Section>,
    /// The timestamps of the first and the last detail written.
    detail_times: (u64, u64),
    detail_index_seqs: (u64, u64),
    /// Reserved details, to which index events already link.
    reserved: Reservations,
    options: WriteOptions,
    folder: PathBuf,
    /// Whether this writer created the folder.
    is_new_folder: bool,
    storage: Arc<dyn Storage>,
    journal: Option<Journal>,
    registration: Option<Registration>,
}

#[derive(Debug)]
enum State {
    Open,
    Finalized,
    Failed(Error),
}

/// Returns an event with this link, and with depth 0 if its depth is unknown.
fn linked(event: &IndexEvent, detail_seq: Option<u64>) -> IndexEvent {
    IndexEvent {
        call_depth: event.call_depth.or(Some(0)),
        detail_seq,
        ..*event
    }
}

/// Syncs the names in a thread's folder, and the folder's own name if it is new.
fn sync_names(storage: &dyn Storage, folder: &Path, is_new: bool) -> Result<()> {
    storage.sync_folder(folder).map_err(at(folder))?;
    if is_new {
        sync_name(storage, folder)
    } else {
        Ok(())
    }
}

impl ThreadWriter {
    /// Creates the folder if it does not exist, and `index.atf` in it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], with [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the folder has an
    /// `index.atf` or `detail.atf`. On failure, the call leaves nothing behind.
    pub fn create(
        folder: impl AsRef<Path>,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        // The program may change its working directory before the other files are created.
        let folder = path::absolute(&folder).map_err(at(folder.as_ref()))?;
        Self::create_on(Arc::new(Disk), folder, thread_id, options)
    }

    /// Like [`create`](Self::create), but on a storage other than the disk.
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Self::create).
    pub fn create_on(
        storage: Arc<dyn Storage>,
        folder: impl AsRef<Path>,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        let (held, is_new) = create_held(&*storage, &folder)?;
        let storage = held.unwrap_or(storage);
        Self::create_files(storage, folder, is_new, thread_id, options)
    }

    /// Creates a thread in a folder that `storage` keeps open.
    pub(in crate::write) fn create_in(
        storage: Arc<dyn Storage>,
        folder: PathBuf,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        let is_new = storage.create_folder(&folder).map_err(at(&folder))?;
        Self::create_files(storage, folder, is_new, thread_id, options)
    }

    fn create_files(
        storage: Arc<dyn Storage>,
        folder: PathBuf,
        is_new: bool,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        let made = Self::create_index(&*storage, &folder, thread_id, options, is_new);
        let (index, journal) = made.inspect_err(|_| {
            if is_new {
                // Ignore this error, because the first one is returned.
                let _ = storage.remove_folder(&folder);
            }
        })?;
        let mut this = Self {
            room_end: 0,
            index,
            last_timestamp: 0,
            next_index_seq: 0,
            detail_count: 0,
            wire: options.wire,
            thread_id,
            state: State::Open,
            first_timestamp: None,
            detail: None,
            detail_times: (0, 0),
            detail_index_seqs: (0, 0),
            reserved: Reservations::default(),
            options: options.clone(),
            folder,
            is_new_folder: is_new,
            storage,
            journal,
            registration: None,
        };
        this.set_room();
        Ok(this)
    }

    fn create_index(
        storage: &dyn Storage,
        folder: &Path,
        thread_id: u32,
        options: &WriteOptions,
        is_new: bool,
    ) -> Result<(Section, Option<Journal>)> {
        for name in [INDEX_FILE, DETAIL_FILE, RING_FILE] {
            let path = folder.join(name);
            if storage.exists(&path).map_err(at(&path))? {
                return Err(at(&path)(io::ErrorKind::AlreadyExists.into()));
            }
        }
        let path = folder.join(INDEX_FILE);
        let header = index_header(options, thread_id).encode()?;
        let capacity = options.buffer_capacity();
        let (buffer, mut journal) = if options.survive_kill {
            let (buffer, journal) = Journal::create(storage, folder, thread_id, options, capacity)?;
            (buffer, Some(journal))
        } else {
            let buffer = Buffer::memory(capacity);
            (buffer.map_err(|error| error.with_path(Some(&path)))?, None)
        };
        let made = Section::create(storage, path, &header, buffer, whole_events);
        let made = made.and_then(|section| {
            if options.durability == Durability::EachFlush
                && let Err(error) = sync_names(storage, folder, is_new)
            {
                // Ignore this error, because the first one is returned.
                let _ = storage.remove(section.path());
                return Err(error);
            }
            Ok(section)
        });
        if let (Err(_), Some(journal)) = (&made, &mut journal) {
            journal.remove(storage);
        }
        Ok((made?, journal))
    }

    pub(in crate::write) fn register(&mut self, registration: Registration) {
        self.registration = Some(registration);
    }

    /// Returns the thread's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the thread id in headers and events.
    #[must_use]
    pub fn thread_id(&self) -> u32 {
        self.thread_id
    }

    /// Returns the position of the next index event.
    #[must_use]
    pub fn next_index_seq(&self) -> u64 {
        self.next_index_seq
    }

    /// Returns the number of whole index events in the file. These events survive no matter what
    /// happens to this process. After an error, readers find exactly these events.
    #[must_use]
    pub fn flushed_events(&self) -> u64 {
        self.index.count()
    }

    /// Returns the number of whole detail events in the file.
    #[must_use]
    pub fn flushed_details(&self) -> u64 {
        self.detail.as_ref().map_or(0, Section::count)
    }

    /// Returns the size of the events and details written so far, in bytes.
    #[doc(hidden)]
    pub fn size(&self) -> u64 {
        let size = |section: &Section| {
            section
                .events_size()
                .saturating_add(section.filled() as u64)
        };
        let details = self.detail.as_ref().map_or(0, size);
        size(&self.index).saturating_add(details)
    }

    /// Returns whether the files can hold this many more events with details.
    #[doc(hidden)]
    pub fn has_room_for(&self, events: u64) -> bool {
        let has = |count: u64, most: u64| count.saturating_add(events) <= most;
        has(self.next_index_seq, self.wire.most_events())
            && has(self.next_detail_place(), self.wire.no_detail_seq())
    }

    /// Returns whether [`finalize`](Self::finalize) has succeeded.
    #[must_use]
    pub fn is_finalized(&self) -> bool {
        matches!(self.state, State::Finalized)
    }

    /// Writes an event without a detail and returns its `index_seq`.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::TimeGoesBack`] at `timestamp_ns` and [`ErrorKind::OutOfRange`] at
    ///   `event_kind`, unless [`verbatim`](WriteOptions::verbatim) is set;
    ///   [`ErrorKind::LimitReached`] at `event_count`: the event is rejected, but later ones may be
    ///   accepted.
    /// - [`ErrorKind::AlreadyFinalized`].
    /// - [`ErrorKind::Io`], returned again by each later call.
    #[inline]
    pub fn write(&mut self, event: &Event) -> Result<u64> {
        if let Some(seq) = self.write_buffered(event) {
            return Ok(seq);
        }
        let (kind, depth) = (event.event_kind, event.call_depth);
        self.write_slowly(event.timestamp_ns, event.function_id, kind, depth)
    }

    /// Writes an event without a detail, as [`write`](Self::write) does, if it is valid and the
    /// buffer has room for it. Otherwise, returns `None` and writes nothing. Calls no other
    /// function, so a C function that wraps it need not save registers.
    #[inline]
    pub fn write_buffered(&mut self, event: &Event) -> Option<u64> {
        let is_quick = self.is_plain(event.timestamp_ns, event.event_kind) && self.has_room();
        if !is_quick {
            return None;
        }
        self.push_buffered(&self.decoded(event, None))
    }

    /// Writes an event that the fast path could not handle, or rejects it. It is a separate
    /// function, so that `write` is small enough to be inlined. Its arguments are numbers, which
    /// fit into registers.
    #[cold]
    #[inline(never)]
    fn write_slowly(
        &mut self,
        timestamp_ns: u64,
        function_id: u64,
        event_kind: EventKind,
        call_depth: u32,
    ) -> Result<u64> {
        self.check(timestamp_ns, event_kind)?;
        let event = Event::new(timestamp_ns, function_id, event_kind, call_depth);
        self.push(&self.decoded(&event, None))
    }

    /// Writes an event with a detail.
    ///
    /// # Errors
    ///
    /// The errors of [`write`](Self::write); [`ErrorKind::OutOfRange`] at `total_length` for a
    /// payload of 4 GiB or more, [`ErrorKind::LimitReached`] at `detail_count`, and
    /// [`ErrorKind::DetailsMissing`] while details that [`write_index`](Self::write_index) reserved
    /// are neither written nor dropped, because those must come first. The event is written
    /// together with its detail or not at all.
    pub fn write_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<Link> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_no_reservations()?;
        let seq = Some(self.detail_count);
        let event = self.decoded(event, seq);
        let header = self.detail_header(event.timestamp_ns, self.next_index_seq, detail)?;
        self.push_pair(&event, &header, with_payload(detail.payload))
    }

    /// Writes an event that a reader decoded, with its detail, for tools that copy traces. Keeps
    /// the thread, depth, types and flags. Positions are those in this file: the arguments'
    /// `detail_seq` and `index_seq` are ignored. Writes an unknown depth as 0.
    ///
    /// # Errors
    ///
    /// The errors of [`write_with_detail`](Self::write_with_detail); without
    /// [`verbatim`](WriteOptions::verbatim) also [`ErrorKind::Disagrees`] at `timestamp` if the
    /// detail's timestamp differs, and [`ErrorKind::OutOfRange`] at `event_kind` for a kind that
    /// wire version 2 cannot represent. The detail's `total_length` must match the payload.
    pub fn write_decoded(
        &mut self,
        event: &IndexEvent,
        detail: Option<(&DetailEventHeader, &[u8])>,
    ) -> Result<Option<Link>> {
        self.check(event.timestamp_ns, event.event_kind)?;
        let Some((header, payload)) = detail else {
            return self.push(&linked(event, None)).map(|_| None);
        };
        self.check_no_reservations()?;
        if !self.options.verbatim {
            self.compare("timestamp", header.timestamp, event.timestamp_ns, EVENT)?;
        }
        let header = DetailEventHeader {
            total_length: self.total_length(payload)?,
            index_seq: self.next_index_seq,
            ..*header
        };
        let event = linked(event, Some(self.detail_count));
        self.push_pair(&event, &header, with_payload(payload))
            .map(Some)
    }

    /// Like [`write_decoded`](Self::write_decoded), with a payload that may not fit into memory:
    /// `read` supplies it in pieces, which add up to the length in the header. If `read` fails, the
    /// writer fails too.
    pub(crate) fn write_decoded_from(
        &mut self,
        event: &IndexEvent,
        header: &DetailEventHeader,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_no_reservations()?;
        let event = linked(event, Some(self.detail_count));
        let header = DetailEventHeader {
            index_seq: self.next_index_seq,
            ..*header
        };
        let size = u64::from(header.total_length).saturating_sub(DetailEventHeader::SIZE as u64);
        let put = |section: &mut Section, header: &[u8]| section.push_read(header, size, read);
        self.push_pair(&event, &header, put).map(drop)
    }

    /// Passes all events to the operating system, details first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], [`ErrorKind::AlreadyFinalized`].
    pub fn flush(&mut self) -> Result<()> {
        self.check_open()?;
        let flushed = self.flush_buffers();
        flushed.map_err(|error| self.fail(error))?;
        self.set_room();
        Ok(())
    }

    /// Writes the remaining events, the footers, and finally the headers. Nothing can be written
    /// afterwards.
    ///
    /// Details that are reserved but not written are dropped, as by
    /// [`drop_detail`](Self::drop_detail), and count in the summary's
    /// [`dropped_details`](ThreadSummary::dropped_details).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyFinalized`]; [`ErrorKind::Io`], which leaves the files unfinalized.
    pub fn finalize(&mut self) -> Result<ThreadSummary> {
        self.check_open()?;
        self.drop_details_before(u64::MAX)?;
        if let Err(error) = self.write_ends() {
            return Err(self.fail(error));
        }
        self.state = State::Finalized;
        self.room_end = 0;
        let summary = self.summary();
        if let Some(registration) = &self.registration {
            registration.finalized(&summary);
        }
        Ok(summary)
    }

    /// Returns the events that were accepted, but did not reach the file before a write failed.
    #[doc(hidden)]
    pub fn lost_events(&self) -> Option<Loss> {
        let count = self.next_index_seq.saturating_sub(self.index.count());
        // A journal keeps the events that could not be written.
        if !matches!(self.state, State::Failed(_)) || self.journal.is_some() || count == 0 {
            return None;
        }
        let size = usize::try_from(count).ok()?.checked_mul(IndexEvent::SIZE)?;
        let lost = self.index.last_buffered(size);
        let first = lost.and_then(<[u8]>::first_chunk);
        let first_ns = first.map_or(self.last_timestamp, |event| {
            IndexEvent::decode(self.wire, 0, event).timestamp_ns
        });
        Some(Loss::new(count, first_ns, self.last_timestamp))
    }

    /// Returns a summary of the data written so far.
    #[must_use]
    pub fn summary(&self) -> ThreadSummary {
        ThreadSummary {
            thread_id: self.thread_id,
            event_count: self.next_index_seq,
            detail_count: self.detail_count,
            dropped_details: self.reserved.dropped,
            time_range: self.first().map(|first| (first, self.last_timestamp)),
        }
    }
}
