//! Writing a thread.

use std::ffi::{c_char, c_void};

use atf::write::{Detail, Event, Link, ThreadSummary, ThreadWriter};

use crate::boundary;
use crate::handle::{self, give};
use crate::memory::{self, Plain, check_offer, ensure, offer_sized, put, reserved_are_0};
use crate::options::{AtfWriteOptions, write_options};
use crate::status::{AtfStatus, Failure, Outcome};
use crate::thread_writer::{AtfThreadWriter, Writer, status_with_warnings, using, write_quickly};

/// `AtfDetail`: registers and stack at an event, or any other payload for it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfDetail {
    /// `ATF_DETAIL_EVENT_*`.
    pub event_type: u16,
    /// Flags; no source defines any.
    pub flags: u16,
    /// 0.
    pub reserved: u32,
    /// The payload; may be null if its size is 0.
    pub payload: *const c_void,
    /// The size of the payload in bytes.
    pub payload_size: usize,
    /// 0; for later versions.
    pub reserved2: [u64; 2],
}

impl AtfDetail {
    /// # Safety
    ///
    /// `detail` is null, or valid with a payload of `payload_size` bytes.
    pub(crate) unsafe fn read<'a>(detail: *const Self) -> Outcome<Detail<'a>> {
        ensure(!detail.is_null(), "the detail is null")?;
        // SAFETY: not null, so the caller guarantees that it is valid; it may be unaligned.
        let detail = unsafe { detail.read_unaligned() };
        reserved_are_0(detail.reserved == 0 && detail.reserved2 == [0; 2])?;
        let payload = detail.payload.cast::<u8>();
        // SAFETY: guaranteed by this function's caller.
        let payload = unsafe { memory::slice(payload, detail.payload_size) }?;
        Ok(Detail::new(detail.event_type.into(), payload).flags(detail.flags))
    }
}

/// `AtfLink`: an index event and its detail event.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfLink {
    /// The position in `index.atf`.
    pub index_seq: u64,
    /// The position in `detail.atf`.
    pub detail_seq: u64,
    /// 0; for later versions.
    pub reserved: [u64; 2],
}

impl From<Link> for AtfLink {
    fn from(link: Link) -> Self {
        Self {
            index_seq: link.index_seq,
            detail_seq: link.detail_seq,
            reserved: [0; 2],
        }
    }
}

/// `AtfThreadSummary`: the contents of a thread's finalized files.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfThreadSummary {
    /// Events in `index.atf`.
    pub event_count: u64,
    /// Events in `detail.atf`.
    pub detail_count: u64,
    /// The first event's timestamp in nanoseconds, or 0 if there are no events.
    pub time_start_ns: u64,
    /// The last event's timestamp in nanoseconds, or 0 if there are no events.
    pub time_end_ns: u64,
    /// The thread.
    pub thread_id: u32,
    /// 0.
    pub reserved: u32,
    /// Details that were reserved but are not in `detail.atf`.
    pub dropped_details: u64,
}

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfThreadSummary {}

impl From<ThreadSummary> for AtfThreadSummary {
    fn from(summary: ThreadSummary) -> Self {
        let (time_start_ns, time_end_ns) = summary.time_range.unwrap_or((0, 0));
        Self {
            event_count: summary.event_count,
            detail_count: summary.detail_count,
            time_start_ns,
            time_end_ns,
            thread_id: summary.thread_id,
            reserved: 0,
            dropped_details: summary.dropped_details,
        }
    }
}

/// The value for "no detail" in functions with 64-bit positions.
pub(crate) const NO_DETAIL: u64 = u64::MAX;

/// Creates an event from the arguments passed by C code.
#[inline]
pub(crate) fn event(
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
) -> Event {
    Event::new(timestamp_ns, function_id, event_kind.into(), call_depth)
}

/// Creates a writer for a thread of a session: `session_dir/thread_<thread_id>/`.
///
/// # Safety
///
/// The strings and structs are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_open(
    session_dir: *const c_char,
    thread_id: u32,
    options: *const AtfWriteOptions,
    writer: *mut *mut AtfThreadWriter,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let session = unsafe { memory::path(session_dir) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { write_options(options) }?;
        let folder = session.join(format!("thread_{thread_id}"));
        let writer = ThreadWriter::create(folder, thread_id, &options)?;
        Ok(Writer::new(writer))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(writer, make) })
}

/// Writes an event without details.
///
/// # Safety
///
/// `writer` is null, or a handle that only the calling thread uses; `index_seq` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    index_seq: *mut u64,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    // SAFETY: guaranteed by this function's caller.
    match unsafe { write_quickly(writer, &event, u64::MAX) } {
        Some(seq) => {
            // SAFETY: guaranteed by this function's caller.
            unsafe { put(index_seq, seq) };
            AtfStatus::Ok
        }
        None => {
            let body = |this: &mut Writer| Ok(this.writer.write_index(&event, None)?);
            // SAFETY: guaranteed by this function's caller.
            let body = || unsafe { using(writer, body) };
            // SAFETY: guaranteed by this function's caller.
            unsafe { boundary::offer(index_seq, body) }
        }
    }
}

/// Writes an event and its detail: both or neither.
///
/// # Safety
///
/// As for [`atf_writer_write`]; `detail` is null or valid with its payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_with_detail(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail: *const AtfDetail,
    link: *mut AtfLink,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    let body = |this: &mut Writer| {
        // SAFETY: guaranteed by this function's caller.
        let detail = unsafe { AtfDetail::read(detail) }?;
        Ok(this.writer.write_with_detail(&event, &detail)?.into())
    };
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { using(writer, body) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(link, body) }
}

/// Writes an event and may reserve its detail: `detail_seq` is `ATF_NO_DETAIL` or the next detail's
/// number.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_index(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail_seq: u64,
    index_seq: *mut u64,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    let detail_seq = (detail_seq != NO_DETAIL).then_some(detail_seq);
    let body = |this: &mut Writer| Ok(this.writer.write_index(&event, detail_seq)?);
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { using(writer, body) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(index_seq, body) }
}

/// Writes the oldest reserved detail.
///
/// # Safety
///
/// As for [`atf_writer_write_with_detail`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_detail(
    writer: *mut AtfThreadWriter,
    index_seq: u64,
    timestamp_ns: u64,
    detail: *const AtfDetail,
    detail_seq: *mut u64,
) -> AtfStatus {
    let body = |this: &mut Writer| {
        // SAFETY: guaranteed by this function's caller.
        let detail = unsafe { AtfDetail::read(detail) }?;
        Ok(this.writer.write_detail(index_seq, timestamp_ns, &detail)?)
    };
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { using(writer, body) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(detail_seq, body) }
}

/// Drops a reserved detail, or skips the next detail's number.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_drop_detail(
    writer: *mut AtfThreadWriter,
    detail_seq: u64,
) -> AtfStatus {
    let body = |this: &mut Writer| Ok(this.writer.drop_detail(detail_seq)?);
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { using(writer, body) })
}

/// Returns the position of the next index event, or `UINT64_MAX` if `writer` is invalid.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_next_index_seq(writer: *const AtfThreadWriter) -> u64 {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(writer, u64::MAX, |this| Ok(this.writer.next_index_seq())) }
}

/// Returns the number under which to reserve the next detail, or `UINT64_MAX` if `writer` is
/// invalid.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_next_detail_seq(writer: *const AtfThreadWriter) -> u64 {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(writer, u64::MAX, |this| Ok(this.writer.next_detail_seq())) }
}

/// Passes all events to the operating system.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_flush(writer: *mut AtfThreadWriter) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { using(writer, |this| Ok(this.writer.flush()?)) })
}

/// Finalizes the files and summarizes them. Like `atf_writer_finalize`, but returns a result.
///
/// # Safety
///
/// As for [`atf_writer_write`]; `summary` is null or valid for writing `summary_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_finish(
    writer: *mut AtfThreadWriter,
    summary: *mut AtfThreadSummary,
    summary_size: usize,
) -> AtfStatus {
    status_with_warnings(|warnings| {
        check_offer(summary, summary_size)?;
        let body = |this: &mut Writer| {
            let made = this.finalize().map_err(|failure| this.keep(failure));
            warnings.take(&mut this.warnings);
            made
        };
        // SAFETY: guaranteed by this function's caller.
        let made = unsafe { handle::with_mut(writer, body) }?;
        // SAFETY: guaranteed by this function's caller.
        unsafe { offer_sized(summary, summary_size, &made.into()) }
    })
}

/// Returns 1 if the files are finalized, else 0.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_is_finalized(writer: *const AtfThreadWriter) -> i32 {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(writer, 0, |this| Ok(this.writer.is_finalized().into())) }
}

/// Returns the status of this writer's first failure, or `ATF_OK` if nothing failed.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_error(writer: *const AtfThreadWriter) -> AtfStatus {
    let body = |this: &Writer| match &this.failure {
        None => Ok(()),
        Some(first) => Err(Failure::Quiet(first.status)),
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(writer, body) })
}

/// Returns the message of this writer's first failure, or "". The message is valid until the writer
/// is closed.
///
/// # Safety
///
/// As for [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_error_message(writer: *const AtfThreadWriter) -> *const c_char {
    let message = |this: &Writer| {
        let failure = this.failure.as_ref();
        Ok(failure.map_or(c"".as_ptr(), |record| record.message.as_ptr()))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(writer, c"".as_ptr(), message) }
}

/// Frees a writer without finalizing its files, which are left as after a crash.
///
/// # Safety
///
/// `writer` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_abandon(writer: *mut AtfThreadWriter) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(writer) }.map(drop))
}
