//! The clock, under the names from S1, and anchors to recordings.

use atf::clock::{self, MediaTime, TimingAnchor};

use crate::boundary;
use crate::memory::ensure;
use crate::status::{AtfStatus, Failure, Outcome};

/// `AtfMediaTime`: a rational number of seconds.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfMediaTime {
    /// The numerator.
    pub value: i64,
    /// Units per second; greater than 0.
    pub timescale: i32,
    /// Ignored when read; written as 0.
    pub reserved: u32,
}

/// `AtfTimingAnchor`: the same moment on two clocks.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfTimingAnchor {
    /// The time on the trace's clock in nanoseconds.
    pub host_time_ns: u64,
    /// The recording's clock.
    pub media_time: AtfMediaTime,
}

impl From<AtfMediaTime> for MediaTime {
    fn from(time: AtfMediaTime) -> Self {
        Self::new(time.value, time.timescale)
    }
}

impl From<MediaTime> for AtfMediaTime {
    fn from(time: MediaTime) -> Self {
        Self {
            value: time.value,
            timescale: time.timescale,
            reserved: 0,
        }
    }
}

impl From<TimingAnchor> for AtfTimingAnchor {
    fn from(anchor: TimingAnchor) -> Self {
        Self {
            host_time_ns: anchor.host_time_ns,
            media_time: anchor.media_time.into(),
        }
    }
}

/// Queries the clock's tick length. Optional: no other call needs it.
#[unsafe(no_mangle)]
pub extern "C" fn ada_timing_init() {
    boundary::value((), || {
        clock::init();
        Ok(())
    });
}

/// Returns the time on the continuous clock in nanoseconds. Can be called on any thread.
#[unsafe(no_mangle)]
pub extern "C" fn ada_get_timestamp_ns() -> u64 {
    boundary::value_quickly(0, || Ok(clock::now_ns()))
}

/// Returns the header's `clock_type` for the continuous clock: one of `ATF_CLOCK_*`.
#[unsafe(no_mangle)]
pub extern "C" fn atf_clock_type() -> u8 {
    clock::CLOCK.0
}

/// Converts a timestamp to the recording's time.
///
/// # Safety
///
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_anchor_to_media(
    anchor: *const AtfTimingAnchor,
    host_time_ns: u64,
    media_time: *mut AtfMediaTime,
) -> AtfStatus {
    let body = || {
        ensure(!media_time.is_null(), "media_time is null")?;
        // SAFETY: guaranteed by this function's caller.
        let found = unsafe { read(anchor) }?.to_media(host_time_ns);
        Ok(found.ok_or_else(no_time)?.into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(media_time, body) }
}

/// Converts a recording time to a timestamp.
///
/// # Safety
///
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_anchor_to_host_ns(
    anchor: *const AtfTimingAnchor,
    media_time: AtfMediaTime,
    host_time_ns: *mut u64,
) -> AtfStatus {
    let body = || {
        ensure(!host_time_ns.is_null(), "host_time_ns is null")?;
        // SAFETY: guaranteed by this function's caller.
        let found = unsafe { read(anchor) }?.to_host_ns(media_time.into());
        found.ok_or_else(no_time)
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(host_time_ns, body) }
}

/// Computes how much faster the recording's clock ran between two anchors, in parts per billion
/// (10⁹).
///
/// # Safety
///
/// The pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_anchor_drift_ppb(
    anchor: *const AtfTimingAnchor,
    later: *const AtfTimingAnchor,
    drift_ppb: *mut i64,
) -> AtfStatus {
    let body = || {
        ensure(!drift_ppb.is_null(), "drift_ppb is null")?;
        // SAFETY: guaranteed by this function's caller.
        let anchor = unsafe { read(anchor) }?;
        // SAFETY: guaranteed by this function's caller.
        let later = unsafe { read(later) }?;
        anchor.drift_ppb(&later).ok_or_else(no_time)
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(drift_ppb, body) }
}

/// # Safety
///
/// The pointer is null or valid.
pub(crate) unsafe fn read(anchor: *const AtfTimingAnchor) -> Outcome<TimingAnchor> {
    ensure(!anchor.is_null(), "the anchor is null")?;
    // SAFETY: not null, so the caller guarantees that it is valid; it may be unaligned.
    let anchor = unsafe { anchor.read_unaligned() };
    Ok(TimingAnchor::new(
        anchor.host_time_ns,
        anchor.media_time.into(),
    ))
}

fn no_time() -> Failure {
    let message = "the time does not fit, or a timescale is not greater than 0";
    Failure::new(AtfStatus::Limit, message)
}
