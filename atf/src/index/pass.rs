//! Checks all events in one pass: checksum, order, kinds, holes.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use super::event::{EVENT_SIZE, event_kind, is_zero, link_end, timestamp_ns};
use super::scan::{Links, Scanned, count_links, first_back, walk};
use super::sparse::SparseIndex;
use super::{Disorder, EventSlice, IndexEvent, IndexReader, KindCounts, Record, Scan};
use crate::checksum::{Checksum, Crc32c};
use crate::error::Result;
use crate::sys::with_avx2;
use crate::wire::{Wire, with_wire};

/// The minimum number of events per part of a parallel scan: a smaller part is not worth a thread.
const SMALLEST_PART: u64 = 1 << 15;

/// The number of events per step of a pass. A step takes 16 KiB, so the second pass over it finds
/// it in the cache.
const CHUNK: usize = (16 << 10) / IndexEvent::SIZE;

/// A scan for callers that read all events anyway and add each block that they read.
#[derive(Debug)]
pub(crate) struct Pass(Box<Part>);

impl Pass {
    /// Starts a pass over all events in a file; returns `None` if one has already been completed.
    pub(crate) fn new(reader: &IndexReader) -> Option<Self> {
        let is_wanted = reader.known_scan().is_none();
        is_wanted.then(|| Self(Box::new(Part::new(reader, 0))))
    }

    pub(crate) fn add(&mut self, reader: &IndexReader, records: &[Record]) {
        let header = reader.header();
        for records in records.chunks(CHUNK) {
            let events = EventSlice::new(header.wire, header.thread_id, records.as_flattened());
            self.0.add(events);
        }
    }

    /// Passes the result to the reader. A pass that did not reach the last event has no result.
    pub(crate) fn complete(self, reader: &IndexReader) -> Result<()> {
        if self.0.seqs.end == reader.event_count() {
            let scanned = self.0.finish(reader)?;
            // If another pass finished first, its result stays.
            reader.scanned.get_or_init(|| scanned);
        }
        Ok(())
    }
}

impl IndexReader {
    /// Scans all events in one pass for checksum, order, kinds and zeros. The first call reads the
    /// file, at about 70 % of the memory bandwidth if the file is cached; later calls return the
    /// same result.
    ///
    /// ```
    /// use atf::Checksum;
    /// use atf::index::IndexReader;
    #[doc = include_str!("../doc_setup/thread.md")]
    /// let index = IndexReader::open(folder.join("index.atf"))?;
    /// let scan = index.scan()?;
    /// assert_eq!(scan.checksum, Checksum::Good);
    /// assert!(scan.is_ordered());
    /// assert_eq!(scan.kinds.get(atf::EventKind::CALL), 1);
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn scan(&self) -> Result<Scan> {
        self.scan_parallel(NonZero::<usize>::MIN)
    }

    /// Like [`scan`](Self::scan), but scans `threads` parts in parallel, one of them on this
    /// thread. A small file has fewer parts.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
    pub fn scan_parallel(&self, threads: NonZero<usize>) -> Result<Scan> {
        Ok(self.scanned(threads)?.scan)
    }

    pub(super) fn scanned(&self, threads: NonZero<usize>) -> Result<&Scanned> {
        if let Some(scanned) = self.scanned.get() {
            return Ok(scanned);
        }
        let scanned = scan(self, threads)?;
        Ok(self.scanned.get_or_init(|| scanned))
    }

    /// Compares all events with the footer's checksum, if there is one, in a [`scan`](Self::scan).
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get); a checksum mismatch is not an error.
    pub fn checksum(&self) -> Result<Checksum> {
        match self.known_checksum() {
            Some(known) => Ok(known),
            None => Ok(self.scan()?.checksum),
        }
    }
}

/// Scans a file in `threads` parts in parallel, or fewer if the file is small.
pub(super) fn scan(reader: &IndexReader, threads: NonZero<usize>) -> Result<Scanned> {
    let count = reader.event_count();
    let parts = (threads.get() as u64).min(count / SMALLEST_PART).max(1);
    if parts == 1 {
        return Part::scan(reader, 0..count)?.finish(reader);
    }
    let part = count.div_ceil(parts);
    let mut ranges = (0..parts).map(|number| {
        let start = number.saturating_mul(part).min(count);
        start..start.saturating_add(part).min(count)
    });
    let first = ranges.next().unwrap_or(0..count);
    let all = thread::scope(|scope| -> Result<Part> {
        let others: Vec<_> = ranges
            .map(|range| {
                let work = range.clone();
                let spawned =
                    thread::Builder::new().spawn_scoped(scope, move || Part::scan(reader, work));
                (range, spawned)
            })
            .collect();
        let mut all = Part::scan(reader, first)?;
        for (range, spawned) in others {
            let part = match spawned.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(part)) => part?,
                // A source provided by the caller may panic; the sources of this crate do not.
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // If no other thread can be started, scan the part on this thread.
                Err(_) => Part::scan(reader, range)?,
            };
            all = all.then(part);
        }
        Ok(all)
    })?;
    all.finish(reader)
}

/// The result for a range of consecutive events.
#[derive(Debug, Clone)]
struct Part {
    seqs: Range<u64>,
    crc: Crc32c,
    times: Option<(u64, u64)>,
    disorder: Option<Disorder>,
    kinds: KindCounts,
    zero_events: u64,
    first_zero: Option<u64>,
    links: Links,
    sparse: SparseIndex,
}

impl Part {
    /// Creates a part without events. The first event to add is event `seq`.
    fn new(reader: &IndexReader, seq: u64) -> Self {
        Self {
            seqs: seq..seq,
            crc: Crc32c::new(),
            times: None,
            disorder: None,
            kinds: KindCounts::default(),
            zero_events: 0,
            first_zero: None,
            links: Links::default(),
            sparse: SparseIndex::new(reader.event_count()),
        }
    }

    fn scan(reader: &IndexReader, seqs: Range<u64>) -> Result<Self> {
        let mut part = Self::new(reader, seqs.start);
        let mut blocks = reader.blocks(seqs);
        while let Some(block) = blocks.next_block()? {
            part.add(block);
        }
        Ok(part)
    }

    fn add(&mut self, block: EventSlice<'_>) {
        let seq = self.seqs.end;
        // Compute the checksum first, because it is the faster of the two passes and loads the
        // block into the cache.
        self.crc.update(block.as_bytes());
        self.walk(seq, block);
        self.sparse.add(seq, block);
        self.seqs.end = seq.saturating_add(block.len() as u64);
    }

    /// Adds the events of a block that begins with event `seq`.
    fn walk(&mut self, seq: u64, block: EventSlice<'_>) {
        let events = block.records();
        let (Some(first), Some(last)) = (events.first(), events.last()) else {
            return;
        };
        let before = self.times.map_or(0, |(_, last)| last);
        let counts = with_wire!(block.wire(), WIRE => with_avx2(|| walk(
            events,
            before,
            |bytes| event_kind(WIRE, bytes),
            |bytes| link_end(WIRE, bytes),
        )));
        if counts.back > 0 {
            let first = first_back(events, before).unwrap_or_default();
            Disorder::add(&mut self.disorder, seq.saturating_add(first), counts.back);
        }
        let mut links = counts.links;
        if counts.kinds.unknown > 0 && self.count_zeros(seq, events) {
            // All-zero events do not link to the first detail.
            let written = events.iter().filter(|bytes| !is_zero(bytes));
            links = count_links(written, |bytes| link_end(block.wire(), bytes));
        }
        self.links.add(links);
        self.kinds.add(counts.kinds);
        let start = self.times.map_or(timestamp_ns(first), |(start, _)| start);
        self.times = Some((start, timestamp_ns(last)));
    }

    /// Counts the all-zero events and returns whether there are any.
    fn count_zeros(&mut self, seq: u64, events: &[Record]) -> bool {
        let Some(first) = events.iter().position(is_zero) else {
            return false;
        };
        let zeros = events.iter().filter(|bytes| is_zero(bytes)).count();
        self.zero_events = self.zero_events.saturating_add(zeros as u64);
        let first = seq.saturating_add(first as u64);
        self.first_zero = self.first_zero.or(Some(first));
        true
    }

    /// Combines this part with the next one.
    fn then(mut self, next: Self) -> Self {
        let count = next.seqs.end.saturating_sub(next.seqs.start);
        self.crc.append(next.crc, count.saturating_mul(EVENT_SIZE));
        if let (Some((_, before)), Some((after, _))) = (self.times, next.times)
            && after < before
        {
            Disorder::add(&mut self.disorder, next.seqs.start, 1);
        }
        if let Some(disorder) = next.disorder {
            Disorder::add(&mut self.disorder, disorder.first_seq, disorder.count);
        }
        self.times = match (self.times, next.times) {
            (Some((start, _)), Some((_, end))) => Some((start, end)),
            (times, next) => times.or(next),
        };
        self.kinds.add(next.kinds);
        self.zero_events = self.zero_events.saturating_add(next.zero_events);
        self.first_zero = self.first_zero.or(next.first_zero);
        self.links.add(next.links);
        self.seqs.end = next.seqs.end;
        self.sparse.append(next.sparse);
        self
    }

    fn finish(self, reader: &IndexReader) -> Result<Scanned> {
        let start = reader.header().events_offset;
        let checksum = match reader.footer() {
            Some(footer) => Checksum::compare(
                &reader.input,
                footer.checksum,
                self.crc.finish(),
                start,
                reader.events_end(),
            )?,
            None => Checksum::NotChecked,
        };
        let scan = Scan {
            event_count: self.seqs.end,
            bytes: self.seqs.end.saturating_mul(EVENT_SIZE),
            crc32c: self.crc.finish(),
            checksum,
            time_range: self.times,
            disorder: self.disorder,
            kinds: self.kinds,
            zero_events: self.zero_events,
            links: self.links.count,
            greatest_link: self.links.greatest.checked_sub(1),
        };
        Ok(Scanned {
            scan,
            sparse: self.sparse,
            first_zero: self.first_zero,
        })
    }
}
