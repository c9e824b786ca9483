//! Checks a thread's details and links while its files are being opened, so that each byte is read
//! once.
//!
//! The check covers details that break no rule and are linked in order. It needs memory for one
//! block of each file. It ends at the first detail that breaks a rule or is out of order; the
//! details are then read again to report their findings.

use std::path::Path;

use crate::detail::{DetailEvent, DetailHeader, FunctionPayload};
use crate::files::DETAIL_FILE;
use crate::index::{IndexReader, is_zero};
use crate::thread::ThreadReader;

use super::content;
use super::index::Events;
use crate::check::finding::{FileReport, Kind};

/// The check of both files, up to the last detail that was read.
#[derive(Debug)]
pub(super) struct OnePass {
    /// Whether a detail ended this check early.
    is_over: bool,
    links: Links,
    /// The check of the index, at least up to the last link, and its findings. Begins at the first
    /// detail.
    events: Option<(Events, FileReport)>,
    /// The findings about the details: empty until this check ends.
    report: FileReport,
}

/// The links of the details so far: each detail's index event links back to it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Links {
    pub(super) count: u64,
    /// The smallest and the largest `index_seq`; 0 if there are no details.
    pub(super) range: (u64, u64),
}

impl Links {
    /// Adds a link and returns whether it is in order.
    fn add(&mut self, seq: u64) -> bool {
        let (least, greatest) = self.range;
        let is_first = self.count == 0;
        self.range = (if is_first { seq } else { least }, seq);
        self.count = self.count.saturating_add(1);
        is_first || greatest < seq
    }
}

impl OnePass {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            is_over: false,
            links: Links::default(),
            events: None,
            report: FileReport::new(&folder.join(DETAIL_FILE), Kind::Detail),
        }
    }

    /// Checks the next detail and the index event that it links to.
    pub(super) fn add(
        &mut self,
        index: &IndexReader,
        header: &DetailHeader,
        detail: &DetailEvent,
        payload: Option<&[u8]>,
    ) {
        if self.is_over || header.wire != index.wire() {
            return;
        }
        if self.events.is_none() {
            let wire = Some(header.wire.version());
            let mut found = FileReport::new(&self.report.path, Kind::Index);
            (found.wire, self.report.wire) = (wire, wire);
            self.events = Some((Events::new(index), found));
        }
        self.is_over = !self.detail(index, header, detail, payload);
    }

    /// Returns whether a detail has no findings.
    fn detail(
        &mut self,
        index: &IndexReader,
        header: &DetailHeader,
        detail: &DetailEvent,
        payload: Option<&[u8]>,
    ) -> bool {
        let Some((events, found)) = &mut self.events else {
            return false;
        };
        let seq = detail.header.index_seq;
        let record = match events.up_to(seq, index, found) {
            Ok(Some(record)) => record,
            Ok(None) => return false,
            Err(_) => {
                // Drop the error: it recurs when the events are read again from the start.
                self.events = None;
                return false;
            }
        };
        let event = index.decode(record);
        // An all-zero event may be part of a hole.
        let is_linked = event.detail_seq == Some(detail.seq) && !is_zero(record);
        let function = payload.and_then(FunctionPayload::split);
        let function = function.map(|(numbers, _)| numbers);
        content::detail(
            header.wire,
            detail,
            function,
            header.thread_id,
            &mut self.report,
        );
        content::agreement(header.wire, &event, detail, function, &mut self.report);
        is_linked && self.links.add(seq) && self.report.is_empty()
    }

    /// Returns the links if this check covered all of the thread's details and no others.
    pub(super) fn links(&self, thread: &ThreadReader) -> Option<Links> {
        let detail = thread.detail().filter(|_| !self.is_over)?;
        let count = self.links.count;
        let is_all = count > 0 && count == detail.event_count();
        (is_all && detail.framing_problem().is_none()).then_some(self.links)
    }

    /// Returns the check of the index events, for the caller to continue, and its findings so far.
    pub(super) fn into_events(self) -> Option<(Events, FileReport)> {
        self.events
    }
}
