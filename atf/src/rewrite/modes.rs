//! Limits the permissions of a new trace: only users who can read the original can read it.

use std::fs;
use std::io;
use std::path::Path;

use super::stage::{at, names};
use crate::error::Result;
use crate::files::thread_id;
use crate::platform::Mode;

/// Limits the modes in a new session or thread folder to those of the original. A file without an
/// original (a report, events set aside) gets only the permissions that all original files share.
pub(super) fn keep(from: &Path, to: &Path) -> Result<()> {
    folder(from, to).map(drop)
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
                // Copied folders already have their modes.
                continue;
            }
            folder(&source, &target)?
        } else {
            match Mode::of(&source) {
                Ok(mode) => {
                    limit(&target, mode)?;
                    Some(mode)
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    new.push(target);
                    None
                }
                Err(error) => return Err(at(&source)(error)),
            }
        };
        of_all = match (of_all, mode) {
            (Some(all), Some(one)) => Some(Mode::limited_to(all, one)),
            (all, one) => all.or(one),
        };
    }
    let source = Mode::of(from).map_err(at(from))?;
    for target in new {
        limit(&target, of_all.unwrap_or(source))?;
    }
    limit(to, source)?;
    Ok(of_all)
}

fn limit(path: &Path, mode: Mode) -> Result<()> {
    let own = Mode::of(path).map_err(at(path))?;
    own.limited_to(mode).set(path).map_err(at(path))
}
