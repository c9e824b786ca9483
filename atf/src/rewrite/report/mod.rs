//! The report of a rewrite: what was kept, set aside and dropped, and what was wrong.

/// Defines an enum: for each variant, a property, its name in JSON and its text.
macro_rules! table {
    ($(#[$meta:meta])* $type:ident $(#[$about:meta])* $property:ident: $of:ty {
        $($value:expr => {
            $($(#[$doc:meta])* $variant:ident = $name:literal, $text:literal;)*
        })*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $type {
            $($($(#[$doc])* $variant,)*)*
        }

        impl $type {
            $(#[$about])*
            pub(in crate::rewrite) const fn $property(self) -> $of {
                match self {
                    $($(Self::$variant)|* => $value,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($(Self::$variant => $text,)*)*
                })
            }
        }

        crate::json::names! { $type { $($($variant = $name,)*)* } }
    };
}

mod aside;
pub(super) mod loss;
mod note;
mod text;

use std::ops::Range;

use serde_core::{Serialize, Serializer};

use crate::json::{names, objects};
use crate::manifest::Cut;
use crate::rules::Rule;
pub(super) use aside::{DropReason, Dropped, EventRange, LeftBehind, SetAside, copied};
pub(super) use note::{Effect, Note, NoteKind, Notes, Place};

/// How many unreadable ranges per file the report lists; the rest are only counted.
const RANGES: usize = 64;

/// The report of [`recover`](super::recover), [`convert`](super::convert), [`scrub`](super::scrub)
/// or [`cut`](super::cut).
///
/// [`Display`](std::fmt::Display) formats it as text, and serde as JSON, with everything that was
/// kept, set aside, dropped and noted. There, `offset` is in bytes from the start of the file,
/// `size` in bytes, `count` in elements, and `seq` is a position counted from 0, all in the original
/// file.
#[derive(Debug, Clone)]
pub struct Report {
    pub(crate) action: Action,
    /// The sessions, ordered by folder, and a process's segments by number; a lone thread folder
    /// counts as a session.
    pub(crate) sessions: Vec<SessionReport>,
    /// Files and folders next to the sessions that were not copied.
    pub(crate) left_behind: Vec<LeftBehind>,
}

impl Report {
    /// Returns whether [`recover`](super::recover) with
    /// [`salvage`](super::RecoverOptions::salvage) would keep more: there are events after holes and
    /// damage, or files with damaged headers.
    #[must_use]
    pub fn is_salvageable(&self) -> bool {
        let mut threads = self.sessions.iter().flat_map(|session| &session.threads);
        threads.any(ThreadReport::is_salvageable)
    }

    /// Returns the number of index events in the new sessions.
    #[must_use]
    pub fn events(&self) -> u64 {
        sum(self.sessions.iter().map(SessionReport::events))
    }

    /// Returns the number of detail events in the new sessions, without orphans.
    #[must_use]
    pub fn details(&self) -> u64 {
        sum(self.sessions.iter().map(SessionReport::details))
    }

    /// Returns whether any file differs from its original.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.sessions.iter().any(|session| session.changed)
    }
}

/// An operation on a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Finalizes the files and keeps the events as they are.
    Recover,
    /// Recovers, and changes the wire version.
    Convert,
    /// Recovers, and removes registers and stacks.
    Scrub,
    /// Recovers, and keeps only a time range.
    Cut,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SessionReport {
    /// The session's folder, relative to the original path; empty for that path itself.
    pub(crate) folder: String,
    /// Whether any file differs from its original.
    pub(crate) changed: bool,
    /// The number of losses, as [`Report::losses`] counts them.
    pub(crate) losses: u64,
    /// The session's threads, ordered by id.
    pub(crate) threads: Vec<ThreadReport>,
    /// The report on the manifest; `None` for a lone thread folder.
    pub(crate) manifest: Option<ManifestReport>,
    /// Files and folders in the session's folder that were not copied.
    pub(crate) left_behind: Vec<LeftBehind>,
}

impl SessionReport {
    /// Returns the number of index events in the new session.
    pub(crate) fn events(&self) -> u64 {
        sum(self.threads.iter().map(|thread| thread.events.kept))
    }

    /// Returns the number of detail events in the new session, without orphans.
    pub(crate) fn details(&self) -> u64 {
        sum(self.threads.iter().map(|thread| thread.details.kept))
    }

    /// Returns the number of index events counted by headers but missing from the original, and the
    /// number of losses other than those and the `unread` threads.
    fn known_losses(&self, unread: u64) -> (u64, u64) {
        let of_thread = |thread: &ThreadReport| thread.events.missing;
        let missing = sum(self.threads.iter().map(of_thread));
        let files = self.threads.iter().filter(|it| of_thread(it) > 0).count() as u64;
        let other = self.losses.saturating_sub(unread).saturating_sub(files);
        (missing, other)
    }

    /// Returns the number of threads in the new session, and the number of threads that could not
    /// be read.
    fn thread_counts(&self) -> (u64, u64) {
        let unread = |thread: &&ThreadReport| thread.not_recovered.is_some();
        let is_kept = |thread: &&ThreadReport| !unread(thread) && !thread.nothing_written;
        let threads = self.threads.iter();
        (
            threads.clone().filter(is_kept).count() as u64,
            threads.filter(unread).count() as u64,
        )
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadReport {
    pub(crate) folder: String,
    /// Why nothing could be recovered. In that case, the files were copied unchanged to
    /// `unreadable`.
    pub(crate) not_recovered: Option<Place>,
    /// Whether the thread's writer ended before writing anything: `index.atf` is empty, and no
    /// other file has an event. The new session omits the thread; nothing is lost. A note names the
    /// broken rule.
    pub(crate) nothing_written: bool,
    /// Its index events.
    pub(crate) events: Kept,
    /// Its detail events.
    pub(crate) details: Kept,
    /// The part of the original that [`cut`](super::cut) kept.
    pub(crate) cut: Option<Cut>,
    /// Events in files other than `index.atf` and `detail.atf`.
    pub(crate) set_aside: Vec<SetAside>,
    /// Bytes that no new file contains.
    pub(crate) dropped: Vec<Dropped>,
    /// Problems and additions, by kind.
    pub(crate) notes: Notes,
}

impl ThreadReport {
    /// Returns whether all events are in the new files unchanged.
    pub(super) fn is_clean(&self) -> bool {
        // If the checksum is wrong, any event may have changed.
        let is_kept =
            |note: &Note| note.effect == Effect::Stays && note.kind != NoteKind::ChecksumBad;
        self.set_aside.is_empty() && self.dropped.is_empty() && self.notes.iter().all(is_kept)
    }

    /// Returns whether there are events after damage, or a file with a damaged header.
    fn is_salvageable(&self) -> bool {
        use NoteKind::{DetailFileUnreadable, RingDetailsNotRead, RingNotRead};
        let is_past_damage = |it: &Dropped| {
            matches!(
                it.why,
                DropReason::AfterHole | DropReason::AfterFramingProblem
            )
        };
        let is_damaged = |place: &Place| place.field.starts_with("header.");
        let is_after_gap = |note: &Note| {
            let mut places = note.first.iter();
            matches!(note.kind, RingNotRead | RingDetailsNotRead)
                && places.any(|place| place.field.ends_with("_start"))
        };
        self.dropped.iter().any(is_past_damage)
            || self.not_recovered.as_ref().is_some_and(is_damaged)
            || self.notes.count(DetailFileUnreadable) > 0
            || self.notes.iter().any(is_after_gap)
    }

    /// Records bytes that no new file contains, and the rule that the original breaks there.
    pub(super) fn drop(
        &mut self,
        file: &'static str,
        (why, rule): (DropReason, Option<&'static Rule>),
        range: Range<u64>,
    ) {
        let size = range.end.saturating_sub(range.start);
        if size == 0 {
            return;
        }
        let rule = rule.map(|rule| rule.id);
        let is_same =
            |dropped: &&mut Dropped| (dropped.file, dropped.why, dropped.rule) == (file, why, rule);
        let known = self.dropped.iter_mut().filter(is_same);
        // The first unreadable ranges are listed one by one.
        let most = match why {
            DropReason::Unreadable => RANGES,
            _ => 1,
        };
        match known.enumerate().last() {
            Some((last, dropped)) if last.saturating_add(1) >= most => {
                dropped.size = dropped.size.saturating_add(size);
                dropped.count = dropped.count.saturating_add(1);
            }
            _ => self.dropped.push(Dropped {
                file,
                why,
                rule,
                offset: range.start,
                size,
                count: 1,
            }),
        }
    }
}

/// Counts of the events in a new file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) kept: u64,
    /// The number of events from `ring.atf`, the buffer of a killed writer.
    pub(crate) from_ring: u64,
    /// The number of events found past damage.
    pub(crate) salvaged: u64,
    /// The number of events counted by the header but missing from the original.
    pub(crate) missing: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ManifestReport {
    /// Whether the original exists.
    pub(crate) was_there: bool,
    /// The number of modules in the new manifest.
    pub(crate) modules: u64,
    /// The number of symbols in the new manifest.
    pub(crate) symbols: u64,
    /// The number of symbols from another run's manifest.
    pub(crate) symbols_taken: u64,
    /// Whether the original was entirely unreadable, in which case its names are lost.
    pub(crate) is_lost: bool,
    /// Problems in the original that the new manifest no longer has.
    pub(crate) problems: Vec<Place>,
    pub(crate) problem_count: u64,
    /// How many of these problems are values missing from the new manifest: values of a wrong type,
    /// and second values of a key, unless they are computed from the events.
    pub(crate) values_lost: u64,
    /// The maximum number of events that may be missing at the end of each thread, because the
    /// tracer was killed while they were in memory.
    pub(crate) unwritten_events: Option<u64>,
    /// Whether the killed tracer dropped events, in which case the last drops were not recorded.
    pub(crate) drops_events: bool,
    /// Problems that remain, and data that was removed.
    pub(crate) notes: Notes,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::report(self, f)
    }
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

objects! {
    Report { action, sessions, left_behind unless Vec::is_empty }
    SessionReport {
        folder, changed, losses, threads, manifest unless Option::is_none,
        left_behind unless Vec::is_empty,
    }
    ThreadReport {
        folder, not_recovered unless Option::is_none, nothing_written unless is_default, events,
        details, cut unless Option::is_none, set_aside unless Vec::is_empty,
        dropped unless Vec::is_empty, notes unless Notes::is_empty,
    }
    Kept {
        kept, from_ring unless is_default, salvaged unless is_default, missing unless is_default,
    }
    LeftBehind { path, why, rule unless Option::is_none, is_loss }
    ManifestReport {
        was_there, modules, symbols, symbols_taken unless is_default, is_lost unless is_default,
        problems unless Vec::is_empty, problem_count unless is_default,
        values_lost unless is_default, unwritten_events unless Option::is_none,
        drops_events unless is_default, notes unless Notes::is_empty,
    }
    SetAside { file, from, rules unless Vec::is_empty, count, runs }
    EventRange { seq, offset, count }
    Dropped { file, why, rule unless Option::is_none, offset, size, count }
    Note { kind as "what", rule unless Option::is_none, effect, count, first }
    Place {
        file, field unless String::is_empty, offset unless Option::is_none, found,
        rule unless Option::is_none,
    }
}

impl Serialize for Notes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

names! {
    Action { Recover = "recover", Convert = "convert", Scrub = "scrub", Cut = "cut" }
    Effect { Repaired = "repaired", Stays = "stays", Lost = "lost", Guessed = "guessed" }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
