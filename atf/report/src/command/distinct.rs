//! Finds paths that lead to the same file or folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Returns the position of each path that leads to the same file or folder as an earlier path, with
/// that path's position. Ignores paths that cannot be opened, which the command itself reports.
pub(super) fn repeated(paths: &[PathBuf]) -> BTreeMap<usize, usize> {
    let mut seen = BTreeMap::new();
    let mut repeated = BTreeMap::new();
    for (position, path) in paths.iter().enumerate() {
        let Ok(place) = fs::canonicalize(path) else {
            continue;
        };
        let first = *seen.entry(place).or_insert(position);
        if first != position {
            repeated.insert(position, first);
        }
    }
    repeated
}
