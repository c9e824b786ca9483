//! Splits a recording into several sessions.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atf::write::{SessionFiles, SessionTotals, SessionWriter, ThreadWriter};
use atf::{Error, ErrorKind, Result, with_setters};

#[cfg(doc)]
use super::RecordSummary;

with_setters! {
    /// When a recording continues in another session. Segments let a recording run indefinitely,
    /// although the number of events in a file is limited, and so is disk space.
    ///
    /// Each segment is a valid session. The first is the one that the recording was started with,
    /// and the others are created next to it: `pid_42` is followed by `pid_42_segment_000002`.
    /// Existing names are skipped. All threads switch to the next segment after the same pass of
    /// the drain, each between two events. A pass drains one ring after the other, and a thread may
    /// wait for room in its ring with an event that already has its time, so the first events of a
    /// segment may be earlier than the last events of the two segments before it. Every segment has
    /// the recording's modules, symbols, names and anchors. Call depths continue across segments: a
    /// call that is open at the switch is in one segment, and its return is in a later one.
    /// [`Process`](atf::trace::Process) reads them as one trace. A loss belongs to the
    /// segment in which it was counted.
    ///
    /// During a switch, each thread briefly has two writers. If the next segment cannot be created,
    /// the recording continues in the current one and retries about once a second. If no attempt
    /// succeeds, stopping the recording returns the error.
    ///
    /// A segment also ends before a thread has more events or details than its files can count. An
    /// empty segment does not end.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Segment {
        /// A segment ends when its events and details reach this size in bytes. The drain checks
        /// the size once per pass, so a segment may exceed this limit by the contents of the rings.
        pub size: Option<u64>,
        /// A segment ends when it reaches this age.
        pub duration: Option<Duration>,
        /// How many segments to keep, including the current one; at least 1. If there are more, the
        /// oldest is deleted, except for files that the recording did not write and the folders
        /// that contain them. If deleting fails, the recording continues, and stopping it returns
        /// the error.
        pub keep: Option<usize>,
    }
}

/// The error for a folder that already exists.
const TAKEN: ErrorKind = ErrorKind::Io(io::ErrorKind::AlreadyExists);

/// The maximum number of existing names that one attempt to create a segment skips.
const MOST_SKIPPED: u32 = 1000;

/// The maximum number of passes between two attempts to create a segment: about a second.
const MOST_PASSES: u32 = 1024;

/// The segments of a recording.
#[derive(Debug)]
pub(super) struct Segments {
    options: Segment,
    /// The first segment's folder.
    first: PathBuf,
    /// The number of segments.
    pub(super) count: u64,
    /// The number in the last segment's folder name.
    number: u64,
    /// When the last segment began.
    start: Instant,
    /// Why the next segment could not be created.
    failure: Option<Failure>,
    /// The size of the current segment's ended threads, in bytes.
    ended_size: u64,
    /// Finished segments that will be deleted later.
    over: VecDeque<SessionFiles>,
    /// Finished segments whose last manifest could not be written.
    pub(super) unfinished: Vec<Arc<SessionWriter>>,
    /// The totals of the finished segments.
    pub(super) totals: SessionTotals,
}

/// A segment that could not be created.
#[derive(Debug)]
struct Failure {
    error: Error,
    /// The number of passes between this attempt and the next.
    passes: u32,
    /// How many of these passes are left.
    left: u32,
}

impl Segments {
    pub(super) fn new(options: Segment, first: &SessionWriter) -> Self {
        Self {
            options,
            first: first.path().to_path_buf(),
            count: 1,
            number: 1,
            start: Instant::now(),
            failure: None,
            ended_size: 0,
            over: VecDeque::new(),
            unfinished: Vec::new(),
            totals: SessionTotals::default(),
        }
    }

    /// Returns whether the segment that these writers belong to must end. Each writer adds at most
    /// `most` events per pass.
    pub(super) fn is_over<'a>(
        &self,
        writers: impl Iterator<Item = &'a ThreadWriter>,
        most: usize,
    ) -> bool {
        let (mut size, mut is_full) = (self.ended_size, false);
        for writer in writers {
            size = size.saturating_add(writer.size());
            is_full |= !writer.has_room_for(most as u64);
        }
        let is_large = self.options.size.is_some_and(|most| size >= most);
        let is_old = |most| self.start.elapsed() >= most;
        size > 0 && (is_full || is_large || self.options.duration.is_some_and(is_old))
    }

    /// Counts a thread that ended during the segment.
    pub(super) fn end_thread(&mut self, writer: &ThreadWriter) {
        self.ended_size = self.ended_size.saturating_add(writer.size());
    }

    /// Returns whether another attempt to create a segment must wait for a later pass.
    pub(super) fn must_wait(&mut self) -> bool {
        self.failure.as_mut().is_some_and(|failure| {
            let must_wait = failure.left > 0;
            failure.left = failure.left.saturating_sub(1);
            must_wait
        })
    }

    /// Creates the next segment after `current`, skipping existing names.
    pub(super) fn create(&mut self, current: &SessionWriter) -> Result<SessionWriter> {
        for _ in 0..MOST_SKIPPED {
            match current.successor(self.next_folder()) {
                Err(error) if *error.kind() == TAKEN => {}
                made => return made,
            }
            self.number = self.number.saturating_add(1);
        }
        current.successor(self.next_folder())
    }

    fn next_folder(&self) -> PathBuf {
        let mut name = self.first.file_name().unwrap_or_default().to_os_string();
        name.push(format!("_segment_{:06}", self.number.saturating_add(1)));
        self.first.with_file_name(name)
    }

    /// Keeps the error of a segment that could not be created, until a later attempt succeeds.
    /// Doubles the number of passes to wait before each later attempt.
    pub(super) fn fail(&mut self, error: Error) {
        let last = self.failure.as_ref().map_or(0, |failure| failure.passes);
        let passes = last.saturating_mul(2).clamp(1, MOST_PASSES);
        self.failure = Some(Failure {
            error,
            passes,
            left: passes,
        });
    }

    /// Returns why the next segment could not be created, if one is still due.
    pub(super) fn take_error(&mut self) -> Option<Error> {
        self.failure.take().map(|failure| failure.error)
    }

    /// Counts a finished segment, and deletes the oldest one if there are too many.
    pub(super) fn end(&mut self, segment: &SessionWriter, totals: &SessionTotals) -> Result<()> {
        self.totals.add(totals);
        self.count = self.count.saturating_add(1);
        self.number = self.number.saturating_add(1);
        self.failure = None;
        self.start = Instant::now();
        self.ended_size = 0;
        let Some(keep) = self.options.keep else {
            return Ok(());
        };
        self.over.push_back(segment.files());
        // The current segment counts towards `keep`.
        let excess = self.over.len().saturating_sub(keep.saturating_sub(1));
        let deleted = self.over.drain(..excess).map(|oldest| oldest.delete());
        deleted.fold(Ok(()), Result::and)
    }
}
