//! How a session is recorded, and the outcome.

use std::time::Duration;

use super::{Capacity, Overflow, Window};
use crate::setters::setters;
use crate::write::SessionTotals;

/// How a session is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The capacity of each thread's ring.
    pub capacity: Capacity,
    /// The policy for a full ring.
    pub overflow: Overflow,
    /// How long the drain sleeps after it found all rings empty.
    pub interval: Duration,
    /// How many threads may record at the same time. Each takes its ring, two buffers
    /// ([`buffer_size`](crate::write::WriteOptions::buffer_size)) and up to three open files.
    pub max_threads: usize,
    /// Records in full only around triggers; `None` for always. Needs rings.
    pub window: Option<Window>,
}

setters!(RecordOptions {
    capacity: Capacity,
    overflow: Overflow,
    interval: Duration,
    max_threads: usize,
    window: Option<Window>,
});

impl Default for RecordOptions {
    /// A drain that looks every millisecond, and 256 threads.
    fn default() -> Self {
        Self {
            capacity: Capacity::default(),
            overflow: Overflow::default(),
            interval: Duration::from_millis(1),
            max_threads: 256,
            window: None,
        }
    }
}

/// The outcome of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// What was written.
    pub totals: SessionTotals,
    /// Events that were not recorded, with their details.
    pub lost_events: u64,
    /// Details that were not recorded although their events were.
    pub lost_details: u64,
}
