//! Keeps this library working after the program has used up all memory.
//!
//! Rust ends a process that is out of memory, but a traced program may be able to continue. A small
//! reserve therefore serves allocations that the system refuses. Code that makes large allocations
//! handles their failure, and while memory is short, no further threads are recorded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The size of the reserve in bytes. It takes no memory until it is used.
const SIZE: usize = 2 << 20;

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

static RESERVE: Reserve = Reserve::new();

/// Returns whether the rest of the reserve is needed for threads that are already recorded.
pub(crate) fn is_short() -> bool {
    RESERVE.used.load(Ordering::Relaxed) > SIZE / 2
}

/// Unlocks the reserve in a forked child, where no other thread runs.
pub(crate) fn forked() {
    RESERVE.is_locked.store(false, Ordering::Release);
}

// SAFETY: each method passes the caller's guarantees on to the system's allocator or to the
// reserve, depending on which of them owns the block.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            RESERVE.take(layout)
        } else {
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !RESERVE.give_back(block, layout.size()) {
            // SAFETY: guaranteed by the caller; the block is the system's.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = RESERVE.take(layout);
        if !block.is_null() {
            // SAFETY: the block has this size.
            unsafe { ptr::write_bytes(block, 0, layout.size()) };
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.contains(block) {
            // SAFETY: guaranteed by the caller; the block is the system's.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller guarantees that the size is valid for this alignment.
        let larger = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not 0.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: both blocks have at least this size, and the new one overlaps no other.
            unsafe { ptr::copy_nonoverlapping(block, moved, layout.size().min(size)) };
            // SAFETY: guaranteed by the caller.
            unsafe { self.dealloc(block, layout) };
        }
        moved
    }
}

/// Memory that is allocated from start to end. A block's memory can be reused once all later blocks
/// have been freed.
#[repr(align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; SIZE]>,
    is_locked: AtomicBool,
    /// How many bytes are in use, counted from the start.
    used: AtomicUsize,
    /// How many blocks are in use.
    blocks: AtomicUsize,
}

// SAFETY: each byte belongs to one block at most, and only the block's owner uses it.
unsafe impl Sync for Reserve {}

impl Reserve {
    const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([0; SIZE]),
            is_locked: AtomicBool::new(false),
            used: AtomicUsize::new(0),
            blocks: AtomicUsize::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    fn contains(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.start().addr()) < SIZE
    }

    /// Allocates a block; returns null if it does not fit.
    fn take(&self, layout: Layout) -> *mut u8 {
        self.locked(|| {
            let used = self.used.load(Ordering::Relaxed);
            // The reserve starts at a page boundary, and no layout in this library needs a stricter
            // alignment.
            let from = used.next_multiple_of(layout.align());
            let to = from.checked_add(layout.size());
            let Some(to) = to.filter(|to| *to <= SIZE && layout.align() <= align_of::<Self>())
            else {
                return ptr::null_mut();
            };
            self.used.store(to, Ordering::Relaxed);
            self.blocks.fetch_add(1, Ordering::Relaxed);
            self.start().wrapping_add(from)
        })
    }

    /// Frees a block. Returns false if the block is not in the reserve.
    fn give_back(&self, block: *mut u8, size: usize) -> bool {
        if !self.contains(block) {
            return false;
        }
        self.locked(|| {
            let from = block.addr().wrapping_sub(self.start().addr());
            let is_last = from.checked_add(size) == Some(self.used.load(Ordering::Relaxed));
            if self.blocks.fetch_sub(1, Ordering::Relaxed) == 1 {
                self.used.store(0, Ordering::Relaxed);
            } else if is_last {
                self.used.store(from, Ordering::Relaxed);
            }
        });
        true
    }

    /// Runs `work` while no other thread does.
    fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        let result = work();
        self.is_locked.store(false, Ordering::Release);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap_or(Layout::new::<u8>())
    }

    #[test]
    fn blocks_are_aligned_and_apart_and_all_memory_comes_back() {
        static RESERVE: Reserve = Reserve::new();
        let used = || RESERVE.used.load(Ordering::Relaxed);
        let first = RESERVE.take(layout(3, 1));
        let second = RESERVE.take(layout(16, 16));
        assert_eq!(second.addr() - first.addr(), 16);
        assert_eq!(used(), 32);
        // The last block's memory is reused.
        assert!(RESERVE.give_back(second, 16));
        assert_eq!(RESERVE.take(layout(32, 8)), second);
        assert!(RESERVE.take(layout(SIZE, 1)).is_null());
        assert!(RESERVE.give_back(first, 3));
        assert!(RESERVE.give_back(second, 32));
        assert_eq!(used(), 0);
        assert!(!RESERVE.take(layout(SIZE, 1)).is_null());
        let other = 7_u8;
        assert!(!RESERVE.give_back((&raw const other).cast_mut(), 1));
    }
}
