//! Finds sessions below a folder that is not a session, to list them in the error message.

use std::fs;
use std::path::{Path, PathBuf};

use super::{SEARCH_DEPTH, is_session};
use crate::files::is_unfinished;

/// The maximum number of folders to visit. There is a limit because the path may be the root of a
/// disk.
const MOST_LOOKED_AT: usize = 1000;

/// Returns the paths of at most `most` sessions, relative to `folder`, sorted by depth, then by
/// name. Skips symlinks and folders that cannot be listed.
pub(super) fn sessions_below(folder: &Path, most: usize) -> Vec<String> {
    let mut sessions = Vec::new();
    let mut looked_at = 0_usize;
    let mut level = vec![PathBuf::new()];
    for _ in 0..SEARCH_DEPTH {
        let mut next = Vec::new();
        for above in level {
            for path in folders_in(folder, &above) {
                looked_at = looked_at.saturating_add(1);
                if looked_at > MOST_LOOKED_AT || sessions.len() >= most {
                    return sessions;
                }
                if is_session(&folder.join(&path)).unwrap_or(false) {
                    sessions.push(path.display().to_string());
                } else {
                    next.push(path);
                }
            }
        }
        level = next;
    }
    sessions
}

/// Returns the folders directly in `root/path`, as paths relative to `root`.
fn folders_in(root: &Path, path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(path)).into_iter().flatten();
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|what| what.is_dir()))
        .filter(|entry| !is_unfinished(&entry.file_name()))
        .map(|entry| path.join(entry.file_name()));
    let mut folders: Vec<_> = folders.take(MOST_LOOKED_AT).collect();
    folders.sort();
    folders
}
