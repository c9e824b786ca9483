//! From a path to the reports of all files there.

mod detail;
mod end;
mod events;
mod index;
mod link;
mod manifest;
mod parallel;
mod ring;
mod session;
mod thread;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::rewrite::is_unfinished;
use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf::{Error, ErrorKind, FileKind};
use walkdir::{DirEntry, WalkDir};

use crate::finding::{FileReport, Kind};

pub(crate) use events::Holes;
pub use parallel::check_all;
pub(crate) use thread::FOLDER as THREAD_FOLDER;

/// Where a check's results go, one by one, so that no number of files needs memory for all.
pub trait Output {
    /// Takes the report of a file.
    fn file(&mut self, report: FileReport);

    /// Takes a path that could not be read, and why.
    fn unreadable(&mut self, path: &Path, why: &str);

    /// Whether nothing more is wanted, since what was given cannot be written, say.
    fn is_done(&self) -> bool {
        false
    }
}

/// Checks what is at a path: a file, a thread's folder, a session, or a folder with such things
/// below it. The results go to `output`; nothing that is wrong with one file hides another.
pub fn check(path: &Path, output: &mut dyn Output) {
    units(path, &mut |unit| {
        unit.check(output);
        !output.is_done()
    });
}

/// Checks the bytes of one index or detail file as a file of that path would be checked by itself; nothing
/// need stand at the path.
pub fn check_bytes(path: &Path, kind: FileKind, bytes: Vec<u8>, output: &mut dyn Output) {
    match kind {
        FileKind::Index => index::file(path, IndexReader::from_bytes(bytes), output),
        FileKind::Detail => detail::file(path, DetailReader::from_bytes(bytes), output),
    }
}

/// What is checked by itself, without a look at anything else.
#[derive(Debug)]
enum Unit {
    Thread(PathBuf),
    Session(PathBuf),
    File(PathBuf),
    Unreadable(PathBuf, String),
}

impl Unit {
    fn check(&self, output: &mut dyn Output) {
        match self {
            Self::Thread(path) => thread::folder(path, output),
            Self::Session(path) => session::folder(path, output),
            Self::File(path) => file(path, output),
            Self::Unreadable(path, why) => output.unreadable(path, why),
        }
    }
}

/// What is to be checked at a path, in the order of the names; whether `take` wants more.
fn units(path: &Path, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let own = || path.to_owned();
    match fs::metadata(path) {
        Err(error) => take(Unit::Unreadable(own(), why_not_there(path, &error))),
        Ok(meta) if meta.is_dir() => folder(path, take),
        Ok(meta) if meta.is_file() => take(Unit::File(own())),
        Ok(_) => {
            let why = "neither a regular file nor a folder";
            take(Unit::Unreadable(own(), why.to_owned()))
        }
    }
}

fn why_not_there(path: &Path, error: &io::Error) -> String {
    let leads_nowhere = error.kind() == io::ErrorKind::NotFound && path.is_symlink();
    match leads_nowhere {
        true => "a symbolic link to nothing".to_owned(),
        false => error.to_string(),
    }
}

fn file(path: &Path, output: &mut dyn Output) {
    if path.file_name().is_some_and(|name| name == MANIFEST_FILE) {
        return manifest::file(path, output);
    }
    let named = |name| path.file_name().is_some_and(|own| own == name);
    match FileKind::of(path) {
        Err(error) => output.unreadable(path, &without_path(&error)),
        Ok(Some(FileKind::Detail)) => detail::file(path, DetailReader::open(path), output),
        Ok(None) if named(DETAIL_FILE) => detail::file(path, DetailReader::open(path), output),
        Ok(Some(FileKind::Index)) => index::file(path, IndexReader::open(path), output),
        Ok(None) if named(INDEX_FILE) => index::file(path, IndexReader::open(path), output),
        Ok(None) => output.unreadable(
            path,
            "no ATF v2 file: it begins with neither \"ATI2\" nor \"ATD2\"",
        ),
    }
}

/// Goes through a folder and gives `take` what there is to check, until that wants no more.
fn folder(path: &Path, take: &mut dyn FnMut(Unit) -> bool) -> bool {
    let mut found = false;
    let mut walk = WalkDir::new(path).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let is_wanted = match entry {
            Err(error) => {
                found = true;
                let at = error.path().unwrap_or(path).to_owned();
                let why = error
                    .io_error()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                take(Unit::Unreadable(at, why))
            }
            Ok(entry) if entry.depth() > 0 && is_elsewhere(&entry) => {
                walk.skip_current_dir();
                true
            }
            Ok(entry) if entry.file_type().is_dir() || entry.depth() == 0 => {
                let (is_thread, is_session) = (is_thread(entry.path()), is_session(entry.path()));
                found |= is_thread || is_session;
                if is_thread {
                    walk.skip_current_dir();
                }
                let path = || entry.path().to_owned();
                (!is_thread || take(Unit::Thread(path())))
                    && (!is_session || take(Unit::Session(path())))
            }
            Ok(entry) if entry.file_type().is_file() && has_extension(entry.path()) => {
                found = true;
                take(Unit::File(entry.path().to_owned()))
            }
            Ok(_) => true,
        };
        if !is_wanted {
            return false;
        }
    }
    let why = "no thread folder, no manifest.json and no ATF file in it or below";
    found || take(Unit::Unreadable(path.to_owned(), why.to_owned()))
}

/// A folder that holds a thread's files itself.
fn is_thread(path: &Path) -> bool {
    [INDEX_FILE, DETAIL_FILE]
        .iter()
        .any(|name| fs::symlink_metadata(path.join(name)).is_ok())
}

/// A folder that holds a manifest or thread folders.
fn is_session(path: &Path) -> bool {
    let is_part = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name == MANIFEST_FILE || thread::id(&name.to_string_lossy()).is_some()
    };
    fs::read_dir(path).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_part)))
}

/// A folder that is no part of the walk: reported with its session, or set aside.
fn is_elsewhere(entry: &DirEntry) -> bool {
    belongs_to_session(entry)
        || is_set_aside(entry)
        || (entry.depth() > 0 && is_unfinished(entry.file_name()))
}

/// Where a recovery keeps files that it could not read, as they were.
fn is_set_aside(entry: &DirEntry) -> bool {
    let report = entry.path().with_file_name("recovery.json");
    entry.file_type().is_dir() && entry.file_name() == "unreadable" && report.is_file()
}

/// A folder that is reported with its session, whether its name is right or not.
fn belongs_to_session(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.file_type().is_dir()
        && name.starts_with(thread::FOLDER)
        && entry.path().parent().is_some_and(is_session)
}

/// The extensions of the sources' file names.
pub(crate) fn has_extension(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["atf", "ati2", "atd2"]
        .iter()
        .any(|known| extension == *known)
}

/// Whether an error says that a file cannot be read, rather than that it is wrong.
fn is_unreadable(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Io(_)
            | ErrorKind::NotRegular { .. }
            | ErrorKind::ManifestTooLarge { .. }
            | ErrorKind::UnexpectedEnd { .. }
    )
}

/// What an error says, without the path that stands in front of it in every report.
fn without_path(error: &Error) -> String {
    match (error.kind(), std::error::Error::source(error)) {
        (ErrorKind::Io(_), Some(source)) => source.to_string(),
        _ => error.kind().to_string(),
    }
}

/// The place that an error points at.
fn place_of(error: &Error) -> crate::Place {
    let field = error.field().unwrap_or_default().to_owned();
    crate::Place {
        field,
        offset: error.offset(),
    }
}

/// A file's report, filled in by a check; an error on the way is a path that cannot be read.
fn report(
    path: &Path,
    kind: Kind,
    output: &mut dyn Output,
    fill: impl FnOnce(&mut FileReport) -> Result<(), Error>,
) {
    let mut report = FileReport::new(path, kind);
    match fill(&mut report) {
        Ok(()) => output.file(report),
        Err(error) => output.unreadable(path, &without_path(&error)),
    }
}
