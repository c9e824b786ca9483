//! Follows `detail.atf`.

use std::path::Path;

use super::growing::Growing;
use super::{Polled, is_written};
use crate::checksum::Checksum;
use crate::detail::{
    DetailEvent, DetailEventHeader, DetailFooter, DetailHeader, FunctionPayload, footer_of, misfit,
};
use crate::error::{Error, ErrorKind, Result};
use crate::footer::{FOOTER_SIZE, Placed, Verdict, Wrong, classify_at};
use crate::rules::of_file::DETAIL;
use crate::source::Input;
use crate::wire::{HEADER_SIZE, offset};

const EVENT_HEADER_SIZE: u64 = DetailEventHeader::SIZE as u64;
/// The number of bytes after an event in which to look for later data.
const AFTER: u64 = 32;
/// The number of bytes to read ahead.
const AHEAD: u64 = 16 << 10;

/// A follower of a `detail.atf` of either wire version while it is being written.
///
/// It returns the same events as a [`DetailReader`](crate::detail::DetailReader) of the finished
/// file, each as soon as the complete event is certain (see the [module](super)). Payloads are read
/// on demand. A follower uses a constant 16 KiB of memory, plus the requested payloads.
#[derive(Debug)]
pub struct DetailFollower {
    file: Growing<DetailHeader>,
    /// The file as it was last examined; `None` once all events found in it have been returned.
    look: Option<Look>,
    next_seq: u64,
    /// The offset after the last event returned.
    end: u64,
    /// The offset and header of the last event returned, to check that it does not change.
    last: Option<(u64, [u8; DetailEventHeader::SIZE])>,
    has_footer: bool,
    finalized: Option<DetailFooter>,
    problem: Option<Error>,
    /// A problem with the returned events, which is reported after the last one.
    verdict: Option<Error>,
}

/// The state of the file when it was examined.
#[derive(Debug)]
struct Look {
    input: Input,
    header: DetailHeader,
    /// The footer, once both header and footer are complete.
    footer: Option<Placed<DetailFooter>>,
    /// Some of the file's bytes, beginning at offset `start`.
    buffer: Vec<u8>,
    start: u64,
}

impl DetailFollower {
    /// Follows the file at this path, which need not exist yet. Resolves symlinks.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self::with_file(Growing::new(path.as_ref().to_path_buf(), true))
    }

    pub(super) fn with_file(file: Growing<DetailHeader>) -> Self {
        Self {
            file,
            look: None,
            next_seq: 0,
            end: 0,
            last: None,
            has_footer: false,
            finalized: None,
            problem: None,
            verdict: None,
        }
    }

    /// Returns the path passed to [`new`](Self::new).
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the header as it was last read: a placeholder until the file is finalized, and
    /// `None` before the header is written.
    #[must_use]
    pub fn header(&self) -> Option<&DetailHeader> {
        self.file.header()
    }

    /// Returns the position of the next event, which is the number of events returned so far.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Returns whether a verified footer follows the events that are known to be final. If the
    /// header is never rewritten after that, the writer died after it wrote the footer, and all
    /// events are in the file.
    #[must_use]
    pub fn has_footer(&self) -> bool {
        self.has_footer || self.finalized.is_some()
    }

    /// Returns the footer of a finalized file, once all events have been returned.
    #[must_use]
    pub fn footer(&self) -> Option<&DetailFooter> {
        self.finalized.as_ref()
    }

    /// Returns why the events of a finalized file stop before the end of their section, like
    /// [`DetailReader::framing_problem`](crate::detail::DetailReader::framing_problem).
    #[must_use]
    pub fn framing_problem(&self) -> Option<&Error> {
        self.problem.as_ref()
    }

    /// Returns the next event once all of its bytes are certain.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexFollower::poll`](super::IndexFollower::poll) and
    /// [`DetailHeader::decode`]; [`ErrorKind::Disagrees`] at `footer.bytes_length` if, according to
    /// the footer, the events end before the last returned event, and at `footer.event_count` if
    /// that count is wrong. After the last event of a finalized file, one call returns the
    /// [`framing_problem`](Self::framing_problem) or [`ErrorKind::ChecksumMismatch`].
    pub fn poll(&mut self) -> Result<Polled<DetailEvent>> {
        if self.finalized.is_some() {
            return self.over();
        }
        // First return the events that an earlier poll found.
        if let Some(look) = self.look.take()
            && let Some(event) = self.step(look)?
        {
            return Ok(Polled::New(event));
        }
        let Some(look) = self.look_again()? else {
            return Ok(Polled::NotYet);
        };
        Ok(match self.step(look)? {
            Some(event) => Polled::New(event),
            None if self.finalized.is_some() => return self.over(),
            None => Polled::NotYet,
        })
    }

    /// Returns the result of a poll after the last event: first any problem with the returned
    /// events, and then [`Polled::Finalized`].
    fn over(&mut self) -> Result<Polled<DetailEvent>> {
        match self.verdict.take() {
            Some(problem) => Err(problem),
            None => Ok(Polled::Finalized),
        }
    }

    /// Fills `buffer` with an event's payload, starting at byte `start`, and returns the number of
    /// bytes read. Leaves part of `buffer` unfilled only if the payload ends first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], [`ErrorKind::Replaced`], or [`ErrorKind::UnexpectedEnd`] if the file has
    /// since been truncated.
    pub fn read_payload(
        &self,
        event: &DetailEvent,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let (offset, buffer) = event.part(start, buffer);
        match &self.look {
            Some(look) => look.input.read_exact(offset, buffer)?,
            None => self.file.again()?.read_exact(offset, buffer)?,
        }
        Ok(buffer.len())
    }

    /// Returns the payload of a call or a return, or `None` if the payload has a different shape.
    ///
    /// # Errors
    ///
    /// The errors of [`read_payload`](Self::read_payload).
    pub fn function_payload(&self, event: &DetailEvent) -> Result<Option<FunctionPayload>> {
        let size = event.payload_size();
        if size > FunctionPayload::LARGEST as u64 {
            return Ok(None);
        }
        let mut payload = vec![0; usize::try_from(size).unwrap_or_default()];
        self.read_payload(event, 0, &mut payload)?;
        Ok(FunctionPayload::decode(&payload))
    }

    /// Reopens the file and compares it with the returned events.
    fn look_again(&mut self) -> Result<Option<Look>> {
        let Some((input, header, is_same)) = self.file.look()? else {
            return Ok(None);
        };
        let end = self.end.max(header.events_offset);
        let missing = end.saturating_sub(input.size());
        if missing > 0 {
            let error = input.error(ErrorKind::UnexpectedEnd { missing });
            return Err(error.with_offset(input.size()));
        }
        if let Some((offset, last)) = &self.last
            && input.record(*offset)? != *last
        {
            let field = format!("events[{}]", self.next_seq.saturating_sub(1));
            let error = input.error(ErrorKind::Overwritten);
            return Err(error.with_field(field).with_offset(*offset));
        }
        self.end = end;
        let footer = final_footer(&input, &header, is_same, self.next_seq)?;
        if let Some(found) = footer.as_ref().filter(|found| found.offset < end) {
            let wrong = Wrong {
                kind: ErrorKind::Disagrees {
                    found: found.footer.bytes_length,
                    expected: end.saturating_sub(header.events_offset),
                    by: "the follower",
                },
                field: "footer.bytes_length",
                offset: offset!(header.wire, DetailFooter.bytes_length),
                rule: DETAIL.footer_length,
            };
            return Err(wrong.error(&input, found.offset));
        }
        Ok(Some(Look {
            input,
            header,
            footer,
            buffer: Vec::new(),
            start: 0,
        }))
    }

    /// Returns the next event found in the file. Keeps the file's state if there is such an event.
    fn step(&mut self, mut look: Look) -> Result<Option<DetailEvent>> {
        let event = match look.footer {
            Some(footer) => self.step_to_footer(&mut look, &footer)?,
            None => self.step_ahead(&mut look)?,
        };
        let Some((header, bytes)) = event else {
            return Ok(None);
        };
        let (seq, offset) = (self.next_seq, self.end);
        self.last = Some((offset, bytes));
        self.next_seq = seq.saturating_add(1);
        self.end = offset.saturating_add(header.total_length.into());
        self.look = Some(look);
        Ok(Some(DetailEvent {
            seq,
            offset,
            header,
        }))
    }

    /// Returns the next event in a finalized file, whose events end at the footer.
    fn step_to_footer(
        &mut self,
        look: &mut Look,
        footer: &Placed<DetailFooter>,
    ) -> Result<Option<Stepped>> {
        let available = footer.offset.saturating_sub(self.end);
        if available == 0 {
            let wrong = footer.footer.wrong_count(look.header.wire, self.next_seq);
            if let Some(wrong) = wrong {
                return Err(wrong.error(&look.input, footer.offset));
            }
            let (start, end) = (look.header.events_offset, footer.offset);
            let checksum = Checksum::verify(&look.input, footer.footer.checksum, start, end)?;
            self.verdict = checksum.problem(&look.input, end, &DETAIL);
            self.finalized = Some(footer.footer);
            return Ok(None);
        }
        let stepped = look.event(self.end)?;
        let whole = stepped.filter(|_| available >= EVENT_HEADER_SIZE);
        let length = whole.map(|(header, _)| header.total_length);
        match misfit(&look.input, (self.next_seq, self.end), length, available) {
            None => Ok(stepped),
            Some(error) => {
                self.verdict = Some(error.clone());
                self.problem = Some(error);
                self.finalized = Some(footer.footer);
                Ok(None)
            }
        }
    }

    /// Returns the next certain event in an unfinalized file.
    fn step_ahead(&mut self, look: &mut Look) -> Result<Option<Stepped>> {
        self.has_footer = false;
        let (place, size) = (self.end, look.input.size());
        // Events that do not directly follow the header are certain only once a footer confirms
        // their offset.
        if look.header.events_offset != HEADER_SIZE as u64 {
            return Ok(None);
        }
        let Some((header, bytes)) = look.event(place)? else {
            return Ok(None);
        };
        if bytes.first_chunk() == Some(&[0; 4]) {
            self.file.zeros_end = size;
            return Ok(None);
        }
        if self.may_be_footer(look, &header, &bytes)? {
            return Ok(None);
        }
        let end = place.saturating_add(header.total_length.into());
        if u64::from(header.total_length) < EVENT_HEADER_SIZE || end > size {
            return Ok(None);
        }
        // If the file ends in the footer that the header states, even a damaged one, no event can
        // overlap it.
        let footer = size.saturating_sub(FOOTER_SIZE as u64);
        if look.header.stated_end() == Some(footer) && place < footer && footer < end {
            return Ok(None);
        }
        let is_certain = match look.view(end, AFTER)? {
            [] => end > self.file.zeros_end,
            after => is_written(after),
        };
        if !is_certain {
            self.file.zeros_end = size;
            return Ok(None);
        }
        Ok(Some((header, bytes)))
    }

    /// Returns whether the bytes after the last event may still be a footer.
    fn may_be_footer(
        &mut self,
        look: &mut Look,
        event: &DetailEventHeader,
        bytes: &[u8; DetailEventHeader::SIZE],
    ) -> Result<bool> {
        let (events, place) = (look.header.events_offset, self.end);
        let left = look.input.size().saturating_sub(place);
        let has_magic = bytes.first_chunk() == Some(&DetailFooter::MAGIC);
        // An event's timestamp is at the same offset as a footer's section length.
        let is_length = event.timestamp == place.saturating_sub(events);
        let stated = events.saturating_add(look.header.bytes_length);
        let is_stated = !look.header.is_placeholder() && stated == place;
        // If the header confirms the footer's offset, no event can begin there.
        let is_proved =
            look.header.stated_end() == Some(place) && look.header.event_count == self.next_seq;
        if !has_magic && !is_length {
            return Ok(is_proved || (is_stated && left <= FOOTER_SIZE as u64));
        }
        if left < FOOTER_SIZE as u64 {
            return Ok(true);
        }
        Ok(
            match classify_at::<DetailFooter>(&look.input, look.header.wire, events, place)? {
                Verdict::Verified(_) => {
                    self.has_footer = true;
                    true
                }
                Verdict::Damaged(_) if has_magic => true,
                // A footer without its magic is recognizable only if nothing follows it.
                Verdict::Damaged(_) => {
                    let end = place.saturating_add(FOOTER_SIZE as u64);
                    is_proved || !is_written(look.view(end, AFTER)?)
                }
                Verdict::NoFooter => is_proved || (is_stated && left == FOOTER_SIZE as u64),
            },
        )
    }
}

/// In every wire version, a footer's `bytes_length` has the same offset as an event's timestamp.
const _: () = assert!(offset!(DetailFooter.bytes_length) == offset!(DetailEventHeader.timestamp));

/// An event's header, decoded and as bytes.
type Stepped = (DetailEventHeader, [u8; DetailEventHeader::SIZE]);

impl Look {
    /// Returns the header of the event at `offset`, or `None` if the file does not contain all of
    /// it.
    fn event(&mut self, offset: u64) -> Result<Option<Stepped>> {
        let (wire, thread_id) = (self.header.wire, self.header.thread_id);
        let bytes = self.view(offset, EVENT_HEADER_SIZE)?.first_chunk().copied();
        Ok(bytes.map(|bytes| (DetailEventHeader::decode(wire, thread_id, &bytes), bytes)))
    }

    /// Returns the `size` bytes at `offset`, or fewer at the end of the file.
    fn view(&mut self, offset: u64, size: u64) -> Result<&[u8]> {
        let left = self.input.size().saturating_sub(offset);
        let size = usize::try_from(size.min(left)).unwrap_or_default();
        if self.at_hand(offset, size).is_none() {
            self.buffer
                .resize(usize::try_from(AHEAD.min(left)).unwrap_or_default(), 0);
            self.start = offset;
            let read = self.input.read(offset, &mut self.buffer);
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        let rest = self.buffer.len().min(size);
        Ok(self
            .at_hand(offset, size)
            .or_else(|| self.at_hand(offset, rest))
            .unwrap_or_default())
    }

    fn at_hand(&self, offset: u64, size: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.buffer.get(start..start.checked_add(size)?)
    }
}

/// Returns the verified footer of a file with a rewritten header. A header that disagrees with the
/// footer may be half-written, so it is used only if the previous poll read the same header.
fn final_footer(
    input: &Input,
    header: &DetailHeader,
    is_same: bool,
    count: u64,
) -> Result<Option<Placed<DetailFooter>>> {
    let is_placeholder = header.is_placeholder();
    // In a finalized file without events, the header is still a placeholder.
    if is_placeholder && count > 0 {
        return Ok(None);
    }
    let Verdict::Verified(found) = footer_of(input, header)? else {
        return Ok(None);
    };
    let end = header.events_offset.saturating_add(header.bytes_length);
    let agrees = header.event_count == found.footer.event_count && end == found.offset;
    Ok((agrees || (!is_placeholder && is_same)).then_some(found))
}
