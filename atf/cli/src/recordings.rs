//! Finds recordings: a session, or the sessions of one run's processes, side by side in a folder.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use atf::session::{MANIFEST_FILE, ProcessName, Search};

use crate::output::{Failure, complain};
use crate::text::first_names;

/// How many folders to search for the newest recording.
const MOST_SEARCHED: usize = 100_000;
/// The maximum number of recordings to list in a message.
const NAMED: usize = 10;

/// Returns the given paths or, if there are none, the [`newest`] recording.
pub(crate) fn or_newest(paths: &[PathBuf]) -> Result<Cow<'_, [PathBuf]>, Failure> {
    Ok(match paths {
        [] => Cow::Owned(vec![newest()?]),
        paths => Cow::Borrowed(paths),
    })
}

/// Returns the newest recording in or below the current folder, and names it on standard error.
/// Skips folders that cannot be searched.
pub(crate) fn newest() -> Result<PathBuf, Failure> {
    let failed = |why: &str| Err(Failure::Usage(format!("no PATH is given, and {why}")));
    let mut search = Search::new(".").limit(MOST_SEARCHED);
    let sessions: Vec<PathBuf> = search.by_ref().flatten().collect();
    if !search.is_complete() {
        return failed("the current folder has more than 100,000 folders below it");
    }
    let newest = sessions.iter().max_by_key(|path| (changed(path), *path));
    let Some(newest) = newest.map(|session| of_session(session)) else {
        return failed("there is no recording in or below the current folder");
    };
    let all: BTreeSet<_> = sessions.iter().map(|session| of_session(session)).collect();
    let newest = match newest.strip_prefix(".") {
        Ok(below) if below != Path::new("") => below,
        _ => newest,
    };
    let which = match all.len() {
        1 => "the only recording".to_owned(),
        count => format!("the newest of {count} recordings"),
    };
    complain(format_args!(
        "{}: {which} in or below the current folder",
        newest.display()
    ));
    Ok(newest.to_owned())
}

/// Reports that a folder contains several recordings, and lists their names.
pub(crate) fn report_several<'a>(paths: &[PathBuf], sessions: impl Iterator<Item = &'a Path>) {
    let [path] = paths else { return };
    let all: BTreeSet<_> = sessions.map(of_session).collect();
    if all.len() < 2 {
        return;
    }
    let names = first_names(all.iter().map(|it| it.display().to_string()), NAMED);
    complain(format_args!(
        "{}: {} recordings, one after another: {}",
        path.display(),
        all.len(),
        names.join(", ")
    ));
}

/// Returns the folder of the recording that a session belongs to.
fn of_session(session: &Path) -> &Path {
    let parent = session.parent().filter(|it| !it.as_os_str().is_empty());
    let run = ProcessName::from_path(session).and(parent);
    run.unwrap_or(session)
}

/// Returns when a session was last changed.
fn changed(session: &Path) -> Option<SystemTime> {
    let paths = [session.to_owned(), session.join(MANIFEST_FILE)];
    let times = paths
        .iter()
        .filter_map(|path| fs::metadata(path).ok()?.modified().ok());
    times.max()
}
