//! Opens the sessions' folder from inside a program that does not know about it.

use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use atf::write::{Disk, Storage, brief_disk};

/// The last folder that was opened. A forked child shares it: the program may have changed its root
/// directory since.
static PLACE: AtomicPtr<(PathBuf, Arc<dyn Storage>)> = AtomicPtr::new(ptr::null_mut());

/// Opens the folder for a run's sessions, and creates it if it does not exist.
pub(crate) fn place(folder: &Path) -> io::Result<Arc<dyn Storage>> {
    // SAFETY: null, or from `Box::into_raw`, and never freed.
    let known = unsafe { PLACE.load(Ordering::Acquire).as_ref() };
    if let Some((_, storage)) = known.filter(|(known, _)| known == folder) {
        return Ok(Arc::clone(storage));
    }
    // The program may close every descriptor that it did not open.
    Disk.create_folder(folder)?;
    let storage = brief_disk(folder)?;
    let place = Box::new((folder.to_path_buf(), Arc::clone(&storage)));
    PLACE.store(Box::into_raw(place), Ordering::Release);
    Ok(storage)
}

/// Removes the empty folder of a session that could not be recorded.
pub(crate) fn remove(session: &Path) {
    // SAFETY: as in `place`.
    let known = unsafe { PLACE.load(Ordering::Acquire).as_ref() };
    if let Some((_, storage)) = known {
        // The program continues, whether or not the folder can be removed.
        let _ = storage.remove_folder(session);
    }
}
