//! How files are written and opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use atf::manifest::Manifest;
use atf::write::{Durability, WriteOptions};
use atf::{Arch, Clock, OpenOptions, Os, Wire};

use crate::boundary;
use crate::memory::{Plain, argument, ensure, get_sized, reserved_are_0};
use crate::status::{AtfStatus, Outcome};

/// `AtfWriteOptions`: how files are written. A value of 0 selects a member's default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfWriteOptions {
    /// `sizeof(AtfWriteOptions)` as compiled into the caller.
    pub struct_size: u32,
    /// The wire version: 1 or 2.
    pub wire: u8,
    /// The processor: `ATF_ARCH_*`.
    pub arch: u8,
    /// The operating system: `ATF_OS_*`.
    pub os: u8,
    /// The clock that timestamps are read from: `ATF_CLOCK_*`.
    pub clock_type: u8,
    /// `ATF_DURABILITY_*`.
    pub durability: u8,
    /// If nonzero, an event survives SIGKILL once the function that writes it has returned.
    pub survive_kill: u8,
    /// If nonzero, events whose time goes backwards or whose kind is unknown are written, not
    /// rejected.
    pub verbatim: u8,
    /// 0.
    pub reserved: [u8; 5],
    /// Size of each file's buffer in bytes.
    pub buffer_size: u64,
}

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfWriteOptions {}

/// Reads the options, or returns the defaults for null.
///
/// # Safety
///
/// `options` is null, or begins with its size in bytes and is that large.
pub(crate) unsafe fn write_options(options: *const AtfWriteOptions) -> Outcome<WriteOptions> {
    // SAFETY: guaranteed by this function's caller.
    let given = unsafe { get_sized(options) }?;
    let mut options = WriteOptions::default();
    if given.wire != 0 {
        let wire = Wire::from_version(given.wire);
        options.wire = wire.ok_or_else(|| argument("wire is neither 1 nor 2"))?;
    }
    if given.arch != 0 {
        options.arch = Arch(given.arch);
    }
    if given.os != 0 {
        options.os = Os(given.os);
    }
    if given.clock_type != 0 {
        options.clock_type = Clock(given.clock_type);
    }
    options.durability = durability(given.durability)?;
    options.survive_kill = given.survive_kill != 0;
    options.verbatim = given.verbatim != 0;
    reserved_are_0(given.reserved == [0; 5])?;
    if given.buffer_size != 0 {
        let size = usize::try_from(given.buffer_size).ok();
        options.buffer_size = size
            .filter(|size| *size <= MOST_BUFFER)
            .ok_or_else(|| argument("buffer_size is more than 1 GiB"))?;
        if options.survive_kill && given.buffer_size > MOST_JOURNALED_BUFFER {
            let message = "buffer_size is more than 16 MiB with survive_kill";
            return Err(argument(message));
        }
    }
    Ok(options)
}

/// Converts an `ATF_DURABILITY_*`.
pub(crate) fn durability(given: u8) -> Outcome<Durability> {
    match given {
        0 => Ok(Durability::None),
        1 => Ok(Durability::Finalize),
        2 => Ok(Durability::EachFlush),
        _ => Err(argument("durability is not one of ATF_DURABILITY_*")),
    }
}

/// The options for `atf_writer_create`, which takes none.
static DEFAULTS: Mutex<Option<WriteOptions>> = Mutex::new(None);

/// Sets the options for all later calls to `atf_writer_create`; null restores the defaults.
///
/// # Safety
///
/// `options` is null, or begins with its size in bytes and is that large.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_set_default_options(
    options: *const AtfWriteOptions,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { write_options(options) }?;
        *DEFAULTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(options);
        Ok(())
    })
}

pub(crate) fn default_options() -> WriteOptions {
    let options = DEFAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    options.clone().unwrap_or_default()
}

/// More than any useful buffer size. Without a limit, a failed allocation would abort the program.
const MOST_BUFFER: usize = 1 << 30;

/// The limit with a kill journal.
const MOST_JOURNALED_BUFFER: u64 = atf::thread::Ring::MAX_BYTES;

/// The size limit in bytes of manifests that are read from now on.
static MANIFEST_LIMIT: AtomicU64 = AtomicU64::new(Manifest::LIMIT);

/// Sets the size limit in bytes of manifests that are read from now on.
#[unsafe(no_mangle)]
pub extern "C" fn atf_set_manifest_limit(bytes: u64) {
    MANIFEST_LIMIT.store(bytes, Ordering::Relaxed);
}

/// The flag that maps files.
const OPEN_MAPPED: u32 = 1;
/// The flag that follows symlinks inside a session.
const OPEN_FOLLOW_LINKS: u32 = 2;

/// Converts `ATF_OPEN_*` to options.
///
/// # Safety
///
/// With `ATF_OPEN_MAPPED`, as for [`OpenOptions::mapped`]. The header documents the same rule.
pub(crate) unsafe fn open_options(flags: u32) -> Outcome<OpenOptions> {
    let is_known = flags & !(OPEN_MAPPED | OPEN_FOLLOW_LINKS) == 0;
    ensure(is_known, "a flag is not one of ATF_OPEN_*")?;
    let options = OpenOptions::new()
        .follow_links(flags & OPEN_FOLLOW_LINKS != 0)
        .manifest_limit(MANIFEST_LIMIT.load(Ordering::Relaxed));
    match flags & OPEN_MAPPED {
        0 => Ok(options),
        // SAFETY: guaranteed by this function's caller.
        _ => Ok(unsafe { options.mapped() }),
    }
}
