//! The rules about the content of a single event, and about a thread's id. The checker applies
//! these rules; recovery leaves values that break them unchanged.

use super::finding::{At, Findings, Place};
use crate::detail::DetailEvent;
use crate::index::{IndexEvent, IndexHeader};
use crate::rules::table as rules;
use crate::wire::{CallEffect, DetailFunctionPayload, Record, Wire};

/// Checks that an index header contains the thread id in the folder's name.
pub(crate) fn thread_id(header: &IndexHeader, folder_id: u32, findings: &mut impl Findings) {
    let found = header.thread_id;
    if found != folder_id {
        let at = At::header(Record::IndexHeader, header.wire);
        findings.add(&rules::ATF_SESS_001, at.field("thread_id"), || {
            format!("{found}, the folder is thread_{folder_id}")
        });
    }
}

/// Checks an index event of the thread `thread_id`, and its order relative to the event `before`.
pub(crate) fn event(
    event: &IndexEvent,
    before: Option<&IndexEvent>,
    thread_id: u32,
    at: &At,
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

fn order(before: &IndexEvent, event: &IndexEvent, at: &At, findings: &mut impl Findings) {
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
    let expected = match (before.event_kind.effect(), event.event_kind.effect()) {
        (CallEffect::Opens, CallEffect::Opens) => from.checked_add(1),
        (CallEffect::Opens, effect) if effect.ends_call() => Some(from),
        (effect, CallEffect::Opens) if effect.ends_call() => Some(from),
        (first, second) if first.ends_call() && second.ends_call() => from.checked_sub(1),
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

/// Checks a detail event of the thread `thread_id`, with its payload if it is a function payload.
pub(crate) fn detail(
    wire: Wire,
    detail: &DetailEvent,
    function: Option<&DetailFunctionPayload>,
    thread_id: u32,
    findings: &mut impl Findings,
) {
    let header = &detail.header;
    let at = At::detail(wire, detail);
    if header.event_type.name().is_none() {
        findings.add(&rules::ATF_DEVT_003, at.field("event_type"), || {
            format!("unknown type {}", header.event_type.0)
        });
    }
    if header.thread_id != thread_id {
        findings.add(&rules::ATF_DEVT_004, at.field("thread_id"), || {
            format!("{}, the header has {thread_id}", header.thread_id)
        });
    }
    if header.flags != 0 {
        findings.add(&rules::ATF_DEVT_005, at.field("flags"), || {
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
    let limit = DetailFunctionPayload::STACK_SIZE_MAX;
    let stack_size = function.stack_size.get();
    if stack_size > limit {
        let place = At::payload(wire, detail).field("stack_size");
        findings.add(&rules::ATF_DPAY_001, place, || {
            format!("{stack_size}, at most {limit}")
        });
    }
    if function._reserved != 0 {
        let place = At::payload(wire, detail).field("_reserved");
        findings.add(&rules::ATF_DPAY_003, place, || "not 0".to_owned());
    }
}

/// Checks that a detail event repeats the values of its index event. Reports differences at their
/// locations in the detail file.
pub(crate) fn agreement(
    wire: Wire,
    event: &IndexEvent,
    detail: &DetailEvent,
    function: Option<&DetailFunctionPayload>,
    findings: &mut impl Findings,
) {
    let header = &detail.header;
    let at = At::detail(wire, detail);
    let seq = header.index_seq;
    if header.timestamp != event.timestamp_ns {
        findings.add(&rules::ATF_LINK_006, at.field("timestamp"), || {
            let expected = event.timestamp_ns;
            format!("{}, index event {seq} has {expected}", header.timestamp)
        });
    }
    let expected = match event.event_kind.effect() {
        CallEffect::Opens | CallEffect::Returns => event.event_kind.detail_type(),
        CallEffect::Throws | CallEffect::None => header.event_type,
    };
    if header.event_type != expected {
        findings.add(&rules::ATF_LINK_007, at.field("event_type"), || {
            let (found, expected, kind) = (header.event_type.0, expected.0, event.event_kind.0);
            format!("{found}, expected {expected}: index event {seq} has kind {kind}")
        });
    }
    if let Some(function) = function.filter(|payload| payload.function_id != event.function_id) {
        let place = At::payload(wire, detail).field("function_id");
        findings.add(&rules::ATF_LINK_011, place, || {
            let (found, expected) = (function.function_id.get(), event.function_id);
            format!("{found:#018x}, index event {seq} has {expected:#018x}")
        });
    }
}
