//! Reports unreadable bytes, bytes outside a file's header, events and footer, and problems in the
//! header and footer.

use super::report::{DropReason, NoteKind, Notes, Place, ThreadReport};
use super::salvage::SalvagedDetails;
use crate::anatomy::{Region, RegionKind};
use crate::check::end::Times;
use crate::checksum::Checksum;
use crate::completeness::Completeness;
use crate::detail::{DetailEvent, DetailEventHeader, DetailReader};
use crate::error::{Error, ErrorKind, Result};
use crate::files::RING_FILE;
use crate::index::{IndexEvent, IndexReader};
use crate::reader::FileReader;
use crate::rules::Rule;
use crate::source::Unreadable;

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// How much the checker sees of a file that a rewrite reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// All of its bytes.
    Whole,
    /// All but the bytes that a ring adds, so the checker finds a different end.
    WithoutRing,
    /// Only its header, which is invalid.
    Header,
}

impl Seen {
    /// Returns the rule if the checker can find it broken.
    pub(super) fn rule(self, rule: Option<&'static Rule>) -> Option<&'static Rule> {
        rule.filter(|_| self != Self::Header)
    }

    /// Returns the rule if the checker can find it broken where the events end.
    pub(super) fn end_rule(self, rule: Option<&'static Rule>) -> Option<&'static Rule> {
        rule.filter(|_| self == Self::Whole)
    }
}

/// A file, for the report on the bytes around its events.
struct Ends<'a, R> {
    file: &'a R,
    seen: Seen,
    /// Whether the apparently torn event contains whole ones.
    hides_events: bool,
    /// The timestamps of the first and the last event, which the header and the footer repeat.
    times: Times,
    salvaged: &'a SalvagedDetails,
    /// The unreadable bytes, with the other bytes of the events they belong to.
    unreadable: Unreadable,
}

pub(super) fn index(
    index: &IndexReader,
    seen: Seen,
    times: Times,
    report: &mut ThreadReport,
) -> Result<()> {
    let ends = Ends {
        file: index,
        seen,
        hides_events: false,
        times,
        salvaged: &SalvagedDetails::default(),
        unreadable: unreadable_index(index),
    };
    report.events.missing = ends.note(&index.regions(), report)?;
    Ok(())
}

/// `hides_details` is set if the apparently torn event contains whole ones.
pub(super) fn detail(
    detail: &DetailReader,
    seen: Seen,
    salvaged: &SalvagedDetails,
    hides_details: bool,
    report: &mut ThreadReport,
) -> Result<()> {
    let regions = detail.regions();
    let ends = Ends {
        file: detail,
        seen,
        hides_events: hides_details,
        times: Times::Unknown,
        salvaged,
        unreadable: unreadable_details(detail, salvaged, section_end(&regions)),
    };
    report.details.missing = ends.note(&regions, report)?;
    Ok(())
}

/// Returns the unreadable ranges of an index file, extended to whole events.
fn unreadable_index(index: &IndexReader) -> Unreadable {
    let (events, end) = (index.header().events_offset, index.events_end());
    // The distance from an offset back to the start of its event.
    let inside = |offset: u64| {
        if (events..end).contains(&offset) {
            offset.saturating_sub(events) % EVENT_SIZE
        } else {
            0
        }
    };
    let mut found = Unreadable::default();
    for range in index.input.unreadable().iter() {
        let after = EVENT_SIZE.saturating_sub(inside(range.end)) % EVENT_SIZE;
        let start = range.start.saturating_sub(inside(range.start));
        found.add(start..range.end.saturating_add(after));
    }
    found
}

/// Returns the unreadable ranges of a detail file, extended to whole details. If a detail's length
/// cannot be read, its end is unknown, so this includes all bytes from there to `section_end`,
/// except those in salvaged details.
fn unreadable_details(
    detail: &DetailReader,
    salvaged: &SalvagedDetails,
    section_end: u64,
) -> Unreadable {
    let unreadable = detail.input.unreadable();
    let mut found = Unreadable::default();
    if unreadable.is_empty() {
        return found;
    }
    let hopped = (0..detail.event_count()).filter_map(|seq| detail.place(seq));
    let salvaged_places = salvaged.iter().map(DetailEvent::place);
    let events = hopped.chain(salvaged_places);
    let events = events.filter(|place| unreadable.overlaps(place));
    let mut ranges: Vec<_> = unreadable.iter().cloned().chain(events).collect();
    let problem = detail.framing_problem().and_then(Error::offset);
    let header = problem.map(|start| start..start.saturating_add(DetailEventHeader::SIZE as u64));
    if header.is_some_and(|header| unreadable.overlaps(&header)) {
        ranges.extend(salvaged.gaps(detail.events_end()..section_end));
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.into_iter().for_each(|range| found.add(range));
    found
}

/// Returns the offset after the events and after any bytes between them and the footer or the zero
/// tail.
fn section_end(regions: &[Region]) -> u64 {
    let is_before = |region: &&Region| region.kind <= RegionKind::NoEvent;
    regions.iter().rfind(is_before).map_or(0, Region::end)
}

impl<R: FileReader> Ends<'_, R> {
    /// Reports dropped bytes and problems, and returns how many events are missing.
    fn note(&self, regions: &[Region], report: &mut ThreadReport) -> Result<u64> {
        let missing = self.note_problems(report)?;
        for range in self.unreadable.iter() {
            let (in_file, in_ring) = self.file.input().split(range.clone());
            for (file, range) in [(R::NAME, in_file), (RING_FILE, in_ring)] {
                report.drop(file, (DropReason::Unreadable, None), range);
            }
        }
        for region in regions {
            let why = match region.kind {
                RegionKind::Header | RegionKind::Events | RegionKind::Footer => continue,
                RegionKind::NoEvent if self.file.framing().is_some() || self.hides_events => {
                    DropReason::AfterFramingProblem
                }
                RegionKind::NoEvent => DropReason::TornEvent,
                RegionKind::Gap => DropReason::BetweenHeaderAndEvents,
                RegionKind::DamagedFooter => DropReason::DamagedFooter,
                RegionKind::TornFooter => DropReason::TornFooter,
                RegionKind::ZeroTail => DropReason::ZeroTail,
                RegionKind::AfterFooter => DropReason::AfterFooter,
            };
            let why = (why, self.seen.end_rule(region.rule));
            // Salvage finds details only where the walk found no event.
            let dropped = self.salvaged.gaps(region.offset..region.end());
            // The unreadable bytes have already been reported.
            for range in dropped.flat_map(|range| self.unreadable.gaps(range)) {
                report.drop(R::NAME, why, range);
            }
        }
        Ok(missing)
    }

    /// Adds a note, which names the rule if the checker reports a violation of it.
    fn add(
        &self,
        notes: &mut Notes,
        kind: NoteKind,
        rule: Option<&'static Rule>,
        place: impl FnOnce() -> Place,
    ) {
        let rule = match kind {
            NoteKind::Damaged => self.seen.end_rule(rule),
            _ => self.seen.rule(rule),
        };
        notes.add(kind, rule, place);
    }

    /// Notes the file's problems, and returns how many events are missing.
    fn note_problems(&self, report: &mut ThreadReport) -> Result<u64> {
        let (file, notes) = (self.file, &mut report.notes);
        let of_missing = ["header.event_count", "header.bytes_length"];
        for error in &file.disagreements() {
            let field = error.field();
            let is_told = field.is_some_and(|field| of_missing.contains(&field));
            if is_told && file.missing_events() > 0 {
                continue;
            }
            let rule = self.disagreement_rule(error);
            self.add(notes, NoteKind::HeaderDisagrees, rule, || {
                Place::from_error(R::NAME, error)
            });
        }
        // A rebuilt header is always a placeholder, so it does not show how the writer ended.
        if matches!(file.completeness(), Completeness::HeaderNotUpdated)
            && self.seen != Seen::Header
        {
            let rule = Some(R::RULES.placeholder);
            self.add(notes, NoteKind::NotFinalized, rule, || {
                let found = "a placeholder, but there is a footer";
                Place::new(R::NAME, "header", Some(0)).found(found)
            });
        }
        let mut problems = file.problems()?;
        if !file.input().unreadable().is_empty() {
            problems.retain(|problem| problem.field() != Some("footer.checksum"));
        }
        // In a file without a footer, an impossible length only marks the end of the events.
        if let (Completeness::Unfinalized { .. }, Some(problem)) =
            (file.completeness(), file.framing())
        {
            problems.push(problem.clone().with_rule(R::RULES.whole_event));
        }
        let mut missing = 0;
        for problem in &problems {
            let place = || Place::from_error(R::NAME, problem);
            let checksum = |found: String| place().found(found);
            let (kind, place) = match problem.kind() {
                // Its events are dropped, or set aside.
                ErrorKind::Gap { .. } => continue,
                ErrorKind::NotFinalized { is_cut: true, .. } => {
                    (NoteKind::Damaged, place().found("no footer"))
                }
                ErrorKind::NotFinalized { .. } => {
                    (NoteKind::NotFinalized, place().found("no footer"))
                }
                ErrorKind::EventsMissing { .. } => {
                    missing = file.missing_events();
                    (NoteKind::EventsMissing, self.missing_place(missing))
                }
                ErrorKind::IeeeChecksum { stored, .. } => {
                    let found = format!("{stored:#010x}, the IEEE CRC-32 of the events");
                    (NoteKind::NoChecksum, checksum(found))
                }
                ErrorKind::ChecksumMismatch { stored, computed } => {
                    let found = format!("{stored:#010x}, the events have {computed:#010x}");
                    (NoteKind::ChecksumBad, checksum(found))
                }
                _ if self.is_unreadable(problem) => continue,
                _ => (NoteKind::Damaged, place()),
            };
            self.add(notes, kind, problem.rule(), || place);
        }
        self.note_missing_checksum(notes)?;
        Ok(missing)
    }

    /// Returns whether a problem is at a byte that could not be read.
    fn is_unreadable(&self, problem: &Error) -> bool {
        let offset = problem.offset();
        offset.is_some_and(|at| self.unreadable.overlaps(&(at..at.saturating_add(1))))
    }

    /// Returns the rule broken by a header that disagrees with the footer or the file. Only a
    /// finalized file must have the correct values. If header and footer disagree about a time, the
    /// events show which of them is wrong.
    fn disagreement_rule(&self, error: &Error) -> Option<&'static Rule> {
        if !matches!(self.file.completeness(), Completeness::Finalized) {
            return None;
        }
        let ErrorKind::Disagrees { found, .. } = error.kind() else {
            return error.rule();
        };
        let (start, end) = self.times.repeated().unzip();
        let time = match error.field() {
            Some("header.time_start_ns") => start,
            Some("header.time_end_ns") => end,
            _ => return error.rule(),
        };
        if time? == *found {
            Some(R::RULES.times)
        } else {
            error.rule()
        }
    }

    /// Describes events that a rewritten header counts but that are missing from the file.
    fn missing_place(&self, missing: u64) -> Place {
        let count = self.file.event_count().saturating_add(missing);
        let size = self.file.input().size();
        let how = match self.file.completeness() {
            Completeness::DamagedFooter { offset, .. } => {
                format!("from the end or the middle: the footer is at {offset:#x}")
            }
            _ if self.file.stated_end().is_some_and(|end| size < end) => {
                format!("the file was truncated at {size:#x}")
            }
            _ => format!("no event from {:#x} on", self.file.events_end()),
        };
        Place::new(R::NAME, "", None).found(format!("{missing} of {count}, {how}"))
    }

    /// Notes a footer whose checksum proves nothing.
    fn note_missing_checksum(&self, notes: &mut Notes) -> Result<()> {
        let Some(footer) = self.file.found_footer() else {
            return Ok(());
        };
        let (rule, found) = if !self.file.input().unreadable().is_empty() {
            (None, "not compared: part of the file cannot be read")
        } else if self.file.checksum()? == Checksum::Absent && self.file.event_count() > 0 {
            (Some(R::RULES.checksum_absent), "0")
        } else {
            return Ok(());
        };
        self.add(notes, NoteKind::NoChecksum, rule, || {
            let offset = Some(Checksum::offset(footer.offset));
            Place::new(R::NAME, "footer.checksum", offset).found(found)
        });
        Ok(())
    }
}
