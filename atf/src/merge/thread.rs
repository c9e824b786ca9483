//! A thread that takes part in a merge.

use std::sync::OnceLock;

use super::feed::timestamp_ns;
use crate::error::Result;
use crate::index::{IndexEvent, IndexReader, Record};

/// Bytes that are read at once to learn whether a thread is in order.
const BLOCK: usize = 256 << 10;

/// An open thread, under the id of its folder.
#[derive(Debug)]
pub(super) struct Thread {
    id: u32,
    index: IndexReader,
    is_ordered: OnceLock<bool>,
}

impl Thread {
    pub(super) fn new(id: u32, index: IndexReader) -> Self {
        Self {
            id,
            index,
            is_ordered: OnceLock::new(),
        }
    }

    /// The id in the folder's name.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn index(&self) -> &IndexReader {
        &self.index
    }

    /// Whether no event has a timestamp below that of the one before it. The first call reads all
    /// events, later ones know.
    pub(super) fn is_ordered(&self) -> Result<bool> {
        if let Some(is_ordered) = self.is_ordered.get() {
            return Ok(*is_ordered);
        }
        let mut last = 0;
        let mut is_ordered = true;
        self.for_each_block(|_, records| {
            is_ordered &= records
                .first()
                .is_none_or(|first| timestamp_ns(first) >= last)
                && records.is_sorted_by_key(timestamp_ns);
            last = records.last().map_or(last, timestamp_ns);
            is_ordered
        })?;
        Ok(*self.is_ordered.get_or_init(|| is_ordered))
    }

    /// Whether [`is_ordered`](Self::is_ordered) would read nothing.
    pub(super) fn knows_order(&self) -> bool {
        self.is_ordered.get().is_some()
    }

    /// Where the first event with a timestamp of `least` or more stands, in a thread that is in
    /// order.
    pub(super) fn lower_bound(&self, least: u64) -> Result<u64> {
        let (mut start, mut end) = (0, self.index.event_count());
        while start < end {
            let middle = u64::midpoint(start, end);
            match self.index.get(middle)? {
                Some(event) if event.timestamp_ns < least => start = middle.saturating_add(1),
                _ => end = middle,
            }
        }
        Ok(start)
    }

    /// Shows all events in blocks, each with the position of its first, until `see` has enough.
    pub(super) fn for_each_block(&self, mut see: impl FnMut(u64, &[Record]) -> bool) -> Result<()> {
        if let Some(records) = self.index.records() {
            see(0, records);
            return Ok(());
        }
        let mut records = vec![[0; IndexEvent::SIZE]; BLOCK / IndexEvent::SIZE];
        let mut seq = 0_u64;
        loop {
            let read = self.index.read_records(seq, &mut records)?;
            let block = records.get(..read).unwrap_or_default();
            if block.is_empty() || !see(seq, block) {
                return Ok(());
            }
            seq = seq.saturating_add(read as u64);
        }
    }
}
