//! Rewrites a thread's folder: the thread's files and any other files in it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::{Engine, size};
use crate::check::thread::{Facts, are_comparable};
use crate::completeness::Completeness;
use crate::detail::DetailReader;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE, is_numbered};
use crate::index::IndexReader;
use crate::manifest::ManifestThread;
use crate::rewrite::ends::Seen;
use crate::rewrite::guess::{self, Machine};
use crate::rewrite::job::{Failure, Job, Progress};
use crate::rewrite::report::{LeftBehind, NoteKind, Place, ThreadReport};
use crate::rewrite::set_aside_writer::{ORPHANS, SALVAGED};
use crate::rewrite::stage::{self, free_path, names, remove};
use crate::rewrite::thread::{self, Carry, Pair, Rewritten};
use crate::rewrite::tree::{UNREADABLE, is_earlier};
use crate::ring;
use crate::rules::table as rules;
use crate::source::{self, Input, OpenOptions};
use crate::thread::ThreadReader;
use crate::wire::{Clock, HEADER_SIZE};
use crate::write::{Disk, Storage as _};

/// How many times to try rewriting files when each attempt fails at a different place.
const ATTEMPTS: usize = 3;

/// The parts of the session's report that concern a thread but are not in the thread's own report.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) changed: bool,
    pub(super) left_behind: Vec<LeftBehind>,
}

/// The result of rewriting a thread.
pub(super) struct Attempt {
    pub(super) report: ThreadReport,
    pub(super) beside: Beside,
    /// The result, or an error. A read error affects only this thread.
    pub(super) rewritten: Result<Rewritten, Failure>,
}

/// The source and the target of a thread.
#[derive(Clone, Copy)]
pub(super) struct Route<'a> {
    /// The session's folder; paths in its report are relative to it.
    pub(super) root: &'a Path,
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    /// The folder for this thread's unreadable files.
    pub(super) unreadable: &'a Path,
    /// The id in the folder's name.
    pub(super) id: Option<u32>,
    /// The thread's entry in the manifest.
    pub(super) listed: Option<&'a ManifestThread>,
    /// The session's clock according to the manifest.
    pub(super) clock: Option<Clock>,
    /// The machine that recorded the session's threads.
    pub(super) machine: Machine<'a>,
    /// The thread's state at the end of the previous segment.
    pub(super) before: Option<&'a Carry>,
    pub(super) options: OpenOptions,
}

impl Route<'_> {
    fn open(&self, name: &str) -> Result<Input> {
        Input::open_in_session(&self.from.join(name), self.options)
    }

    /// Removes the files written for the thread, but not its folder, which may be that of the whole
    /// new trace.
    fn clear(&self) -> Result<()> {
        for name in names(self.to)? {
            remove(&self.to.join(name))?;
        }
        remove(self.unreadable)
    }

    /// Returns whether to start over and skip unreadable ranges.
    fn starts_again(&self, error: &Error) -> bool {
        !self.options.around_errors && is_bad_sector(error)
    }
}

impl Engine<'_> {
    /// Rewrites a thread. After an error that may come from a bad sector, starts over and searches
    /// for unreadable ranges. The first attempt skips this search, because it reads all files one
    /// more time. An error ends the whole rewrite.
    pub(super) fn thread(
        &self,
        folder: &str,
        mut route: Route<'_>,
        notify: &dyn Fn(),
    ) -> Result<Attempt> {
        let mut progress = Progress::new(&self.done, size(route.from), notify);
        let mut last = self.attempt(folder, &route, &mut progress)?;
        for _ in 1..ATTEMPTS {
            match &last.rewritten {
                Err(Failure::Read(error))
                    if is_bad_sector(error) && !is_lost(error, route.options) => {}
                _ => break,
            }
            route.clear()?;
            route.options.around_errors = true;
            last = self.attempt(folder, &route, &mut progress)?;
        }
        progress.finish();
        Ok(last)
    }

    /// Rewrites a thread once.
    fn attempt(
        &self,
        folder: &str,
        route: &Route<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        stage::create_folder(route.to)?;
        let mut thread = Thread {
            job: self.job,
            route,
            report: ThreadReport {
                folder: folder.to_owned(),
                ..ThreadReport::default()
            },
            beside: Beside::default(),
            progress,
        };
        // Without a session, an earlier rewrite leaves its files in the thread's folder.
        if folder.is_empty() {
            self.keep_earlier(route.from, route.to, &mut thread.beside.left_behind)?;
        }
        match names(route.from) {
            Ok(names) => thread.keep_sides(&names)?,
            // A folder that cannot be listed may still allow its files to be read.
            Err(error) => {
                let why = format!("any other files in it {}", stage::unreadable(&error));
                let left = LeftBehind::new(Path::new(folder), &why);
                thread.beside.left_behind.push(left);
            }
        }
        let rewritten = thread.open_and_rewrite();
        let Thread {
            report, mut beside, ..
        } = thread;
        if rewritten.is_ok() {
            let is_same = |name| {
                let (from, to) = (route.from.join(name), route.to.join(name));
                // The footer has a checksum of the events, so it differs if any event changed. The
                // report lists intentional changes.
                stage::ends_are_same(&from, &to)
                    && (report.is_clean() || stage::is_same(&from, &to))
            };
            // Stop comparing at the first file that differs.
            beside.changed = beside.changed || ![INDEX_FILE, DETAIL_FILE].into_iter().all(is_same);
        }
        Ok(Attempt {
            report,
            beside,
            rewritten,
        })
    }

    /// Copies the files that an earlier rewrite left next to the threads.
    pub(super) fn keep_earlier(
        &self,
        path: &Path,
        out: &Path,
        left_behind: &mut Vec<LeftBehind>,
    ) -> Result<()> {
        for name in names(path)? {
            let text = name.to_string_lossy();
            let from = path.join(&name);
            if is_earlier(&text) {
                let is_folder = fs::symlink_metadata(&from).is_ok_and(|found| found.is_dir());
                if text == UNREADABLE && !is_folder {
                    left_behind.push(LeftBehind::new(Path::new(&name), "not a folder"));
                } else if self.job.keeps_rest {
                    let to = out.join(&name);
                    left_behind.extend(stage::copy(path, &from, &to, self.job.durability)?);
                } else {
                    let why = "set aside by an earlier recovery";
                    left_behind.push(LeftBehind {
                        // An earlier report is not part of the trace, so omitting it loses nothing.
                        is_loss: text == UNREADABLE,
                        ..LeftBehind::new(Path::new(&name), why)
                    });
                }
            }
        }
        Ok(())
    }

    /// Sets aside all files of an unreadable thread, and removes the files already written for the
    /// new thread.
    pub(super) fn give_up(&self, route: &Route<'_>, beside: &mut Beside) -> Result<()> {
        beside.changed = true;
        remove(route.to)?;
        remove(route.unreadable)?;
        if !self.job.keeps_rest {
            return Ok(());
        }
        let durability = self.job.durability;
        let left = stage::copy(route.root, route.from, route.unreadable, durability)?;
        beside.left_behind.extend(left);
        Ok(())
    }
}

/// One attempt to rewrite a thread.
struct Thread<'a, 'b> {
    job: &'a Job<'a>,
    route: &'a Route<'a>,
    report: ThreadReport,
    beside: Beside,
    progress: &'a mut Progress<'b>,
}

impl Thread<'_, '_> {
    fn open_and_rewrite(&mut self) -> Result<Rewritten, Failure> {
        let route = self.route;
        match ThreadReader::open_with(route.from, route.options) {
            Ok(thread) => self.opened(&thread),
            Err(error) if route.starts_again(&error) || is_lost(&error, route.options) => {
                Err(Failure::Read(error))
            }
            Err(error) if self.job.salvage || route.options.around_errors => {
                self.under_guessed_header(error)
            }
            Err(error) => Err(Failure::Read(error)),
        }
    }

    fn opened(&mut self, thread: &ThreadReader) -> Result<Rewritten, Failure> {
        for error in thread.disagreements() {
            let file = match error.kind() {
                ErrorKind::WrongDetailFlag { .. } => INDEX_FILE,
                _ => DETAIL_FILE,
            };
            let place = || Place::from_error(file, &error);
            let notes = &mut self.report.notes;
            notes.add(NoteKind::HeaderDisagrees, error.rule(), place);
        }
        let rewritten = self.with_others(thread, false)?;
        let original = Facts {
            has_detail: thread.has_detail_file(),
            clock: Some(rewritten.clock.0),
            times: rewritten.times,
        };
        Ok(Rewritten {
            original: Some(original),
            ..rewritten
        })
    }

    /// Rewrites a thread with its ring and its details, or sets these aside. The checker compares
    /// neither with an index that has a guessed header.
    fn with_others(
        &mut self,
        thread: &ThreadReader,
        is_guessed: bool,
    ) -> Result<Rewritten, Failure> {
        let route = self.route;
        match (thread.ring(), thread.ring_error()) {
            (_, Some(error)) if route.starts_again(error) => {
                return Err(Failure::Read(error.clone()));
            }
            (ring, Some(error)) => {
                let place = Place::from_error(RING_FILE, error);
                let kind = match ring {
                    Some(_) => NoteKind::RingDetailsNotRead,
                    None => NoteKind::RingNotRead,
                };
                let rule = error.rule().filter(|_| !is_guessed);
                self.report.notes.add(kind, rule, || place);
                self.put_aside(RING_FILE)?;
            }
            (Some(_), None) => {}
            (None, None) => match Disk.exists(&route.from.join(RING_FILE)) {
                Ok(true) => {
                    let place = Place::new(RING_FILE, "", None).found("index.atf has a footer");
                    let rule = Some(&rules::ATF_RING_001);
                    // A writer removes the ring only after it has rewritten the header.
                    let completeness = thread.index().completeness();
                    let is_finalized = matches!(completeness, Completeness::Finalized);
                    let rule = rule.filter(|_| is_finalized && !is_guessed);
                    let notes = &mut self.report.notes;
                    notes.add(NoteKind::RingLeftOver, rule, || place);
                    self.put_aside(RING_FILE)?;
                }
                Ok(false) => {}
                Err(error) => {
                    let why = stage::unreadable(&Error::io(error));
                    self.leave_behind(RING_FILE.as_ref(), &why);
                }
            },
        }
        let guessed = match thread.detail_error() {
            Some(error) => self.unread_detail(error, thread.index())?,
            None => None,
        };
        let ring = thread.ring().unwrap_or_default();
        let is_ring_salvaged = is_guessed || thread.is_ring_salvaged;
        let seen = |(is_guessed, from_ring)| match from_ring {
            _ if is_guessed => Seen::Header,
            1.. if is_ring_salvaged => Seen::WithoutRing,
            _ => Seen::Whole,
        };
        let pair = Pair {
            index: thread.index(),
            detail: thread.detail().or(guessed.as_ref()),
            ring,
            is_ring_salvaged,
            seen: [
                (is_guessed, ring.index_bytes),
                (guessed.is_some(), ring.detail_bytes),
            ]
            .map(seen),
            has_comparable_links: !is_guessed && are_comparable(thread),
            folder_id: route.id,
            earlier_cut: route.listed.and_then(|listed| listed.cut),
            before: route.before,
        };
        thread::rewrite(self.job, pair, route.to, &mut self.report, self.progress)
    }

    /// Rewrites a thread whose index cannot be opened, if its header can be reconstructed from its
    /// events.
    fn under_guessed_header(&mut self, error: Error) -> Result<Rewritten, Failure> {
        let route = self.route;
        let file = route.open(INDEX_FILE);
        let is_unreadable = file.as_ref().is_ok_and(guess::is_unreadable);
        if !self.job.salvage && !is_unreadable {
            return Err(Failure::Read(error));
        }
        let detail = route.open(DETAIL_FILE).and_then(DetailReader::new);
        let header = detail.as_ref().ok().map(DetailReader::header);
        let guessed =
            file.and_then(|file| guess::index(file, route.id, route.clock, header, route.machine));
        let index = match guessed {
            Ok(Some(index)) => index,
            Err(error) if route.starts_again(&error) => return Err(Failure::Read(error)),
            Ok(None) | Err(_) => return Err(Failure::Read(error)),
        };
        let assumed = guess::describe(index.header());
        let place = if is_unreadable {
            // A file with an unreadable header cannot be copied.
            let place = Place::new(INDEX_FILE, "header", Some(0));
            place.found(format!("cannot be read; {assumed}"))
        } else {
            self.put_aside(INDEX_FILE)?;
            let place = Place::from_error(INDEX_FILE, &error);
            let found = format!("{}; {assumed}", place.found);
            place.found(found)
        };
        let notes = &mut self.report.notes;
        notes.add(NoteKind::HeaderGuessed, error.rule(), || place);
        let thread = ThreadReader::with_index(route.from, index, route.options);
        self.with_others(&thread.map_err(Failure::Read)?, true)
    }

    /// Sets aside a detail file that cannot be opened. With salvage, opens it with a header derived
    /// from its index.
    fn unread_detail(
        &mut self,
        error: &Error,
        index: &IndexReader,
    ) -> Result<Option<DetailReader>, Failure> {
        if self.route.starts_again(error) {
            return Err(Failure::Read(error.clone()));
        }
        let file = self.route.open(DETAIL_FILE);
        let is_unreadable = file.as_ref().is_ok_and(guess::is_unreadable);
        let file = file.ok().filter(|_| self.job.salvage || is_unreadable);
        let guessed = file.and_then(|file| guess::detail(file, index.header()).ok());
        let notes = &mut self.report.notes;
        if guessed.is_some() {
            notes.add(NoteKind::HeaderGuessed, error.rule(), || {
                let place = Place::new(DETAIL_FILE, "header", Some(0));
                place.found("assumed to match index.atf")
            });
        }
        // An unreadable header may be intact, so report the read error, not the guess.
        if guessed.is_none() || matches!(error.kind(), ErrorKind::Io(_)) {
            let kind = match error.kind() {
                // The writer was killed before it wrote its first detail.
                ErrorKind::NothingWritten | ErrorKind::TooShort { .. } => NoteKind::NotFinalized,
                _ => NoteKind::DetailFileUnreadable,
            };
            let place = || Place::from_error(DETAIL_FILE, error);
            notes.add(kind, error.rule(), place);
        }
        // A file with an unreadable header cannot be copied. With a guessed header, its readable
        // events are kept.
        if guessed.is_none() || !is_unreadable {
            self.put_aside(DETAIL_FILE)?;
        }
        Ok(guessed)
    }

    /// Copies an unreadable file unchanged.
    fn put_aside(&mut self, name: &str) -> Result<(), Failure> {
        self.beside.changed = true;
        if !self.job.keeps_rest {
            return Ok(());
        }
        let route = self.route;
        let copied = stage::create_folder_like(route.from, route.unreadable)
            .and_then(|()| free_path(route.unreadable, name, ""))
            .and_then(|to| self.copy(&route.from.join(name), &to));
        copied.map_err(Failure::Write)
    }

    /// Copies files that an earlier rewrite left in a thread's folder, and reports files that do
    /// not belong there.
    fn keep_sides(&mut self, names: &[OsString]) -> Result<()> {
        for name in names {
            let text = name.to_string_lossy();
            let is_side = [ORPHANS, SALVAGED]
                .into_iter()
                .any(|(stem, extension)| is_numbered(&text, stem, extension));
            if is_side && self.job.keeps_rest {
                self.copy(&self.route.from.join(name), &self.route.to.join(name))?;
            } else if is_side {
                self.leave_behind(name.as_ref(), "set aside by an earlier recovery");
            } else if !is_known(&text, self.report.folder.is_empty()) {
                self.leave_behind(name.as_ref(), "not part of a thread");
            }
        }
        Ok(())
    }

    /// Copies a file, and reports it if it cannot be copied.
    fn copy(&mut self, from: &Path, to: &Path) -> Result<()> {
        let left = stage::copy(self.route.root, from, to, self.job.durability)?;
        self.beside.left_behind.extend(left);
        Ok(())
    }

    /// Reports an entry of the thread's folder that is not copied.
    fn leave_behind(&mut self, name: &Path, why: &str) {
        let path = Path::new(&self.report.folder).join(name);
        self.beside.left_behind.push(LeftBehind::new(&path, why));
    }
}

/// Returns whether an error may come from a bad sector, so that other parts of the file may be
/// readable.
fn is_bad_sector(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(kind) if source::is_bad_sector(*kind))
}

/// Returns whether a thread's index file is missing or empty, and no other file contains an event.
/// If so, the writer was killed before it wrote anything, and dropping the folder loses nothing.
pub(super) fn is_unwritten(route: &Route<'_>, error: &Error) -> bool {
    let has_nothing =
        |error: &Error| *error.kind() == ErrorKind::NothingWritten || error.is_not_found();
    let has_details = || match DetailReader::open(route.from.join(DETAIL_FILE)) {
        Ok(detail) => detail.file_size() > HEADER_SIZE as u64,
        Err(error) => !has_nothing(&error),
    };
    let has_ring = || match ring::read(route.from, OpenOptions::new()) {
        Ok(ring) => ring.is_some_and(|ring| !ring.is_empty()),
        // The writer had not yet stored the header.
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::TooShort { .. }
                | ErrorKind::BadMagic {
                    found: [0, 0, 0, 0],
                    ..
                }
        ),
    };
    // Files that an earlier rewrite set aside have already been copied there.
    let has_sides = || !names(route.to).is_ok_and(|names| names.is_empty());
    has_nothing(error) && !has_details() && !has_ring() && !has_sides()
}

/// Returns whether a thread's folder may contain this name: a thread's file or, if the thread has
/// no session, a file or folder left by an earlier rewrite.
fn is_known(name: &str, is_alone: bool) -> bool {
    [INDEX_FILE, DETAIL_FILE, RING_FILE].contains(&name) || (is_alone && is_earlier(name))
}

/// Returns whether a file is entirely unreadable. A file with any readable sector can be opened,
/// and its errors have an offset.
fn is_lost(error: &Error, options: OpenOptions) -> bool {
    options.around_errors && is_bad_sector(error) && error.offset().is_none()
}
