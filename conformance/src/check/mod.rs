//! From a path to the reports of all files there.

mod detail;
mod end;
mod events;
mod index;
mod link;
mod manifest;
mod session;
mod thread;

use std::fs;
use std::io;
use std::path::Path;

use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf::{Error, ErrorKind, FileKind};
use walkdir::{DirEntry, WalkDir};

use crate::finding::{FileReport, Kind};

/// Where a check's results go, one by one, so that no number of files needs memory for all.
pub trait Output {
    /// Takes the report of a file.
    fn file(&mut self, report: FileReport);

    /// Takes a path that could not be read, and why.
    fn unreadable(&mut self, path: &Path, why: &str);
}

/// Checks what is at a path: a file, a thread's folder, a session, or a folder with such things
/// below it. The results go to `output`; nothing that is wrong with one file hides another.
pub fn check(path: &Path, output: &mut dyn Output) {
    match fs::metadata(path) {
        Err(error) => output.unreadable(path, &why_not_there(path, &error)),
        Ok(meta) if meta.is_dir() => folder(path, output),
        Ok(meta) if meta.is_file() => file(path, output),
        Ok(_) => output.unreadable(path, "neither a regular file nor a folder"),
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
        Ok(Some(FileKind::Detail)) => detail::file(path, output),
        Ok(None) if named(DETAIL_FILE) => detail::file(path, output),
        Ok(Some(FileKind::Index)) => index::file(path, output),
        Ok(None) if named(INDEX_FILE) => index::file(path, output),
        Ok(None) => output.unreadable(
            path,
            "no ATF v2 file: it begins with neither \"ATI2\" nor \"ATD2\"",
        ),
    }
}

fn folder(path: &Path, output: &mut dyn Output) {
    let mut found = false;
    let mut walk = WalkDir::new(path).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        match entry {
            Err(error) => {
                found = true;
                let at = error.path().unwrap_or(path).to_owned();
                let why = error
                    .io_error()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                output.unreadable(&at, &why);
            }
            Ok(entry) if entry.depth() > 0 && is_elsewhere(&entry) => {
                walk.skip_current_dir();
            }
            Ok(entry) if entry.file_type().is_dir() || entry.depth() == 0 => {
                let (is_thread, is_session) = (is_thread(entry.path()), is_session(entry.path()));
                found |= is_thread || is_session;
                if is_thread {
                    thread::folder(entry.path(), output);
                }
                if is_session {
                    session::folder(entry.path(), output);
                }
                if is_thread {
                    walk.skip_current_dir();
                }
            }
            Ok(entry) if entry.file_type().is_file() && has_extension(entry.path()) => {
                found = true;
                file(entry.path(), output);
            }
            Ok(_) => {}
        }
    }
    if !found {
        output.unreadable(
            path,
            "no thread folder, no manifest.json and no ATF file in it or below",
        );
    }
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
    belongs_to_session(entry) || is_set_aside(entry)
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
fn has_extension(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["atf", "ati2", "atd2"]
        .iter()
        .any(|known| extension == *known)
}

/// Whether an error says that a file cannot be read, rather than that it is wrong.
fn is_unreadable(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Io(_) | ErrorKind::NotRegular { .. } | ErrorKind::UnexpectedEnd { .. }
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
