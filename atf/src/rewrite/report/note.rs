//! Notes grouped by kind, each with a count and the first few places where it occurs.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::rules::Rule;

/// How many places a [`Note`] lists; the rest are only counted.
const PLACES: usize = 8;

/// A place in an original file, and what it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// The field's path: `footer.event_count`, `events[12].detail_seq`.
    pub(crate) field: String,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: Option<u64>,
    pub(crate) found: String,
    /// The id of the broken rule, such as `ATF-MANI-004`, as [`check`](crate::check) reports it.
    /// `None` for a place in a [`Note`], because the note contains the rule.
    pub(crate) rule: Option<&'static str>,
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
            rule: None,
        }
    }

    pub(in crate::rewrite) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    pub(in crate::rewrite) fn breaks(mut self, rule: Option<&'static Rule>) -> Self {
        self.rule = rule.map(|rule| rule.id);
        self
    }

    /// Returns where an error occurred, leaving out the folder so that reports do not depend on the
    /// trace's location.
    pub(in crate::rewrite) fn from_error(file: &str, error: &Error) -> Self {
        let field = error.field().unwrap_or_default();
        Self::new(file, field, error.offset()).found(error.message())
    }
}

/// The notes on a thread or a manifest, grouped by kind and rule. Each group has a count and the
/// first places where it occurs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(BTreeMap<(NoteKind, Option<&'static str>), Note>);

impl Notes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Note> {
        self.0.values()
    }

    /// Returns the total count of all notes of a kind.
    pub(crate) fn count(&self, kind: NoteKind) -> u64 {
        let notes = self.iter().filter(|note| note.kind == kind);
        notes.fold(0, |sum, note| sum.saturating_add(note.count))
    }

    /// Counts a place, and the rule that the original breaks there. Calls `place` only for the
    /// first few places, which are listed.
    pub(in crate::rewrite) fn add(
        &mut self,
        kind: NoteKind,
        rule: Option<&'static Rule>,
        place: impl FnOnce() -> Place,
    ) {
        self.add_up_to(PLACES, kind, rule.map(|rule| rule.id), place);
    }

    /// Notes a problem that every event has, so one place is enough.
    pub(in crate::rewrite) fn tally(&mut self, kind: NoteKind, place: impl FnOnce() -> Place) {
        self.add_up_to(1, kind, None, place);
    }

    fn add_up_to(
        &mut self,
        places: usize,
        kind: NoteKind,
        rule: Option<&'static str>,
        place: impl FnOnce() -> Place,
    ) {
        let note = self.0.entry((kind, rule)).or_insert_with(|| Note {
            kind,
            rule,
            effect: kind.effect(),
            count: 0,
            first: Vec::new(),
        });
        note.count = note.count.saturating_add(1);
        if note.first.len() < places {
            note.first.push(place());
        }
    }
}

/// One kind of note, with its count and first places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) kind: NoteKind,
    /// The id of the broken rule, such as `ATF-IEVT-001`. [`check`](crate::check) reports it for
    /// the original; for [`NoteKind::Content`], it reports it for the new files.
    /// [`rules`](crate::rules) has its text.
    pub(crate) rule: Option<&'static str>,
    pub(crate) effect: Effect,
    pub(crate) count: u64,
    pub(crate) first: Vec<Place>,
}

/// The effect on the new files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// A problem that the new files no longer have.
    Repaired,
    /// A fault in the content that is kept, because correcting it would invent data.
    Stays,
    /// Information that is missing from the new files.
    Lost,
    /// Information that was deduced rather than recorded.
    Guessed,
}

table! {
    NoteKind
    effect: Effect {
        Effect::Repaired => {
            NotFinalized = "not_finalized", "the file was not finalized";
            /// The file is damaged: its footer contradicts it or was lost after the file was
            /// finalized, or the bytes where an event should start are not an event.
            Damaged = "damaged", "the file is damaged";
            HeaderDisagrees = "header_disagrees",
                "a header disagreed with the events, the footer or the other file";
            LinkToNothing = "link_to_nothing", "a link to a missing detail was removed";
            LinkNotReturned = "link_not_returned", "a link to the detail of another event was removed";
            LinkOutOfOrder = "link_out_of_order", "the links were not numbered 0, 1, 2 and so on";
            /// The file had no checksum that could reveal changed events, or part of the file is
            /// unreadable. The new file has a checksum.
            NoChecksum = "no_checksum", "the events had no usable checksum";
            ManifestDisagrees = "manifest_disagrees", "the manifest was wrong about the threads";
            ManifestMissing = "manifest_missing", "the original had no manifest";
            /// A `ring.atf` next to a finalized index that already contains the ring's events. It
            /// is copied to `unreadable`, unless the trace is scrubbed.
            RingLeftOver = "ring_left_over", "a ring.atf whose events the files already have";
        }
        Effect::Stays => {
            /// The events do not match their checksum. Which of them changed is unknown; the new
            /// file has a new checksum.
            ChecksumBad = "checksum_bad",
                "the events do not match their checksum: they changed since they were written; the \
                 new checksum covers them as they are";
            Content = "content", "content that breaks a rule";
            /// The threads have different clocks, so the manifest does not specify one.
            ClocksDiffer = "clocks_differ", "threads with different clocks";
            /// A module in the other run's manifest is from another build, so its names were not
            /// used.
            OtherBuild = "other_build", "names of another build, which were not used";
        }
        Effect::Lost => {
            CallDepthLost = "call_depth_lost", "wire version 2 has no call_depth";
            /// An event's `thread_id` differs from the header's, and wire version 2 does not record
            /// an id per event.
            ThreadIdLost = "thread_id_lost", "wire version 2 has no thread_id of events";
            PayloadScrubbed = "payload_scrubbed", "registers and stack";
            PayloadEmptied = "payload_emptied", "a payload of unknown shape";
            DetailDropped = "detail_dropped", "a detail";
            KeyDropped = "key_dropped", "an unknown key";
            /// The function names were removed, because the new manifest would be too large to read
            /// with them: see [`Manifest::LIMIT`](crate::manifest::Manifest::LIMIT). The old
            /// manifest is copied to `unreadable`, unless the trace is scrubbed or cut.
            SymbolsDropped = "symbols_dropped",
                "the function names, with which the manifest would be too large to read";
            /// The manifest's entry for a thread was removed: the new session omits the thread,
            /// because its files cannot be read.
            EntryDropped = "entry_dropped", "the entry of an omitted thread";
            ThreadMissing = "thread_missing", "a thread whose folder is missing";
            /// Events that a finalized header counts but the file no longer contains.
            EventsMissing = "events_missing", "events that the header counts";
            /// A link to a lost detail. The detail file is partly unreadable, or it is missing or
            /// has no footer although the index, which is finalized later, has one.
            DetailMissing = "detail_missing", "a detail that the index links to";
            /// An unreadable detail file. It is copied to `unreadable`, unless the trace is
            /// scrubbed.
            DetailFileUnreadable = "detail_file_unreadable", "all details: their file cannot be read";
            /// A `ring.atf`, the buffer of a killed writer, whose header cannot be read, or that
            /// does not belong to the thread's files. It is copied to `unreadable`, unless the
            /// trace is scrubbed.
            RingNotRead = "ring_not_read",
                "the contents of a ring.atf that cannot be read or does not belong to the thread's \
                 files";
            /// A `ring.atf` whose events were used, but whose details do not belong to
            /// `detail.atf`. It is copied to `unreadable`, unless the trace is scrubbed.
            RingDetailsNotRead = "ring_details_not_read",
                "the details in a ring.atf that do not belong to detail.atf";
            /// Calls open at the start or end of a cut that were dropped because too many were
            /// [open](crate::spans::CallStack::LIMIT). They are not repeated at the start, or have
            /// no return at the end.
            CallsGivenUp = "calls_given_up", "open calls, because too many were open";
        }
        Effect::Guessed => {
            /// A header was rebuilt from the events, the other file and the folder's name.
            HeaderGuessed = "header_guessed", "a header";
            CallDepthDerived = "call_depth_derived", "call_depth, counted from calls and returns";
            DetailSalvaged = "detail_salvaged", "a detail past damage, found by its links";
        }
    }
}
