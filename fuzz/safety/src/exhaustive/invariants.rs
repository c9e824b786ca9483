//! Checks the guarantees for a mutated file.

use std::ops::Range;

use atf::FileKind;

use super::{Base, Event, File, Reading};

/// Checks a truncated file.
pub(super) fn cut(
    file: &File,
    base: &Base,
    size: usize,
    reading: Option<&Reading>,
    notices: bool,
) -> Result<(), String> {
    if base.is_clean && !notices && size < file.bytes.len() {
        return Err("a checker does not notice it".to_owned());
    }
    let Some(reading) = reading else {
        let may_be_refused = base.reading.is_none() || size < 64 || !begins_after_header(file);
        return if may_be_refused {
            Ok(())
        } else {
            Err("is refused".to_owned())
        };
    };
    let Some(whole) = &base.reading else {
        return Err("is read, though the untruncated file is refused".to_owned());
    };
    let events = whole.events.iter();
    let intact = events.take_while(|event| event.end <= size as u64).count();
    let intact = &whole.events[..intact];
    let is_prefix = intact.starts_with(&reading.events);
    // Zeros at the end of a truncated file are not events, even if they were events in the complete
    // file.
    let missing = reading.events.len()..intact.len();
    if !is_prefix || !is_zeros(file, whole, missing) {
        let intact = intact.len();
        return Err(format!(
            "expected {intact} complete events, got {}: {:?}",
            reading.events.len(),
            reading.events.last()
        ));
    }
    Ok(())
}

/// Returns whether an index file's events at these positions are all zeros.
fn is_zeros(file: &File, reading: &Reading, mut seqs: Range<usize>) -> bool {
    seqs.all(|seq| {
        let end = reading.events.get(seq).map(|event| event.end);
        let end = end.and_then(|end| usize::try_from(end).ok()).unwrap_or(0);
        let bytes = file.bytes.get(end.saturating_sub(32)..end);
        file.kind == FileKind::Index
            && bytes.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
    })
}

/// Returns whether the events begin right after the header. Otherwise, only a footer can prove
/// where they begin.
fn begins_after_header(file: &File) -> bool {
    let at = match file.kind {
        FileKind::Index => 32,
        FileKind::Detail => 20,
    };
    let offset = file.bytes.get(at..at + 8);
    let offset = offset.and_then(|bytes| bytes.try_into().ok());
    offset.is_some_and(|bytes| u64::from_le_bytes(bytes) == 64)
}

/// Checks a file with one or more adjacent bits flipped.
pub(super) fn flipped(
    file: &File,
    base: &Base,
    bits: Range<usize>,
    reading: Option<&Reading>,
    notices: bool,
) -> Result<(), String> {
    let (first, last) = (bits.start / 8, (bits.end - 1) / 8);
    let (Some(reading), Some(whole)) = (reading, &base.reading) else {
        // Only the header, or a footer that proves where events begin, can make a file unreadable.
        let is_lost = base.reading.is_some() && first >= 64 && begins_after_header(file);
        return if is_lost {
            Err("is refused".to_owned())
        } else {
            Ok(())
        };
    };
    if reading.is_proven && whole.is_proven && reading.events != whole.events {
        // In version 2, the thread of an event comes from the header, which no checksum covers.
        let of = |event: &Event| Event {
            thread_id: 0,
            ..*event
        };
        let thread = 12..16;
        let is_thread = file.wire == 2 && (thread.contains(&first) || thread.contains(&last));
        let found = reading.events.iter().map(of);
        let same = found.eq(whole.events.iter().map(of));
        if !is_thread || !same {
            return Err("changes an event, but the checksum is reported good".to_owned());
        }
    }
    if whole.is_proven && reading.events != whole.events && !notices && first >= 64 {
        return Err("changes an event, but a checker does not notice".to_owned());
    }
    // Events before the change must stay the same, except that trailing zeros before it may now
    // count as a gap.
    if first >= 64 {
        let before = |reading: &Reading| {
            let is_before = |event: &&Event| event.end <= first as u64;
            reading.events.iter().take_while(is_before).count()
        };
        let (now, once) = (before(reading), before(whole));
        let is_same = reading.events[..now].starts_with(&whole.events[..once]);
        if !is_same || !is_zeros(file, reading, once..now) {
            return Err("changes an earlier event".to_owned());
        }
    }
    Ok(())
}
