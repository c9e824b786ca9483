//! System calls relative to an open folder, which std does not provide.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;

use super::unix::check;

/// Opens `name` in a folder. New files get `mode` minus the bits of the process's umask.
pub(crate) fn open_at(folder: &File, name: &OsStr, flags: i32, mode: u32) -> io::Result<File> {
    let name = text(name)?;
    loop {
        // SAFETY: the name ends with a zero and outlives the call, which only reads it. The folder
        // is open.
        let number = unsafe {
            libc::openat(
                folder.as_raw_fd(),
                name.as_ptr(),
                flags | libc::O_CLOEXEC,
                mode,
            )
        };
        if number != -1 {
            // SAFETY: the call has just opened the descriptor, and nothing else owns it.
            return Ok(unsafe { File::from_raw_fd(number) });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

pub(crate) fn make_folder_at(folder: &File, name: &OsStr) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: as for `open_at`.
    check(unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), 0o777) })
}

/// Removes a file, or an empty folder.
pub(crate) fn remove_at(folder: &File, name: &OsStr, is_folder: bool) -> io::Result<()> {
    let name = text(name)?;
    let flags = if is_folder { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: as for `open_at`.
    check(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), flags) })
}

pub(crate) fn rename_at(folder: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let (number, from, to) = (folder.as_raw_fd(), text(from)?, text(to)?);
    // SAFETY: as for `open_at`, for both names.
    check(unsafe { libc::renameat(number, from.as_ptr(), number, to.as_ptr()) })
}

/// Sets the mode of a file or folder, even if the process may not open it.
pub(crate) fn set_mode_at(folder: &File, name: &OsStr, mode: u32) -> io::Result<()> {
    let name = text(name)?;
    #[allow(clippy::useless_conversion, reason = "some systems have 16 bits")]
    let mode = mode.try_into().map_err(io::Error::other)?;
    // SAFETY: as for `open_at`.
    check(unsafe { libc::fchmodat(folder.as_raw_fd(), name.as_ptr(), mode, 0) })
}

fn text(name: &OsStr) -> io::Result<CString> {
    CString::new(name.as_bytes()).map_err(io::Error::from)
}

/// Duplicates a descriptor to a number that programs rarely use; see [`high_numbers`]. Returns
/// `None` if there is none.
pub(crate) fn duplicate_high(file: &File) -> Option<RawFd> {
    let (first, end) = high_numbers()?;
    // SAFETY: the descriptor is open, and the call accesses no memory of this program.
    let number = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, first) };
    if number >= end {
        close(number);
        return None;
    }
    Some(number).filter(|number| *number != -1)
}

/// Returns the highest sixteenth of the descriptors below 1024 that the process may open.
fn high_numbers() -> Option<(RawFd, RawFd)> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the pointer refers to an `rlimit`, which the call writes and does not keep.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) }).ok()?;
    // SAFETY: the call succeeded, so it has written the limit.
    let limit = unsafe { limit.assume_init() };
    let end = RawFd::try_from(limit.rlim_cur.min(1024)).ok()?;
    let first = end.saturating_sub(end / 16);
    (first < end).then_some((first, end))
}

/// Lends the file with this number, which the program may have closed or reused. The caller must
/// check which file it is.
pub(crate) fn borrow(number: RawFd) -> ManuallyDrop<File> {
    // SAFETY: dropping the value does not close the number. It may refer to any file of the
    // program. If it refers to none, calls fail. No call accesses memory through it.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

pub(crate) fn close(number: RawFd) {
    // SAFETY: the caller has checked that the number belongs to this library.
    unsafe { libc::close(number) };
}

/// Returns an error if the name does not exist. Does not follow a symlink.
pub(crate) fn exists_at(folder: &File, name: &OsStr) -> io::Result<()> {
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    use libc::{fstatat, stat};
    // On 32-bit systems, the plain variant fails for large files.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    use libc::{fstatat64 as fstatat, stat64 as stat};

    let name = text(name)?;
    let mut found = MaybeUninit::<stat>::uninit();
    let (number, flags) = (folder.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: as for `open_at`; the last pointer refers to a `stat`, which the call writes.
    check(unsafe { fstatat(number, name.as_ptr(), found.as_mut_ptr(), flags) })
}
