//! Buffers for events before they are written, which may outlive the process.
//!
//! With [`survive_kill`](super::WriteOptions::survive_kill), the buffers of a thread's two files
//! are areas of `ring.atf`, a shared memory-mapped file next to them. Nothing else changes: events
//! go into a buffer, and a full buffer goes to its file. So once a call has returned, its event is
//! in the file or in the ring, no matter what happens to the process.
//!
//! The process may be killed between any two instructions. For an area that begins at offset `s` of
//! its file:
//!
//! | killed before | in the file | in the ring | reader's view |
//! |---|---|---|---|
//! | an event's bytes are stored | up to `s` | `size` bytes | all before it |
//! | the size is stored | up to `s` | the same | the same: the call had not returned |
//! | the area is written | up to `s`, and some of the area | `size` bytes from `s` | the ring's bytes; some are also in the file |
//! | size := 0 | up to `s + size` | `size` bytes from `s` | the same bytes in both |
//! | start moves | up to the new start | nothing | the file |
//! | the checksum moves | up to the new start | nothing | the file |
//!
//! A detail is stored before its event, and the detail area is written before the index area, so
//! every linked detail exists.

use std::path::{Path, PathBuf};

use super::{Storage, WriteOptions, at};
use crate::error::{Error, ErrorKind, Result, zeros};
use crate::files::RING_FILE;
use crate::ring::Ring;
use crate::sys::{JournalArea, Origin};
use crate::wire::{HEADER_SIZE, RingHeader};

/// Memory for events that are not yet in the file.
#[derive(Debug)]
pub(super) enum Buffer {
    /// Ordinary memory, which is lost with the process.
    Memory(Vec<u8>),
    /// An area of `ring.atf`, which outlives the process.
    Journal(JournalArea),
}

impl Buffer {
    pub(super) fn memory(capacity: usize) -> Result<Self> {
        zeros(capacity).map(Self::Memory)
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Journal(area) => area.bytes(),
        }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Journal(area) => area.bytes_mut(),
        }
    }

    /// Publishes the first `size` bytes as events.
    #[inline]
    pub(super) fn publish(&self, size: usize) {
        if let Self::Journal(area) = self {
            area.publish(size);
        }
    }

    /// Moves the empty buffer to offset `start` in its file, after events with this checksum.
    pub(super) fn move_to(&self, start: u64, checksum: u32) {
        if let Self::Journal(area) = self {
            area.move_to(start, checksum);
        }
    }

    pub(super) fn is_journal(&self) -> bool {
        matches!(self, Self::Journal(_))
    }
}

/// The journal of a thread's writer: its `ring.atf`.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// The process that created the file. A forked child also has the mapping, and would write into
    /// its parent's journal.
    pub(super) owner: Origin,
    /// The detail area, until the detail file takes it over.
    detail: Option<JournalArea>,
}

impl Journal {
    /// Creates a thread's journal and returns the buffer for its index file. On failure, leaves
    /// nothing behind.
    pub(super) fn create(
        storage: &dyn Storage,
        folder: &Path,
        thread_id: u32,
        options: &WriteOptions,
        capacity: usize,
    ) -> Result<(Buffer, Self)> {
        let path = folder.join(RING_FILE);
        if !storage.is_disk() {
            return Err(at(&path)(std::io::ErrorKind::Unsupported.into()));
        }
        let found = capacity as u64;
        if found > Ring::MAX_BYTES {
            let (min, max) = (0, Ring::MAX_BYTES);
            let error = Error::new(ErrorKind::OutOfRange { found, min, max });
            return Err(error.with_field("buffer_size").with_path(Some(&path)));
        }
        let header = RingHeader {
            magic: RingHeader::MAGIC,
            endian: RingHeader::ENDIAN,
            version: options.wire.version(),
            thread_id: thread_id.into(),
            index_capacity: found.into(),
            index_start: (HEADER_SIZE as u64).into(),
            detail_capacity: found.into(),
            detail_start: (HEADER_SIZE as u64).into(),
            ..zerocopy::FromZeros::new_zeroed()
        };
        let file = storage.create_file(&path);
        match file.and_then(|file| JournalArea::create(file, &header, capacity)) {
            Ok((index, detail)) => {
                let journal = Self {
                    path,
                    owner: Origin::current(),
                    detail: Some(detail),
                };
                Ok((Buffer::Journal(index), journal))
            }
            Err(error) => {
                // Return the first error. Do not remove a file that already existed.
                if error.kind() != std::io::ErrorKind::AlreadyExists {
                    let _ = storage.remove(&path);
                }
                Err(at(&path)(error))
            }
        }
    }

    pub(super) fn take_detail(&mut self) -> Option<Buffer> {
        self.detail.take().map(Buffer::Journal)
    }

    /// Returns an error in a forked child, because the journal belongs to its parent. A child that
    /// shares its parent's memory, as after `vfork`, acts for the parent's thread, which waits.
    #[inline]
    pub(super) fn check_owner(&self) -> Result<()> {
        if self.owner.is_forked() {
            Err(self.forked())
        } else {
            Ok(())
        }
    }

    #[cold]
    fn forked(&self) -> Error {
        let owner = self.owner.process();
        Error::new(ErrorKind::Forked { owner }).with_path(Some(&self.path))
    }

    /// Removes the journal's file, because all events are in the thread's files. If this fails,
    /// readers find that the journal adds nothing.
    pub(super) fn remove(&mut self, storage: &dyn Storage) {
        let _ = storage.remove(&self.path);
    }
}
