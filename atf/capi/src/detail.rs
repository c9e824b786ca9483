//! Reading `detail.atf`.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use atf::Error;
use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::thread::ThreadReader;

use crate::boundary;
use crate::event::AtfDetailEvent;
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, Plain, output, put, put_sized};
use crate::options::open_options;
use crate::reader::{AtfChecksum, AtfFileInfo, Problems, known, reader_functions};
use crate::status::{AtfStatus, Failure, Outcome};

/// `AtfDetailReader`.
pub type AtfDetailReader = Handle<Detail>;

/// A reader and the problems of its events.
#[derive(Debug)]
pub struct Detail {
    file: File,
    problems: Problems,
}

/// A separate reader, or the details of a thread's reader. A thread's reader lives as long as any
/// of the thread's handles.
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

    /// Returns the problems of the events. All events were read when the file was opened.
    fn ask(&self) -> Vec<Error> {
        let problems = self.reader().map(DetailReader::problems);
        let problems = problems.unwrap_or_else(|_| Ok(Vec::new()));
        problems.unwrap_or_else(|error| vec![error])
    }

    fn reader(&self) -> Outcome<&DetailReader> {
        match &self.file {
            File::Own(detail) => Ok(detail),
            // This variant exists only for threads with a `detail.atf`.
            File::OfThread(thread) => thread.detail().ok_or(Failure::Nothing),
        }
    }

    fn event(&self, seq: u64) -> Outcome<(&DetailReader, DetailEvent)> {
        let detail = self.reader()?;
        let event = detail.get(seq)?.ok_or(Failure::Nothing)?;
        Ok((detail, event))
    }
}

/// Reads event `detail_seq`. After the last one, returns `ATF_NONE`, or `ATF_ERROR_DAMAGED` if
/// there are problems with the events.
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
        let found = this.reader()?.get(detail_seq)?;
        Ok(found
            .ok_or_else(|| this.problems.end(|| this.ask()))?
            .into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(reader, event, "event", body) }
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
        output(size, "size")?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(size, 0) };
        let (detail, event) = this.event(detail_seq)?;
        // The size is limited to the payload's, because zeroing a large buffer takes time.
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

/// The bytes of `DetailFunctionPayload`, which `atf_wire.h` declares as a packed struct.
pub type DetailFunctionPayload = [u8; FunctionPayload::SIZE];

/// Reads the payload of a call or a return; returns `ATF_NONE` if its layout is different. Copies
/// the stack to `stack`, which has room for `stack_capacity` bytes.
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
        output(payload, "payload")?;
        let (detail, event) = this.event(detail_seq)?;
        if event.payload_size() > MOST_FUNCTION_PAYLOAD {
            return Err(Failure::Nothing);
        }
        let bytes = detail.payload(&event, usize::MAX)?;
        let found = FunctionPayload::decode(&bytes).ok_or(Failure::Nothing)?;
        if found.stack.len() > stack_capacity {
            let message = format!(
                "the stack has {} bytes, but the buffer has room for {stack_capacity}",
                found.stack.len()
            );
            return Err(Failure::new(AtfStatus::Buffer, message));
        }
        let fixed = bytes.first_chunk::<{ FunctionPayload::SIZE }>();
        let fixed = fixed.ok_or(Failure::Nothing)?;
        // SAFETY: not null, so the caller guarantees that a payload can be written.
        unsafe { put(payload, *fixed) };
        // SAFETY: guaranteed by this function's caller.
        let room = unsafe { memory::bytes_mut(stack, found.stack.len()) }?;
        room.copy_from_slice(&found.stack);
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(reader, body) })
}

/// The maximum size in bytes of a payload of a call or a return: `stack_size` has 16 bits.
const MOST_FUNCTION_PAYLOAD: u64 = FunctionPayload::SIZE as u64 + u16::MAX as u64;

fn kinds(detail: &DetailReader) -> AtfFileInfo {
    AtfFileInfo {
        checksum: known(detail.checksum().ok()),
        ..AtfFileInfo::ZERO
    }
}

reader_functions!(
    "a `detail.atf`",
    AtfDetailReader,
    Detail,
    DetailReader,
    kinds,
    atf_detail_open,
    atf_detail_open_bytes,
    atf_detail_info,
    atf_detail_event_count,
    atf_detail_checksum,
    atf_detail_problem_count,
    atf_detail_problem,
    atf_detail_close,
);
