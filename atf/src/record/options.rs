//! Options and results of a recording.

use std::time::Duration;

use super::{Capacity, Overflow, Segment, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexEvent;
use crate::setters::setters;
use crate::write::{SessionTotals, SessionWriter, WriteOptions};

/// Options of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The capacity of each thread's ring.
    pub capacity: Capacity,
    /// The policy for a full ring.
    pub overflow: Overflow,
    /// How long the drain sleeps after finding all rings empty.
    pub interval: Duration,
    /// How many threads may record at the same time. Each takes a ring, two buffers
    /// ([`buffer_size`](crate::write::WriteOptions::buffer_size)) and up to three open files. With
    /// a [`Window`], threads whose files are open count even after they have ended.
    pub max_threads: usize,
    /// Records in full only around triggers. `None` records everything. Needs rings.
    pub window: Option<Window>,
    /// When to continue in another session. `None` means never. Needs rings.
    pub segment: Option<Segment>,
}

setters!(RecordOptions {
    capacity: Capacity,
    overflow: Overflow,
    interval: Duration,
    max_threads: usize,
    window: Option<Window>,
    segment: Option<Segment>,
});

impl Default for RecordOptions {
    /// The drain checks the rings every millisecond; 256 threads may record.
    fn default() -> Self {
        Self {
            capacity: Capacity::default(),
            overflow: Overflow::default(),
            interval: Duration::from_millis(1),
            max_threads: 256,
            window: None,
            segment: None,
        }
    }
}

impl RecordOptions {
    /// Checks that the options fit the session.
    pub(super) fn check(&self, session: &SessionWriter) -> Result<()> {
        self.capacity.check()?;
        let keep = self.segment.and_then(|segment| segment.keep);
        super::check("keep", keep.unwrap_or(1), 1, usize::MAX)?;
        let needing = [
            ("window", self.window.is_some()),
            ("segment", self.segment.is_some()),
        ];
        match needing.iter().find(|(_, is_set)| *is_set) {
            Some((field, _)) if session.options().survive_kill => {
                let error = Error::new(ErrorKind::NeedsRings).with_field(*field);
                Err(error.with_path(Some(session.path())))
            }
            _ => Ok(()),
        }
    }
}

impl RecordOptions {
    /// Returns the maximum number of a thread's events that may exist only in memory, in its ring
    /// and its writer's buffer. `None` if they survive the process.
    pub(super) fn unwritten_events(&self, options: &WriteOptions) -> Option<u64> {
        let buffer = options.buffer_capacity() / IndexEvent::SIZE;
        let events = self.capacity.events.saturating_add(buffer);
        (!options.survive_kill).then_some(events as u64)
    }
}

/// The result of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// The session's totals. With [segments](Segment), the sums over all segments, so a thread
    /// counts once per segment.
    pub totals: SessionTotals,
    /// How many sessions were written: 1 without [segments](Segment).
    pub segments: u64,
    /// Events that were not recorded, with their details.
    pub lost_events: u64,
    /// Details that were not recorded, although their events were.
    pub lost_details: u64,
}
