//! The events of `index.atf`, one by one, in constant memory.

use std::mem::offset_of;

use crate::index::{IndexEvent, IndexReader};
use crate::wire::{v1, v2};
use crate::{Error, EventKind, Wire};

use super::end::Times;
use crate::check::finding::{FileReport, Place};
use crate::check::rules::table as rules;

/// Checks the events and gives the first and the last one's timestamps.
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
            // Nothing is known of the calls and returns in it.
            before = before.map(|event| IndexEvent {
                call_depth: None,
                ..event
            });
            last = None;
            continue;
        }
        let event = IndexEvent::decode(index.wire(), index.header().thread_id, &bytes);
        let at = At {
            wire: index.wire(),
            seq,
            offset,
        };
        one(&event, index.header().thread_id, &at, report);
        if index.wire() == Wire::V2 {
            let raw: v2::IndexEvent = zerocopy::transmute!(bytes);
            if raw._reserved != [0; 7] {
                let place = at.field("_reserved");
                report.add(&rules::ATF_IEVT_005, place, || "not all zeros".to_owned());
            }
        }
        if let Some(before) = &before {
            pair(before, &event, &at, report);
        }
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

/// An event's position.
struct At {
    wire: Wire,
    seq: u64,
    offset: u64,
}

impl At {
    fn field(&self, name: &str) -> Place {
        let offset = match (self.wire, name) {
            (Wire::V1, "event_kind") => offset_of!(v1::IndexEvent, event_kind),
            (Wire::V1, "thread_id") => offset_of!(v1::IndexEvent, thread_id),
            (Wire::V1, "call_depth") => offset_of!(v1::IndexEvent, call_depth),
            (Wire::V2, "event_kind") => offset_of!(v2::IndexEvent, event_kind),
            (Wire::V2, "_reserved") => offset_of!(v2::IndexEvent, _reserved),
            _ => offset_of!(v1::IndexEvent, timestamp_ns),
        };
        Place::at(
            format!("events[{}].{name}", self.seq),
            self.offset.saturating_add(offset as u64),
        )
    }
}

/// What one event must fulfil by itself.
fn one(event: &IndexEvent, thread_id: u32, at: &At, report: &mut FileReport) {
    if event.event_kind.name().is_none() {
        report.add(&rules::ATF_IEVT_002, at.field("event_kind"), || {
            format!("{} is no known kind", event.event_kind.0)
        });
    }
    if event.thread_id != thread_id {
        report.add(&rules::ATF_IEVT_003, at.field("thread_id"), || {
            format!("{}, the header has {thread_id}", event.thread_id)
        });
    }
    if event.call_depth == Some(0) {
        report.add(&rules::ATF_IEVT_004, at.field("call_depth"), || {
            "0, depths start at 1".to_owned()
        });
    }
}

/// What two events in a row must fulfil.
fn pair(before: &IndexEvent, event: &IndexEvent, at: &At, report: &mut FileReport) {
    if event.timestamp_ns < before.timestamp_ns {
        report.add(&rules::ATF_IEVT_001, at.field("timestamp_ns"), || {
            format!(
                "{} goes back from {}",
                event.timestamp_ns, before.timestamp_ns
            )
        });
    }
    let (Some(from), Some(depth)) = (before.call_depth, event.call_depth) else {
        return;
    };
    let ends = |kind| matches!(kind, EventKind::RETURN | EventKind::EXCEPTION);
    let expected = match (before.event_kind, event.event_kind) {
        (EventKind::CALL, EventKind::CALL) => from.checked_add(1),
        (EventKind::CALL, kind) if ends(kind) => Some(from),
        (kind, EventKind::CALL) if ends(kind) => Some(from),
        (first, second) if ends(first) && ends(second) => from.checked_sub(1),
        _ => Some(depth),
    };
    if depth != 0 && expected != Some(depth) {
        report.add(
            &rules::ATF_IEVT_004,
            at.field("call_depth"),
            || match expected {
                Some(expected) => {
                    format!("{depth}, {expected} would follow from the event in front")
                }
                None => format!("{depth}, and no depth would follow from the event in front"),
            },
        );
    }
}
