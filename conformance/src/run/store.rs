//! Keeps written sessions for readers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::folder::open_up;
use crate::scripts::Scripted;

/// The sessions of passing writers, kept until readers have read them.
#[derive(Debug)]
pub(super) struct WrittenStore {
    folder: PathBuf,
    written: Mutex<Vec<Arc<Written>>>,
}

/// A session created by a writer.
#[derive(Debug)]
pub(super) struct Written {
    /// The writer's index in the list of implementations.
    pub(super) writer: usize,
    pub(super) scripted: Arc<Scripted>,
    pub(super) rules: Vec<String>,
    pub(super) folder: PathBuf,
}

impl WrittenStore {
    /// Creates the folder for kept sessions next to the folders of the cases.
    pub(super) fn new(cases: &Path) -> io::Result<Self> {
        let folder = cases.join("written");
        fs::create_dir(&folder)?;
        Ok(Self {
            folder,
            written: Mutex::default(),
        })
    }

    /// Moves a session into the store.
    pub(super) fn take(
        &self,
        writer: usize,
        (scripted, out): (Arc<Scripted>, PathBuf),
    ) -> io::Result<()> {
        let mut written = self.lock();
        let folder = self.folder.join(written.len().to_string());
        // Moving a folder requires permissions on it.
        open_up(&out);
        fs::rename(out, &folder)?;
        written.push(Arc::new(Written {
            writer,
            rules: scripted.rules.iter().map(|id| (*id).to_owned()).collect(),
            scripted,
            folder,
        }));
        Ok(())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Written>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
