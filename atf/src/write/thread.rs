//! Writing the two files of a thread.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::buffer::Buffer;
use super::ring::Ring;
use super::section::Section;
use super::session::Registration;
use super::{Detail, Disk, Durability, Event, Link, Storage, ThreadSummary, WriteOptions, at};
use crate::detail::{DetailEventHeader, DetailFooter, DetailHeader};
use crate::error::{Error, ErrorKind, Result};
use crate::header::HEADER_SIZE;
use crate::index::{IndexEvent, IndexFooter, IndexHeader};
use crate::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use crate::wire::{EventKind, IndexFlags, Wire, v1, v2};

/// The smallest buffer that is taken.
const LEAST_BUFFER: usize = 4 << 10;
/// How many details may be reserved and not yet written: 16 MiB of memory.
const MOST_RESERVATIONS: usize = 1 << 20;

/// Writes a thread's folder: `index.atf`, and `detail.atf` from the first detail on.
///
/// Both counters are reserved together, so that links cannot disagree. An event goes into a buffer;
/// an error of the operating system is returned by the call that meets it and by all later ones.
/// Dropped before it is finalized, it writes its buffers and leaves files that readers read as
/// unfinalized.
///
/// ```
/// use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
/// use atf::{DetailEventType, EventKind};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("thread_0");
///
/// let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
/// let call = Event {
///     timestamp_ns: 1000,
///     function_id: 0x0000_0001_0000_0007,
///     event_kind: EventKind::CALL,
///     call_depth: 1,
/// };
/// let detail = Detail {
///     event_type: DetailEventType::FUNCTION_CALL,
///     flags: 0,
///     payload: b"any bytes",
/// };
/// writer.write_with_detail(&call, &detail)?;
/// writer.write(&Event { timestamp_ns: 1250, event_kind: EventKind::RETURN, ..call })?;
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
    /// Up to where the index buffer may be filled: less than its size near the limit of the wire
    /// version, 0 when nothing more may be written.
    room_end: usize,
    last_timestamp: u64,
    next_index_seq: u64,
    /// The number of details written, without those that are reserved.
    detail_count: u64,
    wire: Wire,
    thread_id: u32,
    verbatim: bool,
    state: State,
    first_timestamp: Option<u64>,
    detail: Option<Section>,
    /// Of the details written: the first and the last one's.
    detail_times: (u64, u64),
    detail_index_seqs: (u64, u64),
    /// Details that index events link to already, oldest first.
    reservations: VecDeque<Reservation>,
    options: WriteOptions,
    folder: PathBuf,
    storage: Arc<dyn Storage>,
    ring: Option<Ring>,
    registration: Option<Registration>,
}

#[derive(Debug)]
enum State {
    Open,
    Finalized,
    Failed(Error),
}

/// What the detail of an index event must repeat.
#[derive(Debug, Clone, Copy)]
struct Reservation {
    index_seq: u64,
    timestamp_ns: u64,
}

impl ThreadWriter {
    /// Makes the folder where it is not there, and `index.atf` in it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]: with [`AlreadyExists`](io::ErrorKind::AlreadyExists) where the
    /// folder has an `index.atf` or `detail.atf`. Nothing is left behind then.
    pub fn create(
        folder: impl AsRef<Path>,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        Self::create_on(Arc::new(Disk), folder, thread_id, options)
    }

    /// As [`create`](Self::create), on another storage than the disk.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_on(
        storage: Arc<dyn Storage>,
        folder: impl AsRef<Path>,
        thread_id: u32,
        options: &WriteOptions,
    ) -> Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        let is_new = storage.create_folder(&folder).map_err(at(&folder))?;
        let (index, ring) = match Self::create_index(&*storage, &folder, thread_id, options) {
            Ok(made) => made,
            Err(error) => {
                if is_new {
                    // The error that counts is the first one.
                    let _ = storage.remove_folder(&folder);
                }
                return Err(error);
            }
        };
        let mut this = Self {
            room_end: 0,
            index,
            last_timestamp: 0,
            next_index_seq: 0,
            detail_count: 0,
            wire: options.wire,
            thread_id,
            verbatim: options.verbatim,
            state: State::Open,
            first_timestamp: None,
            detail: None,
            detail_times: (0, 0),
            detail_index_seqs: (0, 0),
            reservations: VecDeque::new(),
            options: options.clone(),
            folder,
            storage,
            ring,
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
    ) -> Result<(Section, Option<Ring>)> {
        for name in [INDEX_FILE, DETAIL_FILE, RING_FILE] {
            let path = folder.join(name);
            if storage.exists(&path).map_err(at(&path))? {
                return Err(at(&path)(io::ErrorKind::AlreadyExists.into()));
            }
        }
        let path = folder.join(INDEX_FILE);
        let header = index_header(options, thread_id).encode()?;
        let capacity = capacity(options);
        let (buffer, mut ring) = match options.survive_kill {
            true => {
                let (buffer, ring) = Ring::create(storage, folder, thread_id, options, capacity)?;
                (buffer, Some(ring))
            }
            false => (Buffer::memory(capacity), None),
        };
        let made = Section::create(storage, path, &header, buffer, whole_events);
        let made = made.and_then(|section| {
            if options.durability == Durability::EachFlush
                && let Err(error) = storage.sync_folder(folder)
            {
                // The error that counts is the first one.
                let _ = storage.remove(section.path());
                return Err(at(folder)(error));
            }
            Ok(section)
        });
        if let (Err(_), Some(ring)) = (&made, &mut ring) {
            ring.remove(storage);
        }
        Ok((made?, ring))
    }

    pub(super) fn register(&mut self, registration: Registration) {
        self.registration = Some(registration);
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The thread that headers and events name.
    #[must_use]
    pub fn thread_id(&self) -> u32 {
        self.thread_id
    }

    /// The position that the next index event gets.
    #[must_use]
    pub fn next_index_seq(&self) -> u64 {
        self.next_index_seq
    }

    /// The position that the next detail event gets, behind those that are reserved.
    #[must_use]
    pub fn next_detail_seq(&self) -> u64 {
        self.detail_count
            .saturating_add(self.reservations.len() as u64)
    }

    /// How many index events the file holds as a whole: those that survive whatever becomes of
    /// this process. After an error this is what a reader finds.
    #[must_use]
    pub fn flushed_events(&self) -> u64 {
        self.index.count()
    }

    /// How many detail events the file holds as a whole.
    #[must_use]
    pub fn flushed_details(&self) -> u64 {
        self.detail.as_ref().map_or(0, Section::count)
    }

    /// Whether [`finalize`](Self::finalize) has succeeded.
    #[must_use]
    pub fn is_finalized(&self) -> bool {
        matches!(self.state, State::Finalized)
    }

    /// Writes an event without details and says its `index_seq`.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::TimeGoesBack`] at `timestamp_ns` and [`ErrorKind::OutOfRange`] at
    ///   `event_kind`, unless the options say [`verbatim`](WriteOptions::verbatim);
    ///   [`ErrorKind::LimitReached`] at `event_count`: the event is refused, others may follow.
    /// - [`ErrorKind::AlreadyFinalized`].
    /// - [`ErrorKind::Io`], and again at each later call.
    #[inline]
    pub fn write(&mut self, event: &Event) -> Result<u64> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.push(&self.decoded(event, None))
    }

    /// Writes an event with details.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); [`ErrorKind::OutOfRange`] at `total_length` for 4 GiB of payload,
    /// [`ErrorKind::LimitReached`] at `detail_count`, and [`ErrorKind::DetailsMissing`] while
    /// details that [`write_index`](Self::write_index) reserved are not written: they come first.
    /// The event is written with its details or not at all.
    pub fn write_with_detail(&mut self, event: &Event, detail: &Detail<'_>) -> Result<Link> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_no_reservations()?;
        let seq = Some(self.detail_count);
        let event = self.decoded(event, seq);
        let header = self.detail_header(event.timestamp_ns, self.next_index_seq, detail)?;
        self.push_pair(&event, &header, detail.payload)
    }

    /// Writes an event and may reserve the detail that [`write_detail`](Self::write_detail) brings
    /// later: the two halves of [`write_with_detail`](Self::write_with_detail), for tracers that
    /// keep the two kinds apart (S3).
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); [`ErrorKind::Disagrees`] at `detail_seq` where it is not
    /// [`next_detail_seq`](Self::next_detail_seq), [`ErrorKind::LimitReached`] at `detail_count`,
    /// and [`ErrorKind::TooManyReservations`] where 2²⁰ details are reserved and not yet written.
    pub fn write_index(&mut self, event: &Event, detail_seq: Option<u64>) -> Result<u64> {
        let Some(found) = detail_seq else {
            return self.write(event);
        };
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_detail_limit()?;
        self.compare("detail_seq", found, self.next_detail_seq(), COUNTER)?;
        if self.reservations.len() >= MOST_RESERVATIONS {
            let limit = MOST_RESERVATIONS as u64;
            return Err(self.refusal(ErrorKind::TooManyReservations { limit }, "detail_seq"));
        }
        let index_seq = self.push(&self.decoded(event, detail_seq))?;
        self.reservations.push_back(Reservation {
            index_seq,
            timestamp_ns: event.timestamp_ns,
        });
        Ok(index_seq)
    }

    /// Writes the oldest detail that [`write_index`](Self::write_index) reserved and says its
    /// `detail_seq`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotReserved`]; [`ErrorKind::Disagrees`] at `index_seq` or `timestamp` where
    /// they are not those of the reservation; [`ErrorKind::OutOfRange`] at `total_length`,
    /// [`ErrorKind::AlreadyFinalized`] and [`ErrorKind::Io`] as ever.
    pub fn write_detail(
        &mut self,
        index_seq: u64,
        timestamp_ns: u64,
        detail: &Detail<'_>,
    ) -> Result<u64> {
        self.check_open()?;
        let Some(reserved) = self.reservations.front().copied() else {
            return Err(self.refusal(ErrorKind::NotReserved, "detail_seq"));
        };
        self.compare("index_seq", index_seq, reserved.index_seq, RESERVATION)?;
        self.compare(
            "timestamp",
            timestamp_ns,
            reserved.timestamp_ns,
            RESERVATION,
        )?;
        let header = self.detail_header(timestamp_ns, index_seq, detail)?;
        let detail_seq = self.push_detail(&header, detail.payload)?;
        self.reservations.pop_front();
        Ok(detail_seq)
    }

    /// Writes an event as a reader gave it, with the detail that belongs to it, for tools that
    /// copy. Thread, depth, types and flags are kept; the positions are those of this file, so
    /// `detail_seq` and `index_seq` of what is given do not matter. An unknown depth is written as
    /// 0.
    ///
    /// # Errors
    ///
    /// As [`write_with_detail`](Self::write_with_detail); without
    /// [`verbatim`](WriteOptions::verbatim) also [`ErrorKind::Disagrees`] at `timestamp` where the
    /// detail has another one, and [`ErrorKind::OutOfRange`] at `event_kind` for a kind that wire
    /// version 2 cannot hold. The detail's `total_length` must be that of the payload.
    pub fn write_decoded(
        &mut self,
        event: &IndexEvent,
        detail: Option<(&DetailEventHeader, &[u8])>,
    ) -> Result<Option<Link>> {
        self.check(event.timestamp_ns, event.event_kind)?;
        let mut event = *event;
        event.call_depth = event.call_depth.or(Some(0));
        event.detail_seq = None;
        let Some((header, payload)) = detail else {
            return self.push(&event).map(|_| None);
        };
        self.check_no_reservations()?;
        if !self.verbatim {
            self.compare("timestamp", header.timestamp, event.timestamp_ns, EVENT)?;
        }
        event.detail_seq = Some(self.detail_count);
        let header = DetailEventHeader {
            total_length: self.total_length(payload)?,
            index_seq: self.next_index_seq,
            ..*header
        };
        self.push_pair(&event, &header, payload).map(Some)
    }

    /// As [`write_decoded`](Self::write_decoded) with a payload that need not fit into memory:
    /// `read` fills one piece after the other, of as many bytes as the header says. Where it fails,
    /// the writer does.
    pub(crate) fn write_decoded_from(
        &mut self,
        event: &IndexEvent,
        header: &DetailEventHeader,
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.check(event.timestamp_ns, event.event_kind)?;
        self.check_no_reservations()?;
        let event = IndexEvent {
            call_depth: event.call_depth.or(Some(0)),
            detail_seq: Some(self.detail_count),
            ..*event
        };
        let header = DetailEventHeader {
            index_seq: self.next_index_seq,
            ..*header
        };
        let size = u64::from(header.total_length).saturating_sub(DetailEventHeader::SIZE as u64);
        let put = |section: &mut Section, header: &[u8]| section.push_read(header, size, read);
        self.push_pair_by(&event, &header, put).map(drop)
    }

    /// Hands all events over to the operating system, details first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], [`ErrorKind::AlreadyFinalized`].
    pub fn flush(&mut self) -> Result<()> {
        self.check_open()?;
        let flushed = self.flush_buffers();
        flushed.map_err(|error| self.fail(error))
    }

    /// Writes what is left, the footers, and the headers last. Nothing can be written after it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DetailsMissing`] while reserved details are not written, which leaves the
    /// files as they are; [`ErrorKind::AlreadyFinalized`]; [`ErrorKind::Io`], with which the files
    /// stay unfinalized.
    pub fn finalize(&mut self) -> Result<ThreadSummary> {
        self.check_open()?;
        self.check_no_reservations()?;
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

    /// What has been written so far.
    #[must_use]
    pub fn summary(&self) -> ThreadSummary {
        ThreadSummary {
            thread_id: self.thread_id,
            event_count: self.next_index_seq,
            detail_count: self.detail_count,
            time_range: self.first().map(|first| (first, self.last_timestamp)),
        }
    }

    #[inline]
    fn decoded(&self, event: &Event, detail_seq: Option<u64>) -> IndexEvent {
        IndexEvent {
            timestamp_ns: event.timestamp_ns,
            function_id: event.function_id,
            thread_id: self.thread_id,
            event_kind: event.event_kind,
            call_depth: Some(event.call_depth),
            detail_seq,
        }
    }

    fn detail_header(
        &self,
        timestamp: u64,
        index_seq: u64,
        detail: &Detail<'_>,
    ) -> Result<DetailEventHeader> {
        Ok(DetailEventHeader {
            total_length: self.total_length(detail.payload)?,
            event_type: detail.event_type,
            flags: detail.flags,
            index_seq,
            thread_id: self.thread_id,
            timestamp,
        })
    }

    fn total_length(&self, payload: &[u8]) -> Result<u32> {
        let found = (payload.len() as u64).saturating_add(DetailEventHeader::SIZE as u64);
        u32::try_from(found).map_err(|_| {
            let (min, max) = (DetailEventHeader::SIZE as u64, u32::MAX.into());
            self.refusal(ErrorKind::OutOfRange { found, min, max }, "total_length")
        })
    }

    /// Checks what the format demands of tracers.
    #[inline]
    fn check(&self, timestamp_ns: u64, event_kind: EventKind) -> Result<()> {
        let is_known = (EventKind::CALL..=EventKind::EXCEPTION).contains(&event_kind);
        match timestamp_ns >= self.last_timestamp && is_known {
            true => Ok(()),
            false => self.check_slowly(timestamp_ns, event_kind),
        }
    }

    #[cold]
    fn check_slowly(&self, timestamp_ns: u64, event_kind: EventKind) -> Result<()> {
        self.check_open()?;
        if self.verbatim {
            return Ok(());
        }
        if timestamp_ns < self.last_timestamp {
            let kind = ErrorKind::TimeGoesBack {
                found: timestamp_ns,
                last: self.last_timestamp,
            };
            return Err(self.refusal(kind, "timestamp_ns"));
        }
        let kind = ErrorKind::OutOfRange {
            found: u32::from(event_kind).into(),
            min: u32::from(EventKind::CALL).into(),
            max: u32::from(EventKind::EXCEPTION).into(),
        };
        Err(self.refusal(kind, "event_kind"))
    }

    fn check_open(&self) -> Result<()> {
        match &self.state {
            State::Open => Ok(()),
            State::Failed(error) => Err(error.clone()),
            State::Finalized => {
                let error = Error::new(ErrorKind::AlreadyFinalized);
                Err(error.with_path(Some(self.index.path())))
            }
        }
    }

    fn check_no_reservations(&self) -> Result<()> {
        let count = self.reservations.len() as u64;
        match count {
            0 => Ok(()),
            _ => Err(self.refusal(ErrorKind::DetailsMissing { count }, "detail_count")),
        }
    }

    fn check_detail_limit(&self) -> Result<()> {
        let limit = most_details(self.wire);
        match self.next_detail_seq() < limit {
            true => Ok(()),
            false => Err(self.refusal(ErrorKind::LimitReached { limit }, "detail_count")),
        }
    }

    fn compare(
        &self,
        field: &'static str,
        found: u64,
        expected: u64,
        by: &'static str,
    ) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let kind = ErrorKind::Disagrees {
            found,
            expected,
            by,
        };
        Err(self.refusal(kind, field))
    }

    /// An error about something that was not written.
    #[cold]
    fn refusal(&self, kind: ErrorKind, field: &'static str) -> Error {
        Error::new(kind)
            .with_field(field)
            .with_path(Some(self.index.path()))
    }

    /// Puts an event into the index buffer.
    #[inline]
    fn push(&mut self, event: &IndexEvent) -> Result<u64> {
        event.check_fits(self.wire)?;
        if self.index.filled() >= self.room_end {
            self.make_room()?;
        }
        Ok(self.push_checked(event))
    }

    /// Puts an event for which there is room into the index buffer.
    #[inline]
    fn push_checked(&mut self, event: &IndexEvent) -> u64 {
        let wire = self.wire;
        self.index.push(|place| event.encode_to(wire, place));
        self.last_timestamp = event.timestamp_ns;
        let seq = self.next_index_seq;
        self.next_index_seq = seq.wrapping_add(1);
        seq
    }

    /// Puts a detail and its event into the buffers, or neither.
    fn push_pair(
        &mut self,
        event: &IndexEvent,
        header: &DetailEventHeader,
        payload: &[u8],
    ) -> Result<Link> {
        self.push_pair_by(event, header, |section, header| {
            section.push_parts(header, payload)
        })
    }

    /// As [`push_pair`](Self::push_pair); `put` brings the detail into its file.
    fn push_pair_by(
        &mut self,
        event: &IndexEvent,
        header: &DetailEventHeader,
        put: impl FnOnce(&mut Section, &[u8]) -> Result<()>,
    ) -> Result<Link> {
        self.check_detail_limit()?;
        event.check_fits(self.wire)?;
        if self.index.filled() >= self.room_end {
            self.make_room()?;
        }
        let detail_seq = self.push_detail_by(header, put)?;
        Ok(Link {
            index_seq: self.push_checked(event),
            detail_seq,
        })
    }

    fn push_detail(&mut self, header: &DetailEventHeader, payload: &[u8]) -> Result<u64> {
        self.push_detail_by(header, |section, header| {
            section.push_parts(header, payload)
        })
    }

    fn push_detail_by(
        &mut self,
        header: &DetailEventHeader,
        put: impl FnOnce(&mut Section, &[u8]) -> Result<()>,
    ) -> Result<u64> {
        let bytes = header.encode(self.wire)?;
        if self.detail.is_none() {
            self.create_detail().map_err(|error| self.fail(error))?;
        }
        let Some(detail) = &mut self.detail else {
            return Ok(self.detail_count);
        };
        put(detail, &bytes).map_err(|error| self.fail(error))?;
        let seq = self.detail_count;
        if seq == 0 {
            self.detail_times.0 = header.timestamp;
            self.detail_index_seqs.0 = header.index_seq;
        }
        self.detail_times.1 = header.timestamp;
        self.detail_index_seqs.1 = header.index_seq;
        self.detail_count = seq.saturating_add(1);
        Ok(seq)
    }

    fn create_detail(&mut self) -> Result<()> {
        let options = &self.options;
        let buffer = self.ring.as_mut().and_then(Ring::take_detail);
        let buffer = buffer.unwrap_or_else(|| Buffer::memory(capacity(options)));
        self.detail = Some(Section::create(
            &*self.storage,
            self.folder.join(DETAIL_FILE),
            &detail_header(options, self.thread_id).encode(),
            buffer,
            whole_details,
        )?);
        if options.durability == Durability::EachFlush {
            self.storage
                .sync_folder(&self.folder)
                .map_err(at(&self.folder))?;
        }
        if let Some(registration) = &self.registration {
            registration.has_detail();
        }
        Ok(())
    }

    /// Makes room for an event in the index buffer, or says why there is none.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.flush()?;
        self.set_room();
        if self.room_end > 0 {
            return Ok(());
        }
        let limit = most_events(self.wire);
        Err(self.refusal(ErrorKind::LimitReached { limit }, "event_count"))
    }

    /// Lets the empty index buffer be filled, as far as the wire version can count.
    fn set_room(&mut self) {
        let left = most_events(self.wire).saturating_sub(self.next_index_seq);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let most = self.index.capacity() / IndexEvent::SIZE;
        self.room_end = most.min(left).saturating_mul(IndexEvent::SIZE);
    }

    /// Goes on as if that many events and details were there already.
    #[cfg(test)]
    pub(super) fn count_from(&mut self, events: u64, details: u64) {
        self.next_index_seq = events;
        self.detail_count = details;
        self.set_room();
    }

    /// Makes this process one that the ring does not belong to.
    #[cfg(test)]
    pub(super) fn pretend_owner(&mut self, owner: u32) {
        if let Some(ring) = &mut self.ring {
            ring.owner = owner;
        }
    }

    /// The timestamp of the first event.
    fn first(&self) -> Option<u64> {
        self.first_timestamp.or_else(|| {
            let first = self.index.buffered().first_chunk()?;
            Some(IndexEvent::decode(self.wire, self.thread_id, first).timestamp_ns)
        })
    }

    /// Sends both buffers on, details first, so that no link in the file leads nowhere.
    fn flush_buffers(&mut self) -> Result<()> {
        if let Some(ring) = &self.ring {
            ring.check_owner()?;
        }
        self.first_timestamp = self.first();
        let is_durable = self.options.durability == Durability::EachFlush;
        if let Some(detail) = &mut self.detail {
            detail.flush()?;
            if is_durable {
                detail.sync()?;
            }
        }
        self.index.flush()?;
        match is_durable {
            true => self.index.sync(),
            false => Ok(()),
        }
    }

    /// Writes the rest, the footers and, last, the headers: the index file's header says that all
    /// the rest is there, so nothing may follow it.
    fn write_ends(&mut self) -> Result<()> {
        self.flush_buffers()?;
        let index_footer = self.index_footer();
        if let Some(detail) = &mut self.detail {
            let footer = DetailFooter {
                checksum: detail.checksum(),
                event_count: self.detail_count,
                bytes_length: detail.events_size(),
                time_start_ns: self.detail_times.0,
                time_end_ns: self.detail_times.1,
            };
            detail.write_footer(&footer.encode())?;
        }
        self.index.write_footer(&index_footer.encode())?;
        self.sync_files()?;
        if let Some(detail) = &mut self.detail {
            let header = DetailHeader {
                event_count: self.detail_count,
                bytes_length: detail.events_size(),
                index_seq_start: self.detail_index_seqs.0,
                index_seq_end: self.detail_index_seqs.1,
                ..detail_header(&self.options, self.thread_id)
            };
            detail.rewrite_header(&header.encode())?;
        }
        let flags = match self.detail {
            Some(_) => IndexFlags::HAS_DETAIL_FILE,
            None => IndexFlags(0),
        };
        let header = IndexHeader {
            flags,
            event_count: self.next_index_seq,
            footer_offset: self.index.size(),
            time_start_ns: index_footer.time_start_ns,
            time_end_ns: index_footer.time_end_ns,
            ..index_header(&self.options, self.thread_id)
        };
        self.index.rewrite_header(&header.encode()?)?;
        self.sync_files()?;
        if let Some(ring) = &mut self.ring {
            ring.remove(&*self.storage);
        }
        match self.options.durability {
            Durability::None => Ok(()),
            _ => self
                .storage
                .sync_folder(&self.folder)
                .map_err(at(&self.folder)),
        }
    }

    fn index_footer(&self) -> IndexFooter {
        IndexFooter {
            checksum: self.index.checksum(),
            event_count: self.next_index_seq,
            time_start_ns: self.first_timestamp.unwrap_or(0),
            time_end_ns: self.last_timestamp,
            bytes_written: self.index.events_size(),
        }
    }

    fn sync_files(&mut self) -> Result<()> {
        if self.options.durability == Durability::None {
            return Ok(());
        }
        if let Some(detail) = &mut self.detail {
            detail.sync()?;
        }
        self.index.sync()
    }

    /// Lets every later call fail as this one does. Where it was not the index file that failed, it
    /// gets the events that are left, up to the first whose detail is lost.
    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        let (wire, details) = (self.wire, self.flushed_details());
        self.index.rescue(|events| {
            let (events, _) = events.as_chunks();
            let is_whole = |event: &&[u8; IndexEvent::SIZE]| {
                let link = IndexEvent::decode(wire, 0, event).detail_seq;
                link.is_none_or(|seq| seq < details)
            };
            let whole = events.iter().take_while(is_whole).count();
            whole.saturating_mul(IndexEvent::SIZE)
        });
        self.state = State::Failed(error.clone());
        self.room_end = 0;
        error
    }
}

impl Drop for ThreadWriter {
    fn drop(&mut self) {
        if matches!(self.state, State::Open) {
            // Nobody is left to be told of an error; what is in the file stays a valid prefix.
            let flushed = self.flush_buffers();
            if let (Ok(()), Some(ring)) = (flushed, &mut self.ring) {
                ring.remove(&*self.storage);
            }
        }
    }
}

/// What a detail is compared with.
const COUNTER: &str = "the writer's counter";
const RESERVATION: &str = "the oldest reservation";
const EVENT: &str = "its index event";

fn capacity(options: &WriteOptions) -> usize {
    let whole = options.buffer_size / IndexEvent::SIZE;
    whole.saturating_mul(IndexEvent::SIZE).max(LEAST_BUFFER)
}

/// How many events an index file can count.
fn most_events(wire: Wire) -> u64 {
    match wire {
        Wire::V1 => u32::MAX.into(),
        Wire::V2 => u64::MAX,
    }
}

/// How many details can be linked to: every number below the one that stands for none.
fn most_details(wire: Wire) -> u64 {
    match wire {
        Wire::V1 => v1::IndexEvent::DETAIL_SEQ_NONE.into(),
        Wire::V2 => v2::IndexEvent::DETAIL_SEQ_NONE,
    }
}

/// The placeholder that stands until the file is finalized.
fn index_header(options: &WriteOptions, thread_id: u32) -> IndexHeader {
    IndexHeader {
        wire: options.wire,
        arch: options.arch,
        os: options.os,
        flags: IndexFlags(0),
        thread_id,
        clock_type: options.clock_type,
        event_size: v1::IndexHeader::EVENT_SIZE,
        event_count: 0,
        events_offset: HEADER_SIZE as u64,
        footer_offset: 0,
        time_start_ns: 0,
        time_end_ns: 0,
    }
}

/// The placeholder that stands until the file is finalized.
fn detail_header(options: &WriteOptions, thread_id: u32) -> DetailHeader {
    DetailHeader {
        wire: options.wire,
        arch: options.arch,
        os: options.os,
        flags: 0,
        thread_id,
        events_offset: HEADER_SIZE as u64,
        event_count: 0,
        bytes_length: 0,
        index_seq_start: 0,
        index_seq_end: 0,
    }
}

fn whole_events(bytes: &[u8]) -> (usize, u64) {
    let count = bytes.len() / IndexEvent::SIZE;
    (count.saturating_mul(IndexEvent::SIZE), count as u64)
}

fn whole_details(bytes: &[u8]) -> (usize, u64) {
    let (mut end, mut count) = (0_usize, 0_u64);
    while let Some(header) = bytes.get(end..).and_then(|rest| rest.first_chunk()) {
        let header = DetailEventHeader::decode(Wire::V1, 0, header);
        let size = usize::try_from(header.total_length).unwrap_or(usize::MAX);
        match end.checked_add(size).filter(|end| *end <= bytes.len()) {
            Some(next) if size > 0 => end = next,
            _ => break,
        }
        count = count.saturating_add(1);
    }
    (end, count)
}
