//! Checks the links between a thread's two files in both directions.

use std::path::Path;

use crate::Error;
use crate::detail::{DetailEvent, DetailReader};
use crate::index::{IndexCursor, IndexEvent, IndexReader, Scan};

use super::content;
use crate::check::finding::{At, FileReport, Kind, Place};
use crate::rules::{Rule, of_file, table as rules};
use crate::thread::may_be_lost;
use crate::wire::{DetailFunctionPayload, Wire};

/// A thread's two files, both open and of the same wire version.
pub(crate) struct Pair<'a> {
    index: &'a IndexReader,
    pub(super) detail: Option<&'a DetailReader>,
}

impl<'a> Pair<'a> {
    pub(crate) const fn new(index: &'a IndexReader, detail: Option<&'a DetailReader>) -> Self {
        Self { index, detail }
    }

    /// Returns whether a link may dangle, because the other end may be lost.
    fn may_dangle(&self) -> bool {
        may_be_lost(self.index, self.detail)
    }

    /// Returns the rule broken by a link to a detail event that does not exist.
    pub(crate) fn dangling_rule(&self) -> &'static Rule {
        of_file::dangling(self.may_dangle())
    }

    /// Returns the rule broken by a detail event that is not linked from its index event `seq`, or
    /// `None` if `event` links to it. `event` is `None` in a hole and after the last event.
    pub(crate) fn orphan_rule(
        &self,
        detail: &DetailEvent,
        event: Option<&IndexEvent>,
    ) -> Option<&'static Rule> {
        let is_lost = || detail.header.index_seq < self.index.event_count() || self.may_dangle();
        match event {
            Some(event) if event.detail_seq == Some(detail.seq) => None,
            None if is_lost() => Some(&rules::ATF_LINK_004),
            _ => Some(&rules::ATF_LINK_003),
        }
    }

    /// Checks the links from index events to detail events. Does not read the events again if the
    /// details already prove all of these links correct.
    pub(super) fn check_forward(&self, proven: u64, report: &mut FileReport) -> Result<(), Error> {
        let is_proven = |scan: &Scan| scan.links == proven && scan.zero_events == 0;
        if self.index.known_scan().is_some_and(is_proven) {
            return Ok(());
        }
        let mut index = self.index.cursor();
        let mut details = self.detail.map(DetailReader::cursor);
        // After a hole, the number of links inside it is unknown.
        let mut next = Some(0_u64);
        for seq in 0..self.index.event_count() {
            let Some(event) = self.event(&mut index, seq)? else {
                next = None;
                continue;
            };
            let Some(to) = event.detail_seq else { continue };
            if let Some(next) = next.filter(|next| *next != to) {
                report.add(&rules::ATF_LINK_005, self.index_place(seq), || {
                    format!("{to}, expected {next}, which is next in the order of the index")
                });
            }
            next = Some(to.saturating_add(1));
            let detail = match &mut details {
                Some(details) => details.get(to)?,
                None => None,
            };
            match detail {
                None => self.dangling(to, self.index_place(seq), report),
                Some(detail) if detail.header.index_seq == seq => {}
                Some(detail) => report.add(&rules::ATF_LINK_001, self.index_place(seq), || {
                    let other = detail.header.index_seq;
                    format!("detail event {to} belongs to event {other}")
                }),
            }
        }
        Ok(())
    }

    /// Returns index event `seq`, or `None` if it is in a hole.
    pub(crate) fn event(
        &self,
        index: &mut IndexCursor<'_>,
        seq: u64,
    ) -> Result<Option<IndexEvent>, Error> {
        match index.bytes(seq)? {
            Some(bytes) if !self.index.is_hole(&bytes)? => Ok(Some(self.index.decode(&bytes))),
            _ => Ok(None),
        }
    }

    fn dangling(&self, to: u64, place: Place, report: &mut FileReport) {
        let problem = self.detail.and_then(DetailReader::framing_problem);
        let why = match (self.may_dangle(), self.detail, problem) {
            (true, _, Some(_)) => "cannot be found after an impossible total_length",
            (true, _, None) => "did not reach the disk",
            (false, None, _) => "does not exist: the thread has no detail.atf",
            (false, Some(_), _) => "does not exist",
        };
        report.add(self.dangling_rule(), place, || {
            format!("detail event {to} {why}")
        });
    }

    fn index_place(&self, seq: u64) -> Place {
        At::event(self.index.wire(), seq, self.index.offset_of(seq)).field("detail_seq")
    }
}

/// The check of the links from detail events to index events, and of whether linked events agree.
pub(super) struct Backward<'a> {
    pair: &'a Pair<'a>,
    index: IndexCursor<'a>,
    wire: Wire,
    /// The findings. They are discarded if one of the files cannot be compared.
    pub(super) report: FileReport,
    /// The position after the last event with a detail; `None` once a detail belongs to no event or
    /// is out of order.
    next: Option<u64>,
    /// The number of details that belong to an event.
    links: u64,
}

impl<'a> Backward<'a> {
    /// Creates the check; returns `None` if there are no details to compare. Its findings concern
    /// the file at `path`.
    pub(super) fn new(pair: &'a Pair<'a>, path: &Path) -> Option<Self> {
        let wire = pair.detail?.wire();
        let mut report = FileReport::new(path, Kind::Detail);
        report.wire = Some(wire.version());
        Some(Self {
            pair,
            index: pair.index.cursor(),
            wire,
            report,
            next: Some(0),
            links: 0,
        })
    }

    /// Checks the next detail event, with its payload if it is a function payload.
    pub(super) fn check(
        &mut self,
        detail: &DetailEvent,
        function: Option<&DetailFunctionPayload>,
    ) -> Result<(), Error> {
        let pair = self.pair;
        let (from, report) = (detail.header.index_seq, &mut self.report);
        let in_order = self.next.take().filter(|next| from >= *next);
        let place = || At::detail(self.wire, detail).field("index_seq");
        let event = pair.event(&mut self.index, from)?;
        let Some(rule) = pair.orphan_rule(detail, event.as_ref()) else {
            self.next = in_order.map(|_| from.saturating_add(1));
            self.links = self.links.saturating_add(1);
            if let Some(event) = event {
                content::agreement(self.wire, &event, detail, function, report);
            }
            return Ok(());
        };
        let count = pair.index.event_count();
        report.add(rule, place(), || {
            match event.map(|event| event.detail_seq) {
                Some(Some(other)) => format!("event {from} links to detail event {other}"),
                Some(None) => format!("event {from} links to no detail event"),
                None if from < count => format!("an orphan: event {from} is in a hole"),
                None if pair.may_dangle() => {
                    format!("an orphan: event {from} did not reach the disk")
                }
                None => format!("event {from} does not exist, the index has {count}"),
            }
        });
        Ok(())
    }

    /// Returns the number of event links that the details prove correct. If the events have no more
    /// links than that, all of them are correct.
    pub(super) fn proven(&self) -> u64 {
        if self.next.is_some() { self.links } else { 0 }
    }
}
