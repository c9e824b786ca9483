//! Functions of the readers of both kinds of file, with the description of a file and its list of
//! problems.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use atf::{Checksum, Completeness, CountSource, Error};
use atf_record::uncancelled;

use crate::memory::Plain;
use crate::status::{Failure, c_string};

/// `AtfFileInfo`: the header fields, layout and completeness of an `index.atf` or a `detail.atf`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfFileInfo {
    /// Events that can be read.
    pub event_count: u64,
    /// The size of the file in bytes when it was opened.
    pub file_size: u64,
    /// The offset of the first event.
    pub events_offset: u64,
    /// The offset after the last event.
    pub events_end: u64,
    /// The offset of the verified footer, or 0.
    pub footer_offset: u64,
    /// Bytes after the verified footer, where the file should have ended.
    pub bytes_after_footer: u64,
    /// Bytes after the last complete event that belong to no event.
    pub trailing_bytes: u64,
    /// Bytes at the end that are all 0.
    pub zero_tail_bytes: u64,
    /// The header's thread.
    pub thread_id: u32,
    /// The header's flags: `ATF_INDEX_FLAG_*`.
    pub flags: u32,
    /// The wire version: 1 or 2.
    pub wire: u8,
    /// The processor: `ATF_ARCH_*`.
    pub arch: u8,
    /// The operating system: `ATF_OS_*`.
    pub os: u8,
    /// The clock: `ATF_CLOCK_*`; 0 for a `detail.atf`, which does not record it.
    pub clock_type: u8,
    /// How the file ends: `AtfCompleteness`.
    pub completeness: u8,
    /// Where `event_count` comes from: `AtfCountSource`.
    pub count_source: u8,
    /// The checksum's state, as far as known: `AtfChecksum`.
    pub checksum: u8,
    /// 0.
    pub reserved: [u8; 1],
}

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfFileInfo {}

impl AtfFileInfo {
    /// Sets the members that describe how the file ends.
    pub(crate) fn with_end(mut self, end: &Completeness, count: CountSource) -> Self {
        self.completeness = match end {
            Completeness::Finalized => 0,
            Completeness::HeaderNotUpdated => 1,
            Completeness::DamagedFooter { .. } => 3,
            _ => 2,
        };
        match *end {
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                ..
            } => {
                self.trailing_bytes = trailing_bytes;
                self.zero_tail_bytes = zero_tail_bytes;
            }
            Completeness::DamagedFooter { trailing_bytes, .. } => {
                self.trailing_bytes = trailing_bytes;
            }
            _ => {}
        }
        self.count_source = match count {
            CountSource::Footer => 0,
            CountSource::FooterPosition => 1,
            CountSource::Framing => 3,
            _ => 2,
        };
        self
    }
}

/// `AtfChecksum`: the state of the footer's checksum.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtfChecksum {
    /// There is no verified footer to compare with.
    NotChecked = 0,
    /// The footer's checksum is 0, which means that none was computed.
    Absent = 1,
    /// The events match the checksum.
    Good = 2,
    /// The events do not match the checksum.
    Bad = 3,
    /// The checksum is an IEEE CRC-32 instead of a CRC-32C: the events are intact, but the
    /// polynomial is wrong.
    Ieee = 4,
    /// There is a checksum, but it has not been compared with the events yet.
    Unknown = 5,
}

/// Returns the state of a checksum, as stored in `AtfFileInfo`.
pub(crate) fn known(checksum: Option<Checksum>) -> u8 {
    checksum.map_or(AtfChecksum::Unknown, AtfChecksum::from) as u8
}

impl From<Checksum> for AtfChecksum {
    fn from(checksum: Checksum) -> Self {
        match checksum {
            Checksum::NotChecked => Self::NotChecked,
            Checksum::Absent => Self::Absent,
            Checksum::Good => Self::Good,
            Checksum::Bad { .. } => Self::Bad,
            Checksum::Ieee { .. } => Self::Ieee,
            _ => Self::Unknown,
        }
    }
}

/// The problems of a reader's events, computed when first requested.
#[derive(Debug, Default)]
pub(crate) struct Problems(OnceLock<Vec<(Error, CString)>>);

impl Problems {
    /// Returns all problems; the first call computes them with `ask`.
    pub(crate) fn get(&self, ask: impl FnOnce() -> Vec<Error>) -> &[(Error, CString)] {
        let text = |error: Error| {
            let text = c_string(error.text_with_rule().as_bytes());
            (error, text)
        };
        // `ask` may open other files of the reader's thread.
        let ask = || uncancelled(ask);
        self.0.get_or_init(|| ask().into_iter().map(text).collect())
    }

    /// Returns the result after the last event: [`Failure::Nothing`], or the first problem.
    pub(crate) fn end(&self, ask: impl FnOnce() -> Vec<Error>) -> Failure {
        match self.get(ask).first() {
            Some((first, _)) => Failure::Damaged(first.clone()),
            None => Failure::Nothing,
        }
    }

    /// Returns a problem as text, or null.
    pub(crate) fn text(&self, position: usize, ask: impl FnOnce() -> Vec<Error>) -> *const c_char {
        let problem = self.get(ask).get(position);
        problem.map_or(std::ptr::null(), |(_, text)| text.as_ptr())
    }
}

/// Defines the functions of `$object`, a handle's object, that do not depend on the kind of file.
/// `$kinds` are the values in `AtfFileInfo` that do.
macro_rules! reader_functions {
    (
        $file:literal, $handle:ident, $object:ident, $reader:ident, $kinds:ident,
        $open:ident, $open_bytes:ident, $info:ident, $event_count:ident,
        $checksum:ident, $problem_count:ident, $problem:ident, $close:ident $(,)?
    ) => {
        #[doc = concat!("Opens ", $file, ".")]
        ///
        /// # Safety
        ///
        /// `path` is null or a string, `reader` null or valid for writing a pointer. With
        /// `ATF_OPEN_MAPPED`, the file is not changed or truncated while the reader is open.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $open(
            path: *const c_char,
            flags: u32,
            reader: *mut *mut $handle,
        ) -> AtfStatus {
            let make = || {
                // SAFETY: guaranteed by this function's caller.
                let path = unsafe { memory::path(path) }?;
                // SAFETY: guaranteed by this function's caller.
                let options = unsafe { open_options(flags) }?;
                Ok($object::own($reader::open_with(path, options)?))
            };
            // SAFETY: guaranteed by this function's caller.
            boundary::status(|| unsafe { give(reader, make) })
        }

        #[doc = concat!("Opens ", $file, " from bytes, which are copied.")]
        ///
        /// # Safety
        ///
        /// `data` is null or points to `size` bytes; `reader` is null or valid for writing a
        /// pointer.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $open_bytes(
            data: *const c_void,
            size: usize,
            reader: *mut *mut $handle,
        ) -> AtfStatus {
            let make = || {
                // SAFETY: guaranteed by this function's caller.
                let bytes = unsafe { memory::slice(data.cast::<u8>(), size) }?;
                Ok($object::own($reader::from_bytes(bytes)?))
            };
            // SAFETY: guaranteed by this function's caller.
            boundary::status(|| unsafe { give(reader, make) })
        }

        /// Describes the file.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle; `info` is null or valid for writing `info_size` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $info(
            reader: *const $handle,
            info: *mut AtfFileInfo,
            info_size: usize,
        ) -> AtfStatus {
            let body = |this: &$object| {
                let reader = this.reader()?;
                let header = reader.header();
                let found = AtfFileInfo {
                    event_count: reader.event_count(),
                    file_size: reader.file_size(),
                    events_offset: header.events_offset,
                    events_end: reader.events_end(),
                    footer_offset: reader.footer_offset().unwrap_or(0),
                    bytes_after_footer: reader.bytes_after_footer(),
                    thread_id: header.thread_id,
                    wire: header.wire.version(),
                    arch: header.arch.into(),
                    os: header.os.into(),
                    ..$kinds(reader)
                };
                let found = found.with_end(reader.completeness(), reader.count_source());
                // SAFETY: guaranteed by this function's caller.
                unsafe { put_sized(info, info_size, &found) }
            };
            // SAFETY: guaranteed by this function's caller.
            boundary::status(|| unsafe { handle::with(reader, body) })
        }

        /// Returns the number of events that can be read, or 0 if `reader` is invalid.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $event_count(reader: *const $handle) -> u64 {
            // SAFETY: guaranteed by this function's caller.
            unsafe { handle::value(reader, 0, |this| Ok(this.reader()?.event_count())) }
        }

        /// Reads all events and verifies them against the footer's checksum.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle; `checksum` is null or valid.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $checksum(
            reader: *const $handle,
            checksum: *mut AtfChecksum,
        ) -> AtfStatus {
            let body = |this: &$object| Ok(this.reader()?.checksum()?.into());
            // SAFETY: guaranteed by this function's caller.
            unsafe { handle::fill(reader, checksum, "checksum", body) }
        }

        /// Returns the number of problems with the events and, for a thread's index, with the
        /// thread's details and links. The first call may read all events.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $problem_count(reader: *const $handle) -> usize {
            // SAFETY: guaranteed by this function's caller.
            unsafe { handle::value(reader, 0, |this| Ok(this.problems.get(|| this.ask()).len())) }
        }

        /// Returns a problem as text, or null after the last one. The text is valid until the
        /// reader is closed.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $problem(
            reader: *const $handle,
            position: usize,
        ) -> *const c_char {
            let body = |this: &$object| Ok(this.problems.text(position, || this.ask()));
            // SAFETY: guaranteed by this function's caller.
            unsafe { handle::value(reader, std::ptr::null(), body) }
        }

        /// Frees a reader; null is allowed.
        ///
        /// # Safety
        ///
        /// `reader` is null or a handle, and no other thread uses it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $close(reader: *mut $handle) -> AtfStatus {
            // SAFETY: guaranteed by this function's caller.
            boundary::status(|| unsafe { handle::close(reader) }.map(drop))
        }
    };
}

pub(crate) use reader_functions;
