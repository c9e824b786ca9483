//! Recognizes forked children.

use std::process;
use std::sync::atomic::{AtomicU8, Ordering};

use memmap2::MmapRaw;

/// A process, which its forked children can distinguish from themselves at the cost of a load.
#[derive(Debug)]
pub(crate) struct Origin {
    process: u32,
    /// A page that starts with a 1, and that the system fills with zeros in a child. `None` if the
    /// system cannot do this.
    page: Option<MmapRaw>,
}

impl Origin {
    /// Returns the calling process.
    pub(crate) fn new() -> Self {
        Self {
            process: process::id(),
            page: page(),
        }
    }

    /// Returns whether this is a child of the process.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        match &self.page {
            Some(page) => {
                // SAFETY: the pointer refers to the page's first byte. The page is mapped as long as
                // `self`, and after `page`, all access to it is atomic.
                let byte = unsafe { &*page.as_ptr().cast::<AtomicU8>() };
                byte.load(Ordering::Relaxed) == 0
            }
            None => process::id() != self.process,
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn page() -> Option<MmapRaw> {
    let mut page = memmap2::MmapMut::map_anon(1).ok()?;
    let (start, size) = (page.as_mut_ptr().cast(), page.len());
    // SAFETY: the range is the mapping, and the advice changes it only in children. Kernels before
    // 4.14 refuse it.
    let status = unsafe { libc::madvise(start, size, libc::MADV_WIPEONFORK) };
    *page.first_mut()? = 1;
    (status == 0).then(|| page.into())
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn page() -> Option<MmapRaw> {
    None
}
