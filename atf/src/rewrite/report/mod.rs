//! What a rewriting did: kept, set aside, dropped, and what was wrong.

mod aside;
pub(super) mod loss;
mod note;
mod text;

use serde::Serialize;

pub use aside::{DropReason, Dropped, EventRange, SetAside};
pub use note::{Effect, Note, NoteKind, Notes, Place};

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
        sum(self.sessions.iter().map(SessionReport::events))
    }

    /// Detail events that the new sessions have, orphans apart.
    #[must_use]
    pub fn details(&self) -> u64 {
        sum(self.sessions.iter().map(SessionReport::details))
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
    /// How many things were lost or changed, as [`Report::losses`] counts them.
    pub losses: u64,
    /// Its threads in the order of their ids.
    pub threads: Vec<ThreadReport>,
    /// Its manifest; `None` for a thread's folder by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestReport>,
    /// What stands in its folder and was not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
}

impl SessionReport {
    /// Index events that the new session has.
    #[must_use]
    pub fn events(&self) -> u64 {
        sum(self.threads.iter().map(|thread| thread.events.kept))
    }

    /// Detail events that the new session has, orphans apart.
    #[must_use]
    pub fn details(&self) -> u64 {
        sum(self.threads.iter().map(|thread| thread.details.kept))
    }
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
    /// Whether its writer ended before it wrote anything: `index.atf` has no bytes, and there is no
    /// event elsewhere. The thread is not in the new session, and nothing is lost with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_written: bool,
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
    pub(super) fn drop(&mut self, file: &'static str, why: DropReason, offset: u64, size: u64) {
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

/// Something that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftBehind {
    /// Its path below the session's folder, or below the path that was read.
    pub path: String,
    /// Why.
    pub why: String,
    /// Whether it may be a part of the trace; strange files beside sessions are not.
    pub is_loss: bool,
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
    /// Whether nothing of the old one could be read, so that names are lost with it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_lost: bool,
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
fn is_false(value: &bool) -> bool {
    !*value
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
