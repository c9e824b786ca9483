//! The options of a rewrite. Recovery, conversion and scrubbing are the same walk with different options.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::manifest::Manifest;
use crate::wire::Wire;
use crate::write::Durability;

use super::report::Action;

/// The number of bytes between two calls of a progress callback.
const STEP: u64 = 0x10_0000;

/// Called from time to time with the number of bytes processed and the total.
pub type ProgressFn<'a> = &'a dyn Fn(u64, u64);

/// How details are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Details {
    /// Keeps them unchanged.
    Keep,
    /// Zeroes registers; drops stacks and payloads of unknown shape.
    Scrub,
    /// Drops them with their links.
    Drop,
}

/// The part of a session to keep.
#[derive(Debug)]
pub(super) struct CutRange {
    pub(super) from_ns: u64,
    /// Inclusive.
    pub(super) to_ns: u64,
    /// The ids of the threads; empty for all.
    pub(super) threads: BTreeSet<u32>,
}

impl CutRange {
    pub(super) fn has_thread(&self, id: u32) -> bool {
        self.threads.is_empty() || self.threads.contains(&id)
    }
}

/// The options of a rewrite.
pub(super) struct Job<'a> {
    pub(super) action: Action,
    /// The new files' wire version; `None` keeps that of the old files.
    pub(super) wire: Option<Wire>,
    /// Whether to search past holes and damage. Events after a hole go to a file of their own.
    pub(super) salvage: bool,
    pub(super) details: Details,
    /// Whether to keep what fits nowhere: orphans, unreadable files, unknown keys of the manifest,
    /// the report.
    pub(super) keeps_rest: bool,
    /// Another manifest for modules and symbols that the session's own lacks.
    pub(super) symbols: Option<&'a Manifest>,
    /// Whether to shorten the paths of modules to file names.
    pub(super) module_names_only: bool,
    /// The part to keep; `None` for all.
    pub(super) cut: Option<&'a CutRange>,
    pub(super) durability: Durability,
    pub(super) progress: Option<ProgressFn<'a>>,
}

impl Job<'_> {
    /// Whether the new manifest has the old one's unknown keys.
    pub(super) fn keeps_unknown_keys(&self) -> bool {
        self.keeps_rest || self.cut.is_some()
    }

    /// Whether the new session has a thread.
    pub(super) fn has_thread(&self, id: u32) -> bool {
        self.cut.is_none_or(|cut| cut.has_thread(id))
    }
}

/// Why the rewrite of a thread stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// Its files could not be read. The other threads can still be rewritten.
    Read(Error),
    /// The new files could not be written. The whole rewrite stops.
    Write(Error),
}

/// `?` means a read error; write errors are marked explicitly where they occur.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

/// Counts the bytes read and calls the callback from time to time.
pub(super) struct Progress<'a> {
    callback: Option<ProgressFn<'a>>,
    done: u64,
    told: u64,
    total: u64,
}

impl<'a> Progress<'a> {
    pub(super) fn new(callback: Option<ProgressFn<'a>>, total: u64) -> Self {
        let this = Self {
            callback,
            done: 0,
            told: 0,
            total,
        };
        this.tell();
        this
    }

    /// Adds bytes that were read.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if self.done.saturating_sub(self.told) >= STEP {
            self.told = self.done;
            self.tell();
        }
    }

    /// Sets the count to `done`, whether or not all those bytes were read. Progress never goes back,
    /// even if bytes were read twice.
    pub(super) fn reach(&mut self, done: u64) {
        self.done = self.told.max(done);
        self.told = self.done;
        self.tell();
    }

    fn tell(&self) {
        if let Some(callback) = self.callback {
            callback(self.done.min(self.total), self.total);
        }
    }
}
