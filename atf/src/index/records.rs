//! Reads the raw bytes of many events at a time.

use super::event::EVENT_SIZE;
use super::{IndexEvent, IndexReader};
use crate::error::{ErrorKind, Result};

/// The bytes of one event.
pub(crate) type Record = [u8; IndexEvent::SIZE];

impl IndexReader {
    /// Returns all events if the file is in memory.
    pub(crate) fn records(&self) -> Option<&[Record]> {
        self.slice(..).map(|all| all.records())
    }

    /// Looks up the bytes of event `seq`.
    pub(super) fn record(&self, seq: u64) -> Result<Option<Record>> {
        let Some(offset) = self.event_offset(seq) else {
            return Ok(None);
        };
        let mut buffer = None;
        let record = self.lookups.record(&self.input, offset, &mut buffer)?;
        Ok(Some(*record))
    }

    /// Reads events into `records`, starting with event `seq`, and returns how many were read.
    /// Reads fewer events than fit at the end of the file and before unreadable events, and if the
    /// file was truncated after it was opened. Fails only if not even the first event can be read.
    pub(crate) fn read_records(&self, seq: u64, records: &mut [Record]) -> Result<usize> {
        let left = self.event_count().saturating_sub(seq);
        let count = usize::try_from(left).map_or(records.len(), |left| left.min(records.len()));
        let (Some(offset), Some(records)) = (self.event_offset(seq), records.get_mut(..count))
        else {
            return Ok(0);
        };
        let bytes = records.as_flattened_mut();
        let read = self.input.read_ahead(offset, bytes, EVENT_SIZE)?;
        match read / IndexEvent::SIZE {
            0 if count > 0 => {
                let missing = IndexEvent::SIZE.saturating_sub(read) as u64;
                let error = self.input.error(ErrorKind::UnexpectedEnd { missing });
                Err(error.with_offset(offset))
            }
            whole => Ok(whole),
        }
    }
}
