//! The five functions of S3, as S3 declares them.
//!
//! If a function cannot return an error, the writer keeps the error
//! ([`atf_writer_error`](crate::writer::atf_writer_error)), the thread keeps it
//! ([`atf_last_error_status`](crate::last_error::atf_last_error_status)), and a warning reports it
//! ([`atf_writer_set_warning_callback`](crate::thread_writer::atf_writer_set_warning_callback)).
//! None of these functions ends the traced program, except as described in `atf.h`.

use std::ffi::c_char;

use atf::detail::FunctionPayload;
use atf::wire::Record;
use atf::write::ThreadWriter;
use atf::{Clock, Wire};

use crate::detail::DetailFunctionPayload;
use crate::handle::{self, Handle};
use crate::memory::{self, ensure};
use crate::options::default_options;
use crate::status::{AtfStatus, Failure, Outcome};
use crate::thread_writer::{
    AtfThreadWriter, Writer, using_with_warnings, value_with_warnings, write_quickly,
};
use crate::writer::event;

/// The number for "no detail", which is also returned on an error.
const NONE: u32 = u32::MAX;

/// Creates a writer for `session_dir/thread_<thread_id>/`, in wire version 1 by default; null on
/// failure.
///
/// # Safety
///
/// `session_dir` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_create(
    session_dir: *const c_char,
    thread_id: u32,
    clock_type: u8,
) -> *mut AtfThreadWriter {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let session = unsafe { memory::path(session_dir) }?;
        let options = default_options().clock_type(Clock(clock_type));
        let folder = session.join(format!("thread_{thread_id}"));
        let writer = ThreadWriter::create(folder, thread_id, &options)?;
        Ok(Handle::give(Writer::new(writer)))
    };
    value_with_warnings(std::ptr::null_mut(), |warnings| {
        make().map_err(|failure| warnings.add(failure))
    })
}

/// Writes an index event and returns its `index_seq`, or `UINT32_MAX` on an error.
///
/// # Safety
///
/// `writer` is null, or a handle that only the calling thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_write_index_event(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail_seq: u32,
) -> u32 {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    if detail_seq == NONE
        // SAFETY: guaranteed by this function's caller.
        && let Some(seq) = unsafe { write_quickly(writer, &event, NONE.into()) }
        && let Ok(seq) = u32::try_from(seq)
    {
        return seq;
    }
    // SAFETY: guaranteed by this function's caller.
    unsafe {
        write_and_report(
            writer,
            timestamp_ns,
            function_id,
            event_kind,
            call_depth,
            detail_seq,
        )
    }
}

/// Writes an index event, or returns why it was not written. Takes numbers instead of a struct
/// because numbers are passed in registers.
///
/// # Safety
///
/// As for [`atf_write_index_event`].
#[inline(never)]
unsafe fn write_and_report(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail_seq: u32,
) -> u32 {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    value_with_warnings(NONE, |warnings| {
        let detail_seq = (detail_seq != NONE).then_some(detail_seq.into());
        let body = |this: &mut Writer| {
            // Wire version 2 allows more events than this function can return.
            if this.writer.next_index_seq() >= NONE.into() {
                return Err(too_many());
            }
            let seq = this.writer.write_index(&event, detail_seq)?;
            u32::try_from(seq).map_err(|_| too_many())
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { using_with_warnings(writer, warnings, body) }
    })
}

/// Writes the detail of index event `index_seq`.
///
/// # Safety
///
/// As for [`atf_write_index_event`]; `payload` is null or points to a payload followed by
/// `stack_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_write_detail_event(
    writer: *mut AtfThreadWriter,
    index_seq: u32,
    timestamp_ns: u64,
    payload: *const DetailFunctionPayload,
) {
    value_with_warnings((), |warnings| {
        let body = |this: &mut Writer| {
            // SAFETY: guaranteed by this function's caller.
            let payload = unsafe { with_stack(payload) }?;
            this.write_detail_in_order(index_seq.into(), timestamp_ns, payload)
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { using_with_warnings(writer, warnings, body) }
    });
}

/// Finalizes the files. [`atf_writer_finish`](crate::writer::atf_writer_finish) also returns
/// whether that succeeded.
///
/// # Safety
///
/// As for [`atf_write_index_event`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_finalize(writer: *mut AtfThreadWriter) {
    value_with_warnings((), |warnings| {
        let body = |this: &mut Writer| {
            let finalized = this.finalize();
            this.warn_of_unreported();
            finalized.map(drop)
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { using_with_warnings(writer, warnings, body) }
    });
}

/// Finalizes the files if they are not finalized yet, and frees the writer. Null is allowed.
///
/// # Safety
///
/// `writer` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_close(writer: *mut AtfThreadWriter) {
    value_with_warnings((), |warnings| {
        // SAFETY: guaranteed by this function's caller.
        let Some(mut this) = unsafe { handle::close(writer) }? else {
            return Ok(());
        };
        let finalized = if this.writer.is_finalized() {
            Ok(())
        } else {
            this.finalize().map(drop)
        };
        let finalized = finalized.inspect_err(|failure| this.warn(failure));
        this.warn_of_unreported();
        warnings.take(&mut this.warnings);
        finalized
    });
}

/// Returns a payload with the stack that follows it.
///
/// # Safety
///
/// As for [`atf_write_detail_event`]'s payload.
unsafe fn with_stack<'a>(payload: *const DetailFunctionPayload) -> Outcome<&'a [u8]> {
    ensure(!payload.is_null(), "the payload is null")?;
    let bytes = payload.cast::<u8>();
    // SAFETY: not null, so the caller guarantees a payload; its bytes have alignment 1.
    let fixed = unsafe { memory::slice(bytes, FunctionPayload::SIZE) }?;
    // The field is the same in every wire version.
    let size = Record::DetailFunctionPayload.field(Wire::V2, "stack_size");
    let size = size.map_or(0, |field| field.number(fixed));
    if size > FunctionPayload::MAX_STACK.into() {
        let message = format!(
            "payload.stack_size: {size}, expected 0 to {}",
            FunctionPayload::MAX_STACK
        );
        return Err(Failure::new(AtfStatus::Refused, message));
    }
    let size = FunctionPayload::SIZE.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
    // SAFETY: the caller guarantees that `stack_size` bytes follow.
    unsafe { memory::slice(bytes, size) }
}

fn too_many() -> Failure {
    let message = "index_seq: the file has 4294967295 events, the most that a uint32_t can count";
    Failure::new(AtfStatus::Limit, message)
}
