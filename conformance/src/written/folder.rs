//! Compares a session folder with the script: the set of files and their content.

use std::fs;
use std::path::Path;

use atf::session::{MANIFEST_FILE, THREAD_FOLDER};
use atf::thread::{DETAIL_FILE, INDEX_FILE};

use super::compare::{Ending, Found};
use super::expected::{self, Given};
use super::{END_SIZE, Wrong};
use crate::rule;
use crate::scripts::{Script, Scripted, Thread};

/// The offset of `events_offset` in an index header.
const INDEX_EVENTS_OFFSET: usize = 32;
/// The offset of `events_offset` in a detail header.
const DETAIL_EVENTS_OFFSET: usize = 20;

/// Compares the files of all threads with `script`, in order of thread id.
///
/// After a kill, `script` has fewer events than the script that was executed, `scripted`.
pub(super) fn compare(
    scripted: &Scripted,
    script: &Script,
    features: &[String],
    out: &Path,
) -> Result<(), Wrong> {
    for (id, thread) in &script.threads() {
        compare_thread(scripted, *id, thread, out)?;
    }
    let threads = scripted.script.threads();
    let entries = fs::read_dir(out).map_err(|error| Wrong::new(format!("{{out}}: {error}")))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_asked_for = |id: &u32| name == format!("{THREAD_FOLDER}{id}");
        // A file such as thread_names.json is not a thread. The checker reports a file thread_9.
        let is_file = entry.file_type().is_ok_and(|found| found.is_file());
        if name.starts_with(THREAD_FOLDER) && !is_file && !threads.keys().any(is_asked_for) {
            return Err(Wrong {
                message: format!("{name} is not in the script"),
                ..Wrong::at(&name, "nothing", "a folder", rule("ATF-SESS-001").id)
            });
        }
    }
    let is_session = features.iter().any(|feature| feature == "session");
    if is_session && !script.aborts() && !out.join(MANIFEST_FILE).is_file() {
        return Err(missing(MANIFEST_FILE, rule("ATF-MANI-001").id));
    }
    Ok(())
}

fn file(id: u32, name: &str) -> String {
    format!("{THREAD_FOLDER}{id}/{name}")
}

fn missing(file: &str, rule: &str) -> Wrong {
    Wrong {
        message: format!("{file} is missing"),
        ..Wrong::at(file, "a file", "missing", rule)
    }
}

fn compare_thread(
    scripted: &Scripted,
    id: u32,
    thread: &Thread<'_>,
    out: &Path,
) -> Result<(), Wrong> {
    let detail = detail(out, id)?;
    let ending = match (thread.is_finalized, scripted.script.is_killed()) {
        (true, _) => Ending::Finalized,
        (false, true) => Ending::Killed,
        (false, false) => Ending::Open,
    };
    let given = |events_offset| Given {
        is_platform_exact: scripted.is_platform_exact,
        has_detail_file: detail.is_some(),
        events_offset,
    };
    match index(out, id)? {
        Some(found) => {
            let expected = expected::index(thread, given(start(&found, thread)));
            found.compare(&expected, ending)?;
        }
        // The program ended before the first event, so the file need not exist.
        None if !thread.is_finalized && thread.events.is_empty() => {}
        None => return Err(missing(&file(id, INDEX_FILE), rule("ATF-SESS-002").id)),
    }
    match &detail {
        Some(found) => {
            let expected = expected::detail(thread, given(start(found, thread)));
            found.compare(&expected, ending)
        }
        None if thread.details.is_empty() => Ok(()),
        None => Err(missing(&file(id, DETAIL_FILE), "detail_event_header")),
    }
}

/// Reads a thread's `index.atf`.
pub(super) fn index(out: &Path, id: u32) -> Result<Option<Found>, Wrong> {
    Found::read(out, &file(id, INDEX_FILE))
}

/// Reads a thread's `detail.atf`.
pub(super) fn detail(out: &Path, id: u32) -> Result<Option<Found>, Wrong> {
    Found::read(out, &file(id, DETAIL_FILE))
}

/// Returns the offset of the events in a thread's file.
pub(super) fn start(found: &Found, thread: &Thread<'_>) -> usize {
    if !thread.is_finalized {
        // Without a footer to confirm a different offset, the events must follow the header.
        END_SIZE
    } else if found.file.ends_with(DETAIL_FILE) {
        found.events_offset(DETAIL_EVENTS_OFFSET)
    } else {
        found.events_offset(INDEX_EVENTS_OFFSET)
    }
}
