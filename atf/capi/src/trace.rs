//! All sessions at a path, and all of their threads merged.

use std::ffi::c_char;

use atf::session::SessionReader;
use atf::trace::Trace;

use crate::boundary;
use crate::handle::{self, Handle, Object, give};
use crate::memory;
use crate::merge::{AtfMerge, Merging};
use crate::session::{AtfSessionReader, Session};
use crate::status::{AtfStatus, Failure};

/// `AtfTrace`.
pub type AtfTrace = Handle<Trace>;

impl Object for Trace {
    const TAG: u64 = u64::from_be_bytes(*b"atfTRACE");
    const NAME: &'static str = "AtfTrace";
}

/// Opens what is at `path`: an index file, a thread's folder, a session, or all sessions below a
/// folder.
///
/// # Safety
///
/// As for [`atf_index_open`](crate::index::atf_index_open), for all files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_trace_open(
    path: *const c_char,
    trace: *mut *mut AtfTrace,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let path = unsafe { memory::path(path) }?;
        Ok(Trace::open(path)?)
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(trace, make) })
}

/// Returns the number of sessions, or 0 if `trace` is invalid. A thread's folder has one if it is in
/// a session.
///
/// # Safety
///
/// `trace` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_trace_session_count(trace: *const AtfTrace) -> usize {
    let count = |this: &Trace| Ok(this.sessions().count());
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(trace, 0, count) }
}

/// Opens the session at a position. It remains usable after the trace is closed.
///
/// # Safety
///
/// `trace` is null or a handle; `session` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_trace_session(
    trace: *const AtfTrace,
    position: usize,
    session: *mut *mut AtfSessionReader,
) -> AtfStatus {
    let body = |this: &Trace| {
        let found: Option<&SessionReader> = this.sessions().nth(position);
        Ok(Session::new(found.cloned().ok_or(Failure::Nothing)?))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(trace, session, body) }
}

/// Opens a merge of the events of all threads from `time_start_ns` to `time_end_ns`, both
/// inclusive.
///
/// # Safety
///
/// `trace` is null or a handle; `merge` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_trace_merge(
    trace: *const AtfTrace,
    time_start_ns: u64,
    time_end_ns: u64,
    merge: *mut *mut AtfMerge,
) -> AtfStatus {
    let range = time_start_ns..=time_end_ns;
    let body = |this: &Trace| Ok(Merging::new(this.merge().time_range(range)));
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(trace, merge, body) }
}

/// Frees a trace; null is allowed. Its sessions and merges remain usable.
///
/// # Safety
///
/// `trace` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_trace_close(trace: *mut AtfTrace) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(trace) }.map(drop))
}
