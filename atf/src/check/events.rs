//! Checks the events of `index.atf` one by one, in constant memory.

use crate::Error;
use crate::index::{IndexEvent, IndexReader, Pass};

use super::content;
use super::end::Times;
use crate::check::finding::{FileReport, Place};
use crate::check::place::At;
use crate::check::rules::table as rules;
use crate::wire::Record;

/// Events read at once: 64 KiB.
const BLOCK: usize = (64 << 10) / IndexEvent::SIZE;

/// Checks the events and returns the timestamps of the first and the last. Scans them as they are read.
pub(super) fn check(index: &IndexReader, report: &mut FileReport) -> Result<Times, Error> {
    let mut pass = Pass::new(index);
    let mut records = vec![[0; IndexEvent::SIZE]; BLOCK];
    let mut seq = 0;
    let mut order = Order::new(index);
    while seq < index.event_count() {
        let read = index.read_records(seq, &mut records)?;
        let block = records.get(..read).unwrap_or_default();
        if let Some(pass) = &mut pass {
            pass.add(index, block);
        }
        for (seq, bytes) in (seq..).zip(block) {
            order.event(index, seq, bytes, report)?;
        }
        seq = seq.saturating_add(read as u64);
    }
    if let Some(pass) = pass {
        pass.complete(index)?;
    }
    Ok(match order.first.zip(order.last) {
        Some((first, last)) => Times::Range(first, last),
        None if index.event_count() == 0 => Times::None,
        None => Times::Unknown,
    })
}

/// The facts about earlier events with which the next one is compared.
struct Order {
    /// Whether events have reserved bytes.
    has_reserved: bool,
    before: Option<IndexEvent>,
    /// The timestamps of the first and the last event; `None` for one in a hole.
    first: Option<u64>,
    last: Option<u64>,
}

impl Order {
    fn new(index: &IndexReader) -> Self {
        let fields = Record::IndexEvent.fields(index.wire());
        Self {
            has_reserved: fields.iter().any(|field| field.is_reserved),
            before: None,
            first: None,
            last: None,
        }
    }

    fn event(
        &mut self,
        index: &IndexReader,
        seq: u64,
        bytes: &[u8; IndexEvent::SIZE],
        report: &mut FileReport,
    ) -> Result<(), Error> {
        let offset = event_offset(index, seq)?;
        if index.is_hole(bytes)? {
            let place = Place::at(format!("events[{seq}]"), offset);
            report.add(&rules::ATF_IEVT_006, place, || {
                "all zeros: a hole".to_owned()
            });
            // The hole's calls and returns are unknown.
            if let Some(before) = &mut self.before {
                before.call_depth = None;
            }
            self.last = None;
            return Ok(());
        }
        let thread_id = index.header().thread_id;
        let event = IndexEvent::decode(index.wire(), thread_id, bytes);
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

/// The offset of an event that was read.
fn event_offset(index: &IndexReader, seq: u64) -> Result<u64, Error> {
    let offset = index.event_offset(seq);
    offset.ok_or_else(|| Error::internal("an event that was read has an offset"))
}
