//! Creates sessions that continue other sessions, and deletes old ones.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{SessionWriter, lock};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{DETAIL_FILE, INDEX_FILE, MANIFEST_FILE, RING_FILE, THREAD_FOLDER};
use crate::write::registry::Recorded;
use crate::write::{Storage, at};

/// Splits a recording into sessions, for `atf-record`.
#[doc(hidden)]
impl SessionWriter {
    /// Begins a recording that writes this session.
    pub fn begin_recording(&self) -> Result<()> {
        let mut shared = lock(&self.shared);
        let kind = match shared.recording {
            Recorded::Never if !shared.is_finalized => {
                shared.recording = Recorded::Running;
                return Ok(());
            }
            Recorded::Never => ErrorKind::AlreadyFinalized,
            _ => ErrorKind::HasRecording,
        };
        Err(Error::new(kind).with_path(Some(&self.path)))
    }

    /// Undoes [`begin_recording`](Self::begin_recording) for a recording that could not be started.
    pub fn cancel_recording(&self) {
        self.change(|shared| {
            shared.recording = Recorded::Never;
            shared.keeps_spare = false;
            shared.manifest.unwritten_events = None;
            shared.manifest.drops_events = None;
        });
    }

    /// Undoes [`set_drops_events`](Self::set_drops_events).
    pub fn unset_drops_events(&self) {
        self.set(|shared| &mut shared.manifest.drops_events, None);
    }

    /// Returns whether no thread holds the session's lock.
    pub fn is_free(&self) -> bool {
        self.shared.try_lock().is_ok()
    }

    /// Ends the recording, apart from its last manifest.
    pub fn end_recording(&self) {
        lock(&self.shared).recording = Recorded::Over;
    }

    /// Creates a session with the same options in another folder, which must be new.
    pub fn successor(&self, folder: PathBuf) -> Result<Self> {
        if self.storage.exists(&folder).map_err(at(&folder))? {
            return Err(at(&folder)(io::ErrorKind::AlreadyExists.into()));
        }
        Self::create_on(Arc::clone(&self.storage), folder, &self.options)
    }

    /// Copies the modules, symbols and anchors that another session received since the last call.
    pub fn take_over(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        let other = lock(&other.shared);
        let mut shared = lock(&self.shared);
        if shared.version_taken != other.version {
            shared.version_taken = other.version;
            let (mine, theirs) = (&mut shared.manifest, &other.manifest);
            mine.modules.clone_from(&theirs.modules);
            mine.symbols.clone_from(&theirs.symbols);
            mine.timing_anchors.clone_from(&theirs.timing_anchors);
            mine.detail_fields = theirs.detail_fields;
            shared.count_change();
        }
    }

    /// Copies the names of these threads from another session.
    pub fn take_names(&self, other: &Self, threads: impl IntoIterator<Item = u32>) {
        if std::ptr::eq(self, other) {
            return;
        }
        let other = lock(&other.shared);
        let mut shared = lock(&self.shared);
        for thread_id in threads {
            let name = other.notes.get(&thread_id).map(|notes| &notes.name);
            if let Some(name) = name.filter(|name| name.is_some()) {
                shared.notes_of(thread_id).name.clone_from(name);
                shared.count_change();
            }
        }
    }

    /// Returns the threads whose names changed since the last call.
    pub fn take_named(&self) -> BTreeSet<u32> {
        std::mem::take(&mut lock(&self.shared).named)
    }

    /// Returns whether a thread has a writer, or had one.
    pub fn has_thread(&self, thread_id: u32) -> bool {
        lock(&self.shared).threads.contains_key(&thread_id)
    }

    /// Forgets the name of a thread that will have no writer.
    pub fn forget(&self, thread_id: u32) {
        let mut shared = lock(&self.shared);
        shared.notes.remove(&thread_id);
        shared.named.remove(&thread_id);
    }

    /// Returns the number of threads that have a writer, or had one.
    pub fn thread_count(&self) -> usize {
        lock(&self.shared).threads.len()
    }

    /// Deletes a thread's files and removes it from the manifest. Its writer must have been
    /// dropped, and must have written no events. Files that cannot be deleted are left in place.
    pub fn withdraw(&self, thread_id: u32) {
        self.change(|shared| shared.threads.remove(&thread_id));
        // Ignore this error, because the caller returns the error that led here.
        let _ = self.files_of(vec![thread_id]).delete_threads();
    }

    /// Returns the session's files, to delete them later.
    pub fn files(&self) -> SessionFiles {
        self.files_of(lock(&self.shared).threads.keys().copied().collect())
    }

    /// Like [`files`](Self::files), but with the files of these threads.
    pub fn files_of(&self, threads: Vec<u32>) -> SessionFiles {
        SessionFiles {
            storage: Arc::clone(&self.storage),
            path: self.path.clone(),
            threads,
        }
    }
}

/// The files of a session, or of some of its threads.
#[derive(Debug)]
pub struct SessionFiles {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    threads: Vec<u32>,
}

impl SessionFiles {
    /// Deletes these files, starting with the manifest: if the process is killed meanwhile, no
    /// manifest lists deleted threads. Keeps other files and the folders that contain them.
    /// Continues after an error.
    ///
    /// # Errors
    ///
    /// The first error.
    pub fn delete(&self) -> Result<()> {
        let manifest = self.remove(&self.path.join(MANIFEST_FILE));
        let threads = self.delete_threads();
        manifest.and(threads).and(self.remove_folder(&self.path))
    }

    fn delete_threads(&self) -> Result<()> {
        let mut outcome = Ok(());
        for thread_id in &self.threads {
            let folder = self.path.join(format!("{THREAD_FOLDER}{thread_id}"));
            for name in [DETAIL_FILE, INDEX_FILE, RING_FILE] {
                outcome = outcome.and(self.remove(&folder.join(name)));
            }
            outcome = outcome.and(self.remove_folder(&folder));
        }
        outcome
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match self.storage.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(at(path)),
        }
    }

    fn remove_folder(&self, path: &Path) -> Result<()> {
        use io::ErrorKind::{DirectoryNotEmpty, NotFound};
        match self.storage.remove_folder(path) {
            Err(error) if [DirectoryNotEmpty, NotFound].contains(&error.kind()) => Ok(()),
            removed => removed.map_err(at(path)),
        }
    }
}
