//! Folders that cases run in.

use std::fs;
use std::io;
use std::path::Path;

use crate::corpus::Case;

/// Writes a case's files, folders and symbolic links into a folder.
///
/// # Errors
///
/// Where they cannot be written.
pub fn materialize(case: &Case, folder: &Path) -> io::Result<()> {
    let above = |path: &Path| path.parent().map_or(Ok(()), fs::create_dir_all);
    fs::create_dir_all(folder)?;
    for path in &case.folders {
        fs::create_dir_all(folder.join(path))?;
    }
    for (path, bytes) in &case.files {
        let path = folder.join(path);
        above(&path)?;
        fs::write(path, bytes)?;
    }
    for (path, target) in &case.symlinks {
        let path = folder.join(path);
        above(&path)?;
        link(Path::new(target), &path)?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("symbolic links need a Unix system"))
}

/// Removes a folder, also where a testee has taken away the right to.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_up(folder);
            fs::remove_dir_all(folder)
        }
        Ok(()) => Ok(()),
    }
}

/// Gives its owner all rights to each folder of a tree. What fails shows when it is removed.
#[cfg(unix)]
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(not(unix))]
fn open_up(_: &Path) {}
