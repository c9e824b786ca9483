//! Rewrites traces: a crashed one into a finalized one, one wire version into the other, a
//! private one into one that can be shared.
//!
//! | function | what the new trace is |
//! |---|---|
//! | [`recover`] | the same events, finalized, without a broken structural rule |
//! | [`convert`] | the same in the other wire version |
//! | [`scrub`] | the same without registers, stacks and payloads of unknown shape |
//!
//! Nothing is changed in place. The new trace is written under another name beside its place and
//! renamed when it is complete; after an error nothing of it is left. Only a process that is killed
//! leaves that folder, `.atf-PID-N`, which can be deleted; whatever looks for sessions
//! [passes over it](is_unfinished). Nobody can read the new trace who could not read the old one: files
//! and folders keep their modes. The path may be a session, a thread's folder, or a folder with sessions
//! below it.
//!
//! # What is kept
//!
//! Every whole index event up to the first hole, and each detail whose index event is kept and
//! whose links agree in both directions. Links count 0, 1, 2 and so on along the new index. Faults
//! of the content, time that goes back for example, stay: to mend them would be to invent. What
//! fits nowhere is set aside and never joined:
//!
//! | in the new session | what it holds |
//! |---|---|
//! | `thread_N/orphans.atf` | details that no event refers to, byte for byte, in detail format |
//! | `thread_N/salvaged.atf` | index events from behind a hole, byte for byte, in index format, where salvage was asked for |
//! | `unreadable/` | files that cannot be read, as they were |
//! | `recovery.json` | the [`Report`], where any file was changed |
//!
//! A second recovery changes nothing: its output is the same, byte for byte.
//!
//! # Memory
//!
//! Threads are rewritten one after the other. Each takes 8 bytes and one bit for each of its
//! detail events; a payload larger than 64 KiB goes by piece by piece. Salvage takes 56 bytes more
//! for each detail that it finds behind damage.
//!
//! ```
//! use atf::rewrite::{RecoverOptions, recover};
//! # let folder = tempfile::tempdir().unwrap();
//! # let out = folder.path().join("recovered");
//! # let crashed = "../samples/sample-crashed-nomanifest/session_20260105_101500/pid_4244";
//!
//! let report = recover(crashed, &out, &RecoverOptions::default())?;
//! assert_eq!(report.events(), 3 * 382);
//! println!("{report}");
//! # Ok::<(), atf::Error>(())
//! ```

mod bits;
mod depth;
mod ends;
mod engine;
mod guess;
mod job;
mod manifest;
mod modes;
mod report;
mod salvage;
mod side;
mod stage;
mod thread;
mod tree;

use std::path::Path;

pub use job::ProgressFn;
pub use report::{
    Action, DropReason, Dropped, Effect, EventRange, Kept, LeftBehind, ManifestReport, Note,
    NoteKind, Notes, Place, Report, SessionReport, SetAside, ThreadReport,
};
pub use stage::is_unfinished;

use crate::error::Result;
use crate::manifest::Manifest;
use crate::setters::setters;
use crate::wire::Wire;
use crate::write::Durability;
use job::{Details, Job};

/// How [`recover`] works.
#[derive(Default, Clone)]
#[non_exhaustive]
pub struct RecoverOptions<'a> {
    /// Whether to look behind holes and damage too. What is found there is marked in the report.
    pub salvage: bool,
    /// The manifest of another run, for modules and symbols that the session's own does not have.
    /// Where both name the build ids of a module, they must be equal.
    pub symbols: Option<Manifest>,
    /// What of the new trace survives a loss of power when the call returns.
    pub durability: Durability,
    /// Called now and then.
    pub progress: Option<ProgressFn<'a>>,
}

setters!(RecoverOptions<'a> {
    salvage: bool,
    symbols: Option<Manifest>,
    durability: Durability,
    progress: Option<ProgressFn<'a>>,
});

/// How [`convert`] works.
#[derive(Default, Clone)]
#[non_exhaustive]
pub struct ConvertOptions<'a> {
    /// Whether to look behind holes and damage too, as [`recover`] does.
    pub salvage: bool,
    /// The manifest of another run, as [`recover`] takes it.
    pub symbols: Option<Manifest>,
    /// What of the new trace survives a loss of power when the call returns.
    pub durability: Durability,
    /// Called now and then.
    pub progress: Option<ProgressFn<'a>>,
}

setters!(ConvertOptions<'a> {
    salvage: bool,
    symbols: Option<Manifest>,
    durability: Durability,
    progress: Option<ProgressFn<'a>>,
});

/// How [`scrub`] works.
#[derive(Default, Clone)]
#[non_exhaustive]
pub struct ScrubOptions<'a> {
    /// Whether all details are left out, not only what they hold.
    pub drop_details: bool,
    /// Whether the paths of modules, which may hold the name of a user, are cut to file names.
    pub module_names_only: bool,
    /// What of the new trace survives a loss of power when the call returns.
    pub durability: Durability,
    /// Called now and then.
    pub progress: Option<ProgressFn<'a>>,
}

setters!(ScrubOptions<'a> {
    drop_details: bool,
    module_names_only: bool,
    durability: Durability,
    progress: Option<ProgressFn<'a>>,
});

/// Turns a trace that was cut off or damaged into a finalized one at `out`, which must not exist.
///
/// The [module](self) says what is kept and where the rest goes, the report what that was. A thread
/// whose index cannot be read does not keep the others from being recovered.
///
/// # Errors
///
/// [`OutputExists`](crate::ErrorKind::OutputExists) and
/// [`OutputInside`](crate::ErrorKind::OutputInside) at `out`;
/// [`NotASession`](crate::ErrorKind::NotASession) where there is nothing to recover at `path`; as
/// [`ThreadReader::open`](crate::thread::ThreadReader::open) where `path` is the folder of one
/// thread and its index cannot be read; [`Io`](crate::ErrorKind::Io) where the new trace cannot be
/// written. Nothing is left at `out` then.
pub fn recover(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &RecoverOptions<'_>,
) -> Result<Report> {
    let job = Job {
        action: Action::Recover,
        wire: None,
        salvage: options.salvage,
        details: Details::Keep,
        keeps_rest: true,
        symbols: options.symbols.as_ref(),
        module_names_only: false,
        durability: options.durability,
        progress: options.progress,
    };
    engine::run(&job, path.as_ref(), out.as_ref())
}

/// Writes a trace in another wire version at `out`, which must not exist, and recovers it on the
/// way.
///
/// Version 2 has no `call_depth` and no `thread_id` of events. Version 1 has a depth, which is
/// counted from calls and returns. The report names what was lost and what was deduced. Files that
/// an earlier recovery set aside stay in their own wire version.
///
/// # Errors
///
/// As [`recover`], and [`LimitReached`](crate::ErrorKind::LimitReached) or
/// [`OutOfRange`](crate::ErrorKind::OutOfRange) where the wire version has no room for the number
/// of events, or for the number of a kind.
pub fn convert(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    wire: Wire,
    options: &ConvertOptions<'_>,
) -> Result<Report> {
    let job = Job {
        action: Action::Convert,
        wire: Some(wire),
        salvage: options.salvage,
        details: Details::Keep,
        keeps_rest: true,
        symbols: options.symbols.as_ref(),
        module_names_only: false,
        durability: options.durability,
        progress: options.progress,
    };
    engine::run(&job, path.as_ref(), out.as_ref())
}

/// Writes a trace at `out`, which must not exist, without what its program held in memory:
/// registers become zeros, stacks and payloads of unknown shape are left out. Recovers it on the
/// way.
///
/// Functions, times, links and the names in the manifest stay. Left out is also whatever else
/// could hold such bytes: details that no event refers to, damage, unknown keys of the manifest,
/// files of an earlier recovery. No report is written into the trace, since it quotes what it found
/// wrong.
///
/// # Errors
///
/// As [`recover`].
pub fn scrub(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &ScrubOptions<'_>,
) -> Result<Report> {
    let job = Job {
        action: Action::Scrub,
        wire: None,
        salvage: false,
        details: match options.drop_details {
            true => Details::Drop,
            false => Details::Scrub,
        },
        keeps_rest: false,
        symbols: None,
        module_names_only: options.module_names_only,
        durability: options.durability,
        progress: options.progress,
    };
    engine::run(&job, path.as_ref(), out.as_ref())
}
