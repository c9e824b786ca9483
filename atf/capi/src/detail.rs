//! Reading `detail.atf`.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use atf::Error;
use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::thread::ThreadReader;
use atf::wire::DetailFunctionPayload;

use crate::boundary;
use crate::event::AtfDetailEvent;
use crate::file::{AtfChecksum, AtfFileInfo, known};
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, Plain, put, put_sized, required};
use crate::options::open_options;
use crate::problems::Problems;
use crate::status::{AtfStatus, Failure, Outcome};

/// `AtfDetailReader`.
pub type AtfDetailReader = Handle<Detail>;

/// A reader and the problems of its events.
#[derive(Debug)]
pub struct Detail {
    file: File,
    problems: Problems,
}

/// A separate reader, or part of a thread's. A thread's reader lives as long as any of the thread's
/// handles.
#[derive(Debug)]
enum File {
    /// Opened on its own.
    Own(Box<DetailReader>),
    /// Part of a thread.
    OfThread(Arc<ThreadReader>),
}

impl Object for Detail {
    const TAG: u64 = u64::from_be_bytes(*b"atfDETAI");
    const NAME: &'static str = "AtfDetailReader";
}

impl Detail {
    fn own(detail: DetailReader) -> Self {
        Self {
            file: File::Own(Box::new(detail)),
            problems: Problems::default(),
        }
    }

    pub(crate) fn of_thread(thread: Arc<ThreadReader>) -> Self {
        Self {
            file: File::OfThread(thread),
            problems: Problems::default(),
        }
    }

    /// The problems of the events. All events were read when the file was opened.
    fn ask(&self) -> Vec<Error> {
        let problems = self.get().map(DetailReader::problems);
        let problems = problems.unwrap_or_else(|_| Ok(Vec::new()));
        problems.unwrap_or_else(|error| vec![error])
    }

    fn get(&self) -> Outcome<&DetailReader> {
        match &self.file {
            File::Own(detail) => Ok(detail),
            // Created only for threads with a `detail.atf`.
            File::OfThread(thread) => thread.detail().ok_or(Failure::Nothing),
        }
    }

    fn event(&self, seq: u64) -> Outcome<(&DetailReader, DetailEvent)> {
        let detail = self.get()?;
        let event = detail.get(seq)?.ok_or(Failure::Nothing)?;
        Ok((detail, event))
    }
}

/// Opens a `detail.atf`.
///
/// # Safety
///
/// As for [`atf_index_open`](crate::index::atf_index_open).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_open(
    path: *const c_char,
    flags: u32,
    reader: *mut *mut AtfDetailReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let path = unsafe { memory::path(path) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { open_options(flags) }?;
        Ok(Detail::own(DetailReader::open_with(path, options)?))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(reader, make) })
}

/// Opens a `detail.atf` from bytes, which are copied.
///
/// # Safety
///
/// As for [`atf_index_open_bytes`](crate::index::atf_index_open_bytes).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_open_bytes(
    data: *const c_void,
    size: usize,
    reader: *mut *mut AtfDetailReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let bytes = unsafe { memory::slice(data.cast::<u8>(), size) }?;
        Ok(Detail::own(DetailReader::from_bytes(bytes)?))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(reader, make) })
}

/// Describes the file.
///
/// # Safety
///
/// As for [`atf_index_info`](crate::index::atf_index_info).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_info(
    reader: *const AtfDetailReader,
    info: *mut AtfFileInfo,
    info_size: usize,
) -> AtfStatus {
    let body = |this: &Detail| {
        let detail = this.get()?;
        let header = detail.header();
        let found = AtfFileInfo {
            event_count: detail.event_count(),
            file_size: detail.file_size(),
            events_offset: header.events_offset,
            events_end: detail.events_end(),
            footer_offset: detail.footer_offset().unwrap_or(0),
            bytes_after_footer: detail.bytes_after_footer(),
            thread_id: header.thread_id,
            wire: header.wire.version(),
            arch: header.arch.into(),
            os: header.os.into(),
            checksum: known(detail.checksum().ok()),
            ..AtfFileInfo::ZERO
        };
        let found = found.with_end(detail.completeness(), detail.count_source());
        // SAFETY: guaranteed by this function's caller.
        unsafe { put_sized(info, info_size, &found) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The number of events that can be read; 0 if `reader` is invalid.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_event_count(reader: *const AtfDetailReader) -> u64 {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with(reader, |this| Ok(this.get()?.event_count()))
    })
}

/// Reads event `detail_seq`. After the last one: `ATF_NONE`, or `ATF_ERROR_DAMAGED` if there are
/// problems with the events.
///
/// # Safety
///
/// `reader` is null or a handle; `event` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_get(
    reader: *const AtfDetailReader,
    detail_seq: u64,
    event: *mut AtfDetailEvent,
) -> AtfStatus {
    let body = |this: &Detail| {
        required(event, "the output pointer for the event is null")?;
        let found = this.get()?.get(detail_seq)?;
        let found = found.ok_or_else(|| this.problems.end(|| this.ask()))?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(event, found.into()) };
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// Copies bytes of an event's payload, beginning at byte `start`.
///
/// # Safety
///
/// `reader` is null or a handle; `buffer` is null or valid for writing `capacity` bytes; `size` is
/// null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_payload(
    reader: *const AtfDetailReader,
    detail_seq: u64,
    start: u64,
    buffer: *mut c_void,
    capacity: usize,
    size: *mut usize,
) -> AtfStatus {
    let body = |this: &Detail| {
        required(size, "the output pointer for the size is null")?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(size, 0) };
        let (detail, event) = this.event(detail_seq)?;
        // Limited to the payload's size, because zeroing a large buffer takes time.
        let left = event.payload_size().saturating_sub(start);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(capacity);
        // SAFETY: guaranteed by this function's caller.
        let buffer = unsafe { memory::bytes_mut(buffer.cast::<u8>(), wanted) }?;
        let read = detail.read_payload(&event, start, buffer)?;
        // SAFETY: as above.
        unsafe { put(size, read) };
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// Reads the payload of a call or a return; `ATF_NONE` if its layout is different. The stack goes
/// to `stack`, which has room for `stack_capacity` bytes.
///
/// # Safety
///
/// `reader` is null or a handle; `payload` is null or valid for writes; `stack` is null or valid
/// for writing `stack_capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_function_payload(
    reader: *const AtfDetailReader,
    detail_seq: u64,
    payload: *mut DetailFunctionPayload,
    stack: *mut u8,
    stack_capacity: usize,
) -> AtfStatus {
    let body = |this: &Detail| {
        required(payload, "the output pointer for the payload is null")?;
        let (detail, event) = this.event(detail_seq)?;
        if event.payload_size() > MOST_FUNCTION_PAYLOAD {
            return Err(Failure::Nothing);
        }
        let bytes = detail.payload(&event, usize::MAX)?;
        let found = FunctionPayload::decode(&bytes).ok_or(Failure::Nothing)?;
        if found.stack.len() > stack_capacity {
            let message = format!(
                "the stack has {} bytes, the buffer has room for {stack_capacity}",
                found.stack.len()
            );
            return Err(Failure::new(AtfStatus::Buffer, message));
        }
        let fixed = bytes.first_chunk::<{ DetailFunctionPayload::SIZE }>();
        let fixed = fixed.ok_or(Failure::Nothing)?;
        // SAFETY: not null, so the caller guarantees that a payload can be written; the array has
        // the same size, and alignment 1.
        unsafe { put(payload.cast::<[u8; DetailFunctionPayload::SIZE]>(), *fixed) };
        // SAFETY: guaranteed by this function's caller.
        let room = unsafe { memory::bytes_mut(stack, found.stack.len()) }?;
        room.copy_from_slice(&found.stack);
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The maximum size in bytes of a payload of a call or a return: `stack_size` has 16 bits.
const MOST_FUNCTION_PAYLOAD: u64 = DetailFunctionPayload::SIZE as u64 + u16::MAX as u64;

/// Reads all events and compares them with the footer's checksum.
///
/// # Safety
///
/// As for [`atf_index_checksum`](crate::index::atf_index_checksum).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_checksum(
    reader: *const AtfDetailReader,
    checksum: *mut AtfChecksum,
) -> AtfStatus {
    let body = |this: &Detail| {
        required(checksum, "the output pointer for the checksum is null")?;
        let found = this.get()?.checksum()?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(checksum, found.into()) };
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The number of problems with the events.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_problem_count(reader: *const AtfDetailReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with(reader, |this| Ok(this.problems.get(|| this.ask()).len()))
    })
}

/// A problem as text, or null after the last one. Valid until the reader is closed.
///
/// # Safety
///
/// `reader` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_problem(
    reader: *const AtfDetailReader,
    position: usize,
) -> *const c_char {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(std::ptr::null(), || unsafe {
        handle::with(reader, |this| {
            Ok(this.problems.text(position, || this.ask()))
        })
    })
}

/// Frees a reader; null is allowed.
///
/// # Safety
///
/// `reader` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_detail_close(reader: *mut AtfDetailReader) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(reader) }.map(drop))
}
