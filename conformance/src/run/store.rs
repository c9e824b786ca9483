//! Keeps written sessions for readers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE};

use super::folder::open_up;
use crate::rule;
use crate::scripts::{Script, Scripted};
use crate::written::broken;

/// The sessions of passing writers, kept until readers have read them.
#[derive(Debug)]
pub(super) struct WrittenStore {
    folder: PathBuf,
    written: Mutex<Vec<Written>>,
}

/// A session created by a writer.
#[derive(Debug)]
pub(super) struct Written {
    /// The writer's index in the list of implementations.
    pub(super) writer: usize,
    pub(super) scripted: Arc<Scripted>,
    /// Whether the writer claims to write sessions.
    pub(super) is_session: bool,
    pub(super) folder: PathBuf,
    /// The paths, within the folder, of the files that readers receive.
    pub(super) files: Vec<String>,
    /// The rules that these files break.
    pub(super) broken: Vec<(String, &'static str)>,
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
        is_session: bool,
        (scripted, out): (Arc<Scripted>, PathBuf),
    ) -> io::Result<()> {
        let files = files(&scripted.script, &out);
        let mut broken = broken(&out);
        broken.retain(|(file, _)| files.contains(file));
        if !files.iter().any(|file| file == MANIFEST_FILE) {
            broken.push((MANIFEST_FILE.to_owned(), rule("ATF-MANI-001").id));
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.folder.join(written.len().to_string());
        // Moving a folder requires permissions on it.
        open_up(&out);
        fs::rename(out, &folder)?;
        written.push(Written {
            writer,
            scripted,
            is_session,
            folder,
            files,
            broken,
        });
        Ok(())
    }

    /// Takes all sessions out of the store, once all writers have finished.
    pub(super) fn take_all(&self) -> Vec<Written> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *written)
    }
}

/// Returns the paths of a session's files in the folder `out`. Skips symlinks, which are not part of
/// a session and may lead anywhere.
fn files(script: &Script, out: &Path) -> Vec<String> {
    let threads = script.threads().into_keys();
    let of_thread = |id| [INDEX_FILE, DETAIL_FILE].map(|name| format!("thread_{id}/{name}"));
    let mut all: Vec<_> = threads.flat_map(of_thread).collect();
    all.push(MANIFEST_FILE.to_owned());
    all.retain(|path| fs::symlink_metadata(out.join(path)).is_ok_and(|found| found.is_file()));
    all
}
