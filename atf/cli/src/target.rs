//! Determines what a path refers to: a file, a thread's folder, a session, or folders with
//! sessions.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use atf::session::{ProcessName, Search, SessionReader};
use atf::thread::DETAIL_FILE;
use atf::wire::RingHeader;
use atf::{FileKind, FolderKind};
use atf_conformance::command::repeated;

use crate::output::Failure;

/// The kind of file or folder at a path.
#[derive(Debug)]
pub(crate) enum Target {
    /// A file with the magic bytes of `index.atf` or `detail.atf`, or a damaged `detail.atf`.
    File(PathBuf, FileKind),
    /// A file without these bytes that may still be a damaged index file, because of its name,
    /// because it is too short, or because it begins with zeros.
    OtherFile(PathBuf),
    /// A thread's folder.
    Thread(PathBuf),
    /// A session's folder.
    Session(PathBuf),
    /// One or more sessions below a folder, ordered by name.
    Sessions(Vec<PathBuf>),
}

impl Target {
    /// Determines what a path refers to. Reads only the magic bytes of files.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Usage(format!("{}: {error}", path.display()));
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            return Ok(match FileKind::of(path)? {
                Some(kind) => Self::File(path.to_owned(), kind),
                None => Self::other_file(path)?,
            });
        }
        match FolderKind::of(path).map_err(failed)? {
            Some(FolderKind::Session) => return Ok(Self::Session(path.to_owned())),
            Some(FolderKind::Thread) => return Ok(Self::Thread(path.to_owned())),
            _ => {}
        }
        let sessions = sessions_in(path)?;
        if sessions.is_empty() {
            let what = "not a trace: no thread files, no session and no folder with sessions";
            return Err(Failure::Usage(format!("{}: {what}", path.display())));
        }
        Ok(Self::Sessions(sessions))
    }
}

impl Target {
    /// Classifies the file as damaged, or returns an error if it is not an ATF file.
    fn other_file(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Usage(format!("{}: {error}", path.display()));
        let mut begin = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(4).read_to_end(&mut begin).map_err(failed)?;
        if begin == RingHeader::MAGIC {
            let what = "a thread's kill journal: give the thread's folder instead (`atf explain` reads \
                        this file alone)";
            return Err(Failure::Usage(format!("{}: {what}", path.display())));
        }
        let extension = path.extension().unwrap_or_default();
        let is_named_so = ["atf", "ati2", "atd2"]
            .iter()
            .any(|name| extension == *name);
        if is_named_so || begin.len() < 4 || begin == [0; 4] {
            return Ok(match path.file_name() {
                Some(name) if name == DETAIL_FILE => Self::File(path.to_owned(), FileKind::Detail),
                _ => Self::OtherFile(path.to_owned()),
            });
        }
        let begin = begin.escape_ascii();
        let what = format!("not an ATF file (it begins with \"{begin}\")");
        Err(Failure::Usage(format!("{}: {what}", path.display())))
    }
}

/// Returns the only session at or below a path.
pub(crate) fn only_session(path: &Path) -> Result<PathBuf, Failure> {
    match Target::of(path)? {
        Target::Sessions(sessions) => match <[PathBuf; 1]>::try_from(sessions) {
            Ok([session]) => Ok(session),
            Err(sessions) => Err(several(&[path.to_owned()], &sessions)),
        },
        // The reader rejects everything but a session.
        _ => Ok(path.to_owned()),
    }
}

/// Returns the failure for paths with several sessions, which asks the user to choose one.
pub(crate) fn several(paths: &[PathBuf], sessions: &[PathBuf]) -> Failure {
    let list = |paths: &[PathBuf]| -> Vec<_> {
        let shown = paths.iter().take(10);
        shown.map(|path| path.display().to_string()).collect()
    };
    let mut names = list(sessions);
    if sessions.len() > 10 {
        names.push(format!("and {} more", sessions.len() - 10));
    }
    let message = format!("{}: several sessions; name one of", list(paths).join(", "));
    Failure::Choice(message, names)
}

/// Rejects different paths to the same trace, because its events would be counted twice.
pub(crate) fn check_distinct(paths: &[PathBuf]) -> Result<(), Failure> {
    let Some((position, first)) = repeated(paths).into_iter().next() else {
        return Ok(());
    };
    let path = |position: usize| paths.get(position).map(|path| path.display());
    let (Some(path), Some(other)) = (path(position), path(first)) else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "{path}: named twice, also as {other}; its events would count twice"
    )))
}

/// Returns the sessions below a folder, ordered by name.
pub(crate) fn sessions_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let sessions: Result<Vec<_>, _> = Search::new(folder).collect();
    let mut sessions = sessions.map_err(|error| Failure::Usage(error.to_string()))?;
    sessions.sort();
    Ok(sessions)
}

/// Returns whether these are sibling folders `pid_…`, which contain the processes of one run and
/// their programs.
pub(crate) fn are_of_one_run<'a>(mut folders: impl Iterator<Item = &'a PathBuf>) -> bool {
    let place = |path: &'a PathBuf| ProcessName::of(path).and(path.parent());
    let first = folders.next().map(place);
    folders.all(|path| place(path).is_some() && Some(place(path)) == first)
}

/// Returns the session that a thread's folder belongs to, if any.
pub(crate) fn session_around(folder: &Path) -> Option<SessionReader> {
    let folder = folder.canonicalize().ok()?;
    let session = SessionReader::open(folder.parent()?).ok()?;
    let mut threads = session.threads().iter();
    let is_in = threads.any(|entry| entry.path().file_name() == folder.file_name());
    is_in.then_some(session)
}
