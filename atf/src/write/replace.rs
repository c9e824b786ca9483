//! Replaces a file, so that readers find either the old one or the new one.

use std::path::Path;

use super::section::sync;
use super::{Storage, StorageFile, at};
use crate::error::Result;

/// Replaces the file at `path` with the one that `create` writes at `part`, in the same folder.
/// If `is_durable`, the new file survives a power loss. After an error, the old file is still in
/// place, unless only syncing the folder failed.
pub(super) fn replace(
    storage: &dyn Storage,
    path: &Path,
    part: &Path,
    is_durable: bool,
    create: impl FnOnce() -> Result<Box<dyn StorageFile>>,
) -> Result<Box<dyn StorageFile>> {
    // A killed process may have left this file.
    if storage.exists(part).map_err(at(part))? {
        storage.remove(part).map_err(at(part))?;
    }
    let created = create().and_then(|mut file| {
        if is_durable {
            sync(&mut *file).map_err(at(part))?;
        }
        storage.rename(part, path).map_err(at(path))?;
        Ok(file)
    });
    let file = created.inspect_err(|_| {
        // Ignore this error, because the first one is returned.
        let _ = storage.remove(part);
    })?;
    if let Some(folder) = path.parent().filter(|_| is_durable) {
        storage.sync_folder(folder).map_err(at(folder))?;
    }
    Ok(file)
}
