//! Sessions that continue other ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{SessionWriter, lock};
use crate::error::Result;
use crate::session::{MANIFEST_FILE, THREAD_FOLDER};
use crate::thread::{DETAIL_FILE, INDEX_FILE};
use crate::write::at;

impl SessionWriter {
    /// Creates a session with the same options in another folder.
    pub(crate) fn successor(&self, folder: PathBuf) -> Result<Self> {
        Self::create_on(Arc::clone(&self.storage), folder, &self.options)
    }

    /// Takes over what another session was told: modules, symbols, names and anchors.
    pub(crate) fn take_over(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        let (modules, symbols, anchors, notes) = {
            let other = lock(&other.shared);
            let (modules, symbols) = (other.modules.clone(), other.symbols.clone());
            (modules, symbols, other.anchors.clone(), other.notes.clone())
        };
        let mut shared = lock(&self.shared);
        (shared.modules, shared.symbols) = (modules, symbols);
        shared.anchors = anchors;
        for (thread_id, notes) in notes {
            shared.notes.entry(thread_id).or_default().name = notes.name;
        }
    }

    /// Deletes the session's files and folders; others in them stay.
    pub(crate) fn delete(&self) -> Result<()> {
        let threads: Vec<u32> = lock(&self.shared).threads.keys().copied().collect();
        let removed = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
            _ => Ok(()),
        };
        let remove = |path: &Path| removed(path, self.storage.remove(path));
        let remove_folder = |path: &Path| removed(path, self.storage.remove_folder(path));
        for thread_id in threads {
            let folder = self.path.join(format!("{THREAD_FOLDER}{thread_id}"));
            remove(&folder.join(DETAIL_FILE))?;
            remove(&folder.join(INDEX_FILE))?;
            remove_folder(&folder)?;
        }
        remove(&self.path.join(MANIFEST_FILE))?;
        remove_folder(&self.path)
    }
}
