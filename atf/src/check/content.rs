//! The rules about what one event records, for the checker and for recovery, which keeps such events as they are.

use std::mem::offset_of;

use super::finding::{FileReport, Place};
use super::rules::{Rule, table as rules};
use crate::detail::{DetailEvent, FunctionPayload};
use crate::index::IndexEvent;
use crate::wire::{self, DetailEventType, EventKind, Wire, v1, v2};

/// Takes broken rules.
pub(crate) trait Findings {
    /// Notes a broken rule. The message is made only if it is kept.
    fn add(&mut self, rule: &'static Rule, place: Place, message: impl FnOnce() -> String);
}

impl Findings for FileReport {
    fn add(&mut self, rule: &'static Rule, place: Place, message: impl FnOnce() -> String) {
        Self::add(self, rule, place, message);
    }
}

/// An index event's position.
pub(crate) struct EventAt {
    pub(crate) wire: Wire,
    pub(crate) seq: u64,
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
}

impl EventAt {
    /// The place of a field.
    pub(crate) fn field(&self, name: &str) -> Place {
        let offset = match (self.wire, name) {
            (Wire::V1, "event_kind") => offset_of!(v1::IndexEvent, event_kind),
            (Wire::V1, "thread_id") => offset_of!(v1::IndexEvent, thread_id),
            (Wire::V1, "call_depth") => offset_of!(v1::IndexEvent, call_depth),
            (Wire::V1, "detail_seq") => offset_of!(v1::IndexEvent, detail_seq),
            (Wire::V2, "event_kind") => offset_of!(v2::IndexEvent, event_kind),
            (Wire::V2, "detail_seq") => offset_of!(v2::IndexEvent, detail_seq),
            (Wire::V2, "_reserved") => offset_of!(v2::IndexEvent, _reserved),
            _ => offset_of!(v1::IndexEvent, timestamp_ns),
        };
        Place::at(
            format!("events[{}].{name}", self.seq),
            self.offset.saturating_add(offset as u64),
        )
    }
}

/// Checks an index event of the thread `thread_id`, and its order after the event `before`.
pub(crate) fn event(
    event: &IndexEvent,
    before: Option<&IndexEvent>,
    thread_id: u32,
    at: &EventAt,
    findings: &mut impl Findings,
) {
    if event.event_kind.name().is_none() {
        findings.add(&rules::ATF_IEVT_002, at.field("event_kind"), || {
            format!("unknown kind {}", event.event_kind.0)
        });
    }
    if event.thread_id != thread_id {
        findings.add(&rules::ATF_IEVT_003, at.field("thread_id"), || {
            format!("{}, the header has {thread_id}", event.thread_id)
        });
    }
    if event.call_depth == Some(0) {
        findings.add(&rules::ATF_IEVT_004, at.field("call_depth"), || {
            "0, depths start at 1".to_owned()
        });
    }
    if let Some(before) = before {
        order(before, event, at, findings);
    }
}

/// Checks two consecutive index events.
fn order(before: &IndexEvent, event: &IndexEvent, at: &EventAt, findings: &mut impl Findings) {
    if event.timestamp_ns < before.timestamp_ns {
        findings.add(&rules::ATF_IEVT_001, at.field("timestamp_ns"), || {
            format!(
                "{} is less than the previous {}",
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
        findings.add(
            &rules::ATF_IEVT_004,
            at.field("call_depth"),
            || match expected {
                Some(expected) => format!("{depth}, expected {expected} after the previous event"),
                None => format!("{depth}, no depth can follow the previous event"),
            },
        );
    }
}

/// The place of a field in a detail event's header. Up to `index_seq`, both wire versions agree, and only version 1
/// has a thread id.
pub(crate) fn detail_field(detail: &DetailEvent, name: &str) -> Place {
    let offset = match name {
        "event_type" => offset_of!(v1::DetailEventHeader, event_type),
        "flags" => offset_of!(v1::DetailEventHeader, flags),
        "index_seq" => offset_of!(v1::DetailEventHeader, index_seq),
        "thread_id" => offset_of!(v1::DetailEventHeader, thread_id),
        "timestamp" => offset_of!(v1::DetailEventHeader, timestamp),
        _ => 0,
    };
    Place::at(
        format!("events[{}].{name}", detail.seq),
        detail.offset.saturating_add(offset as u64),
    )
}

const _: () = {
    use v1::DetailEventHeader as V1;
    use v2::DetailEventHeader as V2;
    assert!(offset_of!(V1, event_type) == offset_of!(V2, event_type));
    assert!(offset_of!(V1, flags) == offset_of!(V2, flags));
    assert!(offset_of!(V1, index_seq) == offset_of!(V2, index_seq));
    assert!(offset_of!(V1, timestamp) == offset_of!(V2, timestamp));
};

fn payload_field(detail: &DetailEvent, name: &str, offset: usize) -> Place {
    Place::at(
        format!("events[{}].payload.{name}", detail.seq),
        detail.payload_offset().saturating_add(offset as u64),
    )
}

/// Checks a detail event of the thread `thread_id`, with its payload if that is a function's.
pub(crate) fn detail(
    detail: &DetailEvent,
    function: Option<&FunctionPayload>,
    thread_id: u32,
    findings: &mut impl Findings,
) {
    let header = &detail.header;
    if header.event_type.name().is_none() {
        findings.add(
            &rules::ATF_DEVT_003,
            detail_field(detail, "event_type"),
            || format!("unknown type {}", header.event_type.0),
        );
    }
    if header.thread_id != thread_id {
        findings.add(
            &rules::ATF_DEVT_004,
            detail_field(detail, "thread_id"),
            || format!("{}, the header has {thread_id}", header.thread_id),
        );
    }
    if header.flags != 0 {
        findings.add(&rules::ATF_DEVT_005, detail_field(detail, "flags"), || {
            format!("{:#x} has no meaning", header.flags)
        });
    }
    let Some(function) = function else {
        if header.event_type.name().is_some() {
            let place = Place::at(
                format!("events[{}].payload", detail.seq),
                detail.payload_offset(),
            );
            findings.add(&rules::ATF_DPAY_002, place, || {
                format!("{} bytes, not a function payload", detail.payload_size())
            });
        }
        return;
    };
    let limit = wire::DetailFunctionPayload::STACK_SIZE_MAX;
    if function.stack.len() > usize::from(limit) {
        let offset = offset_of!(wire::DetailFunctionPayload, stack_size);
        let place = payload_field(detail, "stack_size", offset);
        findings.add(&rules::ATF_DPAY_001, place, || {
            format!("{}, at most {limit}", function.stack.len())
        });
    }
    if function.reserved != 0 {
        let offset = offset_of!(wire::DetailFunctionPayload, _reserved);
        let place = payload_field(detail, "_reserved", offset);
        findings.add(&rules::ATF_DPAY_003, place, || "not 0".to_owned());
    }
}

/// Checks that a detail event repeats its index event; the places are the detail file's.
pub(crate) fn agreement(
    event: &IndexEvent,
    detail: &DetailEvent,
    function: Option<&FunctionPayload>,
    findings: &mut impl Findings,
) {
    let header = &detail.header;
    let seq = header.index_seq;
    if header.timestamp != event.timestamp_ns {
        findings.add(
            &rules::ATF_LINK_006,
            detail_field(detail, "timestamp"),
            || {
                let expected = event.timestamp_ns;
                format!("{}, index event {seq} has {expected}", header.timestamp)
            },
        );
    }
    let expected = match event.event_kind {
        EventKind::CALL => DetailEventType::FUNCTION_CALL,
        EventKind::RETURN => DetailEventType::FUNCTION_RETURN,
        _ => header.event_type,
    };
    if header.event_type != expected {
        findings.add(
            &rules::ATF_LINK_007,
            detail_field(detail, "event_type"),
            || {
                let (found, expected, kind) = (header.event_type.0, expected.0, event.event_kind.0);
                format!("{found}, expected {expected}: index event {seq} has kind {kind}")
            },
        );
    }
    if let Some(function) = function.filter(|payload| payload.function_id != event.function_id) {
        let offset = offset_of!(wire::DetailFunctionPayload, function_id);
        let place = payload_field(detail, "function_id", offset);
        findings.add(&rules::ATF_LINK_011, place, || {
            let (found, expected) = (function.function_id, event.function_id);
            format!("{found:#018x}, index event {seq} has {expected:#018x}")
        });
    }
}
