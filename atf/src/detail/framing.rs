//! Finds where each event of `detail.atf` begins, by walking from event to event.

use std::path::Path;

use super::{DetailEvent, DetailEventHeader, DetailFooter, DetailHeader, FunctionPayload};
use crate::checksum::Crc32c;
use crate::completeness::{Completeness, CountSource, PartialFooter};
use crate::error::{Error, ErrorKind, Result, push};
use crate::footer::{
    Damaged, FOOTER_SIZE, Placed, Verdict, classify_at, damaged_at, first_verified,
};
use crate::header;
use crate::rules::of_file::DETAIL;
use crate::rules::table as rules;
use crate::source::{Input, OpenOptions};
use crate::window::{Window, end_without_zeros};
use crate::wire::offset;

const EVENT_HEADER_SIZE: u64 = DetailEventHeader::SIZE as u64;
/// How many bytes the checksum is ahead of the walk, so that the walk finds them in the cache.
const BLOCK: u64 = 64 << 10;

/// A callback that receives the file's header and its events in order, each with its payload if
/// that may be the payload of a call or a return.
pub(crate) type Tap<'a> = &'a mut dyn FnMut(&DetailHeader, &DetailEvent, Option<&[u8]>);

/// The events section: where its events are, and what follows the last one.
#[derive(Debug)]
pub(super) struct EventOffsets {
    pub(super) walk: EventWalker,
    pub(super) count_source: CountSource,
    pub(super) completeness: Completeness,
    /// The verified footer.
    pub(super) footer: Option<Placed<DetailFooter>>,
}

impl EventOffsets {
    /// Looks for a footer wherever one may be, and walks the events up to it. Without a footer,
    /// walks up to the end of the file. With a verified footer, passes the events to `tap`.
    pub(super) fn find(input: &Input, header: &DetailHeader, tap: Option<Tap<'_>>) -> Result<Self> {
        let events = header.events_offset;
        let stated = (!header.is_placeholder()).then(|| events.saturating_add(header.bytes_length));
        let last = input.size().checked_sub(FOOTER_SIZE as u64);
        let damaged = match footer_of(input, header)? {
            Verdict::Verified(footer) => {
                let (walk, _) = EventWalker::new(input, header, footer.offset, false, tap)?;
                return Ok(walk.with_footer(input, header, footer));
            }
            Verdict::Damaged(damaged) if !is_torn_footer(input, header, damaged.offset)? => {
                Some(damaged)
            }
            Verdict::Damaged(_) | Verdict::NoFooter => {
                let at_end = header.stated_end().filter(|end| last == Some(*end));
                damaged_footer(input, header, at_end)?
            }
        };
        let end = damaged
            .as_ref()
            .map_or(input.size(), |damaged| damaged.offset);
        let (mut walk, found) = EventWalker::new(input, header, end, true, None)?;
        match (found, damaged) {
            (Verdict::Verified(footer), _) => Ok(walk.with_footer(input, header, footer)),
            (_, Some(damaged)) => Ok(walk.with_damaged_footer(damaged)),
            (found, None) => {
                let counted = header
                    .stated_end()
                    .filter(|end| walk.counts_to(*end, header));
                if let Some(end) = counted {
                    walk.stop_at(end, header);
                }
                match (damaged_footer(input, header, counted)?, found) {
                    (Some(damaged), _) => Ok(walk.with_damaged_footer(damaged)),
                    (None, Verdict::Damaged(damaged))
                        if !is_torn_footer(input, header, damaged.offset)? =>
                    {
                        Ok(walk.with_damaged_footer(damaged))
                    }
                    _ => walk.without_footer(input, header, counted.or(stated)),
                }
            }
        }
    }
}

/// Returns the footer at the offset stated in the header, or otherwise at the end of the file.
pub(crate) fn footer_of(input: &Input, header: &DetailHeader) -> Result<Verdict<DetailFooter>> {
    let events = header.events_offset;
    let stated = (!header.is_placeholder()).then(|| events.saturating_add(header.bytes_length));
    let last = input.size().checked_sub(FOOTER_SIZE as u64);
    let verdict = first_verified(input, header.wire, events, stated.into_iter().chain(last))?;
    let (at, fits) = match &verdict {
        Verdict::Verified(placed) => (placed.offset, true),
        Verdict::Damaged(damaged) => (damaged.offset, false),
        Verdict::NoFooter => return Ok(verdict),
    };
    if header.stated_end() != Some(at) && is_payload(input, header, at, fits)? {
        first_verified(
            input,
            header.wire,
            events,
            stated.filter(|stated| *stated != at),
        )
    } else {
        Ok(verdict)
    }
}

/// Returns whether an apparent footer is inside an event's payload, which is program memory and may
/// contain any bytes. It is inside a payload if an event begins before it and ends after it. If the
/// footer's numbers match, the events must also reach the end of the file or the zeros before it;
/// otherwise a length is damaged and the footer is genuine (silence `footer.framed`).
fn is_payload(input: &Input, header: &DetailHeader, at: u64, fits: bool) -> Result<bool> {
    let (walk, _) = EventWalker::new(input, header, input.size(), false, None)?;
    let spans = walk.end > at && walk.offsets.binary_search(&at).is_err();
    Ok(spans && (!fits || end_without_zeros(input, walk.end, input.size())? == walk.end))
}

/// Returns the event count in a file's verified footer, 0 if there is no file, or `None` if the
/// file has no verified footer or its header has a different count. No checksum covers either.
pub(crate) fn stated_count(path: &Path, options: OpenOptions) -> Result<Option<u64>> {
    let input = match Input::open_in_session(path, options) {
        Ok(input) => input,
        Err(error) if error.is_not_found() => return Ok(Some(0)),
        Err(error) => return Err(error),
    };
    let header = DetailHeader::decode(&header::read(&input, &DETAIL)?, input.size())?;
    Ok(match footer_of(&input, &header)? {
        Verdict::Verified(footer) => {
            Some(footer.footer.event_count).filter(|count| *count == header.event_count)
        }
        Verdict::Damaged(_) | Verdict::NoFooter => None,
    })
}

/// Returns an event's length, which is at the same offset in both wire versions.
fn total_length(bytes: &[u8; DetailEventHeader::SIZE]) -> u32 {
    const OFFSET: usize = offset!(DetailEventHeader.total_length);
    let (_, rest) = bytes.split_at(OFFSET);
    rest.first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns the payload of an event, if it may be that of a call or a return. Requests the event's
/// header, too, so that the window does not move past bytes that are not yet in the checksum.
fn function_payload<'w>(
    window: &'w mut Window<'_>,
    event: &DetailEvent,
) -> Result<Option<&'w [u8]>> {
    const HEADER: usize = DetailEventHeader::SIZE;
    let bytes = FunctionPayload::possible(event)
        .map(|size| window.bytes(event.offset, HEADER.saturating_add(size)))
        .transpose()?;
    Ok(bytes.map(|bytes| bytes.split_at(HEADER).1))
}

/// Checks that an event of `length` bytes fits in the `available` bytes of its section, and returns
/// an error if not. `place` is the event's position and offset. A `length` of `None` means that the
/// event's header does not fit.
pub(crate) fn misfit(
    input: &Input,
    place: (u64, u64),
    length: Option<u32>,
    available: u64,
) -> Option<Error> {
    let min = u32::try_from(EVENT_HEADER_SIZE).unwrap_or(u32::MAX);
    let (kind, field, rule) = match length {
        None => {
            let needed = EVENT_HEADER_SIZE;
            let kind = ErrorKind::TornEvent { available, needed };
            (kind, "", &rules::ATF_DEVT_002)
        }
        Some(found) if (EVENT_HEADER_SIZE..=available).contains(&found.into()) => return None,
        Some(found) => {
            let kind = ErrorKind::BadTotalLength {
                found,
                min,
                available,
            };
            let rule = if found < min {
                &rules::ATF_DEVT_001
            } else {
                &rules::ATF_DEVT_002
            };
            (kind, ".total_length", rule)
        }
    };
    let (seq, offset) = place;
    let error = input
        .error(kind)
        .with_field(format!("events[{seq}]{field}"));
    Some(error.with_offset(offset).with_rule(rule))
}

/// Returns the damaged footer at `at`, if there is room for one. A rewritten header proves that the
/// bytes at that offset are not an event. A footer that is zeros, from an unwritten block, or
/// truncated does not count as damaged.
fn damaged_footer(
    input: &Input,
    header: &DetailHeader,
    at: Option<u64>,
) -> Result<Option<Damaged>> {
    let has_room = |at: &u64| input.size().saturating_sub(*at) >= FOOTER_SIZE as u64;
    let Some(at) = at.filter(has_room) else {
        return Ok(None);
    };
    if input.record(at)? == [0; FOOTER_SIZE] {
        return Ok(None);
    }
    damaged_at::<DetailFooter>(input, header.wire, header.events_offset, at).map(Some)
}

/// The progress of a walk from event to event, and in the end its result.
#[derive(Debug)]
pub(super) struct EventWalker {
    /// The offset of each event in bytes from the start of the file.
    pub(super) offsets: Vec<u64>,
    /// The offset after the last event.
    pub(super) end: u64,
    /// Why no event follows the last one, although the section continues.
    pub(super) problem: Option<Error>,
    /// The CRC-32C of the section, if the walk covered all of it on the way to a footer.
    pub(super) crc32c: Option<u32>,
}

impl EventWalker {
    /// Walks to `end`, or to the first offset where no event fits before `end`. With
    /// `look_for_footer`, the walk stops at a footer found where an event should begin and followed
    /// by other bytes, and returns that footer; without it, the walk computes the checksum.
    fn new(
        input: &Input,
        header: &DetailHeader,
        end: u64,
        look_for_footer: bool,
        mut tap: Option<Tap<'_>>,
    ) -> Result<(Self, Verdict<DetailFooter>)> {
        let mut window = Window::new(input);
        let start = header.events_offset;
        let mut walk = Self {
            offsets: Vec::new(),
            end: start,
            problem: None,
            crc32c: None,
        };
        let mut footer = Verdict::NoFooter;
        let mut crc = Crc32c::new();
        let mut crc_end = start;
        while walk.end < end {
            // Computing the checksum ahead of the walk loads one block after another into the
            // cache. Otherwise, the walk would wait for memory at each event.
            if look_for_footer {
                crc_end = end;
            }
            while crc_end <= walk.end {
                let chunk = window.chunk(crc_end, end.min(crc_end.saturating_add(BLOCK)))?;
                crc.update(chunk);
                crc_end = crc_end.saturating_add(chunk.len() as u64);
            }
            if tap.is_none() {
                let readable_end = input.unreadable().next(walk.end).min(crc_end);
                walk.through(window.chunk(walk.end, readable_end)?, end, look_for_footer)
                    .map_err(|error| error.with_path(input.path()))?;
                // Compute the checksum first, so that the window only moves forward.
                if walk.end >= crc_end {
                    continue;
                }
            }
            // Handle one event the slow way: it goes to the tap, crosses the end of a block, is
            // invalid, or follows an unreadable range.
            let available = end.saturating_sub(walk.end);
            if available < EVENT_HEADER_SIZE {
                // The walk may end at a verified footer that overlaps `end`.
                if look_for_footer
                    && let found @ Verdict::Verified(_) =
                        classify_at(input, header.wire, start, walk.end)?
                {
                    footer = found;
                    break;
                }
                walk.problem = misfit(input, walk.next(), None, available);
                break;
            }
            let bytes = window.record(walk.end)?;
            if look_for_footer && bytes.first_chunk() == Some(&DetailFooter::MAGIC) {
                footer = classify_at(input, header.wire, start, walk.end)?;
                if !matches!(footer, Verdict::NoFooter) {
                    break;
                }
            }
            let (seq, offset) = walk.next();
            let event = DetailEvent {
                seq,
                offset,
                header: DetailEventHeader::decode(header.wire, header.thread_id, bytes),
            };
            // Some bytes of the length may be unreadable.
            let found = if input
                .unreadable()
                .overlaps(&(offset..event.payload_offset()))
            {
                0
            } else {
                event.header.total_length
            };
            walk.problem = misfit(input, (seq, offset), Some(found), available);
            if walk.problem.is_some() {
                break;
            }
            if let Some(tap) = &mut tap {
                tap(header, &event, function_payload(&mut window, &event)?);
            }
            push(&mut walk.offsets, offset).map_err(|error| error.with_path(input.path()))?;
            walk.end = walk.end.saturating_add(found.into());
        }
        if !look_for_footer && walk.problem.is_none() {
            while crc_end < end {
                let chunk = window.chunk(crc_end, end)?;
                crc.update(chunk);
                crc_end = crc_end.saturating_add(chunk.len() as u64);
            }
            walk.crc32c = Some(crc.finish());
        }
        walk.offsets.shrink_to_fit();
        Ok((walk, footer))
    }

    /// Walks the events whose headers are in `bytes`, up to the first event that needs a closer
    /// check.
    fn through(&mut self, mut bytes: &[u8], end: u64, look_for_footer: bool) -> Result<()> {
        while let Some(header) = bytes.first_chunk() {
            let size = total_length(header);
            let available = end.saturating_sub(self.end);
            let is_event = (EVENT_HEADER_SIZE..=available).contains(&u64::from(size));
            if !is_event || (look_for_footer && header.first_chunk() == Some(&DetailFooter::MAGIC))
            {
                break;
            }
            push(&mut self.offsets, self.end)?;
            self.end = self.end.saturating_add(size.into());
            let rest = usize::try_from(size)
                .ok()
                .and_then(|size| bytes.get(size..));
            bytes = rest.unwrap_or_default();
        }
        Ok(())
    }

    /// Returns whether the walk reached `end` after exactly as many events as the header counts.
    fn counts_to(&self, end: u64, header: &DetailHeader) -> bool {
        let count = if end == self.end {
            Some(self.offsets.len())
        } else {
            self.offsets.binary_search(&end).ok()
        };
        count.is_some_and(|count| count as u64 == header.event_count)
    }

    /// Discards everything after the events that the header counts.
    fn stop_at(&mut self, end: u64, header: &DetailHeader) {
        let count = usize::try_from(header.event_count).unwrap_or(usize::MAX);
        self.offsets.truncate(count);
        self.end = end;
        self.problem = None;
    }

    /// Returns the position and the offset of the next event.
    fn next(&self) -> (u64, u64) {
        (self.offsets.len() as u64, self.end)
    }

    fn with_footer(
        self,
        input: &Input,
        header: &DetailHeader,
        footer: Placed<DetailFooter>,
    ) -> EventOffsets {
        let wrong = footer
            .footer
            .wrong_count(header.wire, self.offsets.len() as u64);
        if let Some(wrong) = wrong.filter(|_| self.problem.is_none()) {
            let offset = footer.offset;
            let problems = vec![wrong.error(input, offset)];
            return self.with_damaged_footer(Damaged { offset, problems });
        }
        EventOffsets {
            count_source: match self.problem {
                Some(_) => CountSource::Framing,
                None => CountSource::Footer,
            },
            // Finalizing a file without events leaves the header unchanged.
            completeness: if header.is_placeholder() && footer.footer.event_count > 0 {
                Completeness::HeaderNotUpdated
            } else {
                Completeness::Finalized
            },
            footer: Some(footer),
            walk: self,
        }
    }

    fn with_damaged_footer(self, damaged: Damaged) -> EventOffsets {
        let Damaged { offset, problems } = damaged;
        let trailing_bytes = offset.saturating_sub(self.end);
        self.without_verified_footer(Completeness::DamagedFooter {
            offset,
            trailing_bytes,
            problems,
        })
    }

    fn without_verified_footer(self, completeness: Completeness) -> EventOffsets {
        EventOffsets {
            count_source: CountSource::Framing,
            completeness,
            footer: None,
            walk: self,
        }
    }

    /// Distinguishes a torn event, a torn footer and zeros.
    fn without_footer(
        mut self,
        input: &Input,
        header: &DetailHeader,
        stated: Option<u64>,
    ) -> Result<EventOffsets> {
        let rest = input.size().saturating_sub(self.end);
        let mut data_end = end_without_zeros(input, self.end, input.size())?;
        let mut trailing_bytes = rest;
        let mut zero_tail_bytes = 0;
        let mut partial_footer = None;
        if begins_footer(input, header, self.end, data_end, stated)? {
            let size = if rest < FOOTER_SIZE as u64 {
                rest
            } else {
                data_end.saturating_sub(self.end)
            };
            partial_footer = Some(PartialFooter {
                offset: self.end,
                size,
            });
            trailing_bytes = 0;
            zero_tail_bytes = rest.saturating_sub(size);
        } else if rest > 0 && data_end == self.end {
            let is_torn = self.drop_torn_event(input)?;
            if is_torn || rest >= EVENT_HEADER_SIZE {
                data_end = end_without_zeros(input, self.end, input.size())?;
                trailing_bytes = data_end.saturating_sub(self.end);
                zero_tail_bytes = input.size().saturating_sub(data_end);
            }
        }
        // Only an impossible length counts as damage. An event that extends past the end of the
        // file is merely torn.
        let impossible = matches!(
            self.problem.as_ref().map(Error::kind),
            Some(ErrorKind::BadTotalLength { found, min, .. }) if found < min
        );
        self.problem = self.problem.filter(|_| impossible && zero_tail_bytes == 0);
        Ok(self.without_verified_footer(Completeness::Unfinalized {
            trailing_bytes,
            zero_tail_bytes,
            partial_footer,
        }))
    }

    /// Drops the last event if its timestamp and everything after it are zeros: only its beginning
    /// was written. Returns whether it was dropped.
    fn drop_torn_event(&mut self, input: &Input) -> Result<bool> {
        const TIME: u64 = offset!(DetailEventHeader.timestamp) as u64;
        let Some(last) = self.offsets.last().copied() else {
            return Ok(false);
        };
        let is_torn = end_without_zeros(input, last, input.size())? <= last.saturating_add(TIME);
        if is_torn {
            self.offsets.pop();
            self.end = last;
        }
        Ok(is_torn)
    }
}

/// Returns whether the bytes at `at`, after the last event, are a footer within which the file or
/// its data ends, judging by their magic or by the offset stated in the header.
fn begins_footer(
    input: &Input,
    header: &DetailHeader,
    at: u64,
    data_end: u64,
    stated: Option<u64>,
) -> Result<bool> {
    let magic = DetailFooter::MAGIC;
    let left = input.size().saturating_sub(at);
    if data_end == at {
        return Ok(false);
    }
    let has_magic = left >= magic.len() as u64 && input.record(at)? == magic;
    Ok(if left < FOOTER_SIZE as u64 {
        has_magic || stated == Some(at)
    } else {
        has_magic && is_torn_footer(input, header, at)?
    })
}

/// Returns whether the data ends before the length field of a footer at `at`, and the header does not
/// confirm that offset. Zeros up to the end of the file do not count as written.
fn is_torn_footer(input: &Input, header: &DetailHeader, at: u64) -> Result<bool> {
    const LENGTH: u64 = offset!(DetailFooter.bytes_length) as u64;
    Ok(header.stated_end() != Some(at)
        && end_without_zeros(input, at, input.size())? <= at.saturating_add(LENGTH))
}
