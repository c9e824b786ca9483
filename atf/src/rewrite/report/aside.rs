//! Events that were set aside, bytes that were dropped, and files that were not copied.

use std::path::Path;

use crate::rules::Rule;

/// How many ranges a [`SetAside`] lists; the remaining events are only counted.
const RUNS: usize = 64;

/// Events written to a separate file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetAside {
    /// The new file: `orphans.atf` in detail format, or `salvaged.atf` in index format.
    pub(crate) file: String,
    pub(crate) from: &'static str,
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
    pub(crate) file: &'static str,
    pub(crate) why: DropReason,
    /// The id of the rule that the original breaks there, as [`check`](crate::check) reports it.
    pub(crate) rule: Option<&'static str>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// The number of places that the bytes come from.
    pub(crate) count: u64,
}

table! {
    DropReason
    /// Returns whether dropped bytes were events, or may have been events.
    is_loss: bool {
        false => {
            BetweenHeaderAndEvents = "between_header_and_events",
                "bytes between the header and the first event";
            TornEvent = "torn_event", "a torn event";
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
            AfterFramingProblem = "after_framing_problem", "bytes where no event can start";
        }
        false => {
            DamagedFooter = "damaged_footer", "a footer that contradicts the file";
            AfterFooter = "after_footer", "bytes after the footer";
            /// The bytes are details without an event, in a scrubbed trace.
            Orphans = "orphans", "details that no event refers to";
        }
        true => {
            /// The bytes are unreadable, or belong to an event with unreadable bytes. The other
            /// events are kept.
            Unreadable = "unreadable",
                "bytes that cannot be read or are missing, and the rest of their events";
            Overlap = "overlap", "bytes that overlap with details found by their links";
        }
    }
}

/// A file or folder that was not copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftBehind {
    /// The path, relative to the session's folder or to the original path.
    pub(crate) path: String,
    pub(crate) why: String,
    /// Whether the file or folder may be part of the trace, unlike foreign files next to sessions.
    pub(crate) is_loss: bool,
    /// The id of the rule that the original breaks there, as [`check`](crate::check) reports it.
    pub(crate) rule: Option<&'static str>,
}

impl LeftBehind {
    /// Creates a report on a file or folder that may be part of the trace but is not copied. `path`
    /// is relative to the path of the session or of the original.
    pub(in crate::rewrite) fn new(path: &Path, why: &str) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            why: why.to_owned(),
            is_loss: true,
            rule: None,
        }
    }

    /// Creates a report on an [unfinished](crate::files::is_unfinished) trace, which duplicates
    /// another.
    pub(in crate::rewrite) fn unfinished(path: &Path) -> Self {
        let why = "an unfinished copy: delete it unless another run is still writing it";
        Self {
            is_loss: false,
            ..Self::new(path, why)
        }
    }

    pub(in crate::rewrite) fn breaks(mut self, rule: Option<&'static Rule>) -> Self {
        self.rule = rule.map(|rule| rule.id);
        self
    }
}

/// The end of a message about the location of a copy.
pub(super) const IN_UNREADABLE: &str = " is in unreadable/";

/// Describes how much of a folder was copied to `unreadable`, given the parts that were not.
/// Returns `None` if nothing was copied.
pub(in crate::rewrite) fn copied(folder: &str, left_behind: &[LeftBehind]) -> Option<String> {
    let mut left = left_behind.iter().map(|left| Path::new(&left.path));
    let copy = match left.find(|left| left.starts_with(folder)) {
        None => "a copy",
        Some(left) if left == Path::new(folder) => return None,
        Some(_) => "a copy of the rest",
    };
    Some(format!("; {copy}{IN_UNREADABLE}"))
}
