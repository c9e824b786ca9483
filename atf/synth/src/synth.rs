//! Describes a trace.

use atf::Wire;

/// A trace to generate: the same values produce the same bytes on every machine.
///
/// Threads are numbered from 0. Each can be generated without the others: [`thread`](Self::thread).
///
/// ```
/// use atf_synth::{Shape, Synth};
///
/// let synth = Synth { seed: 7, events_per_thread: 1_000, ..Synth::default() };
/// let events: Vec<_> = synth.thread(0).collect();
/// assert_eq!(events.len(), 1_000);
/// assert!(events.is_sorted_by_key(|event| event.event.timestamp_ns));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synth {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of threads.
    pub threads: u32,
    /// The number of index events per thread.
    pub events_per_thread: u64,
    /// The number of events per thousand that have a detail event. If this is 0, there is no
    /// `detail.atf`.
    pub detail_per_mille: u32,
    /// The number of functions in the program, at least 1.
    pub functions: u32,
    /// How the threads share time.
    pub shape: Shape,
    /// The wire version to write.
    pub wire: Wire,
}

/// How the events of several threads are distributed over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Each thread runs independently, as fast as its functions allow.
    Independent,
    /// Each event comes from a random thread, regardless of the previous one. The costs of the
    /// functions are ignored.
    Random,
    /// One thread runs at a time, for `min` to `max` events.
    Runs {
        /// The number of events in the shortest run.
        min: u32,
        /// The number of events in the longest run.
        max: u32,
    },
    /// This many threads run at a time, for 100 to 1,000 events each.
    FewActive(u32),
    /// One event per thread in turn, in the threads' order.
    Interleave,
}

impl Default for Synth {
    /// Four threads of 10,000 events in wire version 1; every tenth event has a detail event.
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 4,
            events_per_thread: 10_000,
            detail_per_mille: 100,
            functions: 2_000,
            shape: Shape::Independent,
            wire: Wire::V1,
        }
    }
}
