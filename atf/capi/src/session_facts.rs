//! Facts about the recording, from a session's manifest.

use std::ffi::c_char;

use crate::boundary;
use crate::handle;
use crate::memory::{self, put_sized};
use crate::session::{AtfSessionReader, Session};
use crate::session_writer::AtfLoss;
use crate::status::AtfStatus;

/// `AtfSessionFacts`: facts about the entire recording, from the manifest.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfSessionFacts {
    /// The lost events that belong to no listed thread.
    pub lost_events: AtfLoss,
    /// How many events may be missing at the end of each thread.
    pub unwritten_events: u64,
    /// The largest difference between timestamps and the clock, in nanoseconds.
    pub clock_error_ns: u64,
    /// The signal that ended the process, or null; valid until the session is closed.
    pub ended_by: *const c_char,
    /// 1 if the manifest has a `clock_error_ns`, else 0.
    pub has_clock_error: u8,
    /// 1 if details contain the fields of calls, else 0.
    pub has_detail_fields: u8,
    /// 1 if the tracer drops events, else 0.
    pub drops_events: u8,
    /// 0.
    pub reserved: [u8; 5],
}

// SAFETY: `repr(C)`, and all members are numbers or pointers that Rust never dereferences.
unsafe impl memory::Plain for AtfSessionFacts {}

/// Reads the manifest's facts about the entire recording, or zeros if there is no manifest.
///
/// # Safety
///
/// `session` is null or a handle; `facts` is null or valid for writing `facts_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_facts(
    session: *const AtfSessionReader,
    facts: *mut AtfSessionFacts,
    facts_size: usize,
) -> AtfStatus {
    let body = |this: &Session| {
        let manifest = this.manifest();
        let found = AtfSessionFacts {
            lost_events: manifest.lost_events.map(Into::into).unwrap_or_default(),
            unwritten_events: manifest.unwritten_events.unwrap_or(0),
            clock_error_ns: manifest.clock_error_ns.unwrap_or(0),
            ended_by: this.ended_by(),
            has_clock_error: manifest.clock_error_ns.is_some().into(),
            has_detail_fields: (manifest.detail_fields == Some(true)).into(),
            drops_events: (manifest.drops_events == Some(true)).into(),
            reserved: [0; 5],
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { put_sized(facts, facts_size, &found) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}
