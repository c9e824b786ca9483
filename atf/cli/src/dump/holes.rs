//! Events that are nothing but zeros: blocks of a file that never reached the disk.

use std::collections::BTreeMap;

use atf::index::IndexEvent;

use crate::output::complain;
use crate::text::Counted;

/// The holes of the threads that were read, as far as they were.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    /// By the thread's id: the first event of zeros, and how many there are.
    found: BTreeMap<u32, (u64, u64)>,
}

impl Holes {
    /// Looks at an event of a thread.
    pub(crate) fn look(&mut self, thread: u32, seq: u64, event: &IndexEvent) {
        if is_zero(event) {
            let (first, count) = self.found.entry(thread).or_insert((seq, 0));
            // They may come from the last one on.
            *first = seq.min(*first);
            *count += 1;
        }
    }

    /// Says what was found, a line for each thread. Whether there was anything is given back.
    pub(crate) fn tell(&self) -> bool {
        for (thread, (seq, count)) in &self.found {
            let events = Counted(*count, "event");
            complain(format_args!(
                "thread {thread}: {events} of zeros, first at events[{seq}]: a hole, of which \
                 nothing is known; `atf info --verify` names all"
            ));
        }
        !self.found.is_empty()
    }
}

/// Whether an event's bytes are zeros. A link of 0 is one to the first detail.
fn is_zero(event: &IndexEvent) -> bool {
    event.timestamp_ns == 0
        && event.function_id == 0
        && u32::from(event.event_kind) == 0
        && event.call_depth.unwrap_or(0) == 0
        && event.detail_seq == Some(0)
}
