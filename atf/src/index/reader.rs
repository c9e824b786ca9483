//! Reads `index.atf`.

use std::ops::RangeBounds;
use std::sync::OnceLock;

use super::event::EVENT_SIZE;
use super::scan::Scanned;
use super::section::Section;
use super::slice::clamp;
use super::{EventSlice, IndexEvent, IndexFooter, IndexHeader, Record, Scan};
use crate::checksum::Checksum;
use crate::error::{Error, ErrorKind, Result};
use crate::files::INDEX_FILE;
use crate::footer::Placed;
use crate::header;
use crate::reader::{FileReader as _, reader_methods};
use crate::rules::of_file::INDEX;
use crate::rules::table as rules;
use crate::source::Input;
use crate::window::SharedWindow;

/// A reader of an `index.atf` of either wire version, finalized or not.
///
/// Opening decodes the header and finds the end of the events. It fails only if the header does not
/// determine where the events are; everything else is reported as data: [`completeness`],
/// [`checksum`], [`holes`], [`disagreements`].
///
/// [`completeness`]: Self::completeness
/// [`checksum`]: Self::checksum
/// [`holes`]: Self::holes
/// [`disagreements`]: Self::disagreements
///
/// ```
/// use atf::index::IndexReader;
#[doc = include_str!("../doc_setup/thread.md")]
/// let index = IndexReader::open(folder.join("index.atf"))?;
/// assert_eq!(index.event_count(), 2);
/// let mut calls = 0;
/// for event in index.events() {
///     if event?.event_kind == atf::EventKind::CALL {
///         calls += 1;
///     }
/// }
/// assert_eq!(calls, 1);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct IndexReader {
    pub(crate) input: Input,
    header: IndexHeader,
    header_bytes: [u8; IndexHeader::SIZE],
    section: Section,
    /// The result of the first scan.
    pub(super) scanned: OnceLock<Scanned>,
    /// The bytes near the last lookup.
    lookups: SharedWindow,
}

reader_methods!(IndexReader, IndexHeader, IndexFooter, section, INDEX_FILE);

impl IndexReader {
    pub(crate) fn new(input: Input) -> Result<Self> {
        let at = |error: Error| error.with_path(input.path());
        let header_bytes = header::read_first(&input, &INDEX)?;
        let header = IndexHeader::decode(&header_bytes, input.size()).map_err(at)?;
        let section = Section::find(&input, &header).map_err(at)?;
        let this = Self {
            input,
            header,
            header_bytes,
            section,
            scanned: OnceLock::new(),
            lookups: SharedWindow::new(),
        };
        this.check_proven()?;
        Ok(this)
    }

    /// Returns the number of readable events.
    #[must_use]
    #[inline]
    pub fn event_count(&self) -> u64 {
        self.section.event_count
    }

    /// Returns the offset after the last event, in bytes from the start of the file.
    #[must_use]
    pub fn events_end(&self) -> u64 {
        self.offset_of(self.event_count())
    }

    /// Returns the offset of event `seq` in bytes from the start of the file; `None` after the last
    /// one.
    #[must_use]
    #[inline]
    pub fn event_offset(&self, seq: u64) -> Option<u64> {
        (seq < self.event_count()).then(|| self.offset_of(seq))
    }

    /// Returns whether all bytes of event `seq` could be read when the file was probed for
    /// unreadable ranges.
    pub(crate) fn is_readable(&self, seq: u64) -> bool {
        let place = self.offset_of(seq)..self.offset_of(seq.saturating_add(1));
        !self.input.unreadable().overlaps(&place)
    }

    /// Returns event `seq`, or `None` after the last one.
    ///
    /// Lookups near each other share one read of up to 64 KiB; a [`cursor`](Self::cursor) reads
    /// further ahead.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] or, if the file was truncated after it was opened,
    /// [`ErrorKind::UnexpectedEnd`], both at the event's offset.
    #[inline]
    pub fn get(&self, seq: u64) -> Result<Option<IndexEvent>> {
        if seq >= self.event_count() {
            return Ok(None);
        }
        // This cannot overflow for events in the file; any other offset is bounds-checked.
        let offset = seq
            .wrapping_mul(EVENT_SIZE)
            .wrapping_add(self.header.events_offset);
        let mut buffer = None;
        match self.lookups.record(&self.input, offset, &mut buffer) {
            Ok(bytes) => Ok(Some(self.decode(bytes))),
            Err(error) => Err(error),
        }
    }

    /// Returns the events at these positions without copying them, or `None` if the file is not in
    /// memory. Only mapped files and readers of bytes are in memory. Ignores positions after the
    /// last event.
    #[must_use]
    #[inline]
    pub fn slice(&self, seqs: impl RangeBounds<u64>) -> Option<EventSlice<'_>> {
        let seqs = clamp(seqs, self.event_count());
        let (start, end) = (self.offset_of(seqs.start), self.offset_of(seqs.end));
        let bytes = self.input.slice(start, end)?;
        let (wire, thread_id) = (self.header.wire, self.header.thread_id);
        Some(EventSlice::new(wire, thread_id, bytes))
    }

    /// Returns all events if the file is in memory.
    pub(crate) fn records(&self) -> Option<&[Record]> {
        self.slice(..).map(|all| all.records())
    }

    /// Looks up the bytes of event `seq`.
    pub(super) fn record(&self, seq: u64) -> Result<Option<Record>> {
        let Some(offset) = self.event_offset(seq) else {
            return Ok(None);
        };
        let mut buffer = None;
        let record = self.lookups.record(&self.input, offset, &mut buffer)?;
        Ok(Some(*record))
    }

    /// Reads events into `records`, starting with event `seq`, and returns how many were read.
    /// Reads fewer events than fit at the end of the file and before unreadable events, and if the
    /// file was truncated after it was opened. Fails only if not even the first event can be read.
    pub(crate) fn read_records(&self, seq: u64, records: &mut [Record]) -> Result<usize> {
        let left = self.event_count().saturating_sub(seq);
        let count = usize::try_from(left).map_or(records.len(), |left| left.min(records.len()));
        let (Some(offset), Some(records)) = (self.event_offset(seq), records.get_mut(..count))
        else {
            return Ok(0);
        };
        let bytes = records.as_flattened_mut();
        let read = self.input.read_ahead(offset, bytes, EVENT_SIZE)?;
        match read / IndexEvent::SIZE {
            0 if count > 0 => {
                let missing = IndexEvent::SIZE.saturating_sub(read) as u64;
                let error = self.input.error(ErrorKind::UnexpectedEnd { missing });
                Err(error.with_offset(offset))
            }
            whole => Ok(whole),
        }
    }

    /// Returns the result of the first pass over all events, or `None` if there has been no pass
    /// yet.
    pub(crate) fn known_scan(&self) -> Option<&Scan> {
        self.scanned.get().map(|scanned| &scanned.scan)
    }

    /// Returns the result of checking the checksum, if it is known without reading events: `None`
    /// if the footer has a checksum that no pass over all events has compared yet. A caller that
    /// reads only some events can thus find out whether the file was verified.
    ///
    /// The comparison is part of [`scan`](Self::scan), of [`checksum`](Self::checksum), of reading
    /// [`events`](Self::events) to the end, and of a [merge](crate::merge) of all events.
    #[must_use]
    pub fn known_checksum(&self) -> Option<Checksum> {
        match self.footer().map(|footer| footer.checksum) {
            None => Some(Checksum::NotChecked),
            Some(0) => Some(Checksum::Absent),
            Some(_) => self.known_scan().map(|scan| scan.checksum),
        }
    }

    /// Returns every known reason why the readable events may differ from what was written:
    /// [`ErrorKind::NotFinalized`], the problems of a damaged footer, and
    /// [`ErrorKind::EventsMissing`]; and, after a pass over all events
    /// ([`known_checksum`](Self::known_checksum)), [`ErrorKind::ChecksumMismatch`],
    /// [`ErrorKind::IeeeChecksum`] and [`ErrorKind::Gap`].
    ///
    /// [`events`](Self::events) ends with these problems.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        let mut problems = self.end_problems();
        let footer = self.footer_offset().unwrap_or_default();
        problems.extend(
            self.known_checksum()
                .and_then(|checksum| checksum.problem(&self.input, footer, &INDEX)),
        );
        problems.extend(self.gap());
        problems
    }

    /// Returns all problems, including those that need a pass over all events, if all can be read.
    fn all_problems(&self) -> Result<Vec<Error>> {
        if self.input.unreadable().is_empty() {
            self.checksum()?;
        }
        Ok(self.problems())
    }

    /// Returns `None`: any 32 bytes of an index can be an event.
    fn framing(&self) -> Option<&Error> {
        None
    }

    /// Returns the error for all-zero events that a pass found and that no checksum confirms.
    fn gap(&self) -> Option<Error> {
        let scanned = self.scanned.get()?;
        let seq = scanned.first_zero?;
        let count = scanned.scan.zero_events;
        (!scanned.scan.checksum.proves_the_events()).then(|| {
            let error = self.input.error(ErrorKind::Gap { count });
            let error = error.with_field(format!("events[{seq}]"));
            let error = error.with_offset(self.offset_of(seq));
            error.with_rule(&rules::ATF_IEVT_006)
        })
    }

    /// Returns the timestamps of the first and the last event in nanoseconds, or `None` if there
    /// are no events.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn time_range(&self) -> Result<Option<(u64, u64)>> {
        let last = self.event_count().saturating_sub(1);
        let range = self.get(0)?.zip(self.get(last)?);
        Ok(range.map(|(first, last)| (first.timestamp_ns, last.timestamp_ns)))
    }

    /// Returns an [`ErrorKind::Disagrees`] wherever a rewritten header disagrees with a verified
    /// footer (S2) or, without a footer, with the events in the file.
    #[must_use]
    pub fn disagreements(&self) -> Vec<Error> {
        let (end, times) = (&rules::ATF_IHDR_015, &rules::ATF_IHDR_016);
        let count = INDEX.count;
        match self.placed() {
            Some(Placed { footer, offset, .. }) => self.disagreeing(&[
                ("event_count", count, footer.event_count, "the footer"),
                ("footer_offset", end, *offset, "the file"),
                ("time_start_ns", times, footer.time_start_ns, "the footer"),
                ("time_end_ns", times, footer.time_end_ns, "the footer"),
            ]),
            None => self.disagreeing(&[("event_count", count, self.event_count(), "the file")]),
        }
    }

    /// Returns the offset of event `seq`, or of the end of the section.
    #[inline]
    pub(crate) fn offset_of(&self, seq: u64) -> u64 {
        let bytes = seq.saturating_mul(EVENT_SIZE);
        self.header.events_offset.saturating_add(bytes)
    }

    #[inline]
    pub(crate) fn decode(&self, bytes: &[u8; IndexEvent::SIZE]) -> IndexEvent {
        IndexEvent::decode(self.header.wire, self.header.thread_id, bytes)
    }
}
