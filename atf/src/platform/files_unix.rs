//! File operations on Unix.

use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{
    FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown,
};
use std::path::Path;

use crate::sys;

/// Opens a file to read it. Does not wait if it is a FIFO, and refuses a symlink unless symlinks
/// may be followed: either may have replaced the file since it was checked.
pub(crate) fn open(path: &Path, follow_links: bool) -> io::Result<File> {
    let no_follow = if follow_links { 0 } else { libc::O_NOFOLLOW };
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | no_follow);
    options.open(path)
}

/// Reads at an offset. Also moves the cursor, which nothing here uses.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let read = file.read_at(buffer, offset)?;
    still_stored(file, offset, read)
}

/// Returns how many of the `read` bytes at `offset` are still in the file. The others may be zeros
/// that were never written: a truncation reduces the size, and then clears the rest of the last
/// page, even during a read. Moves the cursor to the end, which takes half as long as `fstat`.
pub(crate) fn still_stored(mut file: &File, offset: u64, read: usize) -> io::Result<usize> {
    let stored = file.seek(SeekFrom::End(0))?.saturating_sub(offset);
    Ok(usize::try_from(stored).map_or(read, |stored| stored.min(read)))
}

/// Writes at an offset, ignoring the cursor.
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.write_at(within_limit(offset, bytes)?, offset)
}

/// Returns the part of the bytes that may be written at `offset`. If none may, returns an error,
/// because writing beyond the file-size limit (`ulimit -f`) would kill the process with SIGXFSZ.
pub(crate) fn within_limit(offset: u64, bytes: &[u8]) -> io::Result<&[u8]> {
    let limit = sys::file_size_limit()?;
    match usize::try_from(limit.saturating_sub(offset)) {
        Ok(0) if !bytes.is_empty() => Err(io::Error::from_raw_os_error(libc::EFBIG)),
        Ok(room) if room < bytes.len() => Ok(bytes.split_at(room).0),
        _ => Ok(bytes),
    }
}

/// Syncs a folder, so that the names in it survive a power loss.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Returns the name of a special file's type.
pub(super) fn special(file_type: FileType) -> Option<&'static str> {
    match file_type {
        t if t.is_fifo() => Some("FIFO"),
        t if t.is_socket() => Some("socket"),
        t if t.is_char_device() => Some("character device"),
        t if t.is_block_device() => Some("block device"),
        _ => None,
    }
}

/// Returns whether a file has more than one name (hard links).
pub(crate) fn has_other_names(metadata: &Metadata) -> bool {
    metadata.nlink() > 1
}

/// The permissions of a file or folder, and the group that they apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    bits: u32,
    group: u32,
}

impl Mode {
    pub(crate) const ANY: Self = Self {
        bits: 0o7777,
        group: 0,
    };
    const OWNER: u32 = 0o700;
    const GROUP: u32 = 0o070;
    const OTHERS: u32 = 0o007;

    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::from(&metadata))
    }

    fn from(metadata: &Metadata) -> Self {
        Self {
            bits: metadata.mode() & Self::ANY.bits,
            group: metadata.gid(),
        }
    }

    /// Limits the permissions to those of `other`, but keeps the owner's current permissions.
    pub(crate) fn limited_to(self, other: Self) -> Self {
        Self {
            bits: self.bits & (other.bits | Self::OWNER),
            group: other.group,
        }
    }

    /// Returns the permissions that both have.
    pub(crate) fn shared_with(self, other: Self) -> Self {
        let shared = self.limited_to(other);
        if self.group == other.group {
            shared
        } else {
            shared.for_another_group()
        }
    }

    /// Removes all permissions except the owner's.
    pub(crate) fn closed(self) -> Self {
        Self {
            bits: self.bits & Self::OWNER,
            ..self
        }
    }

    /// Limits the group's permissions to those that all users have.
    const fn for_another_group(self) -> Self {
        let of_all = (self.bits & Self::OTHERS) << 3;
        Self {
            bits: self.bits & (!Self::GROUP | of_all),
            ..self
        }
    }

    /// Sets the group and the permissions. If this process may not set the group, the file's group
    /// gets only the permissions that all users have.
    pub(crate) fn set(self, path: &Path) -> io::Result<()> {
        let chown = |group| chown(path, None, Some(group));
        let set = |mode| fs::set_permissions(path, mode);
        self.set_by(Self::read(path)?, chown, set)
    }

    /// Like [`set`](Self::set), for an open file.
    pub(crate) fn set_on(self, file: &File) -> io::Result<()> {
        let chown = |group| fchown(file, None, Some(group));
        let set = |mode| file.set_permissions(mode);
        self.set_by(Self::from(&file.metadata()?), chown, set)
    }

    fn set_by(
        self,
        own: Self,
        chown: impl FnOnce(u32) -> io::Result<()>,
        set: impl FnOnce(Permissions) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_other = own.group != self.group && chown(self.group).is_err();
        let mode = if is_other {
            self.for_another_group()
        } else {
            self
        };
        if own.bits == mode.bits {
            Ok(())
        } else {
            set(Permissions::from_mode(mode.bits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_what_all_users_have() {
        for (bits, expected) in [(0o755, 0o755), (0o775, 0o755), (0o640, 0o600)] {
            let [mode, own] = [(bits, 1), (0o7777, 2)].map(|(bits, group)| Mode { bits, group });
            let refused = |_| Err(io::ErrorKind::PermissionDenied.into());
            let set = |mode: Permissions| {
                assert_eq!(mode.mode(), expected, "{bits:o}");
                Ok(())
            };
            assert!(mode.set_by(own, refused, set).is_ok());
        }
    }
}
