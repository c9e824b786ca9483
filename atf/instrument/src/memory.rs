//! Keeps this library working while it cannot use the system's allocator.
//!
//! Rust ends a process that is out of memory, but a traced program may be able to continue. A small
//! reserve therefore serves allocations that the system refuses. Code that makes large allocations
//! handles their failure, and while memory is short, no more threads are recorded.
//!
//! A dying program waits for the drain to write its last events. Its waiting thread may have been
//! interrupted inside the system's allocator and hold the allocator's lock, so until the program
//! stops waiting, the drain uses separate memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use linked_list_allocator::Heap;

use crate::aside;

/// The size of the reserve in bytes. It occupies no memory until it is used.
const RESERVED: usize = 2 << 20;

/// The size of the drain's separate memory in bytes: enough to write the files of a thousand
/// threads. It is mapped when first needed, and occupies no memory until it is used.
const MAPPED: usize = 256 << 20;

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

static RESERVE: Region = Region::new(|| {
    static BYTES: Bytes<RESERVED> = Bytes::new();
    (BYTES.start(), RESERVED)
});

static APART: Region = Region::new(|| {
    let kind = libc::MAP_PRIVATE | libc::MAP_NORESERVE;
    (map(MAPPED, WRITABLE, kind).cast::<u8>(), MAPPED)
});

/// How many of the program's threads are waiting for the drain.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The system's blocks that the drain freed while the program was waiting. Each block begins with a
/// pointer to the next.
static LEFT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Returns whether the rest of the reserve is needed for threads that are already recorded.
pub(crate) fn is_short() -> bool {
    RESERVE.used.load(Ordering::Relaxed) > RESERVED / 2
}

/// Waits for the drain, which meanwhile does not use the system's allocator.
pub(crate) fn while_drain_is_apart(wait: impl FnOnce()) {
    WAITING.fetch_add(1, Ordering::SeqCst);
    wait();
    WAITING.fetch_sub(1, Ordering::SeqCst);
}

/// Returns whether the calling thread must not use the system's allocator.
fn is_apart() -> bool {
    WAITING.load(Ordering::SeqCst) != 0 && aside::is_drain()
}

/// Prepares for a forked child, in which no other thread runs.
pub(crate) fn forked() {
    WAITING.store(0, Ordering::SeqCst);
    RESERVE.forked();
    APART.forked();
}

// SAFETY: each method passes the caller's guarantees on to the system's allocator or to a region,
// depending on which of them owns the block.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_apart() {
            let block = APART.take(layout);
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: guaranteed by the caller.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            RESERVE.take(layout)
        } else {
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RESERVE.give_back(block, layout) || APART.give_back(block, layout) {
            return;
        }
        if is_apart() {
            // SAFETY: the caller no longer uses the block.
            unsafe { leave(block, layout) };
            return;
        }
        // SAFETY: guaranteed by the caller; the block is the system's.
        unsafe { System.dealloc(block, layout) };
        free_left();
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_apart() {
            // New pages from the system are already zero.
            // SAFETY: guaranteed by the caller.
            let block = unsafe { System.alloc_zeroed(layout) };
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: guaranteed by the caller.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: the block has this size.
            unsafe { ptr::write_bytes(block, 0, layout.size()) };
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.contains(block) && !APART.contains(block) && !is_apart() {
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

/// Puts a block of the system's allocator on the list of blocks to free later. A block that has no
/// room for a pointer is never freed.
///
/// # Safety
///
/// Nothing else uses the block.
unsafe fn leave(block: *mut u8, layout: Layout) {
    if layout.size() < size_of::<*mut u8>() {
        return;
    }
    let mut next = LEFT.load(Ordering::Relaxed);
    loop {
        // SAFETY: the block has room for a pointer, which need not be aligned.
        unsafe { block.cast::<*mut u8>().write_unaligned(next) };
        match LEFT.compare_exchange(next, block, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => next = other,
        }
    }
}

/// Frees the blocks in the list.
fn free_left() {
    if LEFT.load(Ordering::Relaxed).is_null() {
        return;
    }
    let mut block = LEFT.swap(ptr::null_mut(), Ordering::AcqRel);
    while !block.is_null() {
        // SAFETY: `leave` wrote the pointer.
        let next = unsafe { block.cast::<*mut u8>().read_unaligned() };
        // SAFETY: the block is the system's, which uses C's `malloc` and `free`.
        unsafe { libc::free(block.cast()) };
        block = next;
    }
}

pub(crate) const WRITABLE: c_int = libc::PROT_READ | libc::PROT_WRITE;

/// Maps new memory, which is zero. Returns null if the system refuses it.
pub(crate) fn map(size: usize, rights: c_int, kind: c_int) -> *mut c_void {
    let kind = kind | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping overlaps no other memory.
    let start = unsafe { libc::mmap(ptr::null_mut(), size, rights, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    start
}

/// Static memory for a region.
struct Bytes<const SIZE: usize>(UnsafeCell<[u8; SIZE]>);

// SAFETY: only the region's heap, which has a lock, and the owners of its blocks use the bytes.
unsafe impl<const SIZE: usize> Sync for Bytes<SIZE> {}

impl<const SIZE: usize> Bytes<SIZE> {
    const fn new() -> Self {
        Self(UnsafeCell::new([0; SIZE]))
    }

    fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

/// Memory that belongs to this library.
struct Region {
    /// Returns the start and the size of memory that nothing else uses.
    memory: fn() -> (*mut u8, usize),
    heap: UnsafeCell<Heap>,
    is_locked: AtomicBool,
    /// Null until the first block is allocated.
    start: AtomicPtr<u8>,
    size: AtomicUsize,
    used: AtomicUsize,
}

// SAFETY: the heap is used only under the lock, and each of its blocks only by the block's owner.
unsafe impl Sync for Region {}

impl Region {
    const fn new(memory: fn() -> (*mut u8, usize)) -> Self {
        Self {
            memory,
            heap: UnsafeCell::new(Heap::empty()),
            is_locked: AtomicBool::new(false),
            start: AtomicPtr::new(ptr::null_mut()),
            size: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
        }
    }

    fn contains(&self, block: *mut u8) -> bool {
        let start = self.start.load(Ordering::Relaxed).addr();
        block.addr().wrapping_sub(start) < self.size.load(Ordering::Relaxed)
    }

    /// Allocates a block; returns null if it does not fit.
    fn take(&self, layout: Layout) -> *mut u8 {
        self.locked(|heap| {
            if self.start.load(Ordering::Relaxed).is_null() {
                let (start, size) = (self.memory)();
                if start.is_null() {
                    return start;
                }
                // SAFETY: nothing else uses this memory.
                unsafe { heap.init(start, size) };
                self.start.store(start, Ordering::Relaxed);
                self.size.store(size, Ordering::Relaxed);
            }
            let block = heap.allocate_first_fit(layout);
            block.map_or(ptr::null_mut(), NonNull::as_ptr)
        })
    }

    /// Frees a block. Returns false if the block is not in this region.
    fn give_back(&self, block: *mut u8, layout: Layout) -> bool {
        let Some(block) = NonNull::new(block).filter(|_| self.contains(block)) else {
            return false;
        };
        self.locked(|heap| {
            if !heap.bottom().is_null() {
                // SAFETY: the block was allocated from this heap.
                unsafe { heap.deallocate(block, layout) };
            }
        });
        true
    }

    /// Runs `work` while no other thread does.
    fn locked<T>(&self, work: impl FnOnce(&mut Heap) -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: the lock is held.
        let heap = unsafe { &mut *self.heap.get() };
        let result = work(heap);
        self.used.store(heap.used(), Ordering::Relaxed);
        self.is_locked.store(false, Ordering::Release);
        result
    }

    /// Unlocks the region in a forked child. If another thread of the parent was changing the heap,
    /// nothing more is allocated from it.
    fn forked(&self) {
        if self.is_locked.load(Ordering::Acquire) {
            // SAFETY: no other thread runs.
            unsafe { self.heap.get().write(Heap::empty()) };
            self.is_locked.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap_or(Layout::new::<u8>())
    }

    #[test]
    fn blocks_are_aligned_and_disjoint_and_all_memory_is_reusable() {
        static REGION: Region = Region::new(|| {
            static BYTES: Bytes<4096> = Bytes::new();
            (BYTES.start(), 4096)
        });
        let used = || REGION.used.load(Ordering::Relaxed);
        assert!(!REGION.contains(ptr::null_mut()));
        let first = REGION.take(layout(3, 1));
        let second = REGION.take(layout(64, 64));
        assert_eq!(second.addr() % 64, 0);
        assert!(second.addr() - first.addr() >= 3);
        assert!(used() >= 67);
        assert!(REGION.take(layout(4096, 1)).is_null());
        assert!(REGION.give_back(first, layout(3, 1)));
        assert!(REGION.give_back(second, layout(64, 64)));
        assert_eq!(used(), 0);
        let most = REGION.take(layout(4000, 1));
        assert!(REGION.contains(most));
        let mut other = 7_u8;
        assert!(!REGION.give_back(&raw mut other, layout(1, 1)));
        // A thread that no longer exists was using the heap.
        REGION.is_locked.store(true, Ordering::Relaxed);
        REGION.forked();
        assert!(REGION.take(layout(3, 1)).is_null());
        assert!(REGION.give_back(most, layout(4000, 1)));
    }

    #[test]
    fn blocks_left_by_the_drain_are_freed_later() {
        let is_left = || {
            let blocks = [8, 100].map(|size| layout(size, 8)).map(|layout| {
                // SAFETY: the size is not 0.
                let block = unsafe { System.alloc(layout) };
                // SAFETY: nothing else uses the block.
                unsafe { leave(block, layout) };
                block
            });
            LEFT.load(Ordering::Relaxed) == blocks[1]
        };
        // Another test's thread may free the blocks first.
        assert!((0..100).any(|_| is_left()));
        free_left();
        assert!(LEFT.load(Ordering::Relaxed).is_null());
    }
}
