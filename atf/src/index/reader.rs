//! Reading `index.atf`.

use std::num::NonZero;
use std::ops::RangeBounds;
use std::path::Path;
use std::sync::OnceLock;

use super::event::EVENT_SIZE;
use super::scan::{Scanned, scan};
use super::section::Section;
use super::slice::clamp;
use super::{
    EventBlocks, EventSlice, Events, Holes, IndexCursor, IndexEvent, IndexFooter, IndexHeader, Scan,
};
use crate::checksum::Checksum;
use crate::completeness::{Completeness, CountSource};
use crate::error::{Error, ErrorKind, Result};
use crate::footer::{FOOTER_SIZE, Placed};
use crate::header;
use crate::source::{Input, OpenOptions, ReadAt};
use crate::wire::{Wire, offset};

/// Reads an `index.atf` of either wire version, finalized or cut off.
///
/// Opening decodes the header and finds the end of the events. Only a header that says nothing
/// certain of the events is an error; all else is given as data: [`completeness`], [`checksum`],
/// [`holes`], [`disagreements`].
///
/// [`completeness`]: Self::completeness
/// [`checksum`]: Self::checksum
/// [`holes`]: Self::holes
/// [`disagreements`]: Self::disagreements
///
/// ```
/// use atf::index::IndexReader;
/// # let sample = "../samples/sample-small/session_20260105_101500/pid_4242";
///
/// let index = IndexReader::open(format!("{sample}/thread_0/index.atf"))?;
/// assert_eq!(index.event_count(), 900);
/// let mut calls = 0;
/// for event in index.events() {
///     if event?.event_kind == atf::EventKind::CALL {
///         calls += 1;
///     }
/// }
/// assert_eq!(calls, 450);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct IndexReader {
    pub(super) input: Input,
    header: IndexHeader,
    header_bytes: [u8; IndexHeader::SIZE],
    section: Section,
    /// What the first scan found.
    scanned: OnceLock<Scanned>,
}

impl IndexReader {
    /// Opens a file and reads it at positions; nothing is mapped.
    ///
    /// # Errors
    ///
    /// As [`FileSource::open`](crate::FileSource::open) and [`from_source`](Self::from_source).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::new())
    }

    /// Opens a file as `options` say.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        Self::new(Input::open(path.as_ref(), options)?)
    }

    /// Reads bytes in memory.
    ///
    /// # Errors
    ///
    /// As [`from_source`](Self::from_source).
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Self::new(Input::from_bytes(bytes.into()))
    }

    /// Reads from anything that can be read at positions.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NothingWritten`] for no bytes, [`ErrorKind::TooShort`] at the source's end,
    /// those of [`IndexHeader::decode`], [`ErrorKind::UnprovenEventsOffset`] at
    /// `header.events_offset`, and [`ErrorKind::Io`] or [`ErrorKind::UnexpectedEnd`] where a read fails.
    pub fn from_source(source: impl ReadAt + 'static) -> Result<Self> {
        Self::new(Input::new(source))
    }

    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    pub(crate) fn into_input(self) -> Input {
        self.input
    }

    pub(crate) fn new(input: Input) -> Result<Self> {
        let open = |input: &Input| {
            let header_bytes = header::read_first(input)?;
            let header = IndexHeader::decode(&header_bytes, input.size())?;
            let section = Section::find(input, &header)?;
            let offset = offset!(header.wire, IndexHeader.events_offset);
            header::check_proven(header.events_offset, section.footer.is_some(), offset)?;
            Ok((header_bytes, header, section))
        };
        match open(&input) {
            Ok((header_bytes, header, section)) => Ok(Self {
                input,
                header,
                header_bytes,
                section,
                scanned: OnceLock::new(),
            }),
            Err(error) => Err(Error::with_path(error, input.path())),
        }
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &IndexHeader {
        &self.header
    }

    /// The header as it stands in the file, reserved bytes included.
    #[must_use]
    pub fn header_bytes(&self) -> &[u8; IndexHeader::SIZE] {
        &self.header_bytes
    }

    /// The wire version.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.header.wire
    }

    /// The verified footer.
    #[must_use]
    pub fn footer(&self) -> Option<&IndexFooter> {
        self.placed().map(|placed| &placed.footer)
    }

    /// The verified footer as it stands in the file, reserved bytes included.
    #[must_use]
    pub fn footer_bytes(&self) -> Option<&[u8; FOOTER_SIZE]> {
        self.placed().map(|placed| &placed.bytes)
    }

    /// Where the verified footer stands, bytes from the start of the file.
    #[must_use]
    pub fn footer_offset(&self) -> Option<u64> {
        self.placed().map(|placed| placed.offset)
    }

    /// Bytes behind the verified footer, where nothing belongs.
    #[must_use]
    pub fn bytes_after_footer(&self) -> u64 {
        self.placed()
            .map_or(0, |placed| self.input.size().saturating_sub(placed.end()))
    }

    /// The size of the file in bytes, when it was opened.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.input.size()
    }

    /// The number of events that can be read.
    #[must_use]
    #[inline]
    pub fn event_count(&self) -> u64 {
        self.section.event_count
    }

    /// What [`event_count`](Self::event_count) rests on.
    #[must_use]
    pub fn count_source(&self) -> CountSource {
        self.section.count_source
    }

    /// How the file ends.
    #[must_use]
    pub fn completeness(&self) -> &Completeness {
        &self.section.completeness
    }

    /// Events that a rewritten header counts and the file does not have: it was finalized once, and
    /// cut off or damaged since. 0 where a verified footer tells the count.
    #[must_use]
    pub fn missing_events(&self) -> u64 {
        match self.completeness().has_verified_footer() || self.header.is_placeholder() {
            true => 0,
            false => self.header.event_count.saturating_sub(self.event_count()),
        }
    }

    /// The offset behind the last event, bytes from the start of the file.
    #[must_use]
    pub fn events_end(&self) -> u64 {
        self.offset_of(self.event_count())
    }

    /// Where event `seq` stands, bytes from the start of the file; `None` behind the last one.
    #[must_use]
    #[inline]
    pub fn event_offset(&self, seq: u64) -> Option<u64> {
        (seq < self.event_count()).then(|| self.offset_of(seq))
    }

    /// The event at position `seq`, or `None` behind the last one. It costs one read of 32 bytes;
    /// [`cursor`](Self::cursor) reads ahead.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], or [`ErrorKind::UnexpectedEnd`] where the file was cut since it was
    /// opened, at the event's offset.
    #[inline]
    pub fn get(&self, seq: u64) -> Result<Option<IndexEvent>> {
        if seq >= self.event_count() {
            return Ok(None);
        }
        let mut buffer;
        let bytes = match self.in_memory(seq) {
            Some(bytes) => bytes,
            None => {
                buffer = [0; IndexEvent::SIZE];
                self.read_bytes(seq, &mut buffer)?;
                &buffer
            }
        };
        Ok(Some(self.decode(bytes)))
    }

    /// Kept apart, and giving back a register at most, so that a look at memory is a load.
    #[cold]
    #[inline(never)]
    fn read_bytes(&self, seq: u64, buffer: &mut [u8; IndexEvent::SIZE]) -> Result<()> {
        self.input.read_exact(self.offset_of(seq), buffer)
    }

    /// The bytes of an event, where they are in memory.
    #[inline]
    fn in_memory(&self, seq: u64) -> Option<&[u8; IndexEvent::SIZE]> {
        // Nothing wraps for an event of the file, and any place inside the bytes is safe.
        let offset = seq
            .wrapping_mul(EVENT_SIZE)
            .wrapping_add(self.header.events_offset);
        let bytes = self.input.as_bytes()?;
        bytes.get(usize::try_from(offset).ok()?..)?.first_chunk()
    }

    /// Looks events up through a buffer.
    #[must_use]
    pub fn cursor(&self) -> IndexCursor<'_> {
        IndexCursor::new(self)
    }

    /// All events in the file's order, which writers keep ascending in time; `rev` goes from the
    /// last one.
    ///
    /// They are verified as they are read. After the last one comes an `Err` for each of the
    /// [`problems`](Self::problems): the events before it are those of the file, but not all that
    /// were written, or not as they were written. [`events_in`](Self::events_in) gives them without
    /// a verdict.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        Events::verifying(self)
    }

    /// The events at these positions, without a verdict on them
    /// ([`known_checksum`](Self::known_checksum)). Positions after the last event are left out.
    #[must_use]
    pub fn events_in(&self, seqs: impl RangeBounds<u64>) -> Events<'_> {
        Events::new(self, clamp(seqs, self.event_count()))
    }

    /// The events at these positions without a copy, or `None` where the file is not in memory:
    /// only bytes and mapped files are. What lies behind the last one is left out.
    #[must_use]
    #[inline]
    pub fn slice(&self, seqs: impl RangeBounds<u64>) -> Option<EventSlice<'_>> {
        let seqs = clamp(seqs, self.event_count());
        let (start, end) = (self.offset_of(seqs.start), self.offset_of(seqs.end));
        let bytes = self.input.slice(start, end)?;
        let (wire, thread_id) = (self.header.wire, self.header.thread_id);
        Some(EventSlice::new(wire, thread_id, bytes))
    }

    /// The events at these positions, some 2000 at a time: the fastest way through a file, whether
    /// it is in memory or not. What lies behind the last one is left out.
    #[must_use]
    pub fn blocks(&self, seqs: impl RangeBounds<u64>) -> EventBlocks<'_> {
        EventBlocks::new(self, clamp(seqs, self.event_count()))
    }

    /// Looks at all events in one pass: checksum, order, kinds, zeros. The first call reads the
    /// file, at some 0.7 of the speed of memory where it is cached; later ones give what that one
    /// found.
    ///
    /// ```
    /// use atf::Checksum;
    /// use atf::index::IndexReader;
    /// # let sample = "../samples/sample-small/session_20260105_101500/pid_4242";
    ///
    /// let index = IndexReader::open(format!("{sample}/thread_0/index.atf"))?;
    /// let scan = index.scan()?;
    /// assert_eq!(scan.checksum, Checksum::Absent, "its tracer writes none");
    /// assert!(scan.is_ordered());
    /// assert_eq!((scan.kinds.calls, scan.kinds.returns), (450, 450));
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn scan(&self) -> Result<Scan> {
        self.scan_parallel(NonZero::<usize>::MIN)
    }

    /// The same in that many parts side by side, this thread among them; a small file is not
    /// divided.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn scan_parallel(&self, threads: NonZero<usize>) -> Result<Scan> {
        Ok(self.scanned(threads)?.scan)
    }

    /// What the first pass over all events found; `None` where there was none yet.
    pub(crate) fn known_scan(&self) -> Option<&Scan> {
        self.scanned.get().map(|scanned| &scanned.scan)
    }

    /// Keeps what a pass found, unless another one was quicker.
    pub(super) fn remember(&self, scanned: Scanned) {
        self.scanned.get_or_init(|| scanned);
    }

    /// What is known of the checksum without reading an event: `None` where the footer has one and
    /// no pass over all events has compared it yet. Whoever reads only some events learns here
    /// whether what they are part of was verified.
    ///
    /// [`scan`](Self::scan), [`checksum`](Self::checksum), [`events`](Self::events) to their end
    /// and a [merge](crate::merge) of all events compare it.
    #[must_use]
    pub fn known_checksum(&self) -> Option<Checksum> {
        match self.footer().map(|footer| footer.checksum) {
            None => Some(Checksum::NotChecked),
            Some(0) => Some(Checksum::Absent),
            Some(_) => self.known_scan().map(|scan| scan.checksum),
        }
    }

    /// What keeps the events that can be read from being all that were written, as they were
    /// written, for all that is known yet: [`ErrorKind::NotFinalized`], what is wrong with a
    /// damaged footer, [`ErrorKind::EventsMissing`]; and, once a pass over all events has looked
    /// ([`known_checksum`](Self::known_checksum)), [`ErrorKind::ChecksumMismatch`] and
    /// [`ErrorKind::Gap`].
    ///
    /// [`events`](Self::events) end with these.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        let missing = self.missing_events();
        let stated = self.event_count().saturating_add(missing);
        let missing = (missing > 0).then(|| {
            let offset = offset!(self.header.wire, IndexHeader.event_count);
            self.input
                .events_missing(self.event_count(), stated, offset)
        });
        let completeness = self.completeness();
        let is_cut = self.header.is_bounded();
        let mut problems = completeness.problems(&self.input, self.events_end(), missing, is_cut);
        let footer = self.footer_offset().unwrap_or_default();
        problems.extend(
            self.known_checksum()
                .and_then(|checksum| checksum.problem(&self.input, footer)),
        );
        problems.extend(self.gap());
        problems
    }

    /// The events of zeros that a pass has found, where no checksum says that they were written.
    fn gap(&self) -> Option<Error> {
        let scanned = self.scanned.get()?;
        let seq = scanned.first_zero?;
        let count = scanned.scan.zero_events;
        let offset = self.offset_of(seq);
        let error = || self.input.error(ErrorKind::Gap { count });
        (!scanned.scan.checksum.proves_the_events()).then(|| {
            let field = format!("events[{seq}]");
            error().with_field(field).with_offset(offset)
        })
    }

    pub(super) fn scanned(&self, threads: NonZero<usize>) -> Result<&Scanned> {
        if let Some(scanned) = self.scanned.get() {
            return Ok(scanned);
        }
        let scanned = scan(self, threads)?;
        Ok(self.scanned.get_or_init(|| scanned))
    }

    /// The blocks of zeros among the events that never reached the disk, found in one pass over
    /// the file; none where a good checksum says that the zeros were written.
    #[must_use]
    pub fn holes(&self) -> Holes<'_> {
        Holes::new(self)
    }

    /// Returns whether an event with these bytes is in a hole: all zeros, and no checksum proves that zeros
    /// were written.
    ///
    /// # Errors
    ///
    /// As [`checksum`](Self::checksum), which the first event of zeros asks for.
    pub fn is_hole(&self, event: &[u8; IndexEvent::SIZE]) -> Result<bool> {
        Ok(*event == [0; IndexEvent::SIZE] && !self.checksum()?.proves_the_events())
    }

    /// Compares all events with the footer's checksum: by [`scan`](Self::scan), where there is one
    /// to compare with.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); a bad checksum is no error.
    pub fn checksum(&self) -> Result<Checksum> {
        match self.known_checksum() {
            Some(known) => Ok(known),
            None => Ok(self.scan()?.checksum),
        }
    }

    /// The timestamps of the first and the last event in nanoseconds, or `None` without events.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn time_range(&self) -> Result<Option<(u64, u64)>> {
        let last = self.event_count().saturating_sub(1);
        let range = self.get(0)?.zip(self.get(last)?);
        Ok(range.map(|(first, last)| (first.timestamp_ns, last.timestamp_ns)))
    }

    /// Where a header that was rewritten disagrees with what is believed instead: a verified
    /// footer (S2), or else the events that are there. Kind [`ErrorKind::Disagrees`].
    #[must_use]
    pub fn disagreements(&self) -> Vec<Error> {
        let header = &self.header;
        if header.is_placeholder() {
            return Vec::new();
        }
        let count = (
            "header.event_count",
            offset!(header.wire, IndexHeader.event_count),
        );
        let place = (
            "header.footer_offset",
            offset!(header.wire, IndexHeader.footer_offset),
        );
        let start = (
            "header.time_start_ns",
            offset!(header.wire, IndexHeader.time_start_ns),
        );
        let end = (
            "header.time_end_ns",
            offset!(header.wire, IndexHeader.time_end_ns),
        );
        let facts = match self.placed() {
            Some(Placed { footer, offset, .. }) => vec![
                (count, header.event_count, footer.event_count, "the footer"),
                (place, header.footer_offset, *offset, "the file"),
                (
                    start,
                    header.time_start_ns,
                    footer.time_start_ns,
                    "the footer",
                ),
                (end, header.time_end_ns, footer.time_end_ns, "the footer"),
            ],
            None => vec![(count, header.event_count, self.event_count(), "the file")],
        };
        let wrong = facts
            .into_iter()
            .filter(|(_, found, expected, _)| found != expected);
        let error = |((field, offset), found, expected, by)| {
            let error = self.input.error(ErrorKind::Disagrees {
                found,
                expected,
                by,
            });
            error.with_field(field).with_offset(offset as u64)
        };
        wrong.map(error).collect()
    }

    /// Where the event at a position of the section stands, the end of the section included.
    #[inline]
    pub(super) fn offset_of(&self, seq: u64) -> u64 {
        let bytes = seq.saturating_mul(EVENT_SIZE);
        self.header.events_offset.saturating_add(bytes)
    }

    #[inline]
    pub(super) fn decode(&self, bytes: &[u8; IndexEvent::SIZE]) -> IndexEvent {
        IndexEvent::decode(self.header.wire, self.header.thread_id, bytes)
    }

    fn placed(&self) -> Option<&Placed<IndexFooter>> {
        self.section.footer.as_ref()
    }
}
