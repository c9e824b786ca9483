//! Checks `index.atf`: header, events, end.

use std::mem::offset_of;

use crate::index::IndexReader;
use crate::wire::{self, v1, v2};
use crate::{Clock, Error, IndexFlags, Os, Wire};

use super::end::{self, End, EndRules, FooterFacts, Times};
use super::{add_problem, events};
use crate::check::finding::{FileReport, Place};
use crate::check::rules::table as rules;

const END: EndRules = EndRules {
    finalized: &rules::ATF_IFTR_001,
    checksum: &rules::ATF_IFTR_004,
    checksum_ieee: &rules::ATF_IFTR_005,
    checksum_absent: &rules::ATF_IFTR_006,
    times: &rules::ATF_IFTR_007,
    reserved: &rules::ATF_IFTR_008,
    nothing_behind: &rules::ATF_IFTR_009,
    whole_event: &rules::ATF_IFTR_010,
    zero_tail: &rules::ATF_IFTR_011,
    whole_footer: &rules::ATF_IFTR_012,
    placeholder: &rules::ATF_IHDR_017,
};

/// Checks header, events and end.
pub(super) fn check(index: &IndexReader, report: &mut FileReport) -> Result<Times, Error> {
    report.wire = Some(index.wire().version());
    report.events = Some(index.event_count());
    identity(index, report);
    reserved(index, report);
    let times = events::check(index, report)?;
    finalized_header(index, times, report)?;
    let footer = index
        .footer()
        .zip(index.footer_offset())
        .map(|(footer, offset)| {
            let raw = index.footer_bytes().map(zerocopy_footer);
            let at = |field: usize| offset.saturating_add(field as u64);
            FooterFacts {
                offset,
                size: wire::IndexFooter::SIZE as u64,
                times: (footer.time_start_ns, footer.time_end_ns),
                reserved_is_zero: raw.is_none_or(|raw| raw.reserved.iter().all(|byte| *byte == 0)),
                checksum_offset: at(offset_of!(wire::IndexFooter, checksum)),
                times_offsets: (
                    at(offset_of!(wire::IndexFooter, time_start_ns)),
                    at(offset_of!(wire::IndexFooter, time_end_ns)),
                ),
                reserved_offset: at(offset_of!(wire::IndexFooter, reserved)),
            }
        });
    let header = index.header();
    let end = End {
        completeness: index.completeness(),
        events_end: index.events_end(),
        event_count: index.event_count(),
        header_count: (!header.is_placeholder()).then_some(header.event_count),
        framing_problem: None,
        bytes_after_footer: index.bytes_after_footer(),
        events_offset: index.header().events_offset,
        checksum: index.checksum()?,
        times,
        footer,
    };
    end::check(&end, &END, report)?;
    Ok(times)
}

fn zerocopy_footer(bytes: &[u8; wire::IndexFooter::SIZE]) -> wire::IndexFooter {
    zerocopy::transmute!(*bytes)
}

/// Checks architecture, operating system, clock and flags.
fn identity(index: &IndexReader, report: &mut FileReport) {
    let header = index.header();
    // Both wire versions have the same fields up to the clock.
    let at = |field: &str, offset: usize| Place::at(format!("header.{field}"), offset as u64);
    if header.arch.name().is_none() {
        let place = at("arch", offset_of!(v1::IndexHeader, arch));
        report.add(&rules::ATF_IHDR_008, place, || {
            format!("unknown arch {}", header.arch.0)
        });
    }
    if header.os.name().is_none() {
        let place = at("os", offset_of!(v1::IndexHeader, os));
        report.add(&rules::ATF_IHDR_009, place, || {
            format!("unknown os {}", header.os.0)
        });
    }
    let clock = at("clock_type", offset_of!(v1::IndexHeader, clock_type));
    match (header.clock_type.name(), header.os.name()) {
        (None, _) => report.add(&rules::ATF_IHDR_010, clock, || {
            format!("unknown clock_type {}", header.clock_type.0)
        }),
        (Some(name), Some(os)) if !has_clock(header.os, header.clock_type) => {
            report.add(&rules::ATF_IHDR_011, clock, || {
                format!(
                    "{} ({name}) is not a clock of os {} ({os})",
                    header.clock_type.0, header.os.0
                )
            });
        }
        _ => {}
    }
    let unknown = header.flags.0 & !IndexFlags::HAS_DETAIL_FILE.0;
    if unknown != 0 {
        let place = at("flags", offset_of!(v1::IndexHeader, flags));
        report.add(&rules::ATF_IHDR_013, place, || {
            format!("unknown bits {unknown:#x}")
        });
    }
}

/// Returns whether an operating system has this clock (S0, S1).
fn has_clock(os: Os, clock: Clock) -> bool {
    match os {
        Os::IOS | Os::MACOS => clock == Clock::MACH_CONTINUOUS,
        Os::WINDOWS => clock == Clock::QPC,
        _ => clock == Clock::BOOTTIME,
    }
}

fn reserved(index: &IndexReader, report: &mut FileReport) {
    let bytes = *index.header_bytes();
    let mut check = |field: &str, offset: usize, is_zero: bool| {
        if !is_zero {
            let place = Place::at(format!("header.{field}"), offset as u64);
            report.add(&rules::ATF_IHDR_012, place, || "not all zeros".to_owned());
        }
    };
    match index.wire() {
        Wire::V1 => {
            let raw: v1::IndexHeader = zerocopy::transmute!(bytes);
            let offset = offset_of!(v1::IndexHeader, _reserved1);
            check("_reserved1", offset, raw._reserved1 == [0; 3]);
            let offset = offset_of!(v1::IndexHeader, _reserved2);
            check("_reserved2", offset, raw._reserved2.get() == 0);
        }
        Wire::V2 => {
            let raw: v2::IndexHeader = zerocopy::transmute!(bytes);
            let offset = offset_of!(v2::IndexHeader, _reserved1);
            check("_reserved1", offset, raw._reserved1 == [0; 3]);
        }
    }
}

/// Checks the header fields that repeat what the events and the footer of a finalized file have.
fn finalized_header(
    index: &IndexReader,
    times: Times,
    report: &mut FileReport,
) -> Result<(), Error> {
    if !matches!(index.completeness(), crate::Completeness::Finalized) {
        return Ok(());
    }
    for problem in index.disagreements() {
        // The times are compared with the events themselves, below.
        if !matches!(problem.field(), Some(field) if field.starts_with("header.time_")) {
            add_problem(report, &problem)?;
        }
    }
    let Some(times) = times.repeated() else {
        return Ok(());
    };
    let header = index.header();
    let found = (header.time_start_ns, header.time_end_ns);
    // Both wire versions have the same fields from events_offset on.
    let places = [
        (
            "header.time_start_ns",
            offset_of!(v1::IndexHeader, time_start_ns),
        ),
        (
            "header.time_end_ns",
            offset_of!(v1::IndexHeader, time_end_ns),
        ),
    ];
    let places = places.map(|(field, offset)| Place::at(field, offset as u64));
    end::range(found, times, places, &rules::ATF_IHDR_016, report);
    Ok(())
}

const _: () = {
    assert!(offset_of!(v1::IndexHeader, clock_type) == offset_of!(v2::IndexHeader, clock_type));
    assert!(
        offset_of!(v1::IndexHeader, time_start_ns) == offset_of!(v2::IndexHeader, time_start_ns)
    );
    assert!(offset_of!(v1::IndexHeader, time_end_ns) == offset_of!(v2::IndexHeader, time_end_ns));
};
