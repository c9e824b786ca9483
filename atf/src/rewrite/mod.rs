//! Rewrites traces: recovers crashed ones, converts between wire versions, removes private data,
//! and cuts out a time range.
//!
//! | function | the new trace |
//! |---|---|
//! | [`recover`] | the same events, finalized, breaking no structural rule |
//! | [`convert`] | the same events in the other wire version |
//! | [`scrub`] | the same events without registers, stacks and payloads of unknown shape |
//! | [`cut`] | the events of a time range |
//!
//! The original is never modified. The new trace is written under a temporary name next to its
//! final path and renamed when it is complete. If an error occurs, nothing is left behind. A killed
//! process leaves its temporary folder, `.atf-PID-N`, which can be deleted; searches for sessions
//! [skip it](is_unfinished). Files and folders keep their modes, so the new trace is readable only
//! by users who can read the original. The path may be a session, a thread's folder, or a folder
//! with sessions below it, at most [64](crate::session::SEARCH_DEPTH) folders deep.
//!
//! # What is kept
//!
//! Recovery keeps every whole index event up to the first hole, and every detail whose index event
//! is kept and whose links agree in both directions. Links are renumbered 0, 1, 2 and so on, in the
//! order of the new index. Faults in the content, such as decreasing timestamps, are kept, because
//! a fix would invent data. Data that does not fit into the regular files is set aside, and never
//! merged back:
//!
//! | in the new session | content |
//! |---|---|
//! | `thread_N/orphans.atf` | details that no event refers to, byte for byte, in detail format |
//! | `thread_N/salvaged.atf` | with salvage, index events after a hole, byte for byte, in index format |
//! | `unreadable/` | unreadable files, and a manifest whose data could not all be kept, unchanged |
//! | `recovery.json` | the [`Report`], if any file was changed |
//!
//! If reading a file fails, the file is read again in pieces as small as 512 bytes. Pieces that
//! still fail count as unreadable: events that overlap one are lost, and
//! all others are kept in order. Details after an unreadable piece are found by their links, and an
//! unreadable header is rebuilt from the rest of the thread's files, as with salvage. Unreadable
//! bytes are never replaced by zeros.
//!
//! Recovering a recovered trace changes nothing: the output is identical, byte for byte.
//!
//! The report names the rules that the original breaks. They are rules that [`check`](crate::check)
//! reports: for the original, or for the new trace if faulty content is kept.
//! If the checker rejects a file, it compares no links, so notes about links then have no rule.
//!
//! # Segments
//!
//! The [segments](crate::trace::Process) of a process are rewritten one after another and keep
//! their folders' names, so the new segments also form one trace. [`convert`] carries call depths
//! from one segment to the next, and [`cut`] carries open calls. Both start over where a segment,
//! or the end of a thread in a segment, is missing. Recovery finalizes each segment. If a killed
//! tracer left a segment's last events unwritten, calls continue across that gap, and the report
//! mentions it. A segment that is rewritten alone is treated like any other session.
//!
//! # Memory
//!
//! A session's threads are rewritten in parallel, one per core. Each takes 8 bytes and one bit per
//! detail event. Details are also kept in memory if this takes at most 256 MiB for all threads
//! being rewritten; otherwise, they are read twice. A payload larger than 64 KiB is copied in
//! pieces. Salvage takes another 56 bytes per detail found past damage.
//!
//! ```
//! use atf::rewrite::{RecoverOptions, recover};
//! # let folder = tempfile::tempdir().unwrap();
//! # let out = folder.path().join("recovered");
//! # let crashed = folder.path().join("pid_1");
//! # let writer = atf::write::SessionWriter::create(&crashed, &Default::default())?;
//! # let mut thread = writer.thread(0)?;
//! # let (timestamp_ns, event_kind) = (100, atf::EventKind::CALL);
//! # thread.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
//! # drop((thread, writer));
//!
//! let report = recover(&crashed, &out, &RecoverOptions::default())?;
//! assert_eq!(report.events(), 1);
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
mod report;
mod salvage;
mod set_aside_writer;
mod stage;
mod thread;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;

pub use crate::files::is_unfinished;
pub use job::ProgressFn;
pub use report::Report;

use crate::error::{Error, ErrorKind, Result};
use crate::manifest::Manifest;
use crate::wire::Wire;
use crate::with_setters;
use crate::write::Durability;
use job::{CutRange, Details, Job};
use report::Action;

with_setters! {
    /// Options for [`recover`].
    #[derive(Default, Clone)]
    #[non_exhaustive]
    pub struct RecoverOptions<'a> {
        /// Whether to also search past holes and damage, to rebuild damaged headers, and to use a
        /// `ring.atf` even if up to 16 MiB before its events were lost. The report marks events
        /// found there.
        pub(crate) salvage: bool,
        /// The manifest of another run, for modules and symbols missing from the session's own
        /// manifest. If the two manifests have different build ids for a module, the module's names
        /// are not used.
        pub(crate) symbols: Option<Manifest>,
        /// Which data of the new trace survives a power loss after the call has returned.
        pub(crate) durability: Durability,
        /// Called regularly with the progress so far.
        pub(crate) progress: Option<ProgressFn<'a>>,
        #[doc(hidden)]
        pub(crate) manifest_limit: Option<u64>,
    }
}

impl RecoverOptions<'_> {
    fn job(&self, action: Action, wire: Option<Wire>) -> Job<'_> {
        Job {
            wire,
            salvage: self.salvage,
            keeps_rest: true,
            symbols: self.symbols.as_ref(),
            ..Job::new(action, self.durability, self.manifest_limit)
        }
    }
}

/// Options for [`convert`], which also recovers.
pub type ConvertOptions<'a> = RecoverOptions<'a>;

with_setters! {
    /// Options for [`scrub`].
    #[derive(Default, Clone)]
    #[non_exhaustive]
    pub struct ScrubOptions<'a> {
        /// Whether to drop all details instead of only their private content.
        pub(crate) drop_details: bool,
        /// Whether to shorten module paths, which may contain a user name, to file names.
        pub(crate) module_names_only: bool,
        /// Which data of the new trace survives a power loss after the call has returned.
        pub(crate) durability: Durability,
        /// Called regularly with the progress so far.
        pub(crate) progress: Option<ProgressFn<'a>>,
        #[doc(hidden)]
        pub(crate) manifest_limit: Option<u64>,
    }
}

with_setters! {
    /// Options for [`cut`].
    #[derive(Clone)]
    #[non_exhaustive]
    pub struct CutOptions<'a> {
        /// The start of the part in nanoseconds: 0 by default.
        pub(crate) from_ns: u64,
        /// The end of the part in nanoseconds, inclusive: [`u64::MAX`] by default.
        pub(crate) to_ns: u64,
        /// The threads to keep, by the ids in their folders' names; empty, the default, for all.
        pub(crate) threads: BTreeSet<u32>,
        /// Which data of the new trace survives a power loss after the call has returned.
        pub(crate) durability: Durability,
        /// Called regularly with the progress so far.
        pub(crate) progress: Option<ProgressFn<'a>>,
    }
}

impl Default for CutOptions<'_> {
    /// Selects all threads and all times.
    fn default() -> Self {
        Self {
            from_ns: 0,
            to_ns: u64::MAX,
            threads: BTreeSet::new(),
            durability: Durability::default(),
            progress: None,
        }
    }
}

/// Writes a finalized copy of an unfinalized, truncated or damaged trace to `out`, which must not
/// exist.
///
/// The [module's documentation](self) explains what is kept and where the rest goes; the report
/// lists both. A thread with an unreadable index does not prevent the recovery of the others.
///
/// # Errors
///
/// [`OutputExists`](crate::ErrorKind::OutputExists) and
/// [`OutputInside`](crate::ErrorKind::OutputInside) at `out`;
/// [`NotASession`](crate::ErrorKind::NotASession) if there is nothing to recover at `path`; the
/// errors of [`ThreadReader::open`](crate::thread::ThreadReader::open) if `path` is the folder of
/// one thread and its index cannot be read;
/// [`ManifestTooLarge`](crate::ErrorKind::ManifestTooLarge) if a new manifest would be too large
/// even without function names; [`Io`](crate::ErrorKind::Io) if the new trace cannot be written.
/// After an error there is nothing at `out`.
pub fn recover(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &RecoverOptions<'_>,
) -> Result<Report> {
    let job = options.job(Action::Recover, None);
    engine::run(&job, options.progress, path.as_ref(), out.as_ref())
}

/// Writes a trace in another wire version to `out`, which must not exist, and recovers it if
/// needed.
///
/// Events of version 2 have no `call_depth` and no `thread_id`. When converting to version 1, the
/// depth is derived from calls and returns. The report lists lost and deduced data. Files that an
/// earlier recovery set aside keep their own wire version.
///
/// # Errors
///
/// The errors of [`recover`], and [`LimitReached`](crate::ErrorKind::LimitReached) or
/// [`OutOfRange`](crate::ErrorKind::OutOfRange) if the number of events, or the value of an event
/// kind, does not fit the wire version.
pub fn convert(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    wire: Wire,
    options: &ConvertOptions<'_>,
) -> Result<Report> {
    let job = options.job(Action::Convert, Some(wire));
    engine::run(&job, options.progress, path.as_ref(), out.as_ref())
}

/// Writes a copy of a trace to `out`, which must not exist, without the traced program's memory
/// content: zeroes registers, and drops stacks and payloads of unknown shape. Recovers the trace if
/// needed.
///
/// Functions, times and links are kept, and so are the manifest's function names, thread names,
/// losses and anchors. Everything else that could contain memory content is dropped too: details
/// that no event refers to, damaged data, unknown manifest keys, and files of an earlier recovery.
/// No report is written into the trace, because it would quote damaged data.
///
/// # Errors
///
/// The errors of [`recover`].
pub fn scrub(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &ScrubOptions<'_>,
) -> Result<Report> {
    let job = Job {
        details: if options.drop_details {
            Details::Drop
        } else {
            Details::Scrub
        },
        module_names_only: options.module_names_only,
        ..Job::new(Action::Scrub, options.durability, options.manifest_limit)
    };
    engine::run(&job, options.progress, path.as_ref(), out.as_ref())
}

/// Writes the part of a session in a time range to `out`, which must not exist. Recovers the
/// session if needed.
///
/// An event is in the range if its time is, as in the reports of `atf-analyze`, so a thread's
/// events stay together even where timestamps decrease. Events keep their details. If a thread has
/// events after the start and calls open at the start, its part begins with these calls, at the
/// start's time, outermost first. If it has events after the end and calls open at the end, its
/// part ends with their returns, at the end's time. As a result, each call in the new trace lasts
/// exactly as long as `atf-analyze` reports for the range, unless timestamps decrease where the
/// part or a segment begins. The manifest records how many calls and returns were added, and where:
/// [`Cut`](crate::manifest::Cut). A thread that ended earlier gets no returns.
///
/// In a process with several segments, each open call is repeated once, at the thread's first event
/// in or after the range, and returns once, at the thread's first event after the range. Leading
/// and trailing segments without events are not written, except those in which the tracer lost
/// events in the range or was killed, and the first one if none is left. The report lists unwritten
/// segments that are damaged.
///
/// The manifest's function names, thread names, modules, anchors and unknown keys are kept, and so
/// are all losses, regardless of their times. Data that does not fit into the regular files is
/// dropped, as by [`scrub`].
///
/// Takes as much memory as [`recover`], plus 37 MiB if 262,144 calls are open. If more calls are
/// open, the outermost ones are omitted, and the report states how many.
///
/// # Errors
///
/// The errors of [`recover`]; [`OutOfRange`](crate::ErrorKind::OutOfRange) if the range ends before
/// it begins; [`NotASession`](crate::ErrorKind::NotASession) if `path` is the folder of a thread
/// without a session, because there is no manifest to mark the added events.
pub fn cut(
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &CutOptions<'_>,
) -> Result<Report> {
    let (from_ns, to_ns) = (options.from_ns, options.to_ns);
    if to_ns < from_ns {
        let kind = ErrorKind::OutOfRange {
            found: to_ns,
            min: from_ns,
            max: u64::MAX,
        };
        return Err(Error::new(kind).with_field("to_ns"));
    }
    let range = CutRange {
        from_ns,
        to_ns,
        threads: options.threads.clone(),
    };
    let job = Job {
        cut: Some(&range),
        ..Job::new(Action::Cut, options.durability, None)
    };
    engine::run(&job, options.progress, path.as_ref(), out.as_ref())
}
