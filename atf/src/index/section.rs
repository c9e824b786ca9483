//! Finds where the events of `index.atf` end.

use super::event::EVENT_SIZE;
use super::{IndexEvent, IndexFooter, IndexHeader};
use crate::completeness::{Completeness, CountSource, PartialFooter};
use crate::error::Result;
use crate::footer::{
    Damaged, FOOTER_SIZE, Footer, Placed, Verdict, classify_at, damaged_at, first_verified,
    reserved_is_zero,
};
use crate::source::Input;
use crate::window::{Window, end_without_zeros};
use crate::wire::{Wire, offset};

/// The events section: its length, where that length comes from, and what follows the section.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) event_count: u64,
    pub(super) count_source: CountSource,
    pub(super) completeness: Completeness,
    /// The verified footer.
    pub(super) footer: Option<Placed<IndexFooter>>,
}

impl Section {
    /// Looks for a footer wherever one may be. Without a footer, finds the last whole event.
    pub(super) fn find(input: &Input, header: &IndexHeader) -> Result<Self> {
        let events = header.events_offset;
        let stated = (!header.is_placeholder()).then_some(header.footer_offset);
        let last = input.size().checked_sub(FOOTER_SIZE as u64);
        let damaged =
            match first_verified(input, header.wire, events, stated.into_iter().chain(last))? {
                Verdict::Verified(footer) => return Ok(Self::with_footer(header, footer)),
                Verdict::Damaged(damaged) => Some(damaged),
                Verdict::NoFooter => None,
            };
        let data_end = end_without_zeros(input, events, input.size())?;
        let elsewhere = match scan(input, header, data_end)? {
            Verdict::Verified(footer) => return Ok(Self::with_footer(header, footer)),
            Verdict::Damaged(damaged) => Some(damaged),
            Verdict::NoFooter => None,
        };
        let footer_end = header.footer_offset.checked_add(FOOTER_SIZE as u64);
        let holds_footer = footer_end.is_some_and(|end| end <= input.size());
        match damaged {
            Some(damaged) => Ok(Self::with_damaged_footer(header, damaged)),
            None if header.is_bounded() && holds_footer && data_end > header.footer_offset => {
                let damaged =
                    damaged_at::<IndexFooter>(input, header.wire, events, header.footer_offset)?;
                Ok(Self::with_damaged_footer(header, damaged))
            }
            None => match elsewhere {
                Some(damaged) => Ok(Self::with_damaged_footer(header, damaged)),
                None => Self::without_footer(input, header, data_end),
            },
        }
    }

    fn with_footer(header: &IndexHeader, footer: Placed<IndexFooter>) -> Self {
        // Finalizing a file without events leaves the header unchanged.
        let is_same = header.event_count == footer.footer.event_count
            && header.footer_offset == footer.offset
            && header.time_start_ns == footer.footer.time_start_ns
            && header.time_end_ns == footer.footer.time_end_ns;
        let completeness = if header.is_placeholder() && !is_same {
            Completeness::HeaderNotUpdated
        } else {
            Completeness::Finalized
        };
        Self {
            event_count: footer.footer.event_count,
            count_source: CountSource::Footer,
            completeness,
            footer: Some(footer),
        }
    }

    fn with_damaged_footer(header: &IndexHeader, damaged: Damaged) -> Self {
        let Damaged { offset, problems } = damaged;
        let bytes = offset.saturating_sub(header.events_offset);
        Self {
            event_count: bytes / EVENT_SIZE,
            count_source: CountSource::FooterPosition,
            completeness: Completeness::DamagedFooter {
                offset,
                trailing_bytes: bytes % EVENT_SIZE,
                problems,
            },
            footer: None,
        }
    }

    /// Finds the whole events up to the end of the file, excluding zeros and bytes that may be a
    /// torn footer.
    fn without_footer(input: &Input, header: &IndexHeader, data_end: u64) -> Result<Self> {
        let events = header.events_offset;
        let unfinalized = |event_count, trailing_bytes, zero_tail_bytes, partial_footer| Self {
            event_count,
            count_source: CountSource::FileSize,
            completeness: Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
            },
            footer: None,
        };
        if let Some((seq, partial)) = partial_footer(input, header, data_end)? {
            let footer_end = partial.offset.saturating_add(partial.size);
            let zeros = input.size().saturating_sub(footer_end);
            return Ok(unfinalized(seq, 0, zeros, Some(partial)));
        }
        let whole = input.size().saturating_sub(events) / EVENT_SIZE;
        let whole_end = event_end(events, whole);
        let after_zeros = data_end > whole_end;
        let events_end = if after_zeros {
            end_without_zeros(input, events, whole_end)?
        } else {
            data_end
        };
        let touched = touched_events(events, events_end);
        // An event of an unknown kind before zeros is torn: only its beginning was written.
        let intact = match touched.checked_sub(1) {
            Some(last) if touched < whole && is_of_no_kind(input, header, last)? => last,
            _ => touched,
        };
        let intact_end = event_end(events, intact);
        // Zeros before a torn event are trailing bytes too: the file does not end in them.
        let torn_end = if touched == whole || after_zeros {
            input.size()
        } else {
            data_end.max(intact_end)
        };
        Ok(unfinalized(
            intact,
            torn_end.saturating_sub(intact_end),
            input.size().saturating_sub(torn_end),
            None,
        ))
    }
}

/// Returns the offset after `count` events.
fn event_end(events_offset: u64, count: u64) -> u64 {
    events_offset.saturating_add(count.saturating_mul(EVENT_SIZE))
}

/// Returns how many events begin before `end`.
fn touched_events(events_offset: u64, end: u64) -> u64 {
    end.saturating_sub(events_offset).div_ceil(EVENT_SIZE)
}

fn is_of_no_kind(input: &Input, header: &IndexHeader, seq: u64) -> Result<bool> {
    let bytes = input.record(event_end(header.events_offset, seq))?;
    let event = IndexEvent::decode(header.wire, header.thread_id, &bytes);
    Ok(u32::from(event.event_kind) == 0)
}

/// Searches all event offsets for a footer that the header does not mention and that is followed by
/// other bytes. Returns the first verified one or, if there is none, the first whose count or length
/// matches its offset.
fn scan(input: &Input, header: &IndexHeader, end: u64) -> Result<Verdict<IndexFooter>> {
    let mut window = Window::new(input);
    let mut offset = header.events_offset;
    let mut best = Verdict::NoFooter;
    while offset < end && input.size().saturating_sub(offset) >= FOOTER_SIZE as u64 {
        let magic = *window.record(offset)?;
        if magic == IndexFooter::MAGIC {
            let verdict = classify_at(input, header.wire, header.events_offset, offset)?;
            match (&best, &verdict) {
                (_, Verdict::Verified(_)) => return Ok(verdict),
                (Verdict::NoFooter, Verdict::Damaged(damaged)) if damaged.is_single() => {
                    best = verdict;
                }
                _ => {}
            }
        }
        let hole = match magic {
            [0, 0, 0, 0] => window.hole(offset)?,
            _ => 0,
        };
        offset = event_end(offset, (hole / EVENT_SIZE).max(1));
    }
    Ok(best)
}

/// Returns a torn footer (truncated or partly zeros) and the number of events before it. Without
/// this check, the footer's first 32 to 63 bytes, or its last 32, could be mistaken for an event.
fn partial_footer(
    input: &Input,
    header: &IndexHeader,
    data_end: u64,
) -> Result<Option<(u64, PartialFooter)>> {
    let touched = touched_events(header.events_offset, data_end);
    for seq in [touched.checked_sub(2), touched.checked_sub(1)]
        .into_iter()
        .flatten()
    {
        let offset = event_end(header.events_offset, seq);
        let left = input.size().saturating_sub(offset);
        let size = if left < FOOTER_SIZE as u64 {
            left
        } else {
            data_end.saturating_sub(offset)
        };
        if begins_footer(input, header, seq, size)? {
            return Ok(Some((seq, PartialFooter { offset, size })));
        }
    }
    Ok(None)
}

/// Returns whether the `size` bytes at the place of event `seq` are the beginning of a footer,
/// judging by the header's offset, or by the magic and, if present, the count or the start time. If
/// the sector with the
/// footer's beginning never reached the disk, it reads as zeros, followed by the length of the
/// preceding events.
fn begins_footer(input: &Input, header: &IndexHeader, seq: u64, size: u64) -> Result<bool> {
    const COUNT: usize = offset!(IndexFooter.event_count);
    const COUNT_END: usize = offset!(IndexFooter.time_start_ns);
    const TIME_END: usize = offset!(IndexFooter.time_end_ns);
    let mut bytes = [0; FOOTER_SIZE];
    let size = usize::try_from(size)
        .unwrap_or(FOOTER_SIZE)
        .min(FOOTER_SIZE);
    let offset = event_end(header.events_offset, seq);
    if header.is_bounded() && header.footer_offset == offset {
        return Ok(true);
    }
    input.read_exact(offset, bytes.get_mut(..size).unwrap_or_default())?;
    if bytes.first_chunk() != Some(&IndexFooter::MAGIC) {
        return Ok(is_end_of_footer(header.wire, &bytes, seq));
    }
    if seq == 0 {
        return Ok(bytes.iter().skip(COUNT).all(|byte| *byte == 0));
    }
    let footer = IndexFooter::decode(header.wire, &bytes);
    if size < COUNT_END || footer.event_count == seq {
        return Ok(true);
    }
    if size < TIME_END {
        return Ok(false);
    }
    let first = input.record(header.events_offset)?;
    let first = IndexEvent::decode(header.wire, header.thread_id, &first);
    // A time of 0 proves nothing: an event with small values may look the same.
    let is_proof = first.timestamp_ns > 0 || reserved_is_zero::<IndexFooter>(header.wire, &bytes);
    Ok(is_proof && footer.time_start_ns == first.timestamp_ns)
}

/// Returns whether the bytes at the place of event `seq` are a footer without its first half.
fn is_end_of_footer(wire: Wire, bytes: &[u8; FOOTER_SIZE], seq: u64) -> bool {
    const END: usize = offset!(IndexFooter.bytes_written);
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let bytes_written = IndexFooter::decode(wire, bytes).bytes_written;
    bytes.get(..END).is_some_and(is_zero)
        && seq.checked_mul(EVENT_SIZE) == Some(bytes_written)
        && reserved_is_zero::<IndexFooter>(wire, bytes)
}
