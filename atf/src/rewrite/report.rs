//! What a rewriting did: kept, set aside, dropped, and what was wrong.

use std::collections::BTreeMap;

use serde::Serialize;

use super::text;
use crate::error::Error;

/// How many places a [`Note`] names; the rest is only counted.
const PLACES: usize = 8;
/// How many runs a [`SetAside`] names; the rest is only counted.
const RUNS: usize = 64;

/// What [`recover`](super::recover), [`convert`](super::convert) or [`scrub`](super::scrub) did.
///
/// [`Display`](std::fmt::Display) gives it as text, serde as JSON. Its words are the format's:
/// `offset` is in bytes from the start of the file, `size` in bytes, `count` in elements, `seq` a
/// position counted from 0, all in the file that was read.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What was done.
    pub action: Action,
    /// The sessions in the order of their folders; a thread's folder by itself counts as one.
    pub sessions: Vec<SessionReport>,
    /// What stands beside the sessions and was not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
}

impl Report {
    /// All threads of all sessions.
    pub fn threads(&self) -> impl Iterator<Item = &ThreadReport> {
        self.sessions.iter().flat_map(|session| &session.threads)
    }

    /// Index events that the new sessions have.
    #[must_use]
    pub fn events(&self) -> u64 {
        sum(self.threads().map(|thread| thread.events.kept))
    }

    /// Detail events that the new sessions have, orphans apart.
    #[must_use]
    pub fn details(&self) -> u64 {
        sum(self.threads().map(|thread| thread.details.kept))
    }

    /// Whether any file differs from the one that was read.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.sessions.iter().any(|session| session.changed)
    }
}

/// What was done to a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Events were kept as they are, and the files finalized.
    Recover,
    /// The same in a wire version that was asked for.
    Convert,
    /// The same without registers and stacks.
    Scrub,
}

/// What became of a session.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// Its folder below the path that was read; empty for that path itself.
    pub folder: String,
    /// Whether any file differs from the one that was read.
    pub changed: bool,
    /// Its threads in the order of their ids.
    pub threads: Vec<ThreadReport>,
    /// Its manifest; `None` for a thread's folder by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestReport>,
    /// What stands in its folder and was not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
}

/// What became of a thread.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The name of its folder.
    pub folder: String,
    /// Why nothing of it could be recovered; its files are in `unreadable` as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_recovered: Option<Place>,
    /// Its index events.
    pub events: Kept,
    /// Its detail events.
    pub details: Kept,
    /// What went to files beside `index.atf` and `detail.atf`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SetAside>,
    /// Bytes that are in no new file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
    /// What was wrong or is new, by kind.
    #[serde(skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

impl ThreadReport {
    /// Bytes that are in no new file.
    pub(super) fn drop(&mut self, file: &'static str, why: Why, offset: u64, size: u64) {
        if size == 0 {
            return;
        }
        let mut known = self.dropped.iter_mut();
        match known.find(|dropped| dropped.file == file && dropped.why == why) {
            Some(dropped) => {
                dropped.size = dropped.size.saturating_add(size);
                dropped.count = dropped.count.saturating_add(1);
            }
            None => self.dropped.push(Dropped {
                file,
                why,
                offset,
                size,
                count: 1,
            }),
        }
    }
}

/// How many events are in the new file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Kept {
    /// All of them.
    pub kept: u64,
    /// Those that came from `ring.atf`, the buffer of a writer that was killed.
    #[serde(skip_serializing_if = "is_zero")]
    pub from_ring: u64,
    /// Those that were found behind damage.
    #[serde(skip_serializing_if = "is_zero")]
    pub salvaged: u64,
}

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
    pub runs: Vec<Run>,
}

/// Events in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// The position of the first in the file that was read.
    pub seq: u64,
    /// Where it stood there.
    pub offset: u64,
    /// How many.
    pub count: u64,
}

impl SetAside {
    pub(super) fn new(file: String, from: &'static str) -> Self {
        Self {
            file,
            from,
            count: 0,
            runs: Vec::new(),
        }
    }

    /// One more event.
    pub(super) fn add(&mut self, seq: u64, offset: u64) {
        self.count = self.count.saturating_add(1);
        let has_room = self.runs.len() < RUNS;
        match self.runs.last_mut() {
            Some(run) if run.seq.checked_add(run.count) == Some(seq) => {
                run.count = run.count.saturating_add(1);
            }
            _ if has_room => self.runs.push(Run {
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
    pub why: Why,
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
pub enum Why {
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

/// Something that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftBehind {
    /// Its path below the session's folder, or below the path that was read.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What became of the manifest.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct ManifestReport {
    /// Whether there was one.
    pub was_there: bool,
    /// Modules of the new one.
    pub modules: u64,
    /// Symbols of the new one.
    pub symbols: u64,
    /// Symbols that came from another run's manifest.
    #[serde(skip_serializing_if = "is_zero")]
    pub symbols_taken: u64,
    /// What was wrong with the old one; it is mended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Place>,
    /// How many things were wrong in all.
    #[serde(skip_serializing_if = "is_zero")]
    pub problem_count: u64,
    /// What remains wrong, or was removed.
    #[serde(skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

/// A place in a file that was read, and what is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The field's path: `footer.event_count`, `events[12].detail_seq`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// Bytes from the start of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What was found.
    pub found: String,
}

impl Place {
    pub(super) fn new(file: &str, field: impl Into<String>, offset: Option<u64>) -> Self {
        Self {
            file: file.to_owned(),
            field: field.into(),
            offset,
            found: String::new(),
        }
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    /// The place that an error names; its folder is left out, so that a report says the same
    /// wherever the trace lies.
    pub(super) fn of(file: &str, error: &Error) -> Self {
        let system = std::error::Error::source(error).map(ToString::to_string);
        Self {
            file: file.to_owned(),
            field: error.field().unwrap_or_default().to_owned(),
            offset: error.offset(),
            found: system.unwrap_or_else(|| error.kind().to_string()),
        }
    }
}

/// What a rewriting noted, by kind: each with a count and its first places.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct Notes(#[serde(serialize_with = "values")] BTreeMap<What, Note>);

impl Notes {
    /// Whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, each kind once.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.0.values()
    }

    /// How often a kind was noted.
    #[must_use]
    pub fn count(&self, what: What) -> u64 {
        self.0.get(&what).map_or(0, |note| note.count)
    }

    /// Notes a place; it is only made where it is one of the first.
    pub(super) fn add(&mut self, what: What, place: impl FnOnce() -> Place) {
        self.add_up_to(PLACES, what, place);
    }

    /// Notes what is true of every event: one place says as much as many.
    pub(super) fn tally(&mut self, what: What, place: impl FnOnce() -> Place) {
        self.add_up_to(1, what, place);
    }

    fn add_up_to(&mut self, places: usize, what: What, place: impl FnOnce() -> Place) {
        let note = self.0.entry(what).or_insert_with(|| Note {
            what,
            effect: what.effect(),
            count: 0,
            first: Vec::new(),
        });
        note.count = note.count.saturating_add(1);
        if note.first.len() < places {
            note.first.push(place());
        }
    }
}

fn values<S: serde::Serializer>(
    notes: &BTreeMap<What, Note>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.values())
}

/// A kind of thing that was noted in a thread: how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What it is.
    pub what: What,
    /// What it means for the new files.
    pub effect: Effect,
    /// How often.
    pub count: u64,
    /// Its first places.
    pub first: Vec<Place>,
}

/// What a note means for the new files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It was wrong and is right now.
    Mended,
    /// It is a fault of the content, and stays: changing it would be inventing.
    Stays,
    /// It cannot be told from the new files any more.
    Lost,
    /// It was not recorded and is deduced.
    Guessed,
}

/// What can be noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum What {
    /// The file was not finalized, or its footer contradicts it.
    NotFinalized,
    /// A header says other than what is believed instead: the footer, the events, the other file.
    HeaderDisagrees,
    /// A detail file that cannot be read; it is in `unreadable` as it was.
    DetailFileUnreadable,
    /// A link to a detail that is not there became none.
    LinkToNothing,
    /// A link to a detail that belongs to another event became none.
    LinkNotReturned,
    /// Links did not count 0, 1, 2 and so on along the index.
    LinkOutOfOrder,
    /// Without a checksum nothing tells whether the events changed; now there is one.
    NoChecksum,
    /// The manifest says something of the threads that is not so.
    ManifestDisagrees,

    /// The events are not those that the checksum was made of. Which of them changed, nothing
    /// tells; they have a new checksum.
    ChecksumBad,
    /// A timestamp is less than the one in front.
    TimeGoesBack,
    /// The kind is none of those that the format knows.
    UnknownKind,
    /// An event has another `thread_id` than the header.
    OtherThreadId,
    /// The header has another `thread_id` than the folder's name.
    OtherFolder,
    /// A detail has another timestamp than its index event.
    TimestampsDiffer,
    /// A detail's type does not fit its index event's kind.
    TypeDoesNotFit,
    /// A function payload has another `function_id` than its index event.
    FunctionsDiffer,
    /// A stack is longer than the 256 bytes that the sources allow.
    StackTooLong,
    /// The threads have different clocks, so the manifest names none.
    ClocksDiffer,

    /// Wire version 2 records no `call_depth`.
    CallDepthLost,
    /// Wire version 2 records no `thread_id` of events: this one differs from the header's.
    ThreadIdLost,
    /// Registers and stack are zeros now, or left out.
    PayloadScrubbed,
    /// A payload of unknown shape was left out.
    PayloadEmptied,
    /// A detail was left out.
    DetailDropped,
    /// A key of the manifest that is not known was left out.
    KeyDropped,
    /// A `ring.atf`, the buffer of a writer that was killed, whose events were not read; it is in
    /// `unreadable` as it was, except where the new trace is to hold no secrets.
    RingNotRead,

    /// A header was made from what the events, the other file and the folder tell.
    HeaderGuessed,
    /// `call_depth` was counted from calls and returns.
    CallDepthDerived,
    /// A detail was found behind damage by its links.
    DetailSalvaged,
}

impl What {
    /// What it means for the new files.
    #[must_use]
    pub const fn effect(self) -> Effect {
        match self {
            Self::NotFinalized
            | Self::HeaderDisagrees
            | Self::DetailFileUnreadable
            | Self::LinkToNothing
            | Self::LinkNotReturned
            | Self::LinkOutOfOrder
            | Self::NoChecksum
            | Self::ManifestDisagrees => Effect::Mended,
            Self::ChecksumBad
            | Self::TimeGoesBack
            | Self::UnknownKind
            | Self::OtherThreadId
            | Self::OtherFolder
            | Self::TimestampsDiffer
            | Self::TypeDoesNotFit
            | Self::FunctionsDiffer
            | Self::StackTooLong
            | Self::ClocksDiffer => Effect::Stays,
            Self::CallDepthLost
            | Self::ThreadIdLost
            | Self::PayloadScrubbed
            | Self::PayloadEmptied
            | Self::DetailDropped
            | Self::KeyDropped
            | Self::RingNotRead => Effect::Lost,
            Self::HeaderGuessed | Self::CallDepthDerived | Self::DetailSalvaged => Effect::Guessed,
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::report(self, f)
    }
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

// serde gives a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
