//! Refuses paths that lead to the same trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Refuses different paths to the same trace, or to a trace and a part of it, because its events
/// would count twice. Ignores paths that cannot be opened, which the command itself reports.
///
/// # Errors
///
/// Returns a message for standard error.
pub fn check_distinct(paths: &[PathBuf]) -> Result<(), String> {
    let twice = |path: &PathBuf, why: &str, other: &PathBuf| {
        let (path, other) = (path.display(), other.display());
        Err(format!(
            "{path}: named twice, also {why} {other}; its events would count twice"
        ))
    };
    let mut seen = BTreeMap::new();
    for path in paths {
        let Ok(real) = fs::canonicalize(path) else {
            continue;
        };
        if let Some(other) = seen.insert(real, path) {
            return twice(path, "as", other);
        }
    }
    for (real, path) in &seen {
        let mut above = real.ancestors().skip(1);
        if let Some(other) = above.find_map(|folder| seen.get(folder)) {
            return twice(path, "in", other);
        }
    }
    Ok(())
}
