//! The folder of a run's sessions. It stays open, so another user cannot make this command change
//! other files by renaming it.

use std::fmt::Display;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use atf::write::{Disk, Storage as _, session_name};
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::process::geteuid;

use crate::output::{Failure, complain};

#[derive(Debug)]
pub(super) struct RunFolder {
    /// The path by which it was created.
    name: PathBuf,
    /// The parent folders that were also created, innermost first.
    above: Vec<PathBuf>,
    held: OwnedFd,
}

impl RunFolder {
    /// Creates a new folder in `out`.
    pub(super) fn create(out: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::at(
                out,
                format_args!("cannot be created for the traces: {error}"),
            )
        };
        let is_missing = |folder: &&Path| fs::symlink_metadata(folder).is_err();
        let above = out.ancestors().take_while(is_missing);
        let above: Vec<_> = above.map(Path::to_path_buf).collect();
        Disk.create_folder(out).map_err(failed)?;
        // The program may change its working directory.
        let out = fs::canonicalize(out).map_err(failed)?;
        let name = session_name(SystemTime::now());
        for run in 1.. {
            // If several runs start in the same second, the first gets the name without a number.
            let suffix = if run == 1 {
                String::new()
            } else {
                format!("_{run}")
            };
            let name = out.join(format!("{name}{suffix}"));
            if Disk.exists(&name).map_err(failed)? || !Disk.create_folder(&name).map_err(failed)? {
                continue;
            }
            let held = hold(&name).map_err(failed)?;
            return Ok(Self { name, above, held });
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Returns the path by which the folder was created.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns a path that stays the same if the folder is renamed.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    /// Returns the folder's path in messages.
    pub(super) fn shown(&self) -> PathBuf {
        fs::read_link(self.path()).unwrap_or_else(|_| self.name.clone())
    }

    /// Writes a message to stderr that may contain [`path`](Self::path).
    pub(super) fn complain(&self, message: impl Display) {
        complain(self.message(message));
    }

    pub(super) fn message(&self, message: impl Display) -> String {
        let [path, shown] = [self.path(), self.shown()].map(|path| path.display().to_string());
        message.to_string().replace(&path, &shown)
    }

    /// Returns an error if the folder was deleted.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if fstat(&self.held).is_ok_and(|found| found.st_nlink > 0) {
            return Ok(());
        }
        let message = "this folder was deleted while the program ran, so the traces are lost";
        Err(Failure::at(&self.name, message))
    }

    /// Removes the empty folder, and its parents that were created.
    pub(super) fn remove(&self) {
        for folder in [&self.name].into_iter().chain(&self.above) {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

/// Opens a folder that this process has just created.
fn hold(name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = open(name, flags, Mode::empty())?;
    if fstat(&held)?.st_uid == geteuid().as_raw() {
        Ok(held)
    } else {
        Err(io::Error::other("another user has replaced it"))
    }
}
