//! Checks the end of a file: the same checks for both kinds of file, with different rules.

use crate::{Checksum, Completeness, Error};

use super::output::add_problem;
use crate::check::end_rules::EndRules;
use crate::check::finding::{FileReport, Findings, Place};
use crate::check::place::At;
use crate::check::rules::Rule;
use crate::text::counted;

/// The end of a file, as its reader determined it.
pub(super) struct End<'a> {
    pub(super) completeness: &'a Completeness,
    /// The offset right after the last event.
    pub(super) events_end: u64,
    /// The number of events in the file.
    pub(super) event_count: u64,
    /// The event count in the header, unless the header is a placeholder.
    pub(super) header_count: Option<u64>,
    /// Why the bytes after a detail file's last event are not an event.
    pub(super) framing_problem: Option<&'a Error>,
    pub(super) bytes_after_footer: u64,
    /// Where the events section begins.
    pub(super) events_offset: u64,
    pub(super) checksum: Checksum,
    pub(super) times: Times,
    /// The verified footer.
    pub(super) footer: Option<FooterFacts<'a>>,
}

/// A verified footer.
pub(super) struct FooterFacts<'a> {
    pub(super) at: At,
    pub(super) bytes: &'a [u8],
    pub(super) times: (u64, u64),
}

/// The timestamps of the first and the last event, which several fields repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Times {
    /// Unknown: one of these events is in a hole or after an impossible length.
    Unknown,
    /// There are no events.
    #[default]
    None,
    /// The timestamps of the first and the last event.
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

    /// Returns the values that the fields that repeat this range must have.
    pub(crate) fn repeated(self) -> Option<(u64, u64)> {
        match self {
            Self::Unknown => None,
            Self::None => Some((0, 0)),
            Self::Range(first, last) => Some((first, last)),
        }
    }
}

pub(super) fn check(end: &End<'_>, rules: &EndRules, report: &mut FileReport) -> Result<(), Error> {
    match end.completeness {
        Completeness::Finalized => {}
        Completeness::HeaderNotUpdated => {
            report.add(rules.placeholder, Place::at("header", 0), || {
                "a placeholder, but the footer is valid: the writer stopped before it rewrote the header"
                    .to_owned()
            });
        }
        Completeness::Unfinalized {
            trailing_bytes,
            zero_tail_bytes,
            partial_footer,
        } => {
            unfinalized(end, *trailing_bytes, *zero_tail_bytes, rules, report);
            if let Some(partial) = partial_footer {
                report.add(
                    rules.whole_footer,
                    Place::at("footer", partial.offset),
                    || format!("{} of a torn footer", counted(partial.size, "byte")),
                );
            }
        }
        Completeness::DamagedFooter {
            trailing_bytes,
            problems,
            ..
        } => {
            for problem in problems {
                add_problem(report, problem)?;
            }
            if *trailing_bytes > 0 {
                let place = Place::at("events", end.events_end);
                report.add(rules.whole_event, place, || {
                    let bytes = counted(*trailing_bytes, "byte");
                    format!("{bytes} between the last event and the footer")
                });
            }
        }
    }
    if let Some(footer) = &end.footer {
        footer_fields(end, footer, rules, report);
    }
    Ok(())
}

/// Why a file with a rewritten header has no footer.
const AFTERWARDS: &str = "the file was truncated or damaged after it was finalized";

fn unfinalized(
    end: &End<'_>,
    trailing_bytes: u64,
    zero_tail_bytes: u64,
    rules: &EndRules,
    report: &mut FileReport,
) {
    let events_end = end.events_end;
    report.add(rules.finalized, Place::at("footer", events_end), || {
        let left = end.event_count;
        match end.header_count {
            // Writers may set the flags of a placeholder early.
            None | Some(0) => "no footer: the file was not finalized".to_owned(),
            Some(count) if count == left => format!("no footer: {AFTERWARDS}"),
            Some(count) if count < left => {
                format!("no footer; the header counts only {count} of {left} events")
            }
            Some(count) => {
                format!("no footer: {AFTERWARDS}; {left} of {count} events are left")
            }
        }
    });
    if trailing_bytes > 0 {
        report.add(
            rules.whole_event,
            Place::at("events", events_end),
            || match end.framing_problem {
                None => format!(
                    "{}: not a whole event",
                    counted(trailing_bytes, "trailing byte")
                ),
                Some(problem) => format!(
                    "not an event, but {}: total_length is {}",
                    counted(trailing_bytes, "trailing byte"),
                    problem.kind()
                ),
            },
        );
    }
    if zero_tail_bytes > 0 {
        let place = Place::at("events", events_end.saturating_add(trailing_bytes));
        report.add(rules.zero_tail, place, || {
            format!("{} of zeros at the end", counted(zero_tail_bytes, "byte"))
        });
    }
}

fn footer_fields(
    end: &End<'_>,
    footer: &FooterFacts<'_>,
    rules: &EndRules,
    report: &mut FileReport,
) {
    let checksum = footer.at.field("checksum");
    match end.checksum {
        Checksum::Good | Checksum::NotChecked => {}
        // The CRC-32C of no bytes is 0.
        Checksum::Absent if footer.at.offset == end.events_offset => {}
        Checksum::Absent => report.add(rules.checksum_absent, checksum, || {
            "0: no checksum, so damage to the events cannot be detected".to_owned()
        }),
        Checksum::Bad { stored, computed } => report.add(rules.checksum, checksum, || {
            format!("{stored:#010x}, but the CRC-32C of the events is {computed:#010x}")
        }),
        Checksum::Ieee { stored, computed } => report.add(rules.checksum_ieee, checksum, || {
            format!(
                "{stored:#010x} is the IEEE CRC-32 of the events; their CRC-32C (Castagnoli) is \
                 {computed:#010x}"
            )
        }),
    }
    footer_times(&footer.at, footer.times, end.times, rules, report);
    footer.at.reserved(footer.bytes, rules.reserved, report);
    if end.bytes_after_footer > 0 {
        let place = Place::at("footer", footer.at.end());
        report.add(rules.nothing_after, place, || {
            format!(
                "{} after the footer",
                counted(end.bytes_after_footer, "byte")
            )
        });
    }
}

/// Compares the times in a footer with those of the events.
pub(super) fn footer_times(
    at: &At,
    found: (u64, u64),
    times: Times,
    rules: &EndRules,
    report: &mut FileReport,
) {
    if let Some(times) = times.repeated() {
        let places = [at.field("time_start_ns"), at.field("time_end_ns")];
        range(found, times, places, rules.times, report);
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
