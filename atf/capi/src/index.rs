//! Reading `index.atf`.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use atf::Error;
use atf::index::IndexReader;
use atf::thread::ThreadReader;

use crate::boundary;
use crate::event::AtfEvent;
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, Plain, output, put, put_sized};
use crate::options::open_options;
use crate::reader::{AtfChecksum, AtfFileInfo, Problems, known, reader_functions};
use crate::status::{AtfStatus, Failure, Outcome};

/// `AtfIndexReader`.
pub type AtfIndexReader = Handle<Index>;

/// A reader and the problems of its events.
#[derive(Debug)]
pub struct Index {
    files: Files,
    problems: Problems,
}

/// A separate reader, or the index of a thread's reader. A thread's reader lives as long as any of
/// the thread's handles.
#[derive(Debug)]
enum Files {
    /// Opened on its own.
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

    fn reader(&self) -> Outcome<&IndexReader> {
        Ok(self.get())
    }

    /// Returns the thread id reported with the events.
    fn thread(&self) -> u32 {
        match self.files {
            Files::OfThread(_, Some(folder)) => folder,
            _ => self.get().header().thread_id,
        }
    }

    /// Returns the problems of the events. Reads all events, unless they have already been read.
    fn ask(&self) -> Vec<Error> {
        let scanned = self.get().scan().err();
        let known = match &self.files {
            Files::Own(index) => index.problems(),
            Files::OfThread(thread, _) => thread.problems().unwrap_or_else(|error| vec![error]),
        };
        scanned.into_iter().chain(known).collect()
    }
}

/// Reads event `index_seq`; returns `ATF_NONE` after the last one.
///
/// # Safety
///
/// `reader` is null or a handle; `event` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_get(
    reader: *const AtfIndexReader,
    index_seq: u64,
    event: *mut AtfEvent,
) -> AtfStatus {
    let body = |this: &Index| {
        let found = this.get().get(index_seq)?.ok_or(Failure::Nothing)?;
        Ok(AtfEvent::new(this.thread(), index_seq, &found))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(reader, event, "event", body) }
}

/// Reads up to `capacity` events, starting with event `first_seq`. After the last one, returns
/// `ATF_NONE`, or `ATF_ERROR_DAMAGED` if there are problems with the events.
///
/// # Safety
///
/// `reader` is null or a handle; `events` is null or valid for writing `capacity` events; `count`
/// is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_read(
    reader: *const AtfIndexReader,
    first_seq: u64,
    events: *mut AtfEvent,
    capacity: usize,
    count: *mut usize,
) -> AtfStatus {
    let body = |this: &Index| {
        output(count, "count")?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(count, 0) };
        // SAFETY: guaranteed by this function's caller.
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
            // SAFETY: as above. The count is updated after every event, so that the events before an
            // error are valid.
            unsafe { put(count, read) };
        }
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// Returns the timestamps of the first and the last event, or `ATF_NONE` if there are no events.
///
/// # Safety
///
/// `reader` is null or a handle; the output pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_index_time_range(
    reader: *const AtfIndexReader,
    time_start_ns: *mut u64,
    time_end_ns: *mut u64,
) -> AtfStatus {
    let body = |this: &Index| {
        let (start, end) = this.get().time_range()?.ok_or(Failure::Nothing)?;
        // SAFETY: guaranteed by this function's caller.
        unsafe { put(time_start_ns, start) };
        // SAFETY: guaranteed by this function's caller.
        unsafe { put(time_end_ns, end) };
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

fn kinds(index: &IndexReader) -> AtfFileInfo {
    AtfFileInfo {
        flags: index.header().flags.into(),
        clock_type: index.header().clock_type.into(),
        checksum: known(index.known_checksum()),
        ..AtfFileInfo::ZERO
    }
}

reader_functions!(
    "an `index.atf`",
    AtfIndexReader,
    Index,
    IndexReader,
    kinds,
    atf_index_open,
    atf_index_open_bytes,
    atf_index_info,
    atf_index_event_count,
    atf_index_checksum,
    atf_index_problem_count,
    atf_index_problem,
    atf_index_close,
);
