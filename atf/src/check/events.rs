//! Checks the events of `index.atf` one by one, in constant memory.

use crate::Error;
use crate::index::{IndexEvent, IndexReader};

use super::content;
use super::end::Times;
use crate::check::finding::{FileReport, Place};
use crate::check::place::At;
use crate::check::rules::table as rules;

/// Checks the events and returns the timestamps of the first and the last.
pub(super) fn check(index: &IndexReader, report: &mut FileReport) -> Result<Times, Error> {
    let mut cursor = index.cursor();
    let mut before: Option<IndexEvent> = None;
    let (mut first, mut last) = (None, None);
    for seq in 0..index.event_count() {
        let Some(bytes) = cursor.bytes(seq)? else {
            break;
        };
        let offset = event_offset(index, seq)?;
        if index.is_hole(&bytes)? {
            let place = Place::at(format!("events[{seq}]"), offset);
            report.add(&rules::ATF_IEVT_006, place, || {
                "all zeros: a hole".to_owned()
            });
            // Its calls and returns are unknown.
            before = before.map(|event| IndexEvent {
                call_depth: None,
                ..event
            });
            last = None;
            continue;
        }
        let event = IndexEvent::decode(index.wire(), index.header().thread_id, &bytes);
        let at = At::event(index.wire(), seq, offset);
        content::event(
            &event,
            before.as_ref(),
            index.header().thread_id,
            &at,
            report,
        );
        at.reserved(&bytes, &rules::ATF_IEVT_005, report);
        before = Some(event);
        last = Some(event.timestamp_ns);
        if seq == 0 {
            first = last;
        }
    }
    Ok(match first.zip(last) {
        Some((first, last)) => Times::Range(first, last),
        None if index.event_count() == 0 => Times::None,
        None => Times::Unknown,
    })
}

/// The offset of an event that was read.
fn event_offset(index: &IndexReader, seq: u64) -> Result<u64, Error> {
    let offset = index.event_offset(seq);
    offset.ok_or_else(|| Error::internal("an event that was read has an offset"))
}
