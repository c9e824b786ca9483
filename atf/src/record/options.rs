//! How a session is recorded, and the outcome.

use std::time::Duration;

use super::{Capacity, Overflow, Segment, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexEvent;
use crate::setters::setters;
use crate::write::{SessionTotals, SessionWriter, WriteOptions};

/// How a session is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The capacity of each thread's ring.
    pub capacity: Capacity,
    /// The policy for a full ring.
    pub overflow: Overflow,
    /// How long the drain sleeps after finding all rings empty.
    pub interval: Duration,
    /// How many threads may record at the same time. Each takes its ring, two buffers
    /// ([`buffer_size`](crate::write::WriteOptions::buffer_size)) and up to three open files. With a
    /// [`Window`], threads whose files are open count even after they have ended.
    pub max_threads: usize,
    /// Records in full only around triggers; `None` for always. Needs rings.
    pub window: Option<Window>,
    /// When to continue in another session; `None` for never. Needs rings.
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
    /// A drain that checks the rings every millisecond, and 256 threads.
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
    /// Checks the options for a session.
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
    /// Returns the most events of a thread that may be in memory only: in its ring and its writer's
    /// buffer. `None` if they survive the process.
    pub(super) fn unwritten_events(&self, options: &WriteOptions) -> Option<u64> {
        let buffer = options.buffer_capacity() / IndexEvent::SIZE;
        let events = self.capacity.events.saturating_add(buffer);
        (!options.survive_kill).then_some(events as u64)
    }
}

/// The outcome of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// The session's totals. With [segments](Segment), the sums over all segments: a thread counts
    /// in each of them.
    pub totals: SessionTotals,
    /// How many sessions were written: 1 without [segments](Segment).
    pub segments: u64,
    /// Events that were not recorded, with their details.
    pub lost_events: u64,
    /// Details that were not recorded although their events were.
    pub lost_details: u64,
}
