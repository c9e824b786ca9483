//! The events of all threads of a session in one order.

use std::ffi::{CString, c_char};

use atf::merge::Merged;
use atf::session::Problem;

use crate::boundary;
use crate::event::AtfEvent;
use crate::handle::{self, Handle, Object};
use crate::index::give;
use crate::memory::{self, put, required};
use crate::session::{AtfSessionReader, Session};
use crate::status::{AtfStatus, Failure, c_string};

/// `AtfMerge`.
pub type AtfMerge = Handle<Merging>;

/// An iteration over all threads, which owns what it reads.
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
    /// Makes strings of the problems that are new.
    fn note(&mut self) {
        let problems = self.events.problems().iter().skip(self.problems.len());
        let text = |problem: &Problem| c_string(problem.error.to_string().as_bytes());
        self.problems.extend(problems.map(text));
    }
}

/// Begins an iteration over the events from `time_start_ns` to `time_end_ns`, both included, of all
/// threads.
///
/// # Safety
///
/// `session` is null or a handle; `merge` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_open(
    session: *const AtfSessionReader,
    time_start_ns: u64,
    time_end_ns: u64,
    merge: *mut *mut AtfMerge,
) -> AtfStatus {
    let body = |this: &Session| {
        let make = || {
            let range = time_start_ns..=time_end_ns;
            let mut merging = Merging {
                events: this.reader.merge().time_range(range).into_events(),
                problems: Vec::new(),
            };
            merging.note();
            Ok(merging)
        };
        // SAFETY: as this function's.
        unsafe { give(merge, make) }
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(session, body) })
}

/// The next events, up to `capacity` of them; after the last one `ATF_NONE`, or `ATF_ERROR_DAMAGED`
/// where there are problems. A thread that cannot be read further ends, and is among them; the
/// others go on.
///
/// # Safety
///
/// `merge` is null or a handle, used by this thread only; `events` is null or a place for
/// `capacity` events; `count` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_next(
    merge: *mut AtfMerge,
    events: *mut AtfEvent,
    capacity: usize,
    count: *mut usize,
) -> AtfStatus {
    let body = |this: &mut Merging| {
        required(count, "the place for the count is null")?;
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(count, 0) };
        // SAFETY: as this function's.
        let events = unsafe { memory::places(events, capacity) }?;
        let mut read = 0_usize;
        for place in &mut *events {
            // What is wrong is noted below.
            let Some(found) = this.events.find_map(Result::ok) else {
                break;
            };
            place.write(AtfEvent::new(found.thread, found.seq, &found.event));
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
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with_mut(merge, body) })
}

/// How many threads have a checksum that nothing has compared with their events: those of which a
/// part was read, for a range of time.
///
/// # Safety
///
/// `merge` is null or a handle, used by this thread only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_unverified_count(merge: *const AtfMerge) -> usize {
    // SAFETY: as this function's.
    boundary::value(0, || unsafe {
        handle::with_mut(merge, |this| Ok(this.events.unverified().count()))
    })
}

/// How many things are wrong, for all that is known until now.
///
/// # Safety
///
/// `merge` is null or a handle, used by this thread only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_problem_count(merge: *const AtfMerge) -> usize {
    // SAFETY: as this function's.
    boundary::value(0, || unsafe {
        handle::with_mut(merge, |this| Ok(this.problems.len()))
    })
}

/// What is wrong with one of them, or null after the last one. It holds as long as the merge is
/// open.
///
/// # Safety
///
/// `merge` is null or a handle, used by this thread only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_problem(
    merge: *const AtfMerge,
    position: usize,
) -> *const c_char {
    let body = |this: &mut Merging| {
        let problem = this.problems.get(position);
        Ok(problem.map_or(std::ptr::null(), |problem| problem.as_ptr()))
    };
    // SAFETY: as this function's.
    boundary::value(std::ptr::null(), || unsafe {
        handle::with_mut(merge, body)
    })
}

/// Frees an iteration; null is nothing to close.
///
/// # Safety
///
/// `merge` is null or a handle, and nobody else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_merge_close(merge: *mut AtfMerge) -> AtfStatus {
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::close(merge) }.map(drop))
}
