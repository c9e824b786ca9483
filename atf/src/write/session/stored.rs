//! The manifest of a session while it is being written. Each version replaces the previous one.

use std::path::Path;

use super::SessionWriter;
use crate::error::{Error, Result};
use crate::files::{MANIFEST_FILE, MANIFEST_PART};
use crate::manifest::{Manifest, ManifestThread};
use crate::sys::Spare;
use crate::write::registry::{Entry, lock};
use crate::write::replace::replace;
use crate::write::section::write_whole;
use crate::write::storage::DiskFile;
use crate::write::{Durability, StorageFile, at};

/// The state of the stored manifest.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Whether to list each new thread immediately.
    pub(super) lists_threads: bool,
    /// The number of changes that the written manifest includes; `None` if no manifest was written.
    changes: Option<u64>,
    /// The written manifest's size in bytes; the maximum if symbols that are too large were
    /// omitted, because encoding takes just as long.
    size: usize,
    /// The written manifest, with room for more, while the session is being recorded.
    spare: Option<Spare>,
}

/// A new manifest and, if it has spare room, its size in bytes.
type Part = (Box<dyn StorageFile>, Option<usize>);

/// The minimum room in a manifest, in bytes, for the last update of a recording that cannot
/// continue.
const SPARE: usize = 4096;

impl SessionWriter {
    /// Writes the manifest if anything has changed since the last write, and returns its size in
    /// bytes. If the symbols are too large, only [`finalize`](Self::finalize) returns the error.
    ///
    /// Unlike [`write_manifest`](Self::write_manifest), it does not list new threads until the next
    /// call.
    #[doc(hidden)]
    pub fn store_manifest(&self) -> Result<usize> {
        let mut written = lock(&self.written);
        if written.changes != Some(lock(&self.shared).changes) {
            self.replace_manifest(&mut written)?;
        }
        Ok(written.size)
    }

    /// Rewrites the manifest if one was written. Symbols that are too large do not prevent this.
    pub(super) fn update_manifest(&self) -> Result<()> {
        let mut written = lock(&self.written);
        if written.lists_threads {
            self.replace_manifest(&mut written)?;
        }
        Ok(())
    }

    /// Returns the manifest, and the number of changes that it includes.
    fn manifest(&self) -> (Manifest, u64) {
        let shared = lock(&self.shared);
        let thread = |(position, (id, entry)): (usize, (&u32, &Entry))| {
            let notes = shared.notes.get(id).cloned();
            ManifestThread {
                position,
                has_detail: (entry.has_detail || !entry.is_open()).then_some(entry.has_detail),
                ..notes.unwrap_or_else(|| ManifestThread::new(*id))
            }
        };
        // The times of a thread that is not finalized are unknown, even if its writer was dropped.
        let is_open = |entry: &Entry| entry.summary.is_none();
        let times = if shared.threads.values().any(is_open) {
            None
        } else {
            Some(shared.time_range().unwrap_or((0, 0)))
        };
        let manifest = Manifest {
            format_version: Some(shared.manifest.version().to_owned()),
            threads: shared.threads.iter().enumerate().map(thread).collect(),
            time_start_ns: times.map(|(start, _)| start),
            time_end_ns: times.map(|(_, end)| end),
            clock_type: Some(self.options.clock_type),
            ..shared.manifest.clone()
        };
        (manifest, shared.changes)
    }

    /// Writes a file next to the manifest, and renames it over the manifest once it is complete.
    /// Omits symbols that are too large, so that no thread loses events because of them, and
    /// returns the error.
    pub(super) fn replace_manifest(&self, written: &mut Written) -> Result<Option<Error>> {
        let (mut manifest, changes) = self.manifest();
        let path = self.path.join(MANIFEST_FILE);
        let encoded = manifest.encode_or_drop_symbols(&[], self.manifest_limit);
        let (bytes, too_large) = encoded.map_err(|error| error.with_path(Some(&path)))?;
        let stored = self.write_part(&path, &bytes).inspect_err(|_| {
            // The disk may be full, or privileges may have been dropped. Keep the losses.
            if let Some(spare) = &written.spare
                && let Ok((text, _)) = manifest.encode_or_drop_symbols(&[], spare.size())
            {
                spare.store(&text);
            }
        });
        let old = written.spare.take();
        written.spare = match stored {
            Ok((file, size)) => size.and_then(|size| Spare::map(file.as_file()?, size, old)),
            Err(error) => {
                written.spare = old;
                return Err(error);
            }
        };
        let size = match too_large {
            Some(_) => usize::MAX,
            None => bytes.len(),
        };
        (written.changes, written.size) = (Some(changes), size);
        Ok(too_large.map(|error| error.with_path(Some(&path))))
    }

    /// Replaces the manifest.
    fn write_part(&self, path: &Path, bytes: &[u8]) -> Result<Part> {
        let part = self.path.join(MANIFEST_PART);
        let is_durable = self.options.durability != Durability::None;
        let mut spare_size = None;
        let create = || {
            let (file, size) = self.create_part(&part, bytes)?;
            spare_size = size;
            Ok(file)
        };
        let file = replace(&*self.storage, path, &part, is_durable, create)?;
        Ok((file, spare_size))
    }

    /// Writes the manifest's text, with spare room if the session is being recorded and the disk
    /// has that room.
    fn create_part(&self, part: &Path, bytes: &[u8]) -> Result<Part> {
        let is_recorded = {
            let shared = lock(&self.shared);
            shared.keeps_spare && !shared.is_finalized
        };
        if is_recorded && self.storage.is_disk() && !cfg!(miri) {
            let mut file = DiskFile(self.storage.create_file(part).map_err(at(part))?);
            let mut text = bytes.to_vec();
            text.resize(bytes.len().saturating_add(SPARE), b' ');
            if write_whole(&mut file, part, 0, &text).is_ok() {
                return Ok((Box::new(file), Some(text.len())));
            }
            self.storage.remove(part).map_err(at(part))?;
        }
        let mut file = self.storage.create(part).map_err(at(part))?;
        write_whole(&mut *file, part, 0, bytes)?;
        Ok((file, None))
    }
}
