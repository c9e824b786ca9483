//! Counts the forked children of a process that could not be recorded, for example because they had
//! dropped the privileges to create files.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::memory::{WRITABLE, map};

/// How many descendants could not be recorded, on a page that a process shares with them. Null
/// before the first recording, or if there is no memory.
static UNRECORDED: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Creates the page, unless this process has inherited it.
pub(crate) fn share() {
    if page().is_none() {
        let page = map(size_of::<AtomicU64>(), WRITABLE, libc::MAP_SHARED);
        UNRECORDED.store(page.cast(), Ordering::Release);
    }
}

/// Counts this process.
pub(crate) fn count_unrecorded() {
    if let Some(count) = page() {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the number of processes that could not be recorded.
pub(crate) fn unrecorded() -> u64 {
    page().map_or(0, |count| count.load(Ordering::Relaxed))
}

fn page() -> Option<&'static AtomicU64> {
    // SAFETY: null, or a page that is never unmapped and only accessed atomically.
    unsafe { UNRECORDED.load(Ordering::Acquire).as_ref() }
}
