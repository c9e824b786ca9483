//! A session's record of its threads. Thread writers report to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ThreadSummary;
use crate::manifest::{Manifest, ManifestThread};

/// The state that a session and its thread writers share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// How many times the manifest's contents have changed.
    pub(super) changes: u64,
    /// How many times modules, symbols or anchors have changed.
    pub(super) version: u64,
    /// How many of another session's changes to modules, symbols or anchors have been copied.
    pub(super) version_taken: u64,
    /// Threads renamed since a successor last copied the names.
    pub(super) named: BTreeSet<u32>,
    pub(super) threads: BTreeMap<u32, Entry>,
    /// The tracer's reports about threads, including threads without a writer yet.
    pub(super) notes: BTreeMap<u32, ManifestThread>,
    /// The tracer's reports about the session.
    pub(super) manifest: Manifest,
    pub(super) is_finalized: bool,
    /// Whether the manifest is written with spare room.
    pub(super) keeps_spare: bool,
    pub(super) recording: Recorded,
}

/// Whether a recording writes the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Recorded {
    #[default]
    Never,
    Running,
    Over,
}

/// A session's record of a thread.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) has_detail: bool,
    pub(super) is_dropped: bool,
    pub(super) summary: Option<ThreadSummary>,
}

impl Shared {
    pub(super) fn notes_of(&mut self, thread_id: u32) -> &mut ManifestThread {
        let new = || ManifestThread::new(thread_id);
        self.notes.entry(thread_id).or_insert_with(new)
    }

    /// Returns the manifest for a change that later segments copy.
    pub(super) fn edit(&mut self) -> &mut Manifest {
        self.version = self.version.saturating_add(1);
        self.count_change();
        &mut self.manifest
    }

    /// Returns whether the manifest is no longer written. While a recording runs, the first segment
    /// is finalized, but later ones copy its contents.
    pub(super) fn is_over(&self) -> bool {
        match self.recording {
            Recorded::Never => self.is_finalized,
            Recorded::Running => false,
            Recorded::Over => true,
        }
    }

    pub(super) fn count_change(&mut self) {
        self.changes = self.changes.saturating_add(1);
    }

    pub(super) fn summaries(&self) -> impl Iterator<Item = &ThreadSummary> {
        self.threads
            .values()
            .filter_map(|entry| entry.summary.as_ref())
    }

    pub(super) fn time_range(&self) -> Option<(u64, u64)> {
        let ranges = self.summaries().filter_map(|summary| summary.time_range);
        ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

impl Entry {
    pub(super) fn is_open(&self) -> bool {
        self.summary.is_none() && !self.is_dropped
    }
}

/// A thread's entry in its session.
pub(super) struct Registration {
    pub(super) thread_id: u32,
    pub(super) shared: Arc<Mutex<Shared>>,
}

impl Registration {
    /// Records that the thread now has a `detail.atf`.
    pub(super) fn has_detail(&self) {
        self.change(|entry| entry.has_detail = true);
    }

    /// Records that the thread's files are finalized.
    pub(super) fn finalized(&self, summary: &ThreadSummary) {
        self.change(|entry| entry.summary = Some(*summary));
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        let mut shared = lock(&self.shared);
        shared.threads.entry(self.thread_id).and_modify(change);
        shared.count_change();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.change(|entry| entry.is_dropped = true);
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration")
            .field(&self.thread_id)
            .finish()
    }
}

/// Ignores lock poisoning: each change is a single step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
