//! Reports bytes outside a file's header, events and footer, and problems in the header and footer.

use std::ops::Range;

use super::report::{DropReason, NoteKind, Notes, Place, ThreadReport};
use super::salvage::SalvagedDetails;
use super::unreadable;
use crate::check::end::Times;
use crate::check::end_rules::{self, EndRules};
use crate::check::rules::Rule;
use crate::check::{Kind, rule_of};
use crate::checksum::Checksum;
use crate::completeness::Completeness;
use crate::detail::DetailReader;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use crate::footer::FOOTER_SIZE;
use crate::index::{IndexEvent, IndexReader};
use crate::source::{Input, Unreadable};
use crate::wire::HEADER_SIZE;

/// The end of a file, as determined by its reader.
struct End<'a> {
    file: &'static str,
    kind: Kind,
    rules: EndRules,
    input: &'a Input,
    events_offset: u64,
    events_end: u64,
    event_count: u64,
    /// The number of events that the header counts but the file lacks.
    missing_events: u64,
    /// Where the last event would end if none were missing.
    header_end: u64,
    file_size: u64,
    footer_offset: Option<u64>,
    completeness: &'a Completeness,
    /// Whether the header shows that the file was finalized.
    was_finalized: bool,
    checksum: Checksum,
    disagreements: Vec<Error>,
    framing_problem: Option<&'a Error>,
    /// Whether what looks like a torn event contains whole ones.
    hides_events: bool,
    /// The timestamps of the first and the last event, which the header and the footer repeat.
    times: Times,
    /// The unreadable bytes, with the other bytes of the events they belong to.
    unreadable: Unreadable,
}

pub(super) fn index(index: &IndexReader, times: Times, report: &mut ThreadReport) -> Result<()> {
    let unreadable = unreadable::of_index(index);
    let end = End {
        file: INDEX_FILE,
        kind: Kind::Index,
        rules: end_rules::INDEX,
        input: index.input(),
        events_offset: index.header().events_offset,
        events_end: index.events_end(),
        event_count: index.event_count(),
        missing_events: index.missing_events(),
        header_end: index.events_end().saturating_add(
            index
                .missing_events()
                .saturating_mul(IndexEvent::SIZE as u64),
        ),
        file_size: index.file_size(),
        footer_offset: index.footer_offset(),
        completeness: index.completeness(),
        was_finalized: index.header().is_bounded(),
        checksum: if unreadable.is_empty() {
            index.checksum()?
        } else {
            Checksum::NotChecked
        },
        disagreements: index.disagreements(),
        framing_problem: None,
        hides_events: false,
        times,
        unreadable,
    };
    end.note(&SalvagedDetails::default(), report);
    Ok(())
}

/// `hides_details` is set if what looks like a torn event contains whole ones.
pub(super) fn detail(
    detail: &DetailReader,
    salvaged: &SalvagedDetails,
    hides_details: bool,
    report: &mut ThreadReport,
) -> Result<()> {
    let mut end = End {
        file: DETAIL_FILE,
        kind: Kind::Detail,
        rules: end_rules::DETAIL,
        input: &detail.input,
        events_offset: detail.header().events_offset,
        events_end: detail.events_end(),
        event_count: detail.event_count(),
        missing_events: detail.missing_events(),
        header_end: {
            let header = detail.header();
            header.events_offset.saturating_add(header.bytes_length)
        },
        file_size: detail.file_size(),
        footer_offset: detail.footer_offset(),
        completeness: detail.completeness(),
        was_finalized: detail.header().stated_end().is_some(),
        checksum: if detail.input.unreadable().is_empty() {
            detail.checksum()?
        } else {
            Checksum::NotChecked
        },
        disagreements: detail.disagreements(),
        framing_problem: detail.framing_problem(),
        hides_events: hides_details,
        times: Times::Unknown,
        unreadable: Unreadable::default(),
    };
    end.unreadable = unreadable::of_detail(detail, salvaged, end.section_end());
    end.note(salvaged, report);
    Ok(())
}

/// The reason why bytes are dropped, and the rule that they break.
type Why = (DropReason, Option<&'static Rule>);

impl End<'_> {
    fn note(&self, salvaged: &SalvagedDetails, report: &mut ThreadReport) {
        self.note_header(report);
        self.note_checksum(report);
        for range in self.unreadable.iter() {
            let (in_file, in_ring) = self.input.split(range.clone());
            for (file, Range { start, end }) in [(self.file, in_file), (RING_FILE, in_ring)] {
                let size = end.saturating_sub(start);
                report.drop(file, (DropReason::Unreadable, None), start, size);
            }
        }
        let gap = self.events_offset.saturating_sub(HEADER_SIZE as u64);
        let why = (DropReason::BetweenHeaderAndEvents, None);
        self.drop(why, HEADER_SIZE as u64, gap, report);
        let section_end = self.section_end();
        let torn = Some(self.rules.whole_event);
        let why = match (self.completeness, self.framing_problem) {
            (Completeness::Finalized | Completeness::HeaderNotUpdated, problem) => {
                let rule = problem.and_then(|problem| rule_of(self.kind, problem));
                (DropReason::AfterFramingProblem, rule)
            }
            (_, None) if !self.hides_events => (DropReason::TornEvent, torn),
            _ => (DropReason::AfterFramingProblem, torn),
        };
        self.gap(why, section_end, salvaged, report);
        match self.completeness {
            Completeness::Finalized | Completeness::HeaderNotUpdated => {
                self.after_footer(section_end, Some(self.rules.nothing_after), report);
            }
            Completeness::DamagedFooter {
                offset, problems, ..
            } => {
                let footer = self.file_size.saturating_sub(*offset);
                let footer = footer.min(FOOTER_SIZE as u64);
                let rule = problems
                    .first()
                    .and_then(|problem| rule_of(self.kind, problem));
                self.drop((DropReason::DamagedFooter, rule), *offset, footer, report);
                self.after_footer(*offset, None, report);
            }
            Completeness::Unfinalized {
                zero_tail_bytes,
                partial_footer,
                ..
            } => {
                let mut end = section_end;
                if let Some(partial) = partial_footer {
                    let why = (DropReason::TornFooter, Some(self.rules.whole_footer));
                    self.drop(why, partial.offset, partial.size, report);
                    end = partial.offset.saturating_add(partial.size);
                }
                let why = (DropReason::ZeroTail, Some(self.rules.zero_tail));
                self.drop(why, end, *zero_tail_bytes, report);
            }
        }
    }

    /// Returns the offset after the events and after any bytes between them and the footer or the
    /// zero tail.
    fn section_end(&self) -> u64 {
        match self.completeness {
            Completeness::Finalized | Completeness::HeaderNotUpdated => {
                self.footer_offset.unwrap_or(self.events_end)
            }
            Completeness::DamagedFooter { offset, .. } => *offset,
            Completeness::Unfinalized { trailing_bytes, .. } => {
                self.events_end.saturating_add(*trailing_bytes)
            }
        }
    }

    /// Reports bytes as dropped, except bytes reported as unreadable.
    fn drop(&self, why: Why, offset: u64, size: u64, report: &mut ThreadReport) {
        let range = offset..offset.saturating_add(size);
        for Range { start, end } in self.unreadable.gaps(range) {
            report.drop(self.file, why, start, end.saturating_sub(start));
        }
    }

    /// Reports the bytes from the last event to `end` as dropped, except for details that salvage
    /// found there.
    fn gap(&self, why: Why, end: u64, salvaged: &SalvagedDetails, report: &mut ThreadReport) {
        for Range { start, end } in salvaged.gaps(self.events_end..end) {
            self.drop(why, start, end.saturating_sub(start), report);
        }
    }

    fn after_footer(
        &self,
        footer_offset: u64,
        rule: Option<&'static Rule>,
        report: &mut ThreadReport,
    ) {
        let end = footer_offset.saturating_add(FOOTER_SIZE as u64);
        let size = self.file_size.saturating_sub(end);
        self.drop((DropReason::AfterFooter, rule), end, size, report);
    }

    fn note_header(&self, report: &mut ThreadReport) {
        let is_guessed = report.has_guessed_header(self.file);
        self.note_missing(report);
        let notes = &mut report.notes;
        let of_missing = ["header.event_count", "header.bytes_length"];
        for error in &self.disagreements {
            let is_told = error
                .field()
                .is_some_and(|field| of_missing.contains(&field));
            if is_told && self.missing_events > 0 {
                continue;
            }
            let rule = self.rule_of_disagreement(error);
            notes.add(NoteKind::HeaderDisagrees, rule, || {
                Place::of(self.file, error)
            });
        }
        let footer =
            |found: &str| Place::new(self.file, "footer", Some(self.events_end)).found(found);
        match self.completeness {
            Completeness::Finalized => {}
            // The placeholder is the rebuilt header.
            Completeness::HeaderNotUpdated if is_guessed => {}
            Completeness::HeaderNotUpdated => {
                notes.add(NoteKind::NotFinalized, Some(self.rules.placeholder), || {
                    let found = "a placeholder, but there is a footer";
                    Place::new(self.file, "header", Some(0)).found(found)
                });
            }
            Completeness::Unfinalized { .. } => {
                let kind = if self.was_finalized {
                    NoteKind::Damaged
                } else {
                    NoteKind::NotFinalized
                };
                notes.add(kind, Some(self.rules.finalized), || footer("no footer"));
            }
            Completeness::DamagedFooter { problems, .. } => {
                for problem in problems {
                    self.note_damage(problem, notes);
                }
            }
        }
        let is_unreadable = |problem: &&Error| {
            let offset = problem.offset();
            offset.is_some_and(|at| self.unreadable.overlaps(&(at..at.saturating_add(1))))
        };
        let problem = self.framing_problem.filter(|it| !is_unreadable(it));
        match (problem, self.completeness) {
            (None, _) => {}
            // In a file without a footer, an impossible length only marks the end of the events.
            (Some(problem), Completeness::Unfinalized { .. }) => {
                let rule = Some(self.rules.whole_event);
                notes.add(NoteKind::Damaged, rule, || Place::of(self.file, problem));
            }
            (Some(problem), _) => self.note_damage(problem, notes),
        }
    }

    fn note_damage(&self, problem: &Error, notes: &mut Notes) {
        let rule = rule_of(self.kind, problem);
        notes.add(NoteKind::Damaged, rule, || Place::of(self.file, problem));
    }

    /// Returns the rule broken by a header that disagrees with the footer or the file. Only a
    /// finalized file must have the right values. If header and footer disagree about a time, the
    /// events show which of them is wrong.
    fn rule_of_disagreement(&self, error: &Error) -> Option<&'static Rule> {
        if !matches!(self.completeness, Completeness::Finalized) {
            return None;
        }
        let ErrorKind::Disagrees { found, .. } = error.kind() else {
            return rule_of(self.kind, error);
        };
        let (start, end) = self.times.repeated().unzip();
        let time = match error.field() {
            Some("header.time_start_ns") => start,
            Some("header.time_end_ns") => end,
            _ => return rule_of(self.kind, error),
        };
        if time? == *found {
            Some(self.rules.times)
        } else {
            rule_of(self.kind, error)
        }
    }

    /// Reports events that a rewritten header counts but the file lacks. After a framing problem,
    /// bytes are reported as dropped instead, because they may contain the missing events.
    fn note_missing(&self, report: &mut ThreadReport) {
        if self.missing_events == 0 || self.framing_problem.is_some() {
            return;
        }
        match self.kind {
            Kind::Index => report.events.missing = self.missing_events,
            _ => report.details.missing = self.missing_events,
        }
        let rule = Some(self.rules.count);
        report.notes.add(NoteKind::EventsMissing, rule, || {
            let missing = self.missing_events;
            let count = self.event_count.saturating_add(missing);
            let how = match self.completeness {
                Completeness::DamagedFooter { offset, .. } => {
                    format!("from the end or the middle: the footer is at {offset:#x}")
                }
                _ if self.file_size < self.header_end => {
                    format!("the file was truncated at {:#x}", self.file_size)
                }
                _ => format!("no event from {:#x} on", self.events_end),
            };
            Place::new(self.file, "", None).found(format!("{missing} of {count}, {how}"))
        });
    }

    fn note_checksum(&self, report: &mut ThreadReport) {
        let notes = &mut report.notes;
        let offset = self.footer_offset.map(Checksum::offset);
        let place = |found: String| Place::new(self.file, "footer.checksum", offset).found(found);
        match self.checksum {
            Checksum::NotChecked if self.footer_offset.is_some() => {
                let found = "not compared: part of the file cannot be read";
                notes.add(NoteKind::NoChecksum, None, || place(found.to_owned()));
            }
            Checksum::Good | Checksum::NotChecked => {}
            Checksum::Absent if self.event_count == 0 => {}
            Checksum::Absent => {
                let rule = Some(self.rules.checksum_absent);
                notes.add(NoteKind::NoChecksum, rule, || place("0".to_owned()));
            }
            Checksum::Ieee { stored, .. } => {
                let rule = Some(self.rules.checksum_ieee);
                notes.add(NoteKind::NoChecksum, rule, || {
                    place(format!("{stored:#010x}, the IEEE CRC-32 of the events"))
                });
            }
            Checksum::Bad { stored, computed } => {
                let rule = Some(self.rules.checksum);
                notes.add(NoteKind::ChecksumBad, rule, || {
                    place(format!("{stored:#010x}, the events have {computed:#010x}"))
                });
            }
        }
    }
}
