//! Reads the state of the process's main thread, even after it has ended.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// The file that describes the main thread. Its path contains no process id, because ids may
/// differ in the namespace that `/proc` shows.
const STAT: &str = "/proc/self/stat";

pub(crate) struct MainThread {
    pub(crate) is_over: bool,
    /// The number of the process's threads, including this one.
    pub(crate) threads: usize,
    /// How this thread ended, as from `wait`.
    pub(crate) status: c_int,
}

impl MainThread {
    /// Returns `None` if the system does not describe the thread.
    pub(crate) fn read() -> Option<Self> {
        let stat = held_stat().or_else(|| fs::read(STAT).ok())?;
        // The fields follow the program's name in parentheses, which may contain any bytes.
        let stat = String::from_utf8_lossy(&stat);
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<_> = fields.split_ascii_whitespace().collect();
        // The fields are numbered as in proc(5).
        let field = |number: usize| fields.get(number.checked_sub(3)?);
        Some(Self {
            is_over: *field(3)? == "Z",
            threads: field(20)?.parse().ok()?,
            status: field(52)?.parse().ok()?,
        })
    }
}

/// The descriptor of the file, opened in advance, and its device and inode. A program that closes
/// or reuses the number is not affected.
struct Held {
    number: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

static HELD: Held = Held {
    number: AtomicI32::new(-1),
    device: AtomicU64::new(0),
    inode: AtomicU64::new(0),
};

/// Opens the file in advance, because the program may change its root directory or drop its
/// privileges to open files. The descriptor's number is among the highest sixteenth of those below
/// 1024 that the program may open.
pub(crate) fn hold() -> io::Result<()> {
    const MOST: libc::rlim_t = 1024;
    let file = File::open(STAT)?;
    let metadata = file.metadata()?;
    // SAFETY: zeros are valid for its integers.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to a limit, which the call writes.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let most = limit.rlim_cur.min(MOST);
    let least = c_int::try_from(most.saturating_sub(most / 16)).unwrap_or(0);
    // SAFETY: the call creates a descriptor, and has no other effect.
    let number = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) };
    HELD.device.store(metadata.dev(), Ordering::Relaxed);
    HELD.inode.store(metadata.ino(), Ordering::Relaxed);
    HELD.number.store(number, Ordering::Release);
    Ok(())
}

/// Closes the parent's file in a forked child.
pub(crate) fn forked() {
    if let Some(file) = held() {
        drop(ManuallyDrop::into_inner(file));
    }
    HELD.number.store(-1, Ordering::Release);
}

/// Returns the file that was opened in advance, unless the program closed or reused its number.
fn held() -> Option<ManuallyDrop<File>> {
    let number = HELD.number.load(Ordering::Acquire);
    if number == -1 {
        return None;
    }
    // SAFETY: only the metadata of a file of the program would be read, and it is never closed.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
    let metadata = file.metadata().ok()?;
    let is_same = metadata.dev() == HELD.device.load(Ordering::Relaxed)
        && metadata.ino() == HELD.inode.load(Ordering::Relaxed);
    is_same.then_some(file)
}

/// Reads the file that was opened in advance.
fn held_stat() -> Option<Vec<u8>> {
    /// More than the sum of the longest numbers and the longest name.
    const MOST: usize = 4096;
    let mut stat = vec![0; MOST];
    let size = held()?.read_at(&mut stat, 0).ok()?;
    stat.truncate(size);
    Some(stat)
}

/// Returns whether the main thread has an executable. This takes less time than reading the file.
pub(crate) fn has_executable() -> bool {
    let (path, mut byte) = (c"/proc/self/exe", 0);
    // SAFETY: the path is a string, and the call writes at most one byte to the other pointer.
    unsafe { libc::readlink(path.as_ptr(), &raw mut byte, 1) == 1 }
}

/// Returns whether the main thread has no memory, as after its end. Works without `/proc`.
pub(crate) fn has_no_memory() -> bool {
    let (from, mut to) = (0_u8, 0_u8);
    let span = |start: *mut u8| libc::iovec {
        iov_base: start.cast(),
        iov_len: 1,
    };
    let (from, to) = (span((&raw const from).cast_mut()), span(&raw mut to));
    let main = std::process::id().cast_signed();
    // SAFETY: the call copies a byte from a variable of this thread to another one.
    let copied = unsafe { libc::process_vm_readv(main, &raw const to, 1, &raw const from, 1, 0) };
    copied == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}
