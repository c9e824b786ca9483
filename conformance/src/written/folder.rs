//! A session's folder held against the script: which files are there, and what is in each.

use std::fs;
use std::path::Path;

use super::Wrong;
use super::compare::Found;
use super::expected::{self, Given};
use crate::scripts::{Scripted, Thread};

/// Where the two headers say that the events begin.
const INDEX_EVENTS_OFFSET: usize = 32;
const DETAIL_EVENTS_OFFSET: usize = 20;

/// Holds the files of all threads against the script, in the order of their ids.
pub(super) fn compare(scripted: &Scripted, features: &[String], out: &Path) -> Result<(), Wrong> {
    let threads = scripted.script.threads();
    for (id, thread) in &threads {
        compare_thread(scripted, *id, thread, out)?;
    }
    let entries = fs::read_dir(out).map_err(|error| Wrong::new(format!("{{out}}: {error}")))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_asked_for = |id: &u32| name == format!("thread_{id}");
        if name.starts_with("thread_") && !threads.keys().any(is_asked_for) {
            return Err(Wrong::new(format!("{name} was not asked for")));
        }
    }
    let is_session = features.iter().any(|feature| feature == "session");
    if is_session && !scripted.script.aborts() && !out.join("manifest.json").is_file() {
        return Err(Wrong::new("manifest.json is not there"));
    }
    Ok(())
}

fn compare_thread(
    scripted: &Scripted,
    id: u32,
    thread: &Thread<'_>,
    out: &Path,
) -> Result<(), Wrong> {
    let index = format!("thread_{id}/index.atf");
    let detail = format!("thread_{id}/detail.atf");
    let detail_size = thread
        .details
        .iter()
        .map(|detail| 24 + detail.payload.len());
    let detail_found = Found::read(out, &detail, 128 + detail_size.sum::<usize>())?;
    let given = |found: &Found, at| Given {
        is_platform_exact: scripted.is_platform_exact,
        has_detail_file: detail_found.is_some(),
        events_offset: match thread.is_finalized {
            true => found.events_offset(at),
            // No footer proves another place.
            false => 64,
        },
    };
    match Found::read(out, &index, 128 + 32 * thread.events.len())? {
        Some(found) => {
            let expected = expected::index(thread, given(&found, INDEX_EVENTS_OFFSET));
            found.compare(&expected, thread.is_finalized)?;
        }
        // Nothing was recorded and the program ended: the file may not have been made yet.
        None if !thread.is_finalized && thread.events.is_empty() => {}
        None => return Err(Wrong::new(format!("{index} is not there"))),
    }
    match &detail_found {
        Some(found) => {
            let expected = expected::detail(thread, given(found, DETAIL_EVENTS_OFFSET));
            found.compare(&expected, thread.is_finalized)
        }
        None if thread.details.is_empty() => Ok(()),
        None => Err(Wrong::new(format!("{detail} is not there"))),
    }
}
