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
    /// Looks for a footer wherever one can be. Without a footer, finds the last whole event.
    pub(super) fn find(input: &Input, header: &IndexHeader) -> Result<Self> {
        let events = header.events_offset;
        let stated = (!header.is_placeholder()).then_some(header.footer_offset);
        let last = input.size().checked_sub(FOOTER_SIZE as u64);
        let damaged =
            match first_verified(input, header.wire, events, stated.into_iter().chain(last))? {
                Verdict::Verified(last) if header.is_placeholder() => {
                    // The first footer ends the events: its bytes must not be read as events.
                    let footer = match scan(input, header, last.offset)? {
                        Verdict::Verified(first) => first,
                        _ => last,
                    };
                    return Ok(Self::with_footer(header, footer));
                }
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
        let is_proven = header.stated_end().is_some_and(|end| data_end > end);
        if !is_proven && let Some((seq, partial)) = torn_footer(input, header, data_end)? {
            let footer_end = partial.offset.saturating_add(partial.size);
            let zeros = input.size().saturating_sub(footer_end);
            return Ok(Self::unfinalized(seq, 0, zeros, Some(partial)));
        }
        for damaged in [damaged, elsewhere].into_iter().flatten() {
            if !is_counted(input, header, damaged.offset)? {
                return Ok(Self::with_damaged_footer(header, damaged));
            }
        }
        if is_proven {
            Self::with_proven_end(input, header)
        } else {
            Self::without_footer(input, header, data_end)
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

    fn unfinalized(
        event_count: u64,
        trailing_bytes: u64,
        zero_tail_bytes: u64,
        partial_footer: Option<PartialFooter>,
    ) -> Self {
        Self {
            event_count,
            count_source: CountSource::FileSize,
            completeness: Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
            },
            footer: None,
        }
    }

    /// Ends the events at the footer offset that the header proves. The bytes there are a torn
    /// footer, one that never reached the disk (64 zeros), or a damaged one.
    fn with_proven_end(input: &Input, header: &IndexHeader) -> Result<Self> {
        let offset = header.footer_offset;
        let count = header.event_count;
        let size = input.size().saturating_sub(offset);
        if size < FOOTER_SIZE as u64 {
            let partial = PartialFooter { offset, size };
            return Ok(Self::unfinalized(count, 0, 0, Some(partial)));
        }
        if input.record(offset)? == [0; FOOTER_SIZE] {
            return Ok(Self::unfinalized(count, size, 0, None));
        }
        let damaged = damaged_at::<IndexFooter>(input, header.wire, header.events_offset, offset)?;
        Ok(Self::with_damaged_footer(header, damaged))
    }

    /// Finds the whole events up to the end of the file, excluding zeros.
    fn without_footer(input: &Input, header: &IndexHeader, data_end: u64) -> Result<Self> {
        let events = header.events_offset;
        let whole = input.size().saturating_sub(events) / EVENT_SIZE;
        let whole_end = event_end(events, whole);
        let after_zeros = data_end > whole_end;
        let events_end = if after_zeros {
            end_without_zeros(input, events, whole_end)?
        } else {
            data_end
        };
        let touched = touched_events(events, events_end);
        let before_zeros = touched < whole || (!after_zeros && input.size() > whole_end);
        // An event of an unknown kind before zeros is torn: only its beginning was written.
        let intact = match touched.checked_sub(1) {
            Some(last) if before_zeros && has_no_kind(input, header, last)? => last,
            _ => touched,
        };
        let intact_end = event_end(events, intact);
        // Zeros before a torn event are also trailing bytes, because they do not end the file.
        let torn_end = if touched == whole || after_zeros {
            input.size()
        } else {
            data_end.max(intact_end)
        };
        Ok(Self::unfinalized(
            intact,
            torn_end.saturating_sub(intact_end),
            input.size().saturating_sub(torn_end),
            None,
        ))
    }
}

/// The offset of a footer's length, its last number.
const LENGTH: u64 = offset!(IndexFooter.bytes_written) as u64;

pub(crate) fn event_end(events_offset: u64, count: u64) -> u64 {
    events_offset.saturating_add(count.saturating_mul(EVENT_SIZE))
}

/// Returns how many events begin before `end`.
fn touched_events(events_offset: u64, end: u64) -> u64 {
    end.saturating_sub(events_offset).div_ceil(EVENT_SIZE)
}

/// Returns whether the bytes at `offset` are one of the events that the header counts, even if they
/// look like a footer: they have the kind of an event.
fn is_counted(input: &Input, header: &IndexHeader, offset: u64) -> Result<bool> {
    let has_room = input.size().saturating_sub(offset) >= EVENT_SIZE;
    if header.stated_end().is_none_or(|end| offset >= end) || !has_room {
        return Ok(false);
    }
    let bytes = input.record(offset)?;
    let event = IndexEvent::decode(header.wire, header.thread_id, &bytes);
    Ok(event.event_kind.name().is_some())
}

fn has_no_kind(input: &Input, header: &IndexHeader, seq: u64) -> Result<bool> {
    let bytes = input.record(event_end(header.events_offset, seq))?;
    let event = IndexEvent::decode(header.wire, header.thread_id, &bytes);
    Ok(u32::from(event.event_kind) == 0)
}

/// Searches all event offsets for a footer that the header does not point to and that is followed
/// by other bytes or zeros. Returns the first verified one or, if there is none, the first with
/// only zeros after it, or with a single mismatch and correct reserved bytes or start time.
fn scan(input: &Input, header: &IndexHeader, end: u64) -> Result<Verdict<IndexFooter>> {
    const COUNT: usize = offset!(IndexFooter.event_count);
    let mut window = Window::new(input);
    let mut offset = header.events_offset;
    let mut best = Verdict::NoFooter;
    let mut seq = 0_u64;
    while offset < end && input.size().saturating_sub(offset) >= FOOTER_SIZE as u64 {
        let start: [u8; COUNT + size_of::<u64>()] = *window.record(offset)?;
        let has_magic = start.starts_with(&IndexFooter::MAGIC);
        if has_magic || start.ends_with(&seq.to_le_bytes()) {
            let verdict = classify_at(input, header.wire, header.events_offset, offset)?;
            match (&best, &verdict) {
                (_, Verdict::Verified(_)) => return Ok(verdict),
                (Verdict::NoFooter, Verdict::Damaged(damaged)) => {
                    let bytes = input.record(offset)?;
                    let is_right = reserved_is_zero::<IndexFooter>(header.wire, &bytes)
                        || start_time_weight(input, header, seq, &bytes)? > 0;
                    let written = end.saturating_sub(offset);
                    let is_last = has_magic && written > LENGTH && written <= FOOTER_SIZE as u64;
                    if is_last || (is_right && damaged.is_single()) {
                        best = verdict;
                    }
                }
                _ => {}
            }
        }
        let hole = match start {
            [0, 0, 0, 0, ..] => window.hole(offset)?,
            _ => 0,
        };
        let step = (hole / EVENT_SIZE).max(1);
        seq = seq.saturating_add(step);
        offset = event_end(offset, step);
    }
    Ok(best)
}

/// Returns a torn footer and the number of events before it. Zeros up to the end of the file do not
/// count as written, so a footer is torn if the file or its data ends within it. Without this check,
/// 32 bytes of it could be mistaken for an event.
fn torn_footer(
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
        let written = data_end.saturating_sub(offset);
        let has_room = left >= FOOTER_SIZE as u64;
        if is_counted(input, header, offset)? {
            continue;
        }
        let is_torn = if written > LENGTH && is_end_of_footer(input, header.wire, offset, seq)? {
            true
        } else {
            (!has_room || written <= LENGTH) && begins_footer(input, header, seq, written)?
        };
        if is_torn {
            let size = if has_room { written } else { left };
            return Ok(Some((seq, PartialFooter { offset, size })));
        }
    }
    Ok(None)
}

/// Returns up to 64 bytes from `offset`, followed by zeros if the file has fewer.
fn footer_bytes(input: &Input, offset: u64) -> Result<[u8; FOOTER_SIZE]> {
    let mut bytes = [0; FOOTER_SIZE];
    let left = input.size().saturating_sub(offset);
    let size = usize::try_from(left).unwrap_or(FOOTER_SIZE);
    let in_file = bytes.get_mut(..size.min(FOOTER_SIZE)).unwrap_or_default();
    input.read_exact(offset, in_file)?;
    Ok(bytes)
}

/// Returns whether the first `written` bytes at the offset of event `seq` are the beginning of a
/// footer: two of magic, event count and start time are correct, or the written part of the magic
/// is, or the start time is and the bytes cannot be an event.
fn begins_footer(input: &Input, header: &IndexHeader, seq: u64, written: u64) -> Result<bool> {
    const COUNT: usize = offset!(IndexFooter.event_count);
    let bytes = footer_bytes(input, event_end(header.events_offset, seq))?;
    let size = usize::try_from(written).unwrap_or(FOOTER_SIZE);
    let is_start = |value: &[u8], offset: usize| {
        let written = bytes.get(offset..size.min(FOOTER_SIZE)).unwrap_or_default();
        value.iter().zip(written).all(|(value, byte)| value == byte)
    };
    let has_magic = is_start(&IndexFooter::MAGIC, 0);
    let counts = is_start(&seq.to_le_bytes(), COUNT);
    if seq == 0 || size <= COUNT || (has_magic && counts) {
        return Ok(has_magic && counts);
    }
    // A time of 0 proves nothing: it may not have been written.
    let time = start_time_weight(input, header, seq, &bytes)?;
    Ok(time.saturating_add(usize::from(has_magic || counts)) >= 2)
}

/// Returns the weight of the start time in these bytes, counted in footer properties, if `seq`
/// events precede them.
fn start_time_weight(
    input: &Input,
    header: &IndexHeader,
    seq: u64,
    bytes: &[u8; FOOTER_SIZE],
) -> Result<usize> {
    let (wire, events) = (header.wire, header.events_offset);
    let section_bytes = seq.saturating_mul(EVENT_SIZE);
    IndexFooter::start_time_weight(input, wire, events, section_bytes, bytes)
}

/// Returns whether the bytes at `offset`, where event `seq` would be, are a footer whose first half
/// never reached the disk: zeros, followed by the length of the preceding events.
fn is_end_of_footer(input: &Input, wire: Wire, offset: u64, seq: u64) -> Result<bool> {
    const LENGTH: usize = offset!(IndexFooter.bytes_written);
    let bytes = footer_bytes(input, offset)?;
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let bytes_written = IndexFooter::decode(wire, &bytes).bytes_written;
    Ok(bytes.get(..LENGTH).is_some_and(is_zero)
        && seq.checked_mul(EVENT_SIZE) == Some(bytes_written)
        && reserved_is_zero::<IndexFooter>(wire, &bytes))
}
