//! The mapping of `ring.atf`: two buffers in file-backed memory that outlives the process.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::offset_of;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use crate::platform;
use crate::wire::RingHeader;

/// One of a journal's two buffers, filled by one writer.
///
/// A mapped page belongs to the file: stored bytes are in the page cache immediately, so killing
/// the process loses none of them. Other processes may map or read the file at any time, but only
/// this writer may change it.
#[derive(Debug)]
pub struct JournalArea {
    /// The area's first byte.
    bytes: NonNull<u8>,
    capacity: usize,
    /// The area's fields in the header.
    size: NonNull<AtomicU64>,
    start: NonNull<AtomicU64>,
    checksum: NonNull<AtomicU32>,
    /// The mapping that these pointers refer to. It is unmapped when the last area is dropped.
    _map: Arc<MmapRaw>,
}

// SAFETY: an area is part of a mapping that no other area accesses, and the pointers into the
// header are used only for atomic access. The mapping is not tied to a thread and lives as long as
// `_map`, which is itself `Send` and `Sync`.
unsafe impl Send for JournalArea {}
// SAFETY: as above; `&JournalArea` only allows reading the area and atomic stores.
unsafe impl Sync for JournalArea {}

/// The offsets of an area's fields in the ring's header.
#[derive(Debug, Clone, Copy)]
struct Fields {
    start: usize,
    size: usize,
    checksum: usize,
}

const INDEX: Fields = Fields {
    start: offset_of!(RingHeader, index_start),
    size: offset_of!(RingHeader, index_size),
    checksum: offset_of!(RingHeader, index_checksum),
};
const DETAIL: Fields = Fields {
    start: offset_of!(RingHeader, detail_start),
    size: offset_of!(RingHeader, detail_size),
    checksum: offset_of!(RingHeader, detail_checksum),
};

/// Atomic stores need natural alignment. Mappings are page-aligned, so each field's offset in the
/// header need only be a multiple of its size.
const _: () = {
    assert!(INDEX.start.is_multiple_of(8) && DETAIL.start.is_multiple_of(8));
    assert!(INDEX.size.is_multiple_of(8) && DETAIL.size.is_multiple_of(8));
    assert!(INDEX.checksum.is_multiple_of(4) && DETAIL.checksum.is_multiple_of(4));
};

impl JournalArea {
    /// Allocates the space of a journal's new file, and maps it. Returns the areas for index and
    /// detail.
    ///
    /// The file must have no holes: on a full disk, the first store to a hole in a mapping would
    /// kill the process with SIGBUS. On a file system that copies on write, it may do so anyway.
    pub(crate) fn create(
        mut file: File,
        header: &RingHeader,
        capacity: usize,
    ) -> io::Result<(Self, Self)> {
        let areas = capacity.checked_mul(2);
        let size = areas.and_then(|areas| areas.checked_add(RingHeader::SIZE));
        let size = size.ok_or(io::ErrorKind::FileTooLarge)?;
        platform::check_size(size as u64)?;
        if !platform::set_aside(&file, size as u64)? {
            write_zeros(&mut file, size)?;
        }
        write_header(&file, header)?;
        let map = Arc::new(MmapOptions::new().len(size).map_raw(&file)?);
        Self::both(&map, capacity).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// Returns the areas for index and detail, each of `capacity` bytes; `None` if the mapping is
    /// too short.
    pub fn both(map: &Arc<MmapRaw>, capacity: usize) -> Option<(Self, Self)> {
        let detail = RingHeader::SIZE.saturating_add(capacity);
        let area = |offset, fields| Self::new(map, offset, capacity, fields);
        area(RingHeader::SIZE, INDEX).zip(area(detail, DETAIL))
    }

    /// Returns the area of `capacity` bytes at `offset`; `None` if the mapping is too short.
    fn new(map: &Arc<MmapRaw>, offset: usize, capacity: usize, fields: Fields) -> Option<Self> {
        let end = offset.checked_add(capacity)?;
        if offset < RingHeader::SIZE || end > map.len() {
            return None;
        }
        let base = NonNull::new(map.as_mut_ptr())?;
        // SAFETY: the area is inside the mapping, as just checked. The header is too, since the
        // area begins after it, and each field is inside the header. So no pointer leaves the
        // mapping.
        unsafe {
            Some(Self {
                bytes: base.add(offset),
                capacity,
                size: base.add(fields.size).cast(),
                start: base.add(fields.start).cast(),
                checksum: base.add(fields.checksum).cast(),
                _map: Arc::clone(map),
            })
        }
    }

    /// Returns the area's bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are inside the mapping, which lives as long as `self`, and any byte
        // value is valid. `both` creates two areas, which overlap neither each other nor the
        // header. An area is not `Clone`, and changing its bytes requires a mutable reference to
        // it. Other processes must not change the file, as with any file that is being written.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr(), self.capacity) }
    }

    /// Returns the area's bytes, to change them.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.show();
        // SAFETY: as for `bytes`; `&mut self` makes this the only reference into the area.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_ptr(), self.capacity) }
    }

    /// Publishes the first `size` bytes of the area as events, so that readers find them.
    ///
    /// Release ordering keeps the compiler and the processor from publishing before the bytes are
    /// stored. A kill happens between two instructions, and all stores before it reach the page.
    #[inline]
    pub fn publish(&self, size: usize) {
        // SAFETY: the pointer refers to 8 bytes of the header, in a mapping that lives as long as
        // `self`, at a multiple of 8 from the start of a page, as asserted above. No reference into
        // an area reaches the header, and after `create` all access to it is atomic.
        let field = unsafe { self.size.as_ref() };
        self.show();
        field.store((size as u64).to_le(), Ordering::Release);
        self.show();
    }

    /// Sets the empty area's new offset and checksum in its file.
    pub(crate) fn move_to(&self, start: u64, checksum: u32) {
        // SAFETY: as in `publish`; the second field has 4 bytes at a multiple of 4.
        let fields = unsafe { (self.start.as_ref(), self.checksum.as_ref()) };
        self.show();
        fields.0.store(start.to_le(), Ordering::Release);
        self.show();
        fields.1.store(checksum.to_le(), Ordering::Release);
        self.show();
    }

    /// Lets a test inspect the ring between two stores.
    #[inline]
    fn show(&self) {
        #[cfg(all(feature = "testing", debug_assertions))]
        watch::show(&self._map);
    }
}

/// Lets a test inspect a writer's ring after each store, in debug builds only.
#[cfg(feature = "testing")]
pub mod watch {
    use std::cell::Cell;

    type Watcher = fn(&[u8]);

    thread_local! {
        /// Has no destructor, so that the last destructors of a thread can still write events.
        static WATCHER: Cell<Option<Watcher>> = const { Cell::new(None) };
    }

    /// Shows the rings of this thread's writers to `watcher` until the next call.
    pub fn set(watcher: Option<Watcher>) {
        WATCHER.set(watcher);
    }

    #[cfg(debug_assertions)]
    pub(super) fn show(map: &super::MmapRaw) {
        if let Some(watcher) = WATCHER.get() {
            // SAFETY: the mapping has this many bytes. Only this thread writes to its areas, and it
            // holds no reference into them here.
            watcher(unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) });
        }
    }
}

fn write_header(mut file: &File, header: &RingHeader) -> io::Result<()> {
    io::Seek::rewind(&mut file)?;
    file.write_all(zerocopy::IntoBytes::as_bytes(header))
}

/// Extends the empty file to `size` bytes by writing zeros.
#[doc(hidden)]
pub fn write_zeros(file: &mut File, size: usize) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(size as u64), file).map(drop)
}
