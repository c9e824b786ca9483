//! What is not the same on all systems about files, a file of source for each kind of system.

#[cfg(unix)]
#[path = "files_unix.rs"]
mod files;
#[cfg(not(unix))]
#[path = "files_windows.rs"]
mod files;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "space_linux.rs"]
mod space;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "space_elsewhere.rs"]
mod space;

use std::fs::FileType;

pub(crate) use files::{Mode, read_at, sync_folder, write_at};
pub(crate) use space::{next_data, set_aside};

/// What something is that is no regular file, for an error.
pub(crate) fn name(file_type: FileType) -> &'static str {
    match file_type.is_dir() {
        true => "folder",
        false => files::special(file_type).unwrap_or("special file"),
    }
}
