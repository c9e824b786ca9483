//! What was wrong, by kind: how often, and where first.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Error;

/// How many places a [`Note`] names; the rest is only counted.
const PLACES: usize = 8;

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
    pub(in crate::rewrite) fn new(
        file: &str,
        field: impl Into<String>,
        offset: Option<u64>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            field: field.into(),
            offset,
            found: String::new(),
        }
    }

    pub(in crate::rewrite) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    /// The place that an error names; its folder is left out, so that a report says the same
    /// wherever the trace lies.
    pub(in crate::rewrite) fn of(file: &str, error: &Error) -> Self {
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
    pub(in crate::rewrite) fn add(&mut self, what: What, place: impl FnOnce() -> Place) {
        self.add_up_to(PLACES, what, place);
    }

    /// Notes what is true of every event: one place says as much as many.
    pub(in crate::rewrite) fn tally(&mut self, what: What, place: impl FnOnce() -> Place) {
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
    /// The file was not finalized.
    NotFinalized,
    /// The file is damaged: its footer contradicts it, or no event can begin where one should.
    Damaged,
    /// A header says other than what is believed instead: the footer, the events, the other file.
    HeaderDisagrees,
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
    /// A `ring.atf` beside a finalized index, which has its events already; it is in `unreadable`
    /// as it was, except where the new trace is to hold no secrets.
    RingLeftOver,

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
    /// A module of the other run's manifest is another build of this one, so its names were not
    /// taken.
    OtherBuild,

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
    /// Events that a finalized header counts and the file does not have any more.
    EventsMissing,
    /// A link to a detail, where a finalized index says that there is a file of them and there is none.
    DetailMissing,
    /// A detail file that cannot be read; it is in `unreadable` as it was, except where the new
    /// trace is to hold no secrets.
    DetailFileUnreadable,
    /// A `ring.atf`, the buffer of a writer that was killed, that does not belong to the files
    /// beside it; it is in `unreadable` as it was, except where the new trace is to hold no
    /// secrets.
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
            | Self::Damaged
            | Self::HeaderDisagrees
            | Self::LinkToNothing
            | Self::LinkNotReturned
            | Self::LinkOutOfOrder
            | Self::NoChecksum
            | Self::ManifestDisagrees
            | Self::RingLeftOver => Effect::Mended,
            Self::ChecksumBad
            | Self::TimeGoesBack
            | Self::UnknownKind
            | Self::OtherThreadId
            | Self::OtherFolder
            | Self::TimestampsDiffer
            | Self::TypeDoesNotFit
            | Self::FunctionsDiffer
            | Self::StackTooLong
            | Self::ClocksDiffer
            | Self::OtherBuild => Effect::Stays,
            Self::CallDepthLost
            | Self::ThreadIdLost
            | Self::PayloadScrubbed
            | Self::PayloadEmptied
            | Self::DetailDropped
            | Self::KeyDropped
            | Self::EventsMissing
            | Self::DetailMissing
            | Self::DetailFileUnreadable
            | Self::RingNotRead => Effect::Lost,
            Self::HeaderGuessed | Self::CallDepthDerived | Self::DetailSalvaged => Effect::Guessed,
        }
    }
}
