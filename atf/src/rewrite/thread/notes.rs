//! What is wrong with events and details: it stays, and is noted with its place.

use std::mem::offset_of;

use super::{Pair, Walk};
use crate::detail::{DetailEvent, DetailEventHeader, FunctionPayload};
use crate::index::{IndexEvent, IndexReader};
use crate::rewrite::report::{Place, ThreadReport, What};
use crate::thread::{DETAIL_FILE, INDEX_FILE};
use crate::wire::{self, DetailEventType, EventKind, Wire, offset, v1};

/// The id for the new header. It is the old one's, unless the folder's name and a second witness,
/// an event of version 1 or the detail file, agree on another: then the old one is damaged.
pub(super) fn thread_id(pair: Pair<'_>, report: &mut ThreadReport) -> crate::Result<u32> {
    let found = pair.index.header().thread_id;
    let Some(folder_id) = pair.folder_id.filter(|id| *id != found) else {
        return Ok(found);
    };
    let first = pair.index.get(0)?.filter(|_| pair.index.wire() == Wire::V1);
    let witness = match first {
        Some(event) => Some(event.thread_id),
        None => pair.detail.map(|detail| detail.header().thread_id),
    };
    let offset = offset!(pair.index.wire(), IndexHeader.thread_id) as u64;
    let place = || {
        let found = format!("{found}, the folder is thread_{folder_id}");
        Place::new(INDEX_FILE, "header.thread_id", Some(offset)).found(found)
    };
    if witness == Some(folder_id) {
        report.notes.add(What::HeaderDisagrees, place);
        return Ok(folder_id);
    }
    report.notes.add(What::OtherFolder, place);
    Ok(found)
}

/// Notes what is wrong with an event's content; it stays.
pub(super) fn event(walk: &mut Walk<'_, '_>, seq: u64, event: &IndexEvent) {
    let (index, thread_id, last) = (walk.pair.index, walk.thread_id, walk.last_timestamp);
    let at = |field: &str| event_place(index, seq, field);
    let notes = &mut walk.report.notes;
    if event.timestamp_ns < last {
        notes.add(What::TimeGoesBack, || {
            at("timestamp_ns").found(format!("{} after {last}", event.timestamp_ns))
        });
    }
    if event.event_kind.name().is_none() {
        let kind = event.event_kind.0;
        notes.add(What::UnknownKind, || {
            at("event_kind").found(kind.to_string())
        });
    }
    if event.thread_id != thread_id && index.wire() == Wire::V1 {
        let what = match walk.target {
            Wire::V1 => What::OtherThreadId,
            Wire::V2 => What::ThreadIdLost,
        };
        notes.add(what, || at("thread_id").found(event.thread_id.to_string()));
    }
}

/// Notes what a detail and its event do not agree on; it stays.
pub(super) fn detail(
    report: &mut ThreadReport,
    thread_id: u32,
    event: &IndexEvent,
    detail: &DetailEvent,
    function: Option<&FunctionPayload>,
) {
    let header = &detail.header;
    let notes = &mut report.notes;
    if header.timestamp != event.timestamp_ns {
        notes.add(What::TimestampsDiffer, || {
            let place = detail_place(
                detail,
                "timestamp",
                offset_of!(v1::DetailEventHeader, timestamp),
            );
            place.found(format!("{}, {}", header.timestamp, event.timestamp_ns))
        });
    }
    let expected = match event.event_kind {
        EventKind::CALL => DetailEventType::FUNCTION_CALL,
        EventKind::RETURN => DetailEventType::FUNCTION_RETURN,
        _ => header.event_type,
    };
    if header.event_type != expected {
        notes.add(What::TypeDoesNotFit, || {
            let place = detail_place(
                detail,
                "event_type",
                offset_of!(v1::DetailEventHeader, event_type),
            );
            place.found(format!("{}, expected {}", header.event_type.0, expected.0))
        });
    }
    if header.thread_id != thread_id {
        notes.add(What::OtherThreadId, || {
            let place = detail_place(
                detail,
                "thread_id",
                offset_of!(v1::DetailEventHeader, thread_id),
            );
            place.found(header.thread_id.to_string())
        });
    }
    let Some(function) = function else {
        return;
    };
    if function.function_id != event.function_id {
        notes.add(What::FunctionsDiffer, || {
            let offset = offset_of!(wire::DetailFunctionPayload, function_id);
            let place = detail_place(
                detail,
                "payload.function_id",
                DetailEventHeader::SIZE.saturating_add(offset),
            );
            place.found(format!(
                "{:#018x}, {:#018x}",
                function.function_id, event.function_id
            ))
        });
    }
    if function.stack.len() > usize::from(wire::DetailFunctionPayload::STACK_SIZE_MAX) {
        notes.add(What::StackTooLong, || {
            let offset = offset_of!(wire::DetailFunctionPayload, stack_size);
            let place = detail_place(
                detail,
                "payload.stack_size",
                DetailEventHeader::SIZE.saturating_add(offset),
            );
            place.found(function.stack.len().to_string())
        });
    }
}

/// A field of an index event.
pub(super) fn event_place(index: &IndexReader, seq: u64, field: &str) -> Place {
    let wire = index.wire();
    let offset = match field {
        "event_kind" => offset!(wire, IndexEvent.event_kind),
        "detail_seq" => offset!(wire, IndexEvent.detail_seq),
        "thread_id" => offset_of!(v1::IndexEvent, thread_id),
        "call_depth" if wire == Wire::V1 => offset_of!(v1::IndexEvent, call_depth),
        _ => 0,
    };
    let start = index.event_offset(seq);
    let offset = start.map(|start| start.saturating_add(offset as u64));
    Place::new(INDEX_FILE, format!("events[{seq}].{field}"), offset)
}

/// A field of a detail event.
pub(super) fn detail_place(detail: &DetailEvent, field: &str, offset: usize) -> Place {
    let offset = detail.offset.saturating_add(offset as u64);
    let dot = if field.is_empty() { "" } else { "." };
    let field = format!("events[{}]{dot}{field}", detail.seq);
    Place::new(DETAIL_FILE, field, Some(offset))
}
