//! Writes the files that the readers read.
//!
//! [`ThreadWriter`] writes the two files of a thread, [`SessionWriter`] a folder of them with its
//! manifest. A thread's writer shares nothing with the others, so each thread of a tracer, or the
//! thread that drains their rings ([`record`](crate::record)), writes without a lock.
//!
//! # What is promised for which failure
//!
//! | failure | what stays |
//! |---|---|
//! | the process ends without [`finalize`](ThreadWriter::finalize), its writers dropped | every event |
//! | SIGKILL, a crash, `_exit` | whatever was flushed, at most a buffer of events is missing; with [`survive_kill`](WriteOptions::survive_kill) every event whose call had returned |
//! | the disk is full, or any other error of a write | the call that met it returns it and all later ones repeat it; the events before it are a valid prefix |
//! | loss of power | as [`Durability`] says |
//!
//! A file that was not finalized is one that readers read up to its last whole event. Details leave
//! before the index events that link to them, so what is cut off holds details that nothing links
//! to rather than links that lead nowhere.
//!
//! Nothing here panics, waits for a lock, or touches the signals of the host. A file-size limit
//! (`RLIMIT_FSIZE`) ends a process by SIGXFSZ unless the host ignores that signal; if it does, the
//! write's error is returned as any other.

use std::io;
use std::path::Path;

use crate::error::{Error, Result};

mod buffer;
mod event;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test may panic"
)]
mod limits;
mod memory;
mod options;
mod ring;
mod section;
mod session;
mod storage;
mod thread;

pub use event::{Detail, Event, Link, ThreadSummary};
pub use memory::{Fate, Memory, Step};
pub use options::{Durability, WriteOptions};
pub use session::{SessionTotals, SessionWriter};
pub use storage::{Disk, Storage, StorageFile};
pub use thread::{ReservedDetail, ThreadWriter};

/// Makes the name of a folder that was made survive a loss of power.
fn sync_name(storage: &dyn Storage, folder: &Path) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    storage.sync_folder(parent).map_err(at(parent))
}

/// An error of the operating system about a path.
fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    |error| Error::io(error).with_path(Some(path))
}
