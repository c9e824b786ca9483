//! The names of the files and folders of a trace.

use std::ffi::OsStr;
use std::path::Path;

/// The name of the file that contains all events of a thread.
pub const INDEX_FILE: &str = "index.atf";
/// The name of the file that contains the details of some events.
pub const DETAIL_FILE: &str = "detail.atf";
/// The name of the file that contains events that a killed writer had not yet written.
pub const RING_FILE: &str = "ring.atf";
/// The name of a session's manifest.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The name of the manifest while it is being written.
pub(crate) const MANIFEST_PART: &str = "manifest.json.part";
/// The stem and extension of the report that a rewrite adds to a changed session. The name may
/// contain a number between them.
pub(crate) const RECOVERY: (&str, &str) = ("recovery", ".json");
/// The prefix of a thread folder's name, followed by the id in decimal.
pub const THREAD_FOLDER: &str = "thread_";
/// The prefix of a process folder's name, followed by the process id in decimal.
pub(crate) const PROCESS_FOLDER: &str = "pid_";
/// The prefix of an unfinished folder's name, followed by the process id and a number.
pub(crate) const UNFINISHED: &str = ".atf-";

/// How many folders deep to [search](crate::session::Search) for sessions below a folder.
/// [`check`](crate::check), [`rewrite`](crate::rewrite) and the commands report deeper folders as
/// not searched.
pub const SEARCH_DEPTH: usize = 64;

/// Returns whether a file with this name makes its folder a thread's folder.
pub(crate) fn is_thread_file(name: &OsStr) -> bool {
    name == INDEX_FILE || name == DETAIL_FILE
}

/// Returns whether `name` consists of this stem and extension, with or without a number between
/// them; numbers start at `-2`.
pub(crate) fn is_numbered(name: &str, stem: &str, extension: &str) -> bool {
    let number = name
        .strip_prefix(stem)
        .and_then(|name| name.strip_suffix(extension));
    let is_number = |digits: &str| digits.parse::<u64>().is_ok_and(|number| number > 1);
    number.is_some_and(|it| it.is_empty() || it.strip_prefix('-').is_some_and(is_number))
}

/// Returns the thread id in the name of a thread's folder: 42 for `thread_42`.
#[must_use]
pub fn thread_id(folder_name: &str) -> Option<u32> {
    folder_name.strip_prefix(THREAD_FOLDER).and_then(number)
}

/// The parts of a process folder's name. `pid_42` is a process's first program; `pid_42_2` is its
/// second, started by `exec`; and `pid_42_2_segment_000003` is the third segment of the second
/// program's recording.
///
/// Names sort by process, then by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ProcessName {
    /// The process's id.
    pub pid: u32,
    /// The number of the program in the process, counted from 1.
    pub program: u32,
    /// The number of the segment in the recording, counted from 1.
    pub segment: u32,
}

impl ProcessName {
    /// Parses the name of a folder; returns `None` if it is not of this form.
    #[must_use]
    pub fn parse(folder_name: &str) -> Option<Self> {
        let rest = folder_name.strip_prefix(PROCESS_FOLDER)?;
        let (rest, segment) = match rest.split_once("_segment_") {
            Some((rest, segment)) => (rest, number(segment)?),
            None => (rest, 1),
        };
        let (pid, program) = match rest.split_once('_') {
            Some((pid, program)) => (pid, number(program)?),
            None => (rest, 1),
        };
        Some(Self {
            pid: number(pid)?,
            program,
            segment,
        })
    }

    /// Parses the name of the folder at a path.
    #[must_use]
    pub fn from_path(folder: &Path) -> Option<Self> {
        Self::parse(folder.file_name()?.to_str()?)
    }
}

/// Returns whether a folder's name is that of an incomplete new trace. Such a folder is still being
/// written, or was left behind by a killed [`recover`](crate::rewrite::recover),
/// [`convert`](crate::rewrite::convert), [`scrub`](crate::rewrite::scrub) or
/// [`cut`](crate::rewrite::cut). Its events duplicate the original's, so searches for sessions must
/// skip it.
#[doc(hidden)]
#[must_use]
pub fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let numbers = name.strip_prefix(UNFINISHED);
    let numbers = numbers.and_then(|numbers| numbers.split_once('-'));
    let is_number = |digits: &str| digits.parse::<u32>().is_ok();
    numbers.is_some_and(|(process, attempt)| is_number(process) && is_number(attempt))
}

/// Parses the id in a folder's name, which must consist of decimal digits only.
pub(crate) fn number(digits: &str) -> Option<u32> {
    digits
        .parse()
        .ok()
        .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether a path has one of the file extensions that the sources use for traces.
#[must_use]
pub fn has_extension(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["atf", "ati2", "atd2"]
        .iter()
        .any(|known| extension == *known)
}
