//! Events that went to files of their own, and bytes that are in none.

use serde::Serialize;

/// How many runs a [`SetAside`] names; the rest is only counted.
const RUNS: usize = 64;

/// Events that went to a file of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetAside {
    /// The new file: `orphans.atf` in detail format, or `salvaged.atf` in index format.
    pub file: String,
    /// The file that they come from.
    pub from: &'static str,
    /// How many.
    pub count: u64,
    /// Where they stood, the first 64 runs.
    pub runs: Vec<EventRange>,
}

/// Events in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EventRange {
    /// The position of the first in the file that was read.
    pub seq: u64,
    /// Where it stood there.
    pub offset: u64,
    /// How many.
    pub count: u64,
}

impl SetAside {
    pub(in crate::rewrite) fn new(file: String, from: &'static str) -> Self {
        Self {
            file,
            from,
            count: 0,
            runs: Vec::new(),
        }
    }

    /// One more event.
    pub(in crate::rewrite) fn add(&mut self, seq: u64, offset: u64) {
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

/// Bytes of a file that are in no new file, those of one file and reason together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The file that they stood in.
    pub file: &'static str,
    /// Why.
    pub why: DropReason,
    /// Where the first of them stood.
    pub offset: u64,
    /// How many bytes in all.
    pub size: u64,
    /// In how many places.
    pub count: u64,
}

/// Why bytes are in no new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DropReason {
    /// They lie between the header and the first event.
    BetweenHeaderAndEvents,
    /// They are the beginning of an event that was cut off.
    EventCutShort,
    /// They are the beginning of a footer that was cut off.
    FooterCutShort,
    /// They are zeros at the end: space set aside, or blocks that never reached the disk.
    ZeroTail,
    /// They are zeros among the events: blocks that never reached the disk.
    Hole,
    /// They are events behind a hole: what happened in between is unknown.
    BehindHole,
    /// They stand where no event can begin, or behind such a place.
    BehindFramingProblem,
    /// They are a footer that contradicts the file.
    DamagedFooter,
    /// They stand behind the footer.
    BehindFooter,
    /// They are details that no event refers to, in a trace that is to hold no secrets.
    Orphans,
    /// They looked like details and overlap with details that were found by their links.
    Overlap,
}
