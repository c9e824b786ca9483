//! Files and folders that were not copied.

use std::path::Path;

use crate::rules::Rule;

/// A file or folder that was not copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftBehind {
    /// The path, relative to the session's folder or to the original path.
    pub(crate) path: String,
    /// The reason.
    pub(crate) why: String,
    /// Whether the file or folder may be part of the trace, unlike foreign files next to sessions.
    pub(crate) is_loss: bool,
    /// The id of the rule that the original breaks there, as [`check`](crate::check) reports it.
    pub(crate) rule: Option<&'static str>,
}

impl LeftBehind {
    /// Creates a report on a file or folder that may be part of the trace but is not copied. `path`
    /// is relative to the path of the session or of the original.
    pub(in crate::rewrite) fn new(path: &Path, why: &str) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            why: why.to_owned(),
            is_loss: true,
            rule: None,
        }
    }

    /// Creates a report on an [unfinished](crate::files::is_unfinished) trace, which duplicates
    /// another.
    pub(in crate::rewrite) fn unfinished(path: &Path) -> Self {
        let why = "an unfinished copy: delete it unless another run is still writing it";
        Self {
            is_loss: false,
            ..Self::new(path, why)
        }
    }

    /// Adds the broken rule.
    pub(in crate::rewrite) fn breaks(mut self, rule: Option<&'static Rule>) -> Self {
        self.rule = rule.map(|rule| rule.id);
        self
    }
}

/// The end of a message about the location of a copy.
pub(super) const IN_UNREADABLE: &str = " is in unreadable/";

/// Describes how much of a folder was copied to `unreadable`, given the parts that were not.
/// Returns `None` if nothing was copied.
pub(in crate::rewrite) fn copied(folder: &str, left_behind: &[LeftBehind]) -> Option<String> {
    let mut left = left_behind.iter().map(|left| Path::new(&left.path));
    let copy = match left.find(|left| left.starts_with(folder)) {
        None => "a copy",
        Some(left) if left == Path::new(folder) => return None,
        Some(_) => "a copy of the rest",
    };
    Some(format!("; {copy}{IN_UNREADABLE}"))
}
