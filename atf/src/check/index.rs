//! Checks `index.atf`: header, events, end.

use std::path::Path;

use crate::files::INDEX_FILE;
use crate::index::{IndexEvent, IndexReader, Steps};
use crate::wire::Record;
use crate::{Clock, Error, IndexFlags, Os, Result};

use super::content;
use super::end::{self, Times};
use super::output::{Output, add_problem, refused, report_on};
use crate::check::finding::{At, FileReport, Finding, Kind, Place};
use crate::rules::table as rules;

/// Checks an index file on its own.
pub(super) fn file(path: &Path, opened: Result<IndexReader>, output: &mut dyn Output) {
    match opened {
        Ok(index) => report_on(path, Kind::Index, output, |report| {
            check(&index, None, report).map(|_| ())
        }),
        Err(error) => refused(path, Kind::Index, &error, output),
    }
}

/// Checks the header, the events and the end. The check of the events may already have begun and
/// produced findings.
pub(super) fn check(
    index: &IndexReader,
    begun: Option<(Events, FileReport)>,
    report: &mut FileReport,
) -> Result<Times, Error> {
    report.wire = Some(index.wire().version());
    report.events = Some(index.event_count());
    report.missing = index.missing_events();
    identity(index, report);
    let events = match begun {
        Some((events, found)) => {
            report.append(found);
            events
        }
        None => Events::new(index),
    };
    let times = events.finish(index, report)?;
    finalized_header(index, times, report)?;
    end::check(index, times, report)?;
    Ok(times)
}

/// Checks architecture, operating system, clock and flags.
fn identity(index: &IndexReader, report: &mut FileReport) {
    let header = index.header();
    let at = At::header(Record::IndexHeader, index.wire());
    at.reserved(index.header_bytes(), &rules::ATF_IHDR_012, report);
    let (arch, os, clock) = (header.arch, header.os, header.clock_type);
    at.unknown("arch", arch.0, arch.name(), &rules::ATF_IHDR_008, report);
    at.unknown("os", os.0, os.name(), &rules::ATF_IHDR_009, report);
    let (field, rule) = ("clock_type", &rules::ATF_IHDR_010);
    at.unknown(field, clock.0, clock.name(), rule, report);
    if let (Some(name), Some(os_name)) = (clock.name(), os.name())
        && !has_clock(os, clock)
    {
        report.add(&rules::ATF_IHDR_011, at.field(field), || {
            let (clock, os) = (clock.0, os.0);
            format!("{clock} ({name}) is not a clock of os {os} ({os_name})")
        });
    }
    let unknown = header.flags.0 & !IndexFlags::HAS_DETAIL_FILE.0;
    if unknown != 0 {
        let place = at.field("flags");
        report.add(&rules::ATF_IHDR_013, place, || {
            format!("unknown bits {unknown:#x}")
        });
    }
}

/// Returns whether the clock exists on the operating system (S0, S1).
fn has_clock(os: Os, clock: Clock) -> bool {
    match os {
        Os::IOS | Os::MACOS => clock == Clock::MACH_CONTINUOUS,
        Os::WINDOWS => clock == Clock::QPC,
        _ => clock == Clock::BOOTTIME,
    }
}

/// Compares the values that the header and the footer of an index file repeat with the file, and
/// their times with the first and last event. Reads no other events.
///
/// # Errors
///
/// The errors of [`IndexReader::get`].
pub fn index_repeats(index: &IndexReader) -> Result<Vec<Finding>> {
    // An all-zero event may be a hole.
    let is_hole = |time_ns: &u64| *time_ns == 0;
    let times = match index.time_range()? {
        None => Times::None,
        Some((first, last)) if is_hole(&first) || is_hole(&last) => Times::Unknown,
        Some((first, last)) => Times::Range(first, last),
    };
    let mut report = FileReport::new(Path::new(INDEX_FILE), Kind::Index);
    report.wire = Some(index.wire().version());
    finalized_header(index, times, &mut report)?;
    end::footer_times(index, times, &mut report);
    Ok(report.into_findings())
}

/// Checks the header fields that repeat values from the events and the footer in a finalized file.
fn finalized_header(
    index: &IndexReader,
    times: Times,
    report: &mut FileReport,
) -> Result<(), Error> {
    if !matches!(index.completeness(), crate::Completeness::Finalized) {
        return Ok(());
    }
    for problem in index.disagreements() {
        // The times are compared with the events below.
        if !matches!(problem.field(), Some(field) if field.starts_with("header.time_")) {
            add_problem(report, &problem)?;
        }
    }
    let Some(times) = times.repeated() else {
        return Ok(());
    };
    let header = index.header();
    let found = (header.time_start_ns, header.time_end_ns);
    let at = At::header(Record::IndexHeader, index.wire());
    let places = [at.field("time_start_ns"), at.field("time_end_ns")];
    end::range(found, times, places, &rules::ATF_IHDR_016, report);
    Ok(())
}

/// A check and scan of the events in a single pass.
#[derive(Debug)]
pub(super) struct Events {
    steps: Steps,
    order: Order,
}

impl Events {
    pub(super) fn new(index: &IndexReader) -> Self {
        Self {
            steps: Steps::new(index),
            order: Order::new(index),
        }
    }

    /// Checks the events through event `seq` and the rest of its block. Returns event `seq`, unless
    /// it is in an earlier block or does not exist.
    pub(super) fn up_to(
        &mut self,
        seq: u64,
        index: &IndexReader,
        report: &mut FileReport,
    ) -> Result<Option<&[u8; IndexEvent::SIZE]>, Error> {
        while self.steps.end() <= seq && self.next_block(index, report)? {}
        Ok(self.steps.get(seq))
    }

    /// Checks the remaining events. Returns the timestamps of the file's first and last event.
    pub(super) fn finish(
        mut self,
        index: &IndexReader,
        report: &mut FileReport,
    ) -> Result<Times, Error> {
        while self.next_block(index, report)? {}
        Ok(match self.order.first.zip(self.order.last) {
            Some((first, last)) => Times::Range(first, last),
            None if index.event_count() == 0 => Times::None,
            None => Times::Unknown,
        })
    }

    /// Checks the next block and returns whether there was one.
    fn next_block(&mut self, index: &IndexReader, report: &mut FileReport) -> Result<bool, Error> {
        let (start, block) = self.steps.next_block(index)?;
        for (seq, bytes) in (start..).zip(block) {
            self.order.event(index, seq, bytes, report)?;
        }
        Ok(!block.is_empty())
    }
}

/// Facts about earlier events, to compare the next one with.
#[derive(Debug, Default)]
struct Order {
    /// Whether events of this wire version have reserved bytes.
    has_reserved: bool,
    before: Option<IndexEvent>,
    /// The timestamps of the first and the last event; `None` for an event in a hole.
    first: Option<u64>,
    last: Option<u64>,
}

impl Order {
    fn new(index: &IndexReader) -> Self {
        let fields = Record::IndexEvent.fields(index.wire());
        Self {
            has_reserved: fields.iter().any(|field| field.is_reserved),
            ..Self::default()
        }
    }

    fn event(
        &mut self,
        index: &IndexReader,
        seq: u64,
        bytes: &[u8; IndexEvent::SIZE],
        report: &mut FileReport,
    ) -> Result<(), Error> {
        let offset = index.offset_of(seq);
        if index.is_hole(bytes)? {
            let place = Place::at(format!("events[{seq}]"), offset);
            report.add(&rules::ATF_IEVT_006, place, || {
                "all zeros: a hole".to_owned()
            });
            // The calls and returns in the hole are unknown.
            if let Some(before) = &mut self.before {
                before.call_depth = None;
            }
            self.last = None;
            return Ok(());
        }
        let thread_id = index.header().thread_id;
        let event = index.decode(bytes);
        let at = At::event(index.wire(), seq, offset);
        content::event(&event, self.before.as_ref(), thread_id, &at, report);
        if self.has_reserved {
            at.reserved(bytes, &rules::ATF_IEVT_005, report);
        }
        self.before = Some(event);
        self.last = Some(event.timestamp_ns);
        if seq == 0 {
            self.first = self.last;
        }
        Ok(())
    }
}
