//! Checks the size of a writer's output before reading any of it.

use std::fs;
use std::path::Path;

use atf::session::MANIFEST_FILE;

use super::{DETAIL_SIZE, END_SIZE, EVENT_SIZE, Wrong};
use crate::scripts::{Script, Thread};

/// The number of bytes by which all files together may exceed the size that the script requires.
/// This allows for preallocated space.
const MARGIN: u64 = 64 << 20;
/// The maximum size of `manifest.json` in bytes, including function names that the writer adds.
const MANIFEST: u64 = 16 << 20;
/// The maximum number of files and folders.
const ENTRIES: usize = 1000;
/// The maximum nesting of folders.
const DEPTH: usize = 16;

/// Rejects the folder `out` if it contains more than any writer needs for the script.
pub(super) fn check(script: &Script, out: &Path) -> Result<(), Wrong> {
    // A symlink could point anywhere.
    if fs::symlink_metadata(out).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Wrong::new("{out} is not a folder"));
    }
    let most = script.threads().values().map(size).sum::<u64>() + MARGIN;
    let (mut total, mut count) = (0_u64, 0);
    let refused = |message: String| Err(Wrong::new(message));
    let mut left = vec![(out.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        // An unreadable folder is reported later, when its files are read.
        let entries = fs::read_dir(&folder).into_iter().flatten();
        for entry in entries.map_while(Result::ok) {
            let path = entry.path();
            let name = path.strip_prefix(out).unwrap_or(&path).display();
            count += 1;
            if count > ENTRIES {
                return refused(format!("{{out}} has more than {ENTRIES} files and folders"));
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() && depth == DEPTH => {
                    return refused(format!("{name} is nested deeper than {DEPTH} folders"));
                }
                Ok(meta) if meta.is_dir() => left.push((path, depth + 1)),
                Ok(meta) if meta.is_file() => {
                    let size = meta.len();
                    total = total.saturating_add(size);
                    if entry.file_name() == MANIFEST_FILE && size > MANIFEST {
                        return refused(format!(
                            "{name} has {size} bytes; the limit is {MANIFEST}"
                        ));
                    }
                    if total > most {
                        let all = "the limit for all files together is";
                        return refused(format!("{name} has {size} bytes; {all} {most}"));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the size of a thread's files in bytes.
fn size(thread: &Thread<'_>) -> u64 {
    let details = thread.details.iter();
    let details = details.map(|detail| DETAIL_SIZE + detail.payload.len());
    (4 * END_SIZE + EVENT_SIZE * thread.events.len() + details.sum::<usize>()) as u64
}
