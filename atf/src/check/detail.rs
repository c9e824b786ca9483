//! Checks `detail.atf`: header, framing, events, end.

use std::path::Path;

use crate::detail::{DetailReader, FunctionPayload};
use crate::files::DETAIL_FILE;
use crate::wire::Record;
use crate::{Completeness, Error, Result};

use super::content;
use super::end::{self, Times};
use super::link::Backward;
use super::one_pass::Links;
use super::output::{Output, add_problem, refused, report_on};
use crate::check::finding::{At, FileReport, Finding, Kind};
use crate::rules::table as rules;

/// Checks a detail file on its own.
pub(super) fn file(path: &Path, opened: Result<DetailReader>, output: &mut dyn Output) {
    match opened {
        Ok(detail) => report_on(path, Kind::Detail, output, |report| {
            check(&detail, None, None, report)
        }),
        Err(error) => refused(path, Kind::Detail, &error, output),
    }
}

/// Checks the header, the events, their links and the end. If the events were `checked` when the
/// file was opened, does not read them again.
pub(super) fn check(
    detail: &DetailReader,
    checked: Option<Links>,
    links: Option<&mut Backward<'_>>,
    report: &mut FileReport,
) -> Result<(), Error> {
    report.wire = Some(detail.wire().version());
    report.details = Some(detail.event_count());
    identity(detail, report);
    let range = match checked {
        Some(links) => links.range,
        None => events(detail, links, report)?,
    };
    // Events after an impossible length are unknown, so the range may be incomplete.
    let is_whole = detail.framing_problem().is_none();
    finalized_header(detail, is_whole.then_some(range), report)?;
    end::check(detail, times(detail)?, report)
}

fn identity(detail: &DetailReader, report: &mut FileReport) {
    let header = detail.header();
    let at = At::header(Record::DetailHeader, detail.wire());
    at.reserved(detail.header_bytes(), &rules::ATF_DHDR_008, report);
    let (arch, os) = (header.arch, header.os);
    at.unknown("arch", arch.0, arch.name(), &rules::ATF_DHDR_006, report);
    at.unknown("os", os.0, os.name(), &rules::ATF_DHDR_007, report);
}

/// Checks the events one by one. Returns the smallest and the largest `index_seq`.
fn events(
    detail: &DetailReader,
    mut links: Option<&mut Backward<'_>>,
    report: &mut FileReport,
) -> Result<(u64, u64), Error> {
    let mut range: Option<(u64, u64)> = None;
    let mut cursor = detail.cursor();
    for seq in 0..detail.event_count() {
        let Some(event) = cursor.get(seq)? else {
            break;
        };
        let seq = event.header.index_seq;
        range = Some(range.map_or((seq, seq), |(least, greatest)| {
            (least.min(seq), greatest.max(seq))
        }));
        let payload = cursor.possible_payload(&event)?;
        let function = payload.and_then(FunctionPayload::split);
        let function = function.map(|(numbers, _)| numbers);
        let thread_id = detail.header().thread_id;
        content::detail(detail.wire(), &event, function, thread_id, report);
        if let Some(links) = &mut links {
            links.check(&event, function)?;
        }
    }
    Ok(range.unwrap_or((0, 0)))
}

/// Compares the values that the header and the footer of a detail file repeat with the file, and the
/// footer's times with the first and last event. Reads no other events.
///
/// # Errors
///
/// The errors of [`DetailReader::get`].
pub fn detail_repeats(detail: &DetailReader) -> Result<Vec<Finding>> {
    let mut report = FileReport::new(Path::new(DETAIL_FILE), Kind::Detail);
    report.wire = Some(detail.wire().version());
    finalized_header(detail, None, &mut report)?;
    end::footer_times(detail, times(detail)?, &mut report);
    Ok(report.into_findings())
}

/// Returns the times of the first and last event.
fn times(detail: &DetailReader) -> Result<Times> {
    Ok(match detail.time_range()? {
        // Events after an impossible length are unknown.
        _ if detail.framing_problem().is_some() => Times::Unknown,
        Some((first, last)) => Times::Range(first, last),
        None => Times::None,
    })
}

/// Checks the values that the header of a finalized file repeats. `range` is the range of the
/// events' `index_seq`.
fn finalized_header(
    detail: &DetailReader,
    range: Option<(u64, u64)>,
    report: &mut FileReport,
) -> Result<(), Error> {
    if !matches!(detail.completeness(), Completeness::Finalized) {
        return Ok(());
    }
    for problem in detail.disagreements() {
        add_problem(report, &problem)?;
    }
    let Some(range) = range else {
        return Ok(());
    };
    let header = detail.header();
    let found = (header.index_seq_start, header.index_seq_end);
    let at = At::header(Record::DetailHeader, detail.wire());
    let places = [at.field("index_seq_start"), at.field("index_seq_end")];
    end::range(found, range, places, &rules::ATF_DHDR_011, report);
    Ok(())
}
