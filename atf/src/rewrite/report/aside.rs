//! Events that were set aside, and bytes that were dropped.

use crate::rules::Rule;

/// How many ranges a [`SetAside`] lists; the remaining events are only counted.
const RUNS: usize = 64;

/// Events written to a separate file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetAside {
    /// The new file: `orphans.atf` in detail format, or `salvaged.atf` in index format.
    pub(crate) file: String,
    /// The file that the events come from.
    pub(crate) from: &'static str,
    /// The number of events.
    pub(crate) count: u64,
    /// The positions of the events: the first 64 ranges.
    pub(crate) runs: Vec<EventRange>,
    /// The ids of the rules that the original breaks there, as [`check`](crate::check) reports
    /// them.
    pub(crate) rules: Vec<&'static str>,
}

/// Consecutive events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventRange {
    /// The first event's position in the original file.
    pub(crate) seq: u64,
    /// The first event's offset in that file, in bytes.
    pub(crate) offset: u64,
    /// The number of events.
    pub(crate) count: u64,
}

impl SetAside {
    pub(in crate::rewrite) fn new(file: String, from: &'static str) -> Self {
        Self {
            file,
            from,
            count: 0,
            runs: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Adds an event, and the rule that it breaks.
    pub(in crate::rewrite) fn add(&mut self, seq: u64, offset: u64, rule: Option<&'static Rule>) {
        if let Some(rule) = rule.filter(|rule| !self.rules.contains(&rule.id)) {
            self.rules.push(rule.id);
        }
        self.count = self.count.saturating_add(1);
        let has_room = self.runs.len() < RUNS;
        match self.runs.last_mut() {
            Some(run) if run.seq.checked_add(run.count) == Some(seq) => {
                run.count = run.count.saturating_add(1);
            }
            _ if has_room => self.runs.push(EventRange {
                seq,
                offset,
                count: 1,
            }),
            _ => {}
        }
    }
}

/// Bytes that no new file contains, grouped by file, reason and rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The original file.
    pub(crate) file: &'static str,
    /// The reason.
    pub(crate) why: DropReason,
    /// The id of the rule that the original breaks there, as [`check`](crate::check) reports it.
    pub(crate) rule: Option<&'static str>,
    /// The offset of the first byte.
    pub(crate) offset: u64,
    /// The total number of bytes.
    pub(crate) size: u64,
    /// The number of places that the bytes come from.
    pub(crate) count: u64,
}

table! {
    /// The reason why bytes were dropped.
    DropReason
    /// Returns whether dropped bytes were events, or may have been events.
    is_loss: bool {
        false => {
            /// The bytes are between the header and the first event.
            BetweenHeaderAndEvents = "between_header_and_events",
                "bytes between the header and the first event";
            /// The bytes belong to a torn event.
            TornEvent = "torn_event", "a torn event";
            /// The bytes belong to a torn footer.
            TornFooter = "torn_footer", "a torn footer";
            /// The bytes are zeros at the end: preallocated space, or blocks that never reached the
            /// disk.
            ZeroTail = "zero_tail", "zeros at the end";
        }
        true => {
            /// The bytes are zeros among the events: blocks that never reached the disk.
            Hole = "hole", "a hole, zeros among the events";
            /// The bytes are events after a hole. It is unknown which events the hole contained.
            AfterHole = "after_hole", "events after a hole";
            /// The bytes start where no event can start.
            AfterFramingProblem = "after_framing_problem", "bytes where no event can start";
        }
        false => {
            /// The bytes are a footer that contradicts the file.
            DamagedFooter = "damaged_footer", "a footer that contradicts the file";
            /// The bytes follow the footer.
            AfterFooter = "after_footer", "bytes after the footer";
            /// The bytes are details without an event, in a scrubbed trace.
            Orphans = "orphans", "details that no event refers to";
        }
        true => {
            /// The bytes are unreadable, or belong to an event with unreadable bytes. The other
            /// events are kept.
            Unreadable = "unreadable",
                "bytes that cannot be read or are missing, and the rest of their events";
            /// The bytes looked like details, but overlap with details that were found by their
            /// links.
            Overlap = "overlap", "bytes that overlap with details found by their links";
        }
    }
}
