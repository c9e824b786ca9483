//! Rewrites a thread's folder: its files, and other files in it.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use super::session::{is_earlier, not_copied};
use super::{Engine, size};
use crate::detail::DetailReader;
use crate::error::{Error, ErrorKind, Result};
use crate::header::HEADER_SIZE;
use crate::index::IndexReader;
use crate::manifest::ManifestThread;
use crate::rewrite::guess;
use crate::rewrite::job::Failure;
use crate::rewrite::report::{NoteKind, Place, SessionReport, ThreadReport};
use crate::rewrite::stage::{self, at, free_path, is_numbered, names};
use crate::rewrite::thread::{self, ORPHANS, Pair, Rewritten, SALVAGED};
use crate::rewrite::tree::left_behind;
use crate::ring;
use crate::source::{Input, OpenOptions};
use crate::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE, Ring, ThreadReader};

/// The source and the target of a thread.
pub(super) struct Route<'a> {
    /// The session's folder; paths in its report are relative to it.
    pub(super) root: &'a Path,
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    /// The folder for this thread's unreadable files.
    pub(super) unreadable: &'a Path,
    /// The id in the folder's name.
    pub(super) id: Option<u32>,
    /// What the manifest says of it.
    pub(super) listed: Option<&'a ManifestThread>,
}

impl Engine<'_> {
    /// Rewrites a thread. The outer error ends the whole rewrite; an inner read error ends only this
    /// thread.
    pub(super) fn thread(
        &mut self,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Result<Rewritten, Failure>> {
        self.done = self.done.saturating_add(size(route.from));
        stage::create_folder(route.to)?;
        match names(route.from) {
            Ok(names) => self.keep_sides(&names, route, report, session)?,
            Err(error) => return Ok(Err(Failure::Read(error))),
        }
        let rewritten = self.open_and_rewrite(route, report, session);
        self.progress.reach(self.done);
        if rewritten.is_ok() {
            let is_same = |name| stage::is_same(&route.from.join(name), &route.to.join(name));
            // Files are compared until one differs.
            session.changed =
                session.changed || ![INDEX_FILE, DETAIL_FILE].into_iter().all(is_same);
        }
        Ok(rewritten)
    }

    fn open_and_rewrite(
        &mut self,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Rewritten, Failure> {
        match ThreadReader::open(route.from) {
            Ok(thread) => self.opened(&thread, route, report, session),
            Err(error) if self.job.salvage => {
                self.under_guessed_header(error, route, report, session)
            }
            Err(error) => Err(Failure::Read(error)),
        }
    }

    fn opened(
        &mut self,
        thread: &ThreadReader,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Rewritten, Failure> {
        for error in thread.disagreements() {
            let file = match error.kind() {
                ErrorKind::WrongDetailFlag { .. } => INDEX_FILE,
                _ => DETAIL_FILE,
            };
            let place = || Place::of(file, &error);
            report.notes.add(NoteKind::HeaderDisagrees, place);
        }
        match (thread.ring(), thread.ring_error()) {
            (Some(_), _) => {}
            (None, Some(error)) => {
                let place = Place::of(RING_FILE, error);
                self.keep_ring(NoteKind::RingNotRead, place, route, report, session)?;
            }
            (None, None) => {
                let place = Place::new(RING_FILE, "", None).found("index.atf is finalized");
                self.keep_ring(NoteKind::RingLeftOver, place, route, report, session)?;
            }
        }
        let guessed = match thread.detail_error() {
            Some(error) => self.unread_detail(error, thread.index(), route, report, session)?,
            None => None,
        };
        let pair = Pair {
            index: thread.index(),
            detail: thread.detail().or(guessed.as_ref()),
            ring: thread.ring().unwrap_or_default(),
            folder_id: route.id,
            earlier_cut: route.listed.and_then(|listed| listed.cut),
        };
        thread::rewrite(self.job, pair, route.to, report, &mut self.progress)
    }

    /// Rewrites a thread whose index cannot be opened, if its header can be reconstructed from its
    /// events.
    fn under_guessed_header(
        &mut self,
        error: Error,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Rewritten, Failure> {
        let detail = Input::open_in_session(&route.from.join(DETAIL_FILE), OpenOptions::new());
        let detail = detail.and_then(DetailReader::new);
        let header = detail.as_ref().ok().map(DetailReader::header);
        let index = guess::index(&route.from.join(INDEX_FILE), route.id, header);
        let Ok(Some(index)) = index else {
            return Err(Failure::Read(error));
        };
        self.put_aside(route, INDEX_FILE, session)?;
        let mut place = Place::of(INDEX_FILE, &error);
        place.found = format!("{}; {}", place.found, guess::describe(index.header()));
        report.notes.add(NoteKind::HeaderGuessed, || place);
        let place = Place::new(RING_FILE, "", None).found("index.atf has no header");
        self.keep_ring(NoteKind::RingNotRead, place, route, report, session)?;
        let detail = match detail {
            Ok(detail) => Some(detail),
            Err(error) if *error.kind() == ErrorKind::Io(io::ErrorKind::NotFound) => None,
            Err(error) => self.unread_detail(&error, &index, route, report, session)?,
        };
        let pair = Pair {
            index: &index,
            detail: detail.as_ref(),
            ring: Ring::default(),
            folder_id: route.id,
            earlier_cut: route.listed.and_then(|listed| listed.cut),
        };
        thread::rewrite(self.job, pair, route.to, report, &mut self.progress)
    }

    /// Sets aside a detail file that cannot be opened. With salvage, opens it with a header that
    /// matches its index.
    fn unread_detail(
        &self,
        error: &Error,
        index: &IndexReader,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Option<DetailReader>, Failure> {
        self.put_aside(route, DETAIL_FILE, session)?;
        let guessed = self.guess_detail(route, index, report);
        // A header that could not be read may be intact, so report the error, not the guess.
        if guessed.is_none() || matches!(error.kind(), ErrorKind::Io(_)) {
            let what = match error.kind() {
                // The writer was killed before its first detail.
                ErrorKind::NothingWritten | ErrorKind::TooShort { .. } => NoteKind::NotFinalized,
                _ => NoteKind::DetailFileUnreadable,
            };
            report.notes.add(what, || Place::of(DETAIL_FILE, error));
        }
        Ok(guessed)
    }

    /// Opens a detail file with a header that matches its index.
    fn guess_detail(
        &self,
        route: &Route<'_>,
        index: &IndexReader,
        report: &mut ThreadReport,
    ) -> Option<DetailReader> {
        if !self.job.salvage {
            return None;
        }
        let path = route.from.join(DETAIL_FILE);
        let detail = guess::detail(&path, index.header()).ok()?;
        let place = || {
            let place = Place::new(DETAIL_FILE, "header", Some(0));
            place.found("assumed to match index.atf")
        };
        report.notes.add(NoteKind::HeaderGuessed, place);
        Some(detail)
    }

    /// Sets aside `ring.atf` if there is one whose events are not read.
    fn keep_ring(
        &self,
        what: NoteKind,
        place: Place,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<(), Failure> {
        if fs::symlink_metadata(route.from.join(RING_FILE)).is_err() {
            return Ok(());
        }
        report.notes.add(what, || place);
        self.put_aside(route, RING_FILE, session)
    }

    /// Copies an unreadable file unchanged.
    fn put_aside(
        &self,
        route: &Route<'_>,
        name: &str,
        session: &mut SessionReport,
    ) -> Result<(), Failure> {
        session.changed = true;
        let from = route.from.join(name);
        if !self.job.keeps_rest || fs::symlink_metadata(&from).is_err() {
            return Ok(());
        }
        let copied = stage::create_folder(route.unreadable)
            .and_then(|()| free_path(route.unreadable, name, ""))
            .and_then(|to| stage::copy(&from, &to, self.job.durability));
        let left = copied.map_err(Failure::Write)?;
        session.left_behind.extend(not_copied(route.root, left));
        Ok(())
    }

    /// Copies the files that an earlier rewrite left in a thread's folder, and reports files that do
    /// not belong there.
    fn keep_sides(
        &self,
        names: &[OsString],
        route: &Route<'_>,
        report: &ThreadReport,
        session: &mut SessionReport,
    ) -> Result<()> {
        for name in names {
            let text = name.to_string_lossy();
            let below = Path::new(&report.folder).join(name);
            let is_side = [ORPHANS, SALVAGED]
                .into_iter()
                .any(|(stem, extension)| is_numbered(&text, stem, extension));
            if is_side && self.job.keeps_rest {
                let from = route.from.join(name);
                let left = stage::copy(&from, &route.to.join(name), self.job.durability)?;
                session.left_behind.extend(not_copied(route.root, left));
            } else if is_side {
                let why = "set aside by an earlier recovery";
                session.left_behind.push(left_behind(&below, why));
            } else if !is_known(&text, report.folder.is_empty()) {
                session
                    .left_behind
                    .push(left_behind(&below, "not part of a thread"));
            }
        }
        Ok(())
    }

    /// Sets aside all files of an unreadable thread, and removes the part already written.
    pub(super) fn give_up(&self, route: &Route<'_>, session: &mut SessionReport) -> Result<()> {
        session.changed = true;
        fs::remove_dir_all(route.to).map_err(at(route.to))?;
        if !self.job.keeps_rest {
            return Ok(());
        }
        if fs::symlink_metadata(route.unreadable).is_ok() {
            fs::remove_dir_all(route.unreadable).map_err(at(route.unreadable))?;
        }
        let left = stage::copy(route.from, route.unreadable, self.job.durability)?;
        session.left_behind.extend(not_copied(route.root, left));
        Ok(())
    }
}

/// Returns whether a thread has no index file, or an empty one, and no event elsewhere. Its writer was killed
/// before it wrote anything, so nothing is lost with its folder.
pub(super) fn is_unwritten(route: &Route<'_>, error: &Error) -> bool {
    let has_details = || match DetailReader::open(route.from.join(DETAIL_FILE)) {
        Ok(detail) => detail.file_size() > HEADER_SIZE as u64,
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::NothingWritten | ErrorKind::Io(io::ErrorKind::NotFound)
        ),
    };
    let has_ring = || match ring::read(route.from, OpenOptions::new()) {
        Ok(ring) => ring.is_some_and(|ring| !ring.is_empty()),
        // Its writer had not yet stored the header.
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::TooShort { .. }
                | ErrorKind::BadMagic {
                    found: [0, 0, 0, 0],
                    ..
                }
        ),
    };
    // Files that an earlier rewrite set aside were copied there.
    let has_sides = || !names(route.to).is_ok_and(|names| names.is_empty());
    let has_no_index = matches!(
        error.kind(),
        ErrorKind::NothingWritten | ErrorKind::Io(io::ErrorKind::NotFound)
    );
    has_no_index && !has_details() && !has_ring() && !has_sides()
}

/// Returns whether this is the name of a thread's file, or, in the folder of a thread without a
/// session, of something that an earlier rewrite left there.
fn is_known(name: &str, is_alone: bool) -> bool {
    [INDEX_FILE, DETAIL_FILE, RING_FILE].contains(&name) || (is_alone && is_earlier(name))
}
