//! Reads `detail.atf`.

use std::ops::Range;

use super::framing::{EventOffsets, EventWalker, Tap};
use super::{DetailEvent, DetailEventHeader, DetailFooter, DetailHeader, FunctionPayload};
use crate::checksum::Checksum;
use crate::completeness::Completeness;
use crate::error::{Error, ErrorKind, Result, zeros};
use crate::files::DETAIL_FILE;
use crate::header;
use crate::reader::{FileReader as _, reader_methods};
use crate::rules::of_file::DETAIL;
use crate::rules::table as rules;
use crate::source::Input;
use crate::window::SharedWindow;

/// A reader of a `detail.atf` of either wire version, finalized or not.
///
/// Opening walks the events once and keeps their offsets, which use 8 bytes per event. After that,
/// all lookups take constant time. Opening fails only if the header does not determine where the
/// events are; everything else is reported as data: [`completeness`](Self::completeness),
/// [`framing_problem`](Self::framing_problem), [`checksum`](Self::checksum),
/// [`disagreements`](Self::disagreements).
///
/// ```
/// use atf::detail::DetailReader;
#[doc = include_str!("../doc_setup/detail.md")]
/// let detail = DetailReader::open(folder.join("detail.atf"))?;
/// let event = detail.get(0)?.expect("the file has an event");
/// let payload = detail.function_payload(&event)?.expect("it records a call or a return");
/// println!("index_seq {}: sp {:#x}", event.header.index_seq, payload.sp);
/// # assert_eq!((event.header.index_seq, payload.sp), (0, 0x7ff0));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct DetailReader {
    pub(crate) input: Input,
    header: DetailHeader,
    header_bytes: [u8; DetailHeader::SIZE],
    framing: EventOffsets,
    /// The bytes near the last lookup.
    lookups: SharedWindow,
}

/// The largest read, in bytes, that uses the lookups' window.
const SMALL: usize = 1 << 10;

reader_methods!(
    DetailReader,
    DetailHeader,
    DetailFooter,
    framing,
    DETAIL_FILE
);

impl DetailReader {
    pub(crate) fn new(input: Input) -> Result<Self> {
        Self::tapped(input, None)
    }

    /// Opens a file. If it has a verified footer, its events are passed to `tap` as they are read.
    pub(crate) fn tapped(input: Input, tap: Option<Tap<'_>>) -> Result<Self> {
        let at = |error: Error| error.with_path(input.path());
        let header_bytes = header::read_first(&input, &DETAIL)?;
        let header = DetailHeader::decode(&header_bytes, input.size()).map_err(at)?;
        let framing = EventOffsets::find(&input, &header, tap).map_err(at)?;
        let this = Self {
            input,
            header,
            header_bytes,
            framing,
            lookups: SharedWindow::new(),
        };
        this.check_proven()?;
        Ok(this)
    }

    /// Returns the number of readable events.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.framing.walk.offsets.len() as u64
    }

    /// Returns why the walk stopped before the end of the events section:
    /// [`ErrorKind::BadTotalLength`] or [`ErrorKind::TornEvent`] at the
    /// [`offset`](Error::offset) where it stopped.
    #[must_use]
    pub fn framing_problem(&self) -> Option<&Error> {
        self.framing.walk.problem.as_ref()
    }

    fn all_problems(&self) -> Result<Vec<Error>> {
        self.problems()
    }

    fn framing(&self) -> Option<&Error> {
        self.framing_problem()
    }

    /// Returns the offset after the last event, in bytes from the start of the file.
    #[must_use]
    pub fn events_end(&self) -> u64 {
        self.framing.walk.end
    }

    /// Returns the offset of event `seq` in bytes from the start of the file; `None` after the last
    /// one.
    #[must_use]
    pub fn event_offset(&self, seq: u64) -> Option<u64> {
        self.place(seq).map(|place| place.start)
    }

    /// Returns whether all bytes of an event could be read when its file was probed for unreadable
    /// ranges.
    pub(crate) fn is_readable(&self, event: &DetailEvent) -> bool {
        !self.input.unreadable().overlaps(&event.place())
    }

    /// Returns event `seq`, or `None` after the last one.
    ///
    /// Lookups near each other, including those of payloads, share one read of up to 64 KiB; a
    /// [`cursor`](Self::cursor) reads further ahead.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]; [`ErrorKind::UnexpectedEnd`] or [`ErrorKind::BadTotalLength`] at the
    /// event's offset if the file changed after it was opened.
    // Inlined: otherwise, the caller could copy the returned event only after it has been stored.
    #[inline(always)]
    pub fn get(&self, seq: u64) -> Result<Option<DetailEvent>> {
        let Some(place) = self.place(seq) else {
            return Ok(None);
        };
        let mut buffer = None;
        let bytes = self.lookups.record(&self.input, place.start, &mut buffer)?;
        match self.event(seq, place, bytes) {
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(error),
        }
    }

    /// Returns every reason why the readable events may differ from what was written:
    /// [`ErrorKind::NotFinalized`], the problems of a damaged footer, the
    /// [`framing_problem`](Self::framing_problem) if the file has a footer,
    /// [`ErrorKind::EventsMissing`], [`ErrorKind::ChecksumMismatch`],
    /// [`ErrorKind::IeeeChecksum`].
    ///
    /// # Errors
    ///
    /// The errors of [`checksum`](Self::checksum).
    pub fn problems(&self) -> Result<Vec<Error>> {
        let mut problems = self.end_problems();
        // In a file without a footer, an impossible length only marks the end of the events.
        let is_ended = !matches!(self.completeness(), Completeness::Unfinalized { .. });
        problems.extend(self.framing_problem().filter(|_| is_ended).cloned());
        let footer = self.footer_offset().unwrap_or_default();
        problems.extend(self.checksum()?.problem(&self.input, footer, &DETAIL));
        Ok(problems)
    }

    /// Fills `buffer` with an event's payload, starting at byte `start`, and returns the number of
    /// bytes read. Leaves part of `buffer` unfilled only if the payload ends first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], or [`ErrorKind::UnexpectedEnd`] if the file was truncated after it was
    /// opened.
    pub fn read_payload(
        &self,
        event: &DetailEvent,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let (offset, buffer) = event.part(start, buffer);
        let size = buffer.len();
        if size > SMALL {
            self.input.read_exact(offset, buffer)?;
        } else {
            self.lookups.with(&self.input, offset, size, |bytes| {
                buffer.copy_from_slice(bytes);
                Ok(())
            })?;
        }
        Ok(size)
    }

    /// Returns the payload of an event without copying it, or `None` if the file is not in memory.
    /// Only mapped files and readers of bytes are in memory.
    #[must_use]
    pub fn payload_bytes(&self, event: &DetailEvent) -> Option<&[u8]> {
        let start = event.payload_offset();
        self.input
            .slice(start, start.checked_add(event.payload_size())?)
    }

    /// Returns the complete payload of an event. Fails if it exceeds `limit` bytes, because a
    /// payload can be as large as the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PayloadTooLarge`] at the event's payload, [`ErrorKind::Io`] if there is not
    /// enough memory, and those of [`read_payload`](Self::read_payload).
    pub fn payload(&self, event: &DetailEvent, limit: usize) -> Result<Vec<u8>> {
        let found = event.payload_size();
        let fits = found
            .checked_add(event.payload_offset())
            .is_some_and(|end| found <= limit as u64 && end <= self.input.size());
        if !fits {
            let kind = ErrorKind::PayloadTooLarge {
                found,
                limit: limit as u64,
            };
            return Err(self.input.error(kind).with_offset(event.payload_offset()));
        }
        let size = usize::try_from(found).unwrap_or(limit);
        // On 32-bit machines, a payload of 2 GiB exceeds a vector's maximum size.
        let mut payload = zeros(size).map_err(|error| {
            let error = error.with_path(self.input.path());
            error.with_offset(event.payload_offset())
        })?;
        self.read_payload(event, 0, &mut payload)?;
        Ok(payload)
    }

    /// Returns the payload of a call or a return, or `None` if the payload has a different shape.
    ///
    /// # Errors
    ///
    /// The errors of [`read_payload`](Self::read_payload).
    pub fn function_payload(&self, event: &DetailEvent) -> Result<Option<FunctionPayload>> {
        let Some(size) = FunctionPayload::possible(event) else {
            return Ok(None);
        };
        let decode = |payload: &[u8]| Ok(FunctionPayload::decode(payload));
        self.lookups
            .with(&self.input, event.payload_offset(), size, decode)
    }

    /// Compares all events with the footer's checksum. Opening the file already computed the
    /// checksum, unless the walk stopped before the footer. In that case, this method reads all
    /// events.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] or [`ErrorKind::UnexpectedEnd`]; a checksum mismatch is not an error.
    pub fn checksum(&self) -> Result<Checksum> {
        let Some(placed) = self.placed() else {
            return Ok(Checksum::NotChecked);
        };
        let (stored, start, end) = (
            placed.footer.checksum,
            self.header.events_offset,
            placed.offset,
        );
        match self.framing.walk.crc32c {
            Some(computed) => Checksum::compare(&self.input, stored, computed, start, end),
            None => Checksum::verify(&self.input, stored, start, end),
        }
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
        Ok(range.map(|(first, last)| (first.header.timestamp, last.header.timestamp)))
    }

    /// Returns an [`ErrorKind::Disagrees`] wherever a rewritten header disagrees with a verified
    /// footer (S2) or, without a footer, with the events in the file.
    #[must_use]
    pub fn disagreements(&self) -> Vec<Error> {
        let (count, bytes, by) = match self.footer() {
            Some(footer) => (footer.event_count, footer.bytes_length, "the footer"),
            None => {
                let bytes = self.events_end().saturating_sub(self.header.events_offset);
                (self.event_count(), bytes, "the file")
            }
        };
        let length = &rules::ATF_DHDR_010;
        self.disagreeing(&[
            ("event_count", DETAIL.count, count, by),
            ("bytes_length", length, bytes, by),
        ])
    }

    /// Returns where event `seq` begins and ends.
    #[inline]
    pub(crate) fn place(&self, seq: u64) -> Option<Range<u64>> {
        let seq = usize::try_from(seq).ok()?;
        let EventWalker { offsets, end, .. } = &self.framing.walk;
        let start = *offsets.get(seq)?;
        let end = *offsets.get(seq.checked_add(1)?).unwrap_or(end);
        Some(start..end)
    }

    /// Decodes the event from these bytes. Its length must be the same as when the file was opened.
    #[inline]
    pub(super) fn event(
        &self,
        seq: u64,
        place: Range<u64>,
        bytes: &[u8; DetailEventHeader::SIZE],
    ) -> Result<DetailEvent> {
        let header = DetailEventHeader::decode(self.header.wire, self.header.thread_id, bytes);
        let found = header.total_length;
        let available = place.end.saturating_sub(place.start);
        if u64::from(found) != available {
            return Err(self.changed(seq, place.start, found, available));
        }
        Ok(DetailEvent {
            seq,
            offset: place.start,
            header,
        })
    }

    /// Returns the error for an event whose length has changed since the file was opened.
    #[cold]
    #[inline(never)]
    fn changed(&self, seq: u64, offset: u64, found: u32, available: u64) -> Error {
        let min = u32::try_from(available).unwrap_or(u32::MAX);
        let error = self.input.error(ErrorKind::BadTotalLength {
            found,
            min,
            available,
        });
        let field = format!("events[{seq}].total_length");
        error.with_field(field).with_offset(offset)
    }
}
