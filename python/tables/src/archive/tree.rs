//! The files, folders and symlinks of a session.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::bad;
use crate::error::Error;

/// A file, folder or symlink below a session's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// The path below the session's folder, with `/`; empty for the folder itself.
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) mode: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::File => "file",
            Self::Link => "link",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let kinds = [Self::Folder, Self::File, Self::Link];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}

/// Lists a folder's contents, sorted by path so that folders precede their contents.
///
/// # Errors
///
/// Returns an error if a folder cannot be read, a name is not UTF-8, or an entry is not a file,
/// folder or symlink.
pub(super) fn list(root: &Path) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    // Do not recurse, because deeply nested folders could overflow the stack.
    let mut open = vec![String::new()];
    while let Some(path) = open.pop() {
        let at = below(root, &path);
        // The session's folder itself may be reached through a symlink.
        let metadata = if path.is_empty() {
            fs::metadata(&at)
        } else {
            fs::symlink_metadata(&at)
        };
        let metadata = metadata.map_err(|error| bad(&at, error))?;
        let kind = match metadata.file_type() {
            what if what.is_file() => Kind::File,
            what if what.is_dir() => Kind::Folder,
            what if what.is_symlink() => Kind::Link,
            _ => {
                let why = "neither a file nor a folder nor a symlink: it cannot be packed";
                return Err(bad(&at, why));
            }
        };
        if kind == Kind::Folder {
            for entry in fs::read_dir(&at).map_err(|error| bad(&at, error))? {
                let name = entry.map_err(|error| bad(&at, error))?.file_name();
                let why = "the name is not UTF-8: it cannot be packed";
                let text = name.to_str();
                let text = text.ok_or_else(|| bad(&at.join(&name), why))?;
                open.push(if path.is_empty() {
                    text.to_owned()
                } else {
                    format!("{path}/{text}")
                });
            }
        }
        let mode = (kind != Kind::Link).then(|| mode(&metadata)).flatten();
        entries.push(Entry { path, kind, mode });
    }
    entries.sort();
    Ok(entries)
}

/// Returns the path of an entry below a folder.
pub(super) fn below(root: &Path, path: &str) -> PathBuf {
    if path.is_empty() {
        root.to_path_buf()
    } else {
        root.join(path)
    }
}

/// Returns the permissions, or `None` on systems without such permissions.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)]
fn mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
pub(super) fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// Restricts access to a folder and its contents to users who have the same access to all
/// `entries`.
pub(super) fn limit(folder: &Path, entries: &[Entry]) -> Result<(), Error> {
    let modes = |kind| {
        let of_kind = entries.iter().filter(move |entry| entry.kind == kind);
        of_kind.filter_map(|entry| entry.mode)
    };
    let [files, folders] =
        [Kind::File, Kind::Folder].map(|kind| modes(kind).reduce(|all, one| all & one));
    let mut written = list(folder)?;
    // Restrict a folder after its contents, because the folder may become inaccessible.
    written.reverse();
    for entry in written {
        let (limit, own) = match entry.kind {
            Kind::Folder => (folders, 0o700),
            _ => (files, 0o600),
        };
        if let Some((mode, limit)) = entry.mode.zip(limit) {
            let path = below(folder, &entry.path);
            set_mode(&path, (mode & limit) | own).map_err(|error| bad(&path, error))?;
        }
    }
    Ok(())
}
