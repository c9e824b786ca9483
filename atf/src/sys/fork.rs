//! Recognizes forked children.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A process that its forked children can distinguish from themselves. In another namespace, a
/// child's process id may equal its parent's.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    process: u32,
    /// The process's number on its page; `None` if there is no page.
    number: Option<u64>,
}

impl Origin {
    /// Returns the calling process.
    pub fn current() -> Self {
        Self {
            process: process::id(),
            number: page().map(number),
        }
    }

    /// Returns the process's id.
    pub fn process(self) -> u32 {
        self.process
    }

    /// Returns whether the calling process is a forked child of this one, at the cost of two loads.
    #[inline]
    pub fn is_forked(self) -> bool {
        match (self.number, known_page()) {
            (Some(number), Some(page)) => page.load(Ordering::Relaxed) != number,
            _ => process::id() != self.process,
        }
    }

    /// Returns whether the calling process is this one. Unlike [`is_forked`](Self::is_forked), also
    /// recognizes a child that shares its parent's memory, as after `vfork`.
    pub fn is_current(self) -> bool {
        !self.is_forked() && process::id() == self.process
    }

    /// Returns a parent of the calling process.
    #[cfg(feature = "testing")]
    pub(crate) fn parent(process: u32) -> Self {
        let number = page().map(|_| 0);
        Self { process, number }
    }
}

/// A page that contains the process's number, and that the system fills with zeros in a child. Null
/// before its first use, and if the system cannot do this.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

fn known_page() -> Option<&'static AtomicU64> {
    // SAFETY: null, or a page that is never unmapped and only accessed atomically.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

/// Returns the process's number, and gives it one if it has none.
fn number(page: &AtomicU64) -> u64 {
    /// The next number. A child has a copy, so its number is greater than those of its ancestors.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let (new, order) = (NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    match page.compare_exchange(0, new, order, order) {
        Ok(_) => new,
        Err(number) => number,
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn page() -> Option<&'static AtomicU64> {
    if known_page().is_none() {
        let mut page = memmap2::MmapMut::map_anon(size_of::<AtomicU64>()).ok()?;
        let (start, size) = (page.as_mut_ptr(), page.len());
        // SAFETY: the range is the mapping, and the advice changes it only in children. Kernels
        // before 4.14 refuse it.
        if unsafe { libc::madvise(start.cast(), size, libc::MADV_WIPEONFORK) } != 0 {
            return None;
        }
        let (null, order) = (ptr::null_mut(), Ordering::AcqRel);
        // Another thread may have been faster.
        let is_first = PAGE.compare_exchange(null, start.cast(), order, Ordering::Acquire);
        if is_first.is_ok() {
            std::mem::forget(page);
        }
    }
    known_page()
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn page() -> Option<&'static AtomicU64> {
    None
}
