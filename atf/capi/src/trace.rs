//! All sessions at a path, and the events of all threads of a session or a trace, merged by time.

use std::ffi::{CString, c_char};

use atf::merge::{Merge, Merged};
use atf::session::{Problem, SessionReader};
use atf::trace::Trace;

use crate::boundary;
use crate::event::AtfEvent;
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, output, put};
use crate::session::{AtfSessionReader, Session};
use crate::status::{AtfStatus, Failure, c_string};

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

/// `AtfMerge`.
pub type AtfMerge = Handle<Merging>;

/// A merge of all threads, which owns their readers.
#[derive(Debug)]
pub struct Merging {
    events: Merged<'static>,
    problems: Vec<CString>,
}

impl Object for Merging {
    const TAG: u64 = u64::from_be_bytes(*b"atfMERGE");
    const NAME: &'static str = "AtfMerge";
}

impl Merging {
    pub(crate) fn new(merge: Merge) -> Self {
        let mut this = Self {
            events: merge.into_events(),
            problems: Vec::new(),
        };
        this.note();
        this
    }

    /// Converts new problems to strings.
    fn note(&mut self) {
        let problems = self.events.problems().iter().skip(self.problems.len());
        let text = |problem: &Problem| c_string(problem.error.text_with_rule().as_bytes());
        self.problems.extend(problems.map(text));
    }
}

/// Opens a merge of the events of all threads from `time_start_ns` to `time_end_ns`, both
/// inclusive.
///
/// # Safety
///
/// `session` is null or a handle; `merge` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_open(
    session: *const AtfSessionReader,
    time_start_ns: u64,
    time_end_ns: u64,
    merge: *mut *mut AtfMerge,
) -> AtfStatus {
    let body = |this: &Session| {
        let range = time_start_ns..=time_end_ns;
        Ok(Merging::new(this.reader.merge().time_range(range)))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(session, merge, body) }
}

/// Reads the next events, up to `capacity`. After the last one, returns `ATF_NONE`, or
/// `ATF_ERROR_DAMAGED` if there are problems. If a thread cannot be read any further, its events
/// end there with a problem; the other threads continue.
///
/// # Safety
///
/// `merge` is null, or a handle that only the calling thread uses; `events` is null or valid for
/// writing `capacity` events; `count` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_next(
    merge: *mut AtfMerge,
    events: *mut AtfEvent,
    capacity: usize,
    count: *mut usize,
) -> AtfStatus {
    let body = |this: &mut Merging| {
        output(count, "count")?;
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(count, 0) };
        // SAFETY: guaranteed by this function's caller.
        let events = unsafe { memory::places(events, capacity) }?;
        let mut read = 0_usize;
        for place in &mut *events {
            // Skip errors: the threads' problems are collected below.
            let Some(found) = this.events.find_map(Result::ok) else {
                break;
            };
            let event = AtfEvent::new(found.thread, found.seq, &found.event);
            place.write(AtfEvent {
                session: found.session,
                ..event
            });
            read = read.saturating_add(1);
        }
        this.note();
        // SAFETY: as above.
        unsafe { put(count, read) };
        match (read == 0 && capacity != 0, this.events.problems().first()) {
            (false, _) => Ok(()),
            (true, None) => Err(Failure::Nothing),
            (true, Some(problem)) => Err(Failure::Damaged(problem.error.clone())),
        }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status_quickly(|| unsafe { handle::with_mut(merge, body) })
}

/// Returns the number of threads whose checksum was not verified, because a merge of a time range
/// reads only part of their events.
///
/// # Safety
///
/// `merge` is null, or a handle that only the calling thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_unverified_count(merge: *const AtfMerge) -> usize {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with_mut(merge, |this| Ok(this.events.unverified().count()))
    })
}

/// Returns the number of problems found so far.
///
/// # Safety
///
/// `merge` is null, or a handle that only the calling thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_problem_count(merge: *const AtfMerge) -> usize {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with_mut(merge, |this| Ok(this.problems.len()))
    })
}

/// Returns a problem as text, or null after the last one. The text is valid until the merge is
/// closed.
///
/// # Safety
///
/// `merge` is null, or a handle that only the calling thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_problem(
    merge: *const AtfMerge,
    position: usize,
) -> *const c_char {
    let body = |this: &mut Merging| {
        let problem = this.problems.get(position);
        Ok(problem.map_or(std::ptr::null(), |problem| problem.as_ptr()))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::value(std::ptr::null(), || unsafe {
        handle::with_mut(merge, body)
    })
}

/// Frees a merge; null is allowed.
///
/// # Safety
///
/// `merge` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_close(merge: *mut AtfMerge) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(merge) }.map(drop))
}
