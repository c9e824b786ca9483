//! Who may look at a new trace: nobody who may not look at the one that was read.

use std::fs;
use std::io;
use std::path::Path;

use super::stage::{at, names};
use super::tree;
use crate::error::Result;
use crate::platform::Mode;

/// Limits the modes in a new session's folder, or a thread's, to those in the one that was read. A file
/// that was not there, a report or events that were set aside, gets what all of the others allow.
pub(super) fn keep(from: &Path, to: &Path) -> Result<()> {
    folder(from, to).map(drop)
}

/// Says what all files that were read allow.
fn folder(from: &Path, to: &Path) -> Result<Option<Mode>> {
    let mut of_all = None;
    let mut new = Vec::new();
    for name in names(to)? {
        let [source, target] = [from, to].map(|folder| folder.join(&name));
        let what = fs::symlink_metadata(&target).map_err(at(&target))?;
        let mode = match what.is_dir() {
            true if tree::thread_id(&name.to_string_lossy()).is_some() => folder(&source, &target)?,
            // What was copied has its modes.
            true => continue,
            false => match Mode::of(&source) {
                Ok(mode) => {
                    limit(&target, mode)?;
                    Some(mode)
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    new.push(target);
                    None
                }
                Err(error) => return Err(at(&source)(error)),
            },
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
