//! Writes index files, detail files and sessions.
//!
//! [`ThreadWriter`] writes a thread's two files; [`SessionWriter`] writes a folder of threads and
//! its manifest. Thread writers are independent, so a tracer's threads, or the thread that drains
//! their rings (the crate `atf-record`), write events without locks.
//!
//! ```
//! use atf::EventKind;
//! use atf::write::{Event, SessionWriter, WriteOptions};
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path().join("pid_4242");
//! # let symbols = Vec::new();
//!
//! let mut options = WriteOptions::default();
//! options.buffer_size = 64 << 10;
//! let session = SessionWriter::create(&folder, &options)?;
//! session.set_symbols(symbols); // The functions' names, for the manifest.
//! session.write_manifest()?;
//!
//! // Send each thread's writer to its thread.
//! let mut thread = session.thread(0)?;
//! for (timestamp_ns, event_kind) in [(100, EventKind::CALL), (250, EventKind::RETURN)] {
//!     thread.write(&Event::new(timestamp_ns, 7, event_kind, 1))?;
//! }
//! thread.finalize()?;
//! assert_eq!(session.finalize()?.event_count, 2);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! # Guarantees after failures
//!
//! | failure | what remains |
//! |---|---|
//! | the process drops its writers without calling [`finalize`](ThreadWriter::finalize) | every
//! event |
//! | SIGKILL, a crash, `_exit` | everything flushed, so at most one buffer of events is missing;
//! with [`survive_kill`](WriteOptions::survive_kill), every event once its call has returned |
//! | the disk is full, or a write fails for another reason | the failing call and all later calls
//! return the error; the events before it are a valid prefix |
//! | the session's folder is moved, or replaced by another folder or a symlink | the writers continue in the folder that they created, and do not write to the other one |
//! | the session's folder is deleted | new threads and the manifest return an error, and the folder
//! is not created again |
//! | power loss | see [`Durability`] |
//!
//! Readers read an unfinalized file up to its last whole event. Details are written before the
//! index events that link to them, so an unfinalized trace may have unlinked details, but no
//! dangling links, except to details that were [reserved](ThreadWriter::write_index) and not yet
//! written.
//!
//! Nothing in this module panics or changes how the host handles signals. A thread writer locks its
//! session only for a moment, when it creates a file or ends. A write beyond a file-size limit
//! (`RLIMIT_FSIZE`) returns an error like any other; it does not raise SIGXFSZ.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Result, at};

mod disk;
mod event;
#[cfg(feature = "testing")]
mod memory;
mod names;
mod options;
mod registry;
mod replace;
mod ring;
mod section;
mod session;
mod storage;
mod thread;

#[doc(hidden)]
pub use disk::{Disk, brief_disk};
pub use event::{Detail, Event, Link, SessionTotals, ThreadSummary};
#[cfg(feature = "testing")]
pub use memory::{Fate, Memory, Step};
pub use names::{add_symbols, set_ended_by};
pub use options::{Durability, WriteOptions};
#[doc(hidden)]
pub use session::SessionFiles;
pub use session::{SessionWriter, session_name};
#[doc(hidden)]
pub use storage::{Storage, StorageFile};
pub use thread::{ReservedDetail, ThreadWriter};

/// Syncs a new folder's name, so that it survives a power loss.
fn sync_name(storage: &dyn Storage, folder: &Path) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    storage.sync_folder(parent).map_err(at(parent))
}

/// Creates a folder if it does not exist, and keeps it open. Returns the storage that finds files
/// in it, unless that is `storage` itself, and whether the folder is new. On failure, leaves no new
/// folder behind.
fn create_held(storage: &dyn Storage, folder: &Path) -> Result<(Option<Arc<dyn Storage>>, bool)> {
    let is_new = storage.create_folder(folder).map_err(at(folder))?;
    let held = storage.held(folder).inspect_err(|_| {
        if is_new {
            // Ignore this error, because the first one is returned.
            let _ = storage.remove_folder(folder);
        }
    });
    Ok((held.map_err(at(folder))?, is_new))
}
