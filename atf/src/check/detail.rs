//! `detail.atf`: header, framing, events, end.

use std::mem::offset_of;
use std::path::Path;

use crate::detail::{DetailEvent, DetailReader};
use crate::wire::{self, v1};
use crate::{Completeness, Error, ErrorKind};

use super::end::{self, End, EndRules, FooterFacts, Times};
use super::{Output, is_unreadable, place_of, without_path};
use crate::check::finding::{FileReport, Kind, Place};
use crate::check::rules::{Rule, table as rules};

const END: EndRules = EndRules {
    finalized: &rules::ATF_DFTR_001,
    count: &rules::ATF_DFTR_002,
    position: &rules::ATF_DFTR_003,
    checksum: &rules::ATF_DFTR_004,
    checksum_ieee: &rules::ATF_DFTR_005,
    checksum_absent: &rules::ATF_DFTR_006,
    times: &rules::ATF_DFTR_007,
    reserved: &rules::ATF_DFTR_008,
    nothing_behind: &rules::ATF_DFTR_009,
    whole_event: &rules::ATF_DFTR_010,
    zero_tail: &rules::ATF_DFTR_011,
    whole_footer: &rules::ATF_DFTR_012,
    magic: &rules::ATF_DFTR_013,
    placeholder: &rules::ATF_DHDR_012,
};

/// The greatest stack snapshot that the sources allow, in bytes (S1, S4).
const STACK_LIMIT: u16 = wire::DetailFunctionPayload::STACK_SIZE_MAX;

/// Checks one file by itself, as it was opened.
pub(super) fn file(path: &Path, opened: Result<DetailReader, Error>, output: &mut dyn Output) {
    match opened {
        Ok(detail) => {
            super::report(path, Kind::Detail, output, |report| {
                self::check(&detail, report)
            });
        }
        Err(error) if *error.kind() == ErrorKind::NothingWritten => unwritten(path, &error, output),
        Err(error) => refused(path, &error, output),
    }
}

/// Reports a file of no bytes whose writer may have been killed before it wrote any.
pub(super) fn unwritten(path: &Path, error: &Error, output: &mut dyn Output) {
    let mut report = FileReport::new(path, Kind::Detail);
    report.details = Some(0);
    report.add(END.finalized, Place::at("footer", 0), || {
        error.kind().to_string()
    });
    output.file(report);
}

/// Reports a file that could not be opened.
pub(super) fn refused(path: &Path, error: &Error, output: &mut dyn Output) {
    if is_unreadable(error) {
        return output.unreadable(path, &without_path(error));
    }
    let mut report = FileReport::new(path, Kind::Detail);
    report.add(refusal(error), place_of(error), || error.kind().to_string());
    output.file(report);
}

/// The rule that keeps a file from being opened.
fn refusal(error: &Error) -> &'static Rule {
    match error.kind() {
        ErrorKind::BadMagic { .. } => &rules::ATF_DHDR_002,
        ErrorKind::BadEndian { .. } => &rules::ATF_DHDR_003,
        ErrorKind::UnknownVersion { .. } => &rules::ATF_DHDR_004,
        ErrorKind::BadEventsOffset { .. } | ErrorKind::UnprovenEventsOffset { .. } => {
            &rules::ATF_DHDR_005
        }
        _ => &rules::ATF_DHDR_001,
    }
}

/// Checks header, events and end.
pub(super) fn check(detail: &DetailReader, report: &mut FileReport) -> Result<(), Error> {
    report.wire = Some(detail.wire().version());
    report.details = Some(detail.event_count());
    identity(detail, report);
    framing(detail, report);
    let range = events(detail, report)?;
    // Behind an impossible length stand events that nothing can be said of.
    let is_whole = detail.framing_problem().is_none();
    finalized_header(detail, is_whole.then_some(range), report);
    let times = match detail.time_range()? {
        _ if !is_whole => Times::Unknown,
        Some((first, last)) => Times::Range(first, last),
        None => Times::None,
    };
    let footer = detail
        .footer()
        .zip(detail.footer_offset())
        .map(|(footer, offset)| {
            let raw = detail.footer_bytes().map(zerocopy_footer);
            let at = |field: usize| offset.saturating_add(field as u64);
            FooterFacts {
                offset,
                size: wire::DetailFooter::SIZE as u64,
                times: (footer.time_start_ns, footer.time_end_ns),
                reserved_is_zero: raw.is_none_or(|raw| raw.reserved.iter().all(|byte| *byte == 0)),
                checksum_offset: at(offset_of!(wire::DetailFooter, checksum)),
                times_offsets: (
                    at(offset_of!(wire::DetailFooter, time_start_ns)),
                    at(offset_of!(wire::DetailFooter, time_end_ns)),
                ),
                reserved_offset: at(offset_of!(wire::DetailFooter, reserved)),
            }
        });
    let header = detail.header();
    let end = End {
        completeness: detail.completeness(),
        events_end: detail.events_end(),
        event_count: detail.event_count(),
        header_count: (!header.is_placeholder()).then_some(header.event_count),
        framing_problem: detail.framing_problem(),
        bytes_after_footer: detail.bytes_after_footer(),
        events_offset: detail.header().events_offset,
        checksum: detail.checksum()?,
        times,
        footer,
    };
    end::check(&end, &END, report);
    Ok(())
}

fn zerocopy_footer(bytes: &[u8; wire::DetailFooter::SIZE]) -> wire::DetailFooter {
    zerocopy::transmute!(*bytes)
}

fn identity(detail: &DetailReader, report: &mut FileReport) {
    let header = detail.header();
    let at = |field: &str, offset: usize| Place::at(format!("header.{field}"), offset as u64);
    if header.arch.name().is_none() {
        let place = at("arch", offset_of!(wire::DetailHeader, arch));
        report.add(&rules::ATF_DHDR_006, place, || {
            format!("{} is no known architecture", header.arch.0)
        });
    }
    if header.os.name().is_none() {
        let place = at("os", offset_of!(wire::DetailHeader, os));
        report.add(&rules::ATF_DHDR_007, place, || {
            format!("{} is no known operating system", header.os.0)
        });
    }
    let raw: wire::DetailHeader = zerocopy::transmute!(*detail.header_bytes());
    let reserved = [
        (
            "flags",
            offset_of!(wire::DetailHeader, flags),
            raw.flags.get() == 0,
        ),
        (
            "_reserved1",
            offset_of!(wire::DetailHeader, _reserved1),
            raw._reserved1.get() == 0,
        ),
        (
            "_reserved2",
            offset_of!(wire::DetailHeader, _reserved2),
            raw._reserved2 == [0; 4],
        ),
    ];
    for (field, offset, is_zero) in reserved {
        if !is_zero {
            report.add(&rules::ATF_DHDR_008, at(field, offset), || {
                "not all zeros".to_owned()
            });
        }
    }
}

/// Lengths that cannot be. In a file without a footer they merely end what survived.
fn framing(detail: &DetailReader, report: &mut FileReport) {
    let is_ended = !matches!(detail.completeness(), Completeness::Unfinalized { .. });
    let Some(problem) = detail.framing_problem().filter(|_| is_ended) else {
        return;
    };
    let rule = match problem.kind() {
        ErrorKind::BadTotalLength { found, min, .. } if found < min => &rules::ATF_DEVT_001,
        _ => &rules::ATF_DEVT_002,
    };
    report.add(rule, place_of(problem), || problem.kind().to_string());
}

/// The events one by one; gives the least and the greatest `index_seq`.
fn events(detail: &DetailReader, report: &mut FileReport) -> Result<(u64, u64), Error> {
    let mut range: Option<(u64, u64)> = None;
    for event in detail.events_in(..) {
        let event = event?;
        let seq = event.header.index_seq;
        range = Some(range.map_or((seq, seq), |(least, greatest)| {
            (least.min(seq), greatest.max(seq))
        }));
        one(detail, &event, report)?;
    }
    Ok(range.unwrap_or((0, 0)))
}

fn one(detail: &DetailReader, event: &DetailEvent, report: &mut FileReport) -> Result<(), Error> {
    // Both wire versions agree up to index_seq, and only version 1 has a thread id.
    let at = |field: &str, offset: usize| {
        let offset = event.offset.saturating_add(offset as u64);
        Place::at(format!("events[{}].{field}", event.seq), offset)
    };
    let header = &event.header;
    if header.event_type.name().is_none() {
        let place = at("event_type", offset_of!(v1::DetailEventHeader, event_type));
        report.add(&rules::ATF_DEVT_003, place, || {
            format!("{} is no known type", header.event_type.0)
        });
    }
    let thread_id = detail.header().thread_id;
    if header.thread_id != thread_id {
        let place = at("thread_id", offset_of!(v1::DetailEventHeader, thread_id));
        report.add(&rules::ATF_DEVT_004, place, || {
            format!("{}, the header has {thread_id}", header.thread_id)
        });
    }
    if header.flags != 0 {
        let place = at("flags", offset_of!(v1::DetailEventHeader, flags));
        report.add(&rules::ATF_DEVT_005, place, || {
            format!("{:#x} has no meaning", header.flags)
        });
    }
    payload(detail, event, report)
}

fn payload(
    detail: &DetailReader,
    event: &DetailEvent,
    report: &mut FileReport,
) -> Result<(), Error> {
    let at = |field: &str, offset: usize| {
        let offset = event.payload_offset().saturating_add(offset as u64);
        Place::at(format!("events[{}].payload.{field}", event.seq), offset)
    };
    let Some(payload) = detail.function_payload(event)? else {
        if event.header.event_type.name().is_some() {
            let place = Place::at(
                format!("events[{}].payload", event.seq),
                event.payload_offset(),
            );
            report.add(&rules::ATF_DPAY_002, place, || {
                format!("{} bytes of another shape", event.payload_size())
            });
        }
        return Ok(());
    };
    if payload.stack.len() > usize::from(STACK_LIMIT) {
        let place = at(
            "stack_size",
            offset_of!(wire::DetailFunctionPayload, stack_size),
        );
        report.add(&rules::ATF_DPAY_001, place, || {
            format!("{}, at most {STACK_LIMIT}", payload.stack.len())
        });
    }
    if payload.reserved != 0 {
        let place = at(
            "_reserved",
            offset_of!(wire::DetailFunctionPayload, _reserved),
        );
        report.add(&rules::ATF_DPAY_003, place, || "not zero".to_owned());
    }
    Ok(())
}

/// What the header of a finalized file repeats. `range` is that of the events' `index_seq`.
fn finalized_header(detail: &DetailReader, range: Option<(u64, u64)>, report: &mut FileReport) {
    if !matches!(detail.completeness(), Completeness::Finalized) {
        return;
    }
    for problem in detail.disagreements() {
        let rule = match problem.field() {
            Some("header.event_count") => &rules::ATF_DHDR_009,
            _ => &rules::ATF_DHDR_010,
        };
        report.add(rule, place_of(&problem), || problem.kind().to_string());
    }
    let Some(range) = range else {
        return;
    };
    let header = detail.header();
    let found = (header.index_seq_start, header.index_seq_end);
    let places = [
        (
            "header.index_seq_start",
            offset_of!(wire::DetailHeader, index_seq_start),
        ),
        (
            "header.index_seq_end",
            offset_of!(wire::DetailHeader, index_seq_end),
        ),
    ];
    let places = places.map(|(field, offset)| Place::at(field, offset as u64));
    end::range(found, range, places, &rules::ATF_DHDR_011, report);
}
