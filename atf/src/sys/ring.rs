//! The mapping of `ring.atf`: two buffers in memory that belongs to a file, so that it outlives
//! the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::offset_of;
use std::path::Path;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use crate::wire::RingHeader;

/// One of the two buffers of a ring, to be filled by one writer.
///
/// A mapped page belongs to the file: what is stored there is in the page cache the moment the
/// store is done, and a process that is killed takes nothing of it along. Other processes may map
/// or read the file at any time; none but this writer may change it.
#[derive(Debug)]
pub(crate) struct RingArea {
    /// The area's first byte.
    bytes: NonNull<u8>,
    capacity: usize,
    /// The area's numbers in the header.
    size: NonNull<AtomicU64>,
    start: NonNull<AtomicU64>,
    checksum: NonNull<AtomicU32>,
    /// What all of these point into; unmapped with the last area.
    _map: Arc<MmapRaw>,
}

// SAFETY: an area is a part of a mapping that no other area reaches, and the pointers into the
// header are used for atomic access only. The mapping does not belong to any thread and lives as
// long as `_map`, which is `Send` and `Sync` itself.
unsafe impl Send for RingArea {}
// SAFETY: as above; what `&RingArea` allows is reading the area and atomic stores.
unsafe impl Sync for RingArea {}

/// Where an area's numbers stand in the ring's header.
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

/// Atomic stores need natural alignment. A mapping begins at a page, so offsets in the header that
/// are multiples of their size are enough.
const _: () = {
    assert!(
        INDEX.start.is_multiple_of(8)
            && INDEX.size.is_multiple_of(8)
            && INDEX.checksum.is_multiple_of(4)
    );
    assert!(
        DETAIL.start.is_multiple_of(8)
            && DETAIL.size.is_multiple_of(8)
            && DETAIL.checksum.is_multiple_of(4)
    );
};

impl RingArea {
    /// Makes a ring's file, sets space aside for it, and maps it: the areas for index and detail.
    ///
    /// The space is real: a mapping of a hole on a full disk would end the process by SIGBUS at the
    /// first store.
    pub(crate) fn create(
        path: &Path,
        header: &RingHeader,
        capacity: usize,
    ) -> io::Result<(Self, Self)> {
        let areas = capacity.checked_mul(2);
        let size = areas.and_then(|areas| areas.checked_add(RingHeader::SIZE));
        let size = size.ok_or(io::ErrorKind::FileTooLarge)?;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create_new(true).open(path)?;
        set_aside(&mut file, size)?;
        write_header(&file, header)?;
        let map = Arc::new(MmapOptions::new().len(size).map_raw(&file)?);
        let detail = RingHeader::SIZE.saturating_add(capacity);
        let area = |offset, fields| Self::new(&map, offset, capacity, fields);
        area(RingHeader::SIZE, INDEX)
            .zip(area(detail, DETAIL))
            .ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// The area of `capacity` bytes at `offset`; `None` where the mapping is too short for it.
    fn new(map: &Arc<MmapRaw>, offset: usize, capacity: usize, fields: Fields) -> Option<Self> {
        let end = offset.checked_add(capacity)?;
        if offset < RingHeader::SIZE || end > map.len() {
            return None;
        }
        let base = NonNull::new(map.as_mut_ptr())?;
        // SAFETY: the area is inside the mapping, as was just checked, and the header is too, since
        // the area begins behind it; each field is inside the header. So no sum leaves the mapping.
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

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are inside the mapping, which lives as long as `self`, and bytes of any
        // value are valid. `create` makes one area at each of two places that do not overlap each
        // other or the header, and an area is not `Clone`: whoever changes these bytes holds it
        // mutably. That no other process changes the file is what `ring.atf` asks of everyone, as
        // any file of a writer does.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr(), self.capacity) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; `&mut self` makes this the only reference into the area.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_ptr(), self.capacity) }
    }

    /// Says that the first `size` bytes of the area are events.
    ///
    /// The release order keeps the compiler and the processor from doing it before the bytes are
    /// stored. A kill comes between two instructions, and all stores before it reach the page.
    #[inline]
    pub(crate) fn publish(&self, size: usize) {
        // SAFETY: it points to 8 bytes of the header, in a mapping that lives as long as `self`, at
        // a multiple of 8, asserted above, from a page's beginning. No reference into an area
        // reaches the header, and after `create` all access to it is atomic.
        let field = unsafe { self.size.as_ref() };
        field.store((size as u64).to_le(), Ordering::Release);
    }

    /// Says where in its file the empty area belongs from now on.
    pub(crate) fn move_to(&self, start: u64, checksum: u32) {
        // SAFETY: as in `publish`; the second has 4 bytes at a multiple of 4.
        let fields = unsafe { (self.start.as_ref(), self.checksum.as_ref()) };
        fields.0.store(start.to_le(), Ordering::Release);
        fields.1.store(checksum.to_le(), Ordering::Release);
    }
}

fn write_header(mut file: &File, header: &RingHeader) -> io::Result<()> {
    io::Seek::rewind(&mut file)?;
    file.write_all(zerocopy::IntoBytes::as_bytes(header))
}

/// Gives the empty file `size` bytes with blocks behind them.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_aside(file: &mut File, size: usize) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    loop {
        return match fallocate(&*file, FallocateFlags::empty(), 0, size as u64) {
            Ok(()) => Ok(()),
            Err(Errno::INTR) => continue,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, size),
            Err(errno) => Err(errno.into()),
        };
    }
}

/// Gives the empty file `size` bytes with blocks behind them.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_aside(file: &mut File, size: usize) -> io::Result<()> {
    write_zeros(file, size)
}

fn write_zeros(file: &mut File, size: usize) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(size as u64), file).map(drop)
}
