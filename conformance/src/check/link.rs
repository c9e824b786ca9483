//! The links between a thread's two files, followed both ways.

use std::mem::offset_of;

use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexEvent, IndexReader};
use atf::wire::{v1, v2};
use atf::{DetailEventType, Error, EventKind, Wire};

use crate::finding::{FileReport, Place};
use crate::rules::{Rule, table as rules};

/// The two files of a thread, both open and of one wire version.
pub(super) struct Pair<'a> {
    pub(super) index: &'a IndexReader,
    pub(super) detail: Option<&'a DetailReader>,
}

impl Pair<'_> {
    /// Whether a link may lead nowhere because a crash cut its other end.
    fn may_dangle(&self) -> bool {
        let index = self.index.completeness().has_verified_footer();
        let detail = self
            .detail
            .is_none_or(|detail| detail.completeness().has_verified_footer());
        !(index && detail)
    }

    /// From each index event to its detail event.
    pub(super) fn check_forward(&self, report: &mut FileReport) -> Result<(), Error> {
        let mut details = self.detail.map(DetailReader::cursor);
        let mut next = 0_u64;
        for (seq, event) in (0_u64..).zip(self.index.events()) {
            let event = event?;
            let Some(to) = event.detail_seq else { continue };
            // A hole's zeros are no link.
            if event.event_kind == EventKind(0) && event.timestamp_ns == 0 {
                continue;
            }
            let place = self.index_place(seq);
            if to != next {
                report.add(&rules::ATF_LINK_005, place.clone(), || {
                    format!("{to}, {next} would be the next in the order of the index")
                });
            }
            next = to.saturating_add(1);
            let detail = match &mut details {
                Some(details) => details.get(to)?,
                None => None,
            };
            match detail {
                None => self.dangling(to, place, report),
                Some(detail) if detail.header.index_seq == seq => {
                    self.both(seq, &event, &detail, report)?;
                }
                Some(detail) => report.add(&rules::ATF_LINK_001, place, || {
                    format!(
                        "detail event {to} belongs to event {}",
                        detail.header.index_seq
                    )
                }),
            }
        }
        Ok(())
    }

    fn dangling(&self, to: u64, place: Place, report: &mut FileReport) {
        let (rule, why): (&'static Rule, _) = match (self.may_dangle(), self.detail) {
            (true, _) => (&rules::ATF_LINK_002, "did not reach the disk"),
            (false, None) => (
                &rules::ATF_LINK_001,
                "is not there: the thread has no detail.atf",
            ),
            (false, Some(_)) => (&rules::ATF_LINK_001, "is not there"),
        };
        report.add(rule, place, || format!("detail event {to} {why}"));
    }

    /// What a pair that links both ways must agree on.
    fn both(
        &self,
        seq: u64,
        event: &IndexEvent,
        detail: &DetailEvent,
        report: &mut FileReport,
    ) -> Result<(), Error> {
        let to = detail.seq;
        if event.timestamp_ns != detail.header.timestamp {
            report.add(&rules::ATF_LINK_006, self.index_place(seq), || {
                format!(
                    "at {}, detail event {to} is at {}",
                    event.timestamp_ns, detail.header.timestamp
                )
            });
        }
        let is_fit = match event.event_kind {
            EventKind::CALL => detail.header.event_type == DetailEventType::FUNCTION_CALL,
            EventKind::RETURN => detail.header.event_type == DetailEventType::FUNCTION_RETURN,
            _ => true,
        };
        if !is_fit {
            report.add(&rules::ATF_LINK_007, self.index_place(seq), || {
                format!(
                    "an event of kind {}, detail event {to} has type {}",
                    event.event_kind.0, detail.header.event_type.0
                )
            });
        }
        let Some(reader) = self.detail else {
            return Ok(());
        };
        if let Some(payload) = reader.function_payload(detail)?
            && payload.function_id != event.function_id
        {
            report.add(&rules::ATF_LINK_011, self.index_place(seq), || {
                format!(
                    "function {:#018x}, the payload of detail event {to} has {:#018x}",
                    event.function_id, payload.function_id
                )
            });
        }
        Ok(())
    }

    /// From each detail event to its index event.
    pub(super) fn check_backward(&self, report: &mut FileReport) -> Result<(), Error> {
        let Some(detail) = self.detail else {
            return Ok(());
        };
        let mut index = self.index.cursor();
        for event in detail.events() {
            let event = event?;
            let from = event.header.index_seq;
            let offset = offset_of!(v1::DetailEventHeader, index_seq) as u64;
            let field = format!("events[{}].index_seq", event.seq);
            let place = Place::at(field, event.offset.saturating_add(offset));
            match index.get(from)? {
                Some(back) if back.detail_seq == Some(event.seq) => {}
                None if self.may_dangle() => report.add(&rules::ATF_LINK_004, place, || {
                    format!("an orphan: event {from} did not reach the disk")
                }),
                None => report.add(&rules::ATF_LINK_003, place, || {
                    format!(
                        "event {from} is not there, the index has {}",
                        self.index.event_count()
                    )
                }),
                Some(back) => report.add(&rules::ATF_LINK_003, place, || match back.detail_seq {
                    Some(other) => format!("event {from} links to detail event {other}"),
                    None => format!("event {from} links to no detail event"),
                }),
            }
        }
        Ok(())
    }

    fn index_place(&self, seq: u64) -> Place {
        let field = match self.index.wire() {
            Wire::V1 => offset_of!(v1::IndexEvent, detail_seq),
            Wire::V2 => offset_of!(v2::IndexEvent, detail_seq),
        };
        let start = self.index.event_offset(seq).unwrap_or_default();
        Place::at(
            format!("events[{seq}].detail_seq"),
            start.saturating_add(field as u64),
        )
    }
}

/// What both headers say and must agree on, at the detail file's field.
pub(super) fn agreement_rule(field: Option<&str>) -> &'static Rule {
    match field {
        Some("header.version") => &rules::ATF_LINK_008,
        Some("header.thread_id") => &rules::ATF_LINK_009,
        _ => &rules::ATF_LINK_010,
    }
}

// The back link stands at one place in both wire versions.
const _: () = assert!(
    offset_of!(v1::DetailEventHeader, index_seq) == offset_of!(v2::DetailEventHeader, index_seq)
);
