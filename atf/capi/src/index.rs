//! Reading `index.atf`.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use atf::Error;
use atf::index::IndexReader;
use atf::thread::ThreadReader;

use crate::boundary;
use crate::event::AtfEvent;
use crate::file::{AtfChecksum, AtfFileInfo, known};
use crate::handle::{self, Handle, Object};
use crate::memory::{self, Plain, argument, put, put_sized, required};
use crate::options::open_options;
use crate::problems::Problems;
use crate::status::{AtfStatus, Failure, Outcome};

/// `AtfIndexReader`.
pub type AtfIndexReader = Handle<Index>;

/// A reader, and what is wrong with its events.
#[derive(Debug)]
pub struct Index {
    files: Files,
    problems: Problems,
}

/// A reader of its own, or that of a thread, which lives as long as one of its handles.
#[derive(Debug)]
enum Files {
    /// Opened by itself.
    Own(Box<IndexReader>),
    /// Part of a thread, with the id in its folder's name.
    OfThread(Arc<ThreadReader>, Option<u32>),
}

impl Object for Index {
    const TAG: u64 = u64::from_be_bytes(*b"atfINDEX");
    const NAME: &'static str = "AtfIndexReader";
}

impl Index {
    fn own(index: IndexReader) -> Self {
        Self {
            files: Files::Own(Box::new(index)),
            problems: Problems::default(),
        }
    }

    pub(crate) fn of_thread(thread: Arc<ThreadReader>, folder: Option<u32>) -> Self {
        Self {
            files: Files::OfThread(thread, folder),
            problems: Problems::default(),
        }
    }

    fn get(&self) -> &IndexReader {
        match &self.files {
            Files::Own(index) => index,
            Files::OfThread(thread, _) => thread.index(),
        }
    }

    /// The thread that its events are given under.
    fn thread(&self) -> u32 {
        match self.files {
            Files::OfThread(_, Some(folder)) => folder,
            _ => self.get().header().thread_id,
        }
    }

    /// What is wrong with the events: all are looked at, unless they have been.
    fn ask(&self) -> Vec<Error> {
        let scanned = self.get().scan().err();
        let known = match &self.files {
            Files::Own(index) => index.problems(),
            Files::OfThread(thread, _) => thread.problems().unwrap_or_else(|error| vec![error]),
        };
        scanned.into_iter().chain(known).collect()
    }
}

/// Makes a reader and gives it to C.
///
/// # Safety
///
/// `reader` is null or a place for a pointer.
pub(crate) unsafe fn give<T: Object>(
    reader: *mut *mut Handle<T>,
    make: impl FnOnce() -> Outcome<T>,
) -> Outcome<()> {
    required(reader, "the place for the reader is null")?;
    // SAFETY: it is not null, so by the caller's word a place for a pointer.
    unsafe { put(reader, std::ptr::null_mut()) };
    let made = Handle::give(make()?);
    // SAFETY: as above.
    unsafe { put(reader, made) };
    Ok(())
}

/// Opens an `index.atf`.
///
/// # Safety
///
/// `path` is null or a string, `reader` null or a place for a pointer; with `ATF_OPEN_MAPPED`
/// nobody changes or shortens the file while the reader is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_open(
    path: *const c_char,
    flags: u32,
    reader: *mut *mut AtfIndexReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: as this function's.
        let path = unsafe { memory::path(path) }?;
        // SAFETY: as this function's.
        let options = unsafe { open_options(flags) }?;
        Ok(Index::own(IndexReader::open_with(path, options)?))
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { give(reader, make) })
}

/// Reads the bytes of an `index.atf`, which are copied.
///
/// # Safety
///
/// `data` is null or `size` bytes; `reader` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_open_bytes(
    data: *const c_void,
    size: usize,
    reader: *mut *mut AtfIndexReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: as this function's.
        let bytes = unsafe { memory::slice(data.cast::<u8>(), size) }?;
        Ok(Index::own(IndexReader::from_bytes(bytes)?))
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { give(reader, make) })
}

/// What is known of the file.
///
/// # Safety
///
/// `reader` is null or a handle; `info` is null or a place for `info_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_info(
    reader: *const AtfIndexReader,
    info: *mut AtfFileInfo,
    info_size: usize,
) -> AtfStatus {
    let body = |this: &Index| {
        let index = this.get();
        let header = index.header();
        let found = AtfFileInfo {
            event_count: index.event_count(),
            file_size: index.file_size(),
            events_offset: header.events_offset,
            events_end: index.events_end(),
            footer_offset: index.footer_offset().unwrap_or(0),
            bytes_after_footer: index.bytes_after_footer(),
            thread_id: header.thread_id,
            flags: header.flags.into(),
            wire: header.wire.version(),
            arch: header.arch.into(),
            os: header.os.into(),
            clock_type: header.clock_type.into(),
            checksum: known(index.known_checksum()),
            ..AtfFileInfo::ZERO
        };
        let found = found.with_end(index.completeness(), index.count_source());
        // SAFETY: as this function's.
        unsafe { put_sized(info, info_size, &found) }
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The number of events that can be read; 0 where this is no reader.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_event_count(reader: *const AtfIndexReader) -> u64 {
    // SAFETY: as this function's.
    boundary::value(0, || unsafe {
        handle::with(reader, |this| Ok(this.get().event_count()))
    })
}

/// The event at a position, `ATF_NONE` after the last one.
///
/// # Safety
///
/// `reader` is null or a handle; `event` is null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_get(
    reader: *const AtfIndexReader,
    index_seq: u64,
    event: *mut AtfEvent,
) -> AtfStatus {
    let body = |this: &Index| {
        required(event, "the place for the event is null")?;
        let found = this.get().get(index_seq)?.ok_or(Failure::Nothing)?;
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(event, AtfEvent::new(this.thread(), index_seq, &found)) };
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// Events from a position on, as many as there are up to `capacity`. After the last one
/// `ATF_NONE`, or `ATF_ERROR_DAMAGED` where something is wrong with the events.
///
/// # Safety
///
/// `reader` is null or a handle; `events` is null or a place for `capacity` events; `count` is
/// null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_read(
    reader: *const AtfIndexReader,
    first_seq: u64,
    events: *mut AtfEvent,
    capacity: usize,
    count: *mut usize,
) -> AtfStatus {
    let body = |this: &Index| {
        required(count, "the place for the count is null")?;
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(count, 0) };
        // SAFETY: as this function's.
        let events = unsafe { memory::places(events, capacity) }?;
        let (index, thread) = (this.get(), this.thread());
        let left = index.event_count().saturating_sub(first_seq);
        if left == 0 {
            return Err(this.problems.end(|| this.ask()));
        }
        let mut cursor = index.cursor();
        let mut read = 0_usize;
        for (place, seq) in events.iter_mut().zip(first_seq..) {
            let Some(event) = cursor.get(seq)? else {
                break;
            };
            place.write(AtfEvent::new(thread, seq, &event));
            read = read.saturating_add(1);
            // SAFETY: as above; said with each event, so that an error leaves those before it.
            unsafe { put(count, read) };
        }
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The timestamps of the first and the last event, `ATF_NONE` without events.
///
/// # Safety
///
/// `reader` is null or a handle; the places are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_time_range(
    reader: *const AtfIndexReader,
    time_start_ns: *mut u64,
    time_end_ns: *mut u64,
) -> AtfStatus {
    let body = |this: &Index| {
        let (start, end) = this.get().time_range()?.ok_or(Failure::Nothing)?;
        // SAFETY: as this function's.
        unsafe { put(time_start_ns, start) };
        // SAFETY: as this function's.
        unsafe { put(time_end_ns, end) };
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// Reads all events and compares them with the footer's checksum.
///
/// # Safety
///
/// `reader` is null or a handle; `checksum` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_checksum(
    reader: *const AtfIndexReader,
    checksum: *mut AtfChecksum,
) -> AtfStatus {
    let body = |this: &Index| {
        if checksum.is_null() {
            return Err(argument("the place for the checksum is null"));
        }
        let found = this.get().checksum()?;
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(checksum, found.into()) };
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// How many things are wrong with the events, and of a thread's reader with its details and links.
/// The first call looks at all events, unless `atf_index_checksum` has.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_problem_count(reader: *const AtfIndexReader) -> usize {
    // SAFETY: as this function's.
    boundary::value(0, || unsafe {
        handle::with(reader, |this| Ok(this.problems.get(|| this.ask()).len()))
    })
}

/// One of them in words, or null after the last one. It holds as long as the reader is open.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_problem(
    reader: *const AtfIndexReader,
    position: usize,
) -> *const c_char {
    // SAFETY: as this function's.
    boundary::value(std::ptr::null(), || unsafe {
        handle::with(reader, |this| {
            Ok(this.problems.text(position, || this.ask()))
        })
    })
}

/// Frees a reader; null is nothing to close.
///
/// # Safety
///
/// `reader` is null or a handle, and nobody else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_close(reader: *mut AtfIndexReader) -> AtfStatus {
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::close(reader) }.map(drop))
}
