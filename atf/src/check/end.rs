//! Checks the end of a file: the same checks for both kinds of file, with different rules.

use crate::anatomy::{Region, RegionKind};
use crate::reader::FileReader;
use crate::{Checksum, Completeness, Error, ErrorKind};

use super::output::{add_problem, place_of};
use crate::check::finding::{At, FileReport, Findings, Place};
use crate::rules::Rule;
use crate::text::counted;

/// The timestamps of the first and the last event, which several fields repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Times {
    /// Unknown: one of these events is in a hole or after an impossible length.
    Unknown,
    /// There are no events.
    #[default]
    None,
    Range(u64, u64),
}

impl Times {
    /// Returns the time range that covers both ranges.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::None, times) | (times, Self::None) => times,
            (Self::Range(first, last), Self::Range(other_first, other_last)) => {
                Self::Range(first.min(other_first), last.max(other_last))
            }
        }
    }

    /// Returns the correct values of the fields that repeat this range.
    pub(crate) fn repeated(self) -> Option<(u64, u64)> {
        match self {
            Self::Unknown => None,
            Self::None => Some((0, 0)),
            Self::Range(first, last) => Some((first, last)),
        }
    }
}

/// Checks how a file ends. `times` are the times of its first and last event.
pub(super) fn check<R: FileReader>(
    file: &R,
    times: Times,
    report: &mut FileReport,
) -> Result<(), Error> {
    if let Completeness::HeaderNotUpdated = file.completeness() {
        report.add(R::RULES.placeholder, Place::at("header", 0), || {
            "a placeholder, but the footer is valid: the writer stopped before it rewrote the header"
                .to_owned()
        });
    }
    for problem in file.problems()? {
        match problem.kind() {
            // Each event of a gap has its own finding.
            ErrorKind::Gap { .. } => {}
            ErrorKind::NotFinalized { .. } => {
                report.add(R::RULES.finalized, place_of(&problem), || unfinalized(file));
            }
            _ => add_problem(report, &problem)?,
        }
    }
    for region in file.regions() {
        let Some(rule) = region.rule else { continue };
        let field = match region.kind {
            RegionKind::NoEvent | RegionKind::ZeroTail => "events",
            _ => "footer",
        };
        // A reader's problem already covers a damaged footer, and bytes before a verified footer.
        let is_problem = match region.kind {
            RegionKind::NoEvent => file.completeness().has_verified_footer(),
            kind => kind == RegionKind::DamagedFooter,
        };
        if !is_problem {
            let place = Place::at(field, region.offset);
            report.add(rule, place, || misplaced(file, &region));
        }
    }
    if let Some(footer) = file.found_footer() {
        let at = At::footer(R::FOOTER, file.wire(), footer.offset);
        // The CRC-32C of no bytes is 0.
        if file.checksum()? == Checksum::Absent && footer.offset != file.events_offset() {
            report.add(R::RULES.checksum_absent, at.field("checksum"), || {
                "0: no checksum, so damage to the events cannot be detected".to_owned()
            });
        }
        at.reserved(footer.bytes, R::RULES.reserved, report);
        footer_times(file, times, report);
    }
    Ok(())
}

/// Describes a file without a footer.
fn unfinalized(file: &impl FileReader) -> String {
    /// Why a file with a rewritten header has no footer.
    const AFTERWARDS: &str = "the file was truncated or damaged after it was finalized";
    let left = file.event_count();
    match file.stated_count() {
        // Writers may set the flags of a placeholder early.
        None | Some(0) => "no footer: the file was not finalized".to_owned(),
        Some(count) if count == left => format!("no footer: {AFTERWARDS}"),
        Some(count) if count < left => {
            format!("no footer; the header counts only {count} of {left} events")
        }
        Some(count) => format!("no footer: {AFTERWARDS}; {left} of {count} events are left"),
    }
}

/// Describes bytes that do not belong where they are.
fn misplaced(file: &impl FileReader, region: &Region) -> String {
    let bytes = counted(region.size, "byte");
    match (region.kind, file.completeness(), file.framing()) {
        (RegionKind::ZeroTail, ..) => format!("{bytes} of zeros at the end"),
        (RegionKind::TornFooter, ..) => format!("{bytes} of a torn footer"),
        (RegionKind::NoEvent, Completeness::DamagedFooter { .. }, _) => {
            format!("{bytes} between the last event and the footer")
        }
        (RegionKind::NoEvent, _, problem) => {
            let bytes = counted(region.size, "trailing byte");
            match problem {
                None => format!("{bytes}: not a whole event"),
                Some(problem) => {
                    format!(
                        "not an event, but {bytes}: total_length is {}",
                        problem.kind()
                    )
                }
            }
        }
        _ => format!("{bytes} after the footer"),
    }
}

/// Compares the times in a verified footer with those of the events.
pub(super) fn footer_times<R: FileReader>(file: &R, times: Times, report: &mut FileReport) {
    if let Some((times, footer)) = times.repeated().zip(file.found_footer()) {
        let at = At::footer(R::FOOTER, file.wire(), footer.offset);
        let places = [at.field("time_start_ns"), at.field("time_end_ns")];
        range(footer.times, times, places, R::RULES.times, report);
    }
}

/// Compares a stored start and end with the expected values. Reports each difference at its own
/// field.
pub(super) fn range(
    found: (u64, u64),
    expected: (u64, u64),
    [start, end]: [Place; 2],
    rule: &'static Rule,
    report: &mut impl Findings,
) {
    for (place, found, expected) in [(start, found.0, expected.0), (end, found.1, expected.1)] {
        if found != expected {
            report.add(rule, place, || format!("{found}, expected {expected}"));
        }
    }
}
