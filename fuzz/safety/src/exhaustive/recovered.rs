//! Recovers a thread with a mutated file, and checks the result.

use std::fs;
use std::path::{Path, PathBuf};

use atf::FileKind;
use atf::index::IndexReader;
use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};
use atf_conformance::Checked;
use atf_fuzz::{kept, scratch};
use tempfile::TempDir;

use super::{File, Reading, Subject};

/// A temporary folder with one thread.
#[derive(Debug)]
pub(super) struct Scratch {
    _folder: TempDir,
    file: PathBuf,
    thread: PathBuf,
    out: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let folder = scratch();
        let at = |name: &str| folder.path().join(name);
        let (file, thread, out) = (at("file.atf"), at("thread_7"), at("out"));
        #[allow(clippy::expect_used, reason = "nothing can be tested without folders")]
        fs::create_dir(&thread).expect("we own this folder");
        Self {
            _folder: folder,
            file,
            thread,
            out,
        }
    }

    /// Writes the mutated file, in place of the file of the previous call.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<&Path, String> {
        fs::write(&self.file, bytes).map_err(|error| error.to_string())?;
        Ok(&self.file)
    }

    /// Recovers the thread with these bytes in place of `file`, and checks the result.
    pub(super) fn recover(
        &self,
        subject: &Subject,
        file: &File,
        bytes: &[u8],
        reading: Option<&Reading>,
    ) -> Result<(), String> {
        let (name, other) = match file.kind {
            FileKind::Index => (INDEX_FILE, DETAIL_FILE),
            FileKind::Detail => (DETAIL_FILE, INDEX_FILE),
        };
        let put = |name: &str, bytes: &[u8]| {
            fs::write(self.thread.join(name), bytes).map_err(|error| error.to_string())
        };
        put(name, bytes)?;
        put(other, &file.beside)?;
        if self.out.exists() {
            fs::remove_dir_all(&self.out).map_err(|error| error.to_string())?;
        }
        let recovered = (subject.recover)(&self.thread, &self.out);
        let is_readable = match file.kind {
            FileKind::Index => reading.is_some(),
            FileKind::Detail => IndexReader::from_bytes(file.beside.clone()).is_ok(),
        };
        match recovered {
            Ok(()) if is_readable => {}
            Err(_) if !is_readable && !self.out.exists() => return Ok(()),
            Err(error) => return Err(format!("is not recovered: {error}")),
            Ok(()) => return Err("is recovered, but its index cannot be read".to_owned()),
        }
        let broken = Checked::new(&self.out).structural_faults();
        if !broken.is_empty() {
            return Err(format!("recovered thread breaks {broken:?}"));
        }
        self.same_events()
    }

    /// Checks that the recovered thread has the events before the first gap, each with its detail.
    fn same_events(&self) -> Result<(), String> {
        let read = |folder: &Path| {
            let thread = ThreadReader::open(folder);
            let kept = thread.and_then(|thread| kept(&thread));
            kept.map_err(|error| format!("cannot be read: {error}"))
        };
        let (before, after) = (read(&self.thread)?, read(&self.out)?);
        if let Some((before, after)) = before.iter().zip(&after).find(|(a, b)| a != b) {
            return Err(format!("{before:?} became {after:?}"));
        }
        if before.len() == after.len() {
            Ok(())
        } else {
            let (kept, found) = (before.len(), after.len());
            Err(format!("expected {kept} recovered events, got {found}"))
        }
    }
}
