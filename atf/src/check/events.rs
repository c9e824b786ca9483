//! Checks the events of `index.atf` one by one, in constant memory.

use crate::Error;
use crate::index::{IndexEvent, IndexReader, Record, Steps};

use super::content;
use super::end::Times;
use crate::check::finding::{FileReport, Place};
use crate::check::place::At;
use crate::rules::table as rules;
use crate::wire;

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
    ) -> Result<Option<&Record>, Error> {
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
        let fields = wire::Record::IndexEvent.fields(index.wire());
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
