//! Scans all details in one pass: types, order, links.

use std::collections::BTreeMap;

use super::{DetailEvent, DetailReader};
use crate::error::Result;
use crate::index::{Disorder, IndexReader, Record, Steps, is_zero};
use crate::wire::DetailEventType;

/// The maximum number of types to count separately, because every event in a hostile file can have
/// a different type.
const TYPES: usize = 16;

impl DetailReader {
    /// Counts the types of all events, without reading the index.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn scan(&self) -> Result<Scan> {
        Scan::read(self, None)
    }
}

/// The result of a pass over all events of a detail file.
///
/// Returned by [`ThreadReader::scan_details`](crate::thread::ThreadReader::scan_details) and
/// [`DetailReader::scan`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The number of events of each type, for the first 16 types in the file.
    pub types: BTreeMap<DetailEventType, u64>,
    /// The number of events of all other types.
    pub other_types: u64,
    /// Where timestamps decrease; `None` if they never do.
    pub disorder: Option<Disorder>,
    /// The number of events whose index event links back to them; 0 if the index was not read.
    pub linked: u64,
    /// How many of these have a different time than their index event.
    pub times_differ: u64,
}

impl Scan {
    fn add(&mut self, event: &DetailEvent, last_ns: &mut u64) {
        let event_type = event.header.event_type;
        if self.types.len() < TYPES || self.types.contains_key(&event_type) {
            let count = self.types.entry(event_type).or_default();
            *count = count.saturating_add(1);
        } else {
            self.other_types = self.other_types.saturating_add(1);
        }
        if event.header.timestamp < *last_ns {
            Disorder::add(&mut self.disorder, event.seq, 1);
        }
        *last_ns = event.header.timestamp;
    }

    fn add_link(&mut self, event: &DetailEvent, index: &IndexReader, record: &Record) {
        let linking = index.decode(record);
        // An all-zero record does not count as a link to detail 0.
        let is_link = event.seq > 0 || !is_zero(record);
        let is_linked = is_link && linking.detail_seq == Some(event.seq);
        self.linked = self.linked.saturating_add(is_linked.into());
        let differs = is_linked && linking.timestamp_ns != event.header.timestamp;
        self.times_differ = self.times_differ.saturating_add(differs.into());
    }

    /// Reads all events of a file, and the index events that they link to.
    pub(crate) fn read(reader: &DetailReader, index: Option<&IndexReader>) -> Result<Self> {
        let mut scan = Self::default();
        let mut last_ns = 0;
        let mut linking = index.map(|index| (index, index.cursor()));
        for event in reader.events_in(..) {
            let event = event?;
            scan.add(&event, &mut last_ns);
            if let Some((index, cursor)) = &mut linking
                && let Some(record) = cursor.bytes(event.header.index_seq)?
            {
                scan.add_link(&event, index, &record);
            }
        }
        Ok(scan)
    }
}

/// Scans of the details and their index, made while the details are opened, so that each byte is
/// read once. Reads index events only up to the last linked one. If a link leads far back, reads
/// its target separately.
#[derive(Debug, Default)]
pub(crate) struct BothScans {
    /// The scan of the index, which begins at the first detail.
    steps: Option<Steps>,
    scan: Scan,
    last_ns: u64,
    /// Whether a read failed. The error recurs when the events are read again.
    is_over: bool,
}

impl BothScans {
    /// Adds the next detail.
    pub(crate) fn add(&mut self, index: &IndexReader, event: &DetailEvent) {
        if self.is_over {
            return;
        }
        self.scan.add(event, &mut self.last_ns);
        let steps = self.steps.get_or_insert_with(|| Steps::new(index));
        match steps.find(index, event.header.index_seq) {
            Ok(Some(record)) => self.scan.add_link(event, index, &record),
            Ok(None) => {}
            Err(_) => self.is_over = true,
        }
    }

    /// Completes the scan of the index. Returns the scan of the details, or `None` if none were
    /// added or a read failed.
    pub(crate) fn finish(self, index: &IndexReader) -> Option<Scan> {
        let mut steps = self.steps.filter(|_| !self.is_over)?;
        // An error here recurs when the caller requests the scan.
        while matches!(steps.next_block(index), Ok((_, block)) if !block.is_empty()) {}
        Some(self.scan)
    }
}
