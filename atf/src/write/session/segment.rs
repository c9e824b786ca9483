//! Sessions that continue other ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{SessionWriter, lock};
use crate::error::Result;
use crate::session::{MANIFEST_FILE, THREAD_FOLDER};
use crate::thread::{DETAIL_FILE, INDEX_FILE};
use crate::write::{Storage, at};

impl SessionWriter {
    /// Creates a session with the same options in another folder, which must be new.
    pub(crate) fn successor(&self, folder: PathBuf) -> Result<Self> {
        if self.storage.exists(&folder).map_err(at(&folder))? {
            return Err(at(&folder)(io::ErrorKind::AlreadyExists.into()));
        }
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

    /// Returns what is needed to delete the session later.
    pub(crate) fn files(&self) -> SessionFiles {
        self.files_of(lock(&self.shared).threads.keys().copied().collect())
    }

    /// As [`files`](Self::files), with these threads.
    pub(crate) fn files_of(&self, threads: Vec<u32>) -> SessionFiles {
        SessionFiles {
            storage: Arc::clone(&self.storage),
            path: self.path.clone(),
            threads,
        }
    }
}

/// The files and folders of a session.
#[derive(Debug)]
pub(crate) struct SessionFiles {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    threads: Vec<u32>,
}

impl SessionFiles {
    /// Deletes them; others in the folders stay, and the folders with them. It goes on after an error,
    /// and returns the first one.
    pub(crate) fn delete(&self) -> Result<()> {
        let mut outcome = Ok(());
        let mut note = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound && outcome.is_ok() => {
                outcome = Err(at(path)(error));
            }
            _ => {}
        };
        let remove_folder = |path: &Path| match self.storage.remove_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        };
        for thread_id in &self.threads {
            let folder = self.path.join(format!("{THREAD_FOLDER}{thread_id}"));
            for file in [DETAIL_FILE, INDEX_FILE].map(|name| folder.join(name)) {
                note(&file, self.storage.remove(&file));
            }
            note(&folder, remove_folder(&folder));
        }
        let manifest = self.path.join(MANIFEST_FILE);
        note(&manifest, self.storage.remove(&manifest));
        note(&self.path, remove_folder(&self.path));
        outcome
    }
}
