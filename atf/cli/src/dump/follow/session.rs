//! The sessions that `--follow` reads: their threads, and consecutive segments.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use atf::follow::{FollowedThread, SessionFollower};
use atf::manifest::Manifest;
use atf::session::{ProcessName, SessionReader};
use atf::trace::Process;
use atf::{Error, ErrorKind};

use super::thread::Thread;
use crate::dump::Dump;
use crate::dump::reported::Reported;
use crate::output::Failure;
use crate::trace::report_deleted;

/// A session that provides names. If the session is the dumped path, its threads are followed too.
pub(super) struct Session {
    pub(super) follower: SessionFollower,
    pub(super) has_threads: bool,
    /// The folders of the current segment's threads that are or were followed.
    followed: BTreeSet<PathBuf>,
    /// The previous segment.
    before: Option<SessionFollower>,
    /// The manifests of the segments before `before`, without names.
    pub(super) manifests: Vec<Manifest>,
}

impl Session {
    pub(super) fn new(path: &Path, has_threads: bool) -> Self {
        Self {
            follower: SessionFollower::new(path),
            has_threads,
            followed: BTreeSet::new(),
            before: None,
            manifests: Vec::new(),
        }
    }

    /// Follows a session and its threads. Reports the segments that were deleted before it.
    pub(super) fn first(path: &Path) -> Self {
        if let Ok(process) = Process::open([path]) {
            report_deleted(&process);
        }
        Self::new(path, true)
    }

    /// Returns the new threads that `--thread` selects.
    pub(super) fn new_threads(&mut self, dump: &Dump) -> Result<Vec<Thread>, Error> {
        let new = self.follower.poll_threads()?.into_iter();
        let new: Vec<_> = new.filter(|thread| dump.selects(thread.id())).collect();
        let folders = new.iter().map(|thread| thread.path().to_path_buf());
        self.followed.extend(folders);
        let thread =
            |new: FollowedThread| Thread::of_folder(Some(new.id()), new.path(), dump.details);
        Ok(new.into_iter().map(thread).collect())
    }

    /// Reports the problems with the current segment itself, and its threads that could not be
    /// followed.
    pub(super) fn report_problems(&self, dump: &Dump, reported: &mut Reported) {
        let path = self.follower.path();
        let session = match SessionReader::open(path) {
            Ok(session) => session,
            // The recording keeps only its last segments and has deleted this one.
            Err(_) if !path.exists() => return,
            Err(error) => return reported.report(&error),
        };
        for error in &session.problems() {
            // A folder without an id cannot belong to a selected thread.
            if dump.threads.is_empty() || *error.kind() != ErrorKind::NoThreadId {
                reported.report(error);
            }
        }
        for thread in session.threads() {
            let is_followed = self.followed.contains(thread.path());
            if !is_followed
                && dump.selects(thread.id())
                && let Err(error) = thread.open_index()
            {
                reported.report(&error);
            }
        }
    }

    /// Finds the process's next segment, which exists before the last thread of the current one is
    /// finalized.
    pub(super) fn next_segment(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.follower.path();
        let (Some(this), Some(folder)) = (ProcessName::from_path(path), path.parent()) else {
            return Ok(None);
        };
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let failed = |error| Failure::at(folder, error);
        let mut next: Option<(ProcessName, PathBuf)> = None;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = path.with_file_name(entry.map_err(failed)?.file_name());
            if let Some(name) = ProcessName::from_path(&path)
                && (name.pid, name.program) == (this.pid, this.program)
                && name > this
                && next.as_ref().is_none_or(|(least, _)| name < *least)
            {
                next = Some((name, path));
            }
        }
        Ok(next.map(|(_, path)| path))
    }

    /// Follows the next segment. Reports the segments that are missing before it.
    pub(super) fn go_on(&mut self, next: &Path, reported: &mut Reported) -> Result<(), Error> {
        if let Some(missing) = missing_between(self.follower.path(), next) {
            reported.report_text(format!("{}: {missing}", next.display()));
        }
        self.keep_manifest_before()?;
        self.followed.clear();
        let next = SessionFollower::new(next);
        self.before = Some(mem::replace(&mut self.follower, next));
        Ok(())
    }

    /// Keeps the losses in the manifest of the previous segment. The manifest may have been
    /// completed after the segment's last event, and may even have been deleted in the meantime.
    pub(super) fn keep_manifest_before(&mut self) -> Result<(), Error> {
        let Some(mut before) = self.before.take() else {
            return Ok(());
        };
        let known = before.manifest().cloned();
        before.poll_manifest()?;
        let last = before.manifest().cloned().or(known);
        self.manifests.extend(last.map(|mut manifest| {
            (manifest.modules, manifest.symbols) = (Vec::new(), Vec::new());
            manifest
        }));
        Ok(())
    }
}

/// Returns the segments that are missing between two segments of a recording.
fn missing_between(before: &Path, next: &Path) -> Option<ErrorKind> {
    let first = ProcessName::from_path(before)?.segment.checked_add(1)?;
    let last = ProcessName::from_path(next)?.segment.checked_sub(1)?;
    (first <= last).then_some(ErrorKind::SegmentsMissing { first, last })
}
