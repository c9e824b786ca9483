//! What is to be done: the three kinds of rewriting are one walk with different choices.

use crate::error::Error;
use crate::manifest::Manifest;
use crate::wire::Wire;
use crate::write::Durability;

use super::report::Action;

/// How many bytes go by between two calls of a progress callback.
const STEP: u64 = 0x10_0000;

/// Called now and then with the bytes that are done and those there are in all.
pub type ProgressFn<'a> = &'a dyn Fn(u64, u64);

/// What becomes of details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Details {
    /// They stay as they are.
    Keep,
    /// Registers become zeros; stacks and payloads of unknown shape are left out.
    Scrub,
    /// They are left out with their links.
    Drop,
}

/// The choices.
pub(super) struct Job<'a> {
    pub(super) action: Action,
    /// The new files' wire version; `None` for that of the old ones.
    pub(super) wire: Option<Wire>,
    /// Whether to look behind holes and damage. Events from behind a hole are kept in a file of their
    /// own.
    pub(super) salvage: bool,
    pub(super) details: Details,
    /// Whether what fits nowhere is kept in files of its own: orphans, files that cannot be read,
    /// unknown keys of the manifest, the report.
    pub(super) keeps_rest: bool,
    /// Where modules and symbols come from, if not from the session's own manifest alone.
    pub(super) symbols: Option<&'a Manifest>,
    /// Whether the paths of modules become names.
    pub(super) module_names_only: bool,
    pub(super) durability: Durability,
    pub(super) progress: Option<ProgressFn<'a>>,
}

/// Why a thread's rewriting stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// Its files could not be read: the other threads can go on.
    Read(Error),
    /// The new files could not be written: nothing can.
    Write(Error),
}

/// Reading is what `?` means in the walk; errors of writing are named where they arise.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

/// Counts bytes that were read, and tells the caller now and then.
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

    /// Some bytes were read.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if self.done.saturating_sub(self.told) >= STEP {
            self.told = self.done;
            self.tell();
        }
    }

    /// All bytes up to `done` were read, or need not be. What was read twice does not count back.
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
