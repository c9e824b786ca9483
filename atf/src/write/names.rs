//! Adds names, or the signal that ended the process, to an existing session's manifest.

use std::path::Path;

use super::replace::replace;
use super::section::write_whole;
use super::storage::DiskFile;
use super::{Disk, Storage, StorageFile, at};
use crate::error::Result;
use crate::files::{MANIFEST_FILE, MANIFEST_PART};
use crate::manifest::{self, Symbol};
use crate::platform::{Folder, Mode};

/// Adds names for unnamed functions to the manifest of the session in `folder`, for example names
/// found after the run. All other values remain unchanged, even those unknown to this crate;
/// `format_version` becomes `"2.1"`. The new manifest replaces the old one atomically and keeps its
/// mode.
///
/// The session's writer must have ended; otherwise, it would overwrite this manifest with its own.
///
/// # Errors
///
/// [`ErrorKind::Io`](crate::ErrorKind::Io); [`NotUtf8`](crate::ErrorKind::NotUtf8) and
/// [`NotJson`](crate::ErrorKind::NotJson) if the manifest is damaged;
/// [`ManifestTooLarge`](crate::ErrorKind::ManifestTooLarge) if it is or would become too large to
/// read. After an error, the old manifest is still in place.
pub fn add_symbols(folder: impl AsRef<Path>, symbols: &[Symbol]) -> Result<()> {
    change(folder.as_ref(), |old| manifest::with_symbols(old, symbols))
}

/// Sets the signal that ended the traced process, such as `"SIGSEGV"`, in the manifest of the
/// session in `folder`. All other values stay unchanged, as with [`add_symbols`].
///
/// # Errors
///
/// The errors of [`add_symbols`].
pub fn set_ended_by(folder: impl AsRef<Path>, signal: &str) -> Result<()> {
    change(folder.as_ref(), |old| manifest::with_ended_by(old, signal))
}

/// Replaces a session's manifest with a new one.
fn change(folder: &Path, new: impl FnOnce(&[u8]) -> Result<Vec<u8>>) -> Result<()> {
    let held = Folder::open(folder, false).map_err(at(folder))?;
    let fixed = held.fixed_path();
    change_in(&fixed, new).map_err(|error| error.moved(&fixed, folder))
}

fn change_in(folder: &Path, new: impl FnOnce(&[u8]) -> Result<Vec<u8>>) -> Result<()> {
    let path = folder.join(MANIFEST_FILE);
    let new = new(&manifest::bytes_in_session(&path)?);
    let new = new.map_err(|error| error.with_path(Some(&path)))?;
    let part = folder.join(MANIFEST_PART);
    let create = || {
        let mode = Mode::read(&path).map_err(at(&path))?;
        let file = Disk.create_file(&part).map_err(at(&part))?;
        mode.set_on(&file).map_err(at(&part))?;
        let mut file: Box<dyn StorageFile> = Box::new(DiskFile(file));
        write_whole(&mut *file, &part, 0, &new)?;
        Ok(file)
    };
    replace(&Disk, &path, &part, true, create).map(drop)
}
