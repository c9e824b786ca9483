//! Creates and removes the folders of cases.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A run's folder and, next to it, a folder per case. All are removed on drop.
///
/// The cases' folders do not share a parent that belongs to the kit, because an implementation may
/// replace the folders above its working folder. This way, it affects only its own case.
#[derive(Debug)]
pub struct Cases {
    /// The run's folder. Its name is the beginning of all other names.
    run: PathBuf,
    next: AtomicU64,
}

impl Cases {
    /// Creates a run's folder.
    ///
    /// # Errors
    ///
    /// Returns the file system's error.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let fresh = builder.prefix("atf-conformance-").tempdir_in(folder)?;
        Ok(Self {
            run: fresh.keep(),
            next: AtomicU64::new(0),
        })
    }

    /// Returns the run's folder.
    #[must_use]
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// Returns an unused path for a case's folder, which [`create`] creates.
    #[must_use]
    pub fn next(&self) -> PathBuf {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let mut name = beginning(&self.run);
            name.push(number.to_string());
            let path = self.run.with_file_name(name);
            if fs::symlink_metadata(&path).is_err() {
                return path;
            }
        }
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        if let Err(error) = remove_all(&self.run) {
            let folder = self.run.display();
            eprintln!("atf-conformance: cannot remove {folder}: {error}");
        }
    }
}

/// Returns the beginning of the names of a run's cases' folders.
fn beginning(run: &Path) -> OsString {
    let mut name = run.file_name().unwrap_or_default().to_owned();
    name.push("-");
    name
}

/// Creates a folder that only the current user may enter.
///
/// # Errors
///
/// Returns the file system's error.
pub fn create(folder: &Path) -> io::Result<()> {
    // An implementation may have removed the parent folder.
    folder.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes a run's folder and the folders of its cases. Returns the first error, after removing
/// everything else.
pub(super) fn remove_all(run: &Path) -> io::Result<()> {
    let mut removed = remove(run);
    let beginning = beginning(run);
    for entry in fs::read_dir(run.parent().unwrap_or(run))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(beginning.as_encoded_bytes()) {
            removed = removed.and(remove(&entry.path()));
        }
    }
    removed
}

/// Removes a folder and everything that an implementation left in it, even if permissions are
/// missing.
///
/// Moves nested folders up into `folder` and empties them there, so that only one folder is open at
/// a time and paths stay short, however deep the folders are.
///
/// # Errors
///
/// Returns the first error, after removing everything else.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        // The implementation may have replaced the folder with a symlink, which must not be
        // followed.
        Ok(meta) if !meta.is_dir() => return fs::remove_file(folder),
        Ok(_) => {}
    }
    let mut removal = Removal {
        folder,
        left: vec![folder.to_owned()],
        moved: 0,
        failed: None,
    };
    while let Some(one) = removal.left.pop() {
        removal.empty(&one);
        if one != folder {
            removal.note(&one, fs::remove_dir(&one));
        }
    }
    removal.note(folder, fs::remove_dir(folder));
    removal.failed.map_or(Ok(()), Err)
}

/// Gives the owner all permissions on a folder. If this fails, a later operation reports an error.
pub(super) fn open_up(folder: &Path) {
    #[cfg(unix)]
    let _ = fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    #[cfg(not(unix))]
    let _ = folder;
}

struct Removal<'a> {
    folder: &'a Path,
    /// The folders that must still be emptied. All of them are directly in `folder`.
    left: Vec<PathBuf>,
    /// The number of names tried so far for moved folders.
    moved: u64,
    failed: Option<io::Error>,
}

impl Removal<'_> {
    /// Removes a folder's files and moves its subfolders up.
    fn empty(&mut self, one: &Path) {
        open_up(one);
        let entries = match fs::read_dir(one) {
            Ok(entries) => entries,
            Err(error) => return self.note(one, Err(error)),
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                // Stop here, because further reads could return the same error forever.
                Err(error) => return self.note(one, Err(error)),
            };
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.note(&path, fs::remove_file(&path));
            } else if one == self.folder {
                self.left.push(path);
            } else {
                // Moving a folder requires permissions on it.
                open_up(&path);
                let to = self.fresh();
                match fs::rename(&path, &to) {
                    Ok(()) => self.left.push(to),
                    failed => self.note(&path, failed),
                }
            }
        }
    }

    /// Returns an unused path in the folder.
    fn fresh(&mut self) -> PathBuf {
        loop {
            // If the kit is gone, more than one warden may try to remove the same folder.
            let name = format!("left-{}-{}", std::process::id(), self.moved);
            self.moved += 1;
            let path = self.folder.join(name);
            if fs::symlink_metadata(&path).is_err() {
                return path;
            }
        }
    }

    /// Keeps the first error. Ignores missing paths, which another process must have removed.
    fn note(&mut self, path: &Path, done: io::Result<()>) {
        if let Err(error) = done
            && error.kind() != io::ErrorKind::NotFound
            && self.failed.is_none()
        {
            let name = path.file_name().unwrap_or_default().display();
            self.failed = Some(io::Error::new(error.kind(), format!("{name}: {error}")));
        }
    }
}
