//! The options of a rewrite. Recovery, conversion, scrubbing and cutting are the same pass over a
//! trace with different options.

use std::collections::BTreeSet;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::manifest::Manifest;
use crate::wire::Wire;
use crate::write::Durability;

use super::report::Action;

/// The number of bytes between calls to a progress callback.
const STEP: u64 = 0x10_0000;

/// A callback for progress: takes the number of bytes processed and the total.
pub type ProgressFn<'a> = &'a dyn Fn(u64, u64);

/// How to handle details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Details {
    Keep,
    /// Registers are zeroed; stacks and payloads of unknown shape are dropped.
    Scrub,
    /// Details and their links are dropped.
    Drop,
}

/// The part of a session to keep.
#[derive(Debug)]
pub(super) struct CutRange {
    pub(super) from_ns: u64,
    /// Inclusive.
    pub(super) to_ns: u64,
    /// The ids of the threads to keep; empty for all.
    pub(super) threads: BTreeSet<u32>,
}

/// The options of a rewrite.
pub(super) struct Job<'a> {
    pub(super) action: Action,
    /// The new files' wire version; `None` keeps the old one.
    pub(super) wire: Option<Wire>,
    /// Whether to search past holes and damage. Events after a hole go to a separate file.
    pub(super) salvage: bool,
    pub(super) details: Details,
    /// Whether to keep data that does not fit into the regular files (orphans, unreadable files,
    /// unknown manifest keys), and to write the report.
    pub(super) keeps_rest: bool,
    /// Another manifest, for modules and symbols missing from the session's own manifest.
    pub(super) symbols: Option<&'a Manifest>,
    /// Whether to shorten module paths to file names.
    pub(super) module_names_only: bool,
    /// The part to keep; `None` for the whole session.
    pub(super) cut: Option<&'a CutRange>,
    /// The maximum size of a new manifest, in bytes.
    pub(super) manifest_limit: u64,
    pub(super) durability: Durability,
}

impl Job<'_> {
    /// Creates a job that keeps the wire version, the details and the whole session, but no data
    /// outside the regular files.
    pub(super) fn new(action: Action, durability: Durability, manifest_limit: Option<u64>) -> Self {
        Self {
            action,
            wire: None,
            salvage: false,
            details: Details::Keep,
            keeps_rest: false,
            symbols: None,
            module_names_only: false,
            cut: None,
            manifest_limit: manifest_limit.unwrap_or(Manifest::LIMIT),
            durability,
        }
    }

    /// Returns whether the new manifest keeps the old one's unknown keys.
    pub(super) fn keeps_unknown_keys(&self) -> bool {
        self.keeps_rest || self.cut.is_some()
    }

    /// Returns whether the new session includes a thread.
    pub(super) fn has_thread(&self, id: u32) -> bool {
        self.cut
            .is_none_or(|cut| cut.threads.is_empty() || cut.threads.contains(&id))
    }
}

/// Why the rewrite of a thread stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// The thread's files could not be read. The other threads can still be rewritten.
    Read(Error),
    /// The new files could not be written. The whole rewrite stops.
    Write(Error),
}

/// `?` turns an error into a read error; write errors are wrapped explicitly where they occur.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

/// A counter for the bytes read from one thread.
///
/// Each byte counts only once, even if it is read twice, so progress never exceeds the total.
pub(super) struct Progress<'a> {
    /// The bytes processed in all threads.
    done: &'a AtomicU64,
    /// The number of the thread's bytes that have not been counted yet.
    left: u64,
    /// Bytes that are not yet in `done`.
    uncounted: u64,
    callback: &'a dyn Fn(),
}

impl<'a> Progress<'a> {
    /// Creates a counter for a thread of `size` bytes; it calls `callback` regularly.
    pub(super) fn new(done: &'a AtomicU64, size: u64, callback: &'a dyn Fn()) -> Self {
        Self {
            done,
            left: size,
            uncounted: 0,
            callback,
        }
    }

    /// Adds bytes that were read.
    pub(super) fn advance(&mut self, bytes: u64) {
        let bytes = bytes.min(self.left);
        self.left = self.left.saturating_sub(bytes);
        self.uncounted = self.uncounted.saturating_add(bytes);
        if self.uncounted >= STEP {
            self.count();
        }
    }

    /// Counts all bytes, whether or not they were read.
    pub(super) fn finish(mut self) {
        self.uncounted = self.uncounted.saturating_add(self.left);
        self.count();
    }

    fn count(&mut self) {
        let more = mem::take(&mut self.uncounted);
        self.done.fetch_add(more, Ordering::Relaxed);
        (self.callback)();
    }
}
