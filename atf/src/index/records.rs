//! Events as their bytes stand in the file, many at a time.

use super::{IndexEvent, IndexReader};
use crate::error::{ErrorKind, Result};

/// The bytes of one event.
pub(crate) type Record = [u8; IndexEvent::SIZE];

impl IndexReader {
    /// All events, where the bytes are in memory.
    pub(crate) fn records(&self) -> Option<&[Record]> {
        let start = usize::try_from(self.header().events_offset).ok()?;
        let end = usize::try_from(self.events_end()).ok()?;
        let (records, _) = self.input.as_bytes()?.get(start..end)?.as_chunks();
        Some(records)
    }

    /// Reads the events from position `seq` on into `records` and says how many came: fewer than
    /// fit at the end of the events, and where the file was cut since it was opened.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), where not even the first came.
    pub(crate) fn read_records(&self, seq: u64, records: &mut [Record]) -> Result<usize> {
        let left = self.event_count().saturating_sub(seq);
        let count = usize::try_from(left).map_or(records.len(), |left| left.min(records.len()));
        let (Some(offset), Some(records)) = (self.event_offset(seq), records.get_mut(..count))
        else {
            return Ok(0);
        };
        let read = self.input.read(offset, records.as_flattened_mut())?;
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
