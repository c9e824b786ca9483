//! Finds everything to check at a path: sessions, threads and files, in name order.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::output::Output;
use super::session::Session;
use super::{detail, index, manifest, thread};
use crate::FileKind;
use crate::check::finding::FileReport;
use crate::detail::DetailReader;
use crate::error::ErrorKind;
use crate::files::{
    DETAIL_FILE, INDEX_FILE, MANIFEST_FILE, RING_FILE, THREAD_FOLDER, has_extension, is_unfinished,
};
use crate::index::IndexReader;
use crate::parallel::{Results, in_order};
use crate::session::{SEARCH_DEPTH, is_session, is_thread};

/// A unit of work. Units can run in parallel if they are started in order.
#[derive(Debug)]
pub(super) enum Unit {
    Thread(PathBuf),
    /// A thread of a session, by its position.
    OfSession(Arc<Session>, usize),
    /// The rest of a session, after its threads.
    Session(Arc<Session>),
    File(PathBuf),
    Unreadable(PathBuf, String),
}

impl Unit {
    pub(super) fn check(&self, output: &mut dyn Output) {
        match self {
            Self::Thread(path) => thread::folder(path, output),
            Self::OfSession(session, position) => session.check_thread(*position, output),
            Self::Session(session) => session.check_rest(output),
            Self::File(path) => file(path, output),
            Self::Unreadable(path, why) => output.unreadable(path, why),
        }
    }
}

/// Checks several paths as [`check`](super::check) does, up to `jobs` threads, sessions or files at
/// a time. The order of the results does not depend on the number of jobs.
///
/// Memory use does not grow with the number of files: each check waits until its results are taken.
pub fn check_all(paths: &[PathBuf], jobs: NonZero<usize>, output: &mut dyn Output) {
    let produce = |take: &mut dyn FnMut(Unit) -> bool| {
        // No more units are needed once `take` returns false.
        let _ = paths.iter().all(|path| units(path, &mut *take));
    };
    let work = |unit: Unit, found: &Results<'_, Found>| unit.check(&mut Sent(found));
    in_order(jobs, produce, work, |found| {
        match found {
            Found::File(report) => output.file(report),
            Found::Unreadable(path, why) => output.unreadable(&path, &why),
        }
        !output.is_done()
    });
}

enum Found {
    File(FileReport),
    Unreadable(PathBuf, String),
}

/// An output that sends results to the collecting thread.
struct Sent<'a, 'r>(&'a Results<'r, Found>);

impl Output for Sent<'_, '_> {
    fn file(&mut self, report: FileReport) {
        self.0.send(Found::File(report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        self.0
            .send(Found::Unreadable(path.to_owned(), why.to_owned()));
    }
}

/// Passes each unit at a path to `take` until `take` returns `false`. Returns the last value that
/// `take` returned.
pub(super) fn units(path: &Path, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let own = || path.to_owned();
    match fs::metadata(path) {
        Err(error) => take(Unit::Unreadable(own(), why_missing(path, &error))),
        Ok(meta) if meta.is_dir() => folder(path, take),
        Ok(meta) if meta.is_file() => take(Unit::File(own())),
        Ok(_) => {
            let why = "neither a regular file nor a folder";
            take(Unit::Unreadable(own(), why.to_owned()))
        }
    }
}

fn why_missing(path: &Path, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound && path.is_symlink() {
        "a broken symlink".to_owned()
    } else {
        error.to_string()
    }
}

fn file(path: &Path, output: &mut dyn Output) {
    let named = |name| path.file_name().is_some_and(|own| own == name);
    if named(MANIFEST_FILE) {
        return manifest::file(path, output);
    }
    let kind = match FileKind::detect(path) {
        Err(error) => return output.unreadable(path, &error.message()),
        Ok(Some(kind)) => kind,
        Ok(None) if named(DETAIL_FILE) => FileKind::Detail,
        Ok(None) if named(INDEX_FILE) => FileKind::Index,
        Ok(None) if named(RING_FILE) => {
            return output.unreadable(
                path,
                "a thread's kill journal: give the thread's folder instead (`atf explain` reads this \
                 file alone)",
            );
        }
        Ok(None) => {
            let why = "not an ATF v2 file: it begins with neither \"ATI2\" nor \"ATD2\"";
            return output.unreadable(path, why);
        }
    };
    match kind {
        FileKind::Index => index::file(path, IndexReader::open(path), output),
        FileKind::Detail => detail::file(path, DetailReader::open(path), output),
    }
}

/// Passes the units in a folder to `take`.
fn folder(path: &Path, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let mut found = false;
    let is_wanted = visit(path, 0, &mut found, take);
    let why = "contains no thread folder, manifest.json or ATF file at any depth";
    is_wanted && (found || take(Unit::Unreadable(path.to_owned(), why.to_owned())))
}

/// Passes a folder to `take` if it is a thread or a session, and then what is below it, unless it
/// is a thread. Does not follow symlinks. Sets `found` if there is anything to pass. The limited
/// depth also limits the recursion.
fn visit(path: &Path, depth: usize, found: &mut bool, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let (is_thread, is_session) = (is_thread(path), is_session(path).unwrap_or(false));
    *found |= is_thread || is_session;
    if is_thread && !take(Unit::Thread(path.to_owned())) {
        return false;
    }
    if is_session && !session(path, take) {
        return false;
    }
    if is_thread {
        return true;
    }
    let listed = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match listed {
        Ok(entries) => entries,
        Err(error) => {
            *found = true;
            return take(Unit::Unreadable(path.to_owned(), error.to_string()));
        }
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    // Drop the entries before the visits, because they keep the folder open.
    let entries = entries.into_iter();
    let entries: Vec<_> = entries.map(|it| (it.path(), it.file_type())).collect();
    entries
        .into_iter()
        .all(|(path, file_type)| match file_type {
            Err(error) => {
                *found = true;
                take(Unit::Unreadable(path, error.to_string()))
            }
            Ok(file_type) if file_type.is_dir() => {
                if is_skipped(&path, is_session) {
                    true
                } else if depth >= SEARCH_DEPTH {
                    *found = true;
                    take(Unit::Unreadable(path, ErrorKind::TooDeep.to_string()))
                } else {
                    visit(&path, depth.saturating_add(1), found, &mut *take)
                }
            }
            Ok(file_type) if file_type.is_file() && has_extension(&path) => {
                *found = true;
                take(Unit::File(path))
            }
            Ok(_) => true,
        })
}

/// Passes the threads of a session to `take`, and then the session itself.
fn session(path: &Path, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let session = match Session::open(path) {
        Ok(session) => Arc::new(session),
        Err(error) => return take(Unit::Unreadable(path.to_owned(), error.message())),
    };
    (0..session.threads()).all(|thread| take(Unit::OfSession(Arc::clone(&session), thread)))
        && take(Unit::Session(session))
}

/// Returns whether to skip a folder, because its session reports it, or because a recovery set it
/// aside or left it unfinished.
fn is_skipped(path: &Path, in_session: bool) -> bool {
    let name = path.file_name().unwrap_or_default();
    let is_reported = in_session && name.to_string_lossy().starts_with(THREAD_FOLDER);
    let is_set_aside = || name == "unreadable" && path.with_file_name("recovery.json").is_file();
    is_reported || is_set_aside() || is_unfinished(name)
}
