//! System calls that std does not provide.

use std::io;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{allocate, boottime, seek_data};

/// Returns the largest size in bytes that this process's files may have (`ulimit -f`).
pub(crate) fn file_size_limit() -> io::Result<u64> {
    if cfg!(miri) {
        // Miri supports neither the call nor a limit.
        return Ok(u64::MAX);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    use libc::{getrlimit, rlimit};
    // On 32-bit systems, the plain variant has only 32 bits.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    use libc::{getrlimit64 as getrlimit, rlimit64 as rlimit};

    let mut limit = rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer refers to an `rlimit`, which the call writes and does not keep.
    check(unsafe { getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) })?;
    #[allow(clippy::useless_conversion, reason = "signed on some systems")]
    limit.rlim_cur.try_into().map_err(io::Error::other)
}

pub(super) fn check(status: libc::c_int) -> io::Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;

    /// Returns the time since the machine booted, including sleep.
    #[inline]
    pub(crate) fn boottime() -> libc::timespec {
        // SAFETY: zeros are valid for its integers.
        let mut time: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer refers to a `timespec`, which the call writes and does not keep.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
        debug_assert_eq!(status, 0, "every Linux since 2.6.39 has this clock");
        time
    }

    /// Allocates the first `size` bytes of a file. A smaller file grows to this size.
    pub(crate) fn allocate(file: &File, size: u64) -> io::Result<()> {
        // SAFETY: the call accesses no memory of this program; the descriptor is open as long as
        // `file`.
        super::check(unsafe { libc::fallocate64(file.as_raw_fd(), 0, 0, signed(size)?) })
    }

    /// Moves a file's cursor to the first stored byte at or after `offset`, and returns its offset.
    pub(crate) fn seek_data(file: &File, offset: u64) -> io::Result<u64> {
        let (offset, whence) = (signed(offset)?, libc::SEEK_DATA);
        // SAFETY: as for `allocate`.
        let data = unsafe { libc::lseek64(file.as_raw_fd(), offset, whence) };
        u64::try_from(data).map_err(|_| io::Error::last_os_error())
    }

    /// Converts an offset or size. Returns an error if the operating system would interpret it as
    /// negative.
    fn signed(offset: u64) -> io::Result<libc::off64_t> {
        offset
            .try_into()
            .map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
    }
}
