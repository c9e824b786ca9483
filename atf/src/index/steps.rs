//! Reads all events in one pass for a caller that looks up some of them along the way.

use super::{IndexEvent, IndexReader, Pass, Record};
use crate::error::Result;

/// The number of events per read (64 KiB).
const BLOCK: usize = (64 << 10) / IndexEvent::SIZE;

/// A pass that reads and scans all events block by block. Every call must pass the same reader.
#[derive(Debug)]
pub(crate) struct Steps {
    pass: Option<Pass>,
    records: Vec<Record>,
    /// The position of the block's first event.
    start: u64,
    /// The number of events in the block.
    len: usize,
}

impl Steps {
    pub(crate) fn new(index: &IndexReader) -> Self {
        Self {
            pass: Pass::new(index),
            records: vec![[0; IndexEvent::SIZE]; BLOCK],
            start: 0,
            len: 0,
        }
    }

    /// Returns the position just after the block.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.len as u64)
    }

    /// Reads the next block and returns its events and the position of the first one. After the last
    /// event, returns no events and completes the scan.
    pub(crate) fn next_block(&mut self, index: &IndexReader) -> Result<(u64, &[Record])> {
        let end = self.end();
        let len = index.read_records(end, &mut self.records)?;
        (self.start, self.len) = (end, len);
        let block = self.records.get(..len).unwrap_or_default();
        if len == 0 {
            if let Some(pass) = self.pass.take() {
                pass.complete(index)?;
            }
        } else if let Some(pass) = &mut self.pass {
            pass.add(index, block);
        }
        Ok((end, block))
    }

    /// Reads forward to event `seq`, or looks it up if it is before the block.
    pub(crate) fn find(&mut self, index: &IndexReader, seq: u64) -> Result<Option<Record>> {
        while self.end() <= seq && !self.next_block(index)?.1.is_empty() {}
        match self.get(seq) {
            Some(record) => Ok(Some(*record)),
            None => index.record(seq),
        }
    }

    /// Returns event `seq` if it is in the block.
    pub(crate) fn get(&self, seq: u64) -> Option<&Record> {
        let at = usize::try_from(seq.checked_sub(self.start)?).ok()?;
        self.records.get(..self.len)?.get(at)
    }
}
