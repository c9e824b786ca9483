//! Limits the permissions of a new trace: only users who can read the original can read it.

use std::fs;
use std::io;
use std::path::Path;

use super::stage::{at, keep_mode, names};
use crate::error::Result;
use crate::files::thread_id;
use crate::platform::Mode;

/// Limits the modes in a new session or thread folder to those of the original, and the modes of
/// the folders between `to` and the session. A file without an original (a report, events set
/// aside) gets only the permissions that all original files share.
pub(super) fn keep(from: &Path, to: &Path, below: &Path) -> Result<()> {
    folder(&from.join(below), &to.join(below))?;
    let between = below.ancestors().skip(1);
    between
        .filter(|folder| !folder.as_os_str().is_empty())
        .try_for_each(|folder| keep_mode(&from.join(folder), &to.join(folder)))
}

/// Returns the permissions that all original files share.
fn folder(from: &Path, to: &Path) -> Result<Option<Mode>> {
    let mut of_all = None;
    let mut new = Vec::new();
    for name in names(to)? {
        let [source, target] = [from, to].map(|folder| folder.join(&name));
        let what = fs::symlink_metadata(&target).map_err(at(&target))?;
        let mode = if what.is_dir() {
            if thread_id(&name.to_string_lossy()).is_none() {
                // Folders of files set aside already have their modes.
                continue;
            }
            folder(&source, &target)?
        } else {
            match fs::symlink_metadata(&source) {
                Ok(found) if found.is_file() => {
                    keep_mode(&source, &target)?;
                    Some(Mode::read(&source).map_err(at(&source))?)
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    // The original may allow nobody else to read it.
                    let closed = Mode::read(&target).map_err(at(&target))?.closed();
                    closed.set(&target).map_err(at(&target))?;
                    Some(closed)
                }
                // Nothing else is ever read, so there is no original.
                _ => {
                    new.push(target);
                    None
                }
            }
        };
        of_all = of_all.into_iter().chain(mode).reduce(Mode::shared_with);
    }
    let source = Mode::read(from).map_err(at(from))?;
    for target in new {
        let own = Mode::read(&target).map_err(at(&target))?;
        let mode = own.limited_to(of_all.unwrap_or(source));
        mode.set(&target).map_err(at(&target))?;
    }
    keep_mode(from, to)?;
    Ok(of_all)
}
