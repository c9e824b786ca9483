//! Options and results of a recording: `atf_record.h`.

use std::time::Duration;

use atf_record::{Lanes, Overflow, RecordOptions, RecordSummary, Segment, Window};

use crate::memory::{Plain, argument, ensure, get_sized, reserved_are_0};
use crate::status::Outcome;

/// `AtfRecordOptions`: how to record a session. For any member, 0 selects the default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfRecordOptions {
    /// `sizeof(AtfRecordOptions)` as compiled into the caller.
    pub struct_size: u32,
    /// `ATF_OVERFLOW_*`.
    pub overflow: u8,
    /// `ATF_WINDOW_*`.
    pub window: u8,
    /// Whether stopping the recording is a trigger.
    pub trigger_on_stop: u8,
    /// `ATF_RECORD_CLOCK_*`.
    pub clock: u8,
    /// Events in each thread's ring.
    pub ring_events: u64,
    /// Bytes for payloads in each thread's ring, or `ATF_NO_PAYLOADS`.
    pub ring_payload_size: u64,
    /// How long the drain sleeps after finding all rings empty, in nanoseconds.
    pub interval_ns: u64,
    /// How many threads may record at the same time.
    pub max_threads: u64,
    /// How much time a window covers before its trigger, in nanoseconds.
    pub pre_roll_ns: u64,
    /// How much time a window covers after its trigger, in nanoseconds.
    pub post_roll_ns: u64,
    /// The size in bytes at which a segment ends.
    pub segment_size: u64,
    /// The age in nanoseconds at which a segment ends.
    pub segment_duration_ns: u64,
    /// How many segments to keep.
    pub segment_keep: u64,
    /// The memory limit for the rings of all live threads, in bytes.
    pub ring_memory: u64,
    /// `ATF_AT_EXIT_*`.
    pub at_exit: u8,
    /// 0.
    pub reserved: [u8; 7],
}

/// The `ring_payload_size` that leaves no room for payloads.
const NO_PAYLOADS: u64 = u64::MAX;

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfRecordOptions {}

/// Reads the options, and whether timestamps come from the processor's counter. Null selects the
/// defaults.
///
/// # Safety
///
/// `options` is null, or begins with its size in bytes and is that large.
pub(crate) unsafe fn record_options(
    options: *const AtfRecordOptions,
) -> Outcome<(RecordOptions, bool)> {
    // SAFETY: guaranteed by this function's caller.
    let given = unsafe { get_sized(options) }?;
    reserved_are_0(given.reserved == [0; 7])?;
    let mut options = RecordOptions::default();
    options.overflow = match given.overflow {
        0 => Overflow::DropDetail,
        1 => Overflow::DropNewest,
        2 => Overflow::Block,
        _ => return Err(argument("overflow is not one of ATF_OVERFLOW_*")),
    };
    let number = |given: u64, default: usize| match given {
        0 => Ok(default),
        _ => usize::try_from(given).map_err(|_| argument("an option is too large")),
    };
    let capacity = &mut options.capacity;
    capacity.events = number(given.ring_events, capacity.events)?;
    capacity.payload_size = match given.ring_payload_size {
        NO_PAYLOADS => 0,
        size => number(size, capacity.payload_size)?,
    };
    if given.interval_ns != 0 {
        options.interval = Duration::from_nanos(given.interval_ns);
    }
    options.max_threads = number(given.max_threads, options.max_threads)?;
    options.ring_memory = number(given.ring_memory, options.ring_memory)?;
    options.stop_at_exit = !is_one(given.at_exit, "at_exit is not one of ATF_AT_EXIT_*")?;
    options.window = window(&given)?;
    options.segment = segment(&given)?;
    let counts_ticks = is_one(given.clock, "clock is not one of ATF_RECORD_CLOCK_*")?;
    Ok((options, counts_ticks))
}

/// Returns whether an option is 1, or a failure with this message if it is neither 0 nor 1.
fn is_one(given: u8, message: &'static str) -> Outcome<bool> {
    ensure(given <= 1, message)?;
    Ok(given == 1)
}

/// Returns the window, if it is set.
fn window(given: &AtfRecordOptions) -> Outcome<Option<Window>> {
    let on_stop = is_one(given.trigger_on_stop, "trigger_on_stop is neither 0 nor 1")?;
    let window = Window::default()
        .pre_roll(Duration::from_nanos(given.pre_roll_ns))
        .post_roll(Duration::from_nanos(given.post_roll_ns))
        .on_stop(on_stop);
    match given.window {
        0 if window == Window::default() => Ok(None),
        0 => Err(argument("a window option is set, but window is not")),
        1 => Ok(Some(window)),
        2 => Ok(Some(window.lanes(Lanes::Both))),
        _ => Err(argument("window is not one of ATF_WINDOW_*")),
    }
}

/// Returns the segments, if they are set.
fn segment(given: &AtfRecordOptions) -> Outcome<Option<Segment>> {
    let set = |number: u64| Some(number).filter(|number| *number != 0);
    let keep = set(given.segment_keep).map(usize::try_from).transpose();
    let segment = Segment::default()
        .size(set(given.segment_size))
        .duration(set(given.segment_duration_ns).map(Duration::from_nanos))
        .keep(keep.map_err(|_| argument("an option is too large"))?);
    match (segment.size, segment.duration) {
        (None, None) if segment.keep.is_some() => Err(argument(
            "segment_keep is set, but neither segment_size nor segment_duration_ns",
        )),
        (None, None) => Ok(None),
        _ => Ok(Some(segment)),
    }
}

/// `AtfRecordSummary`: the result of a recording.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfRecordSummary {
    /// Threads written.
    pub threads: u64,
    /// Threads finalized.
    pub finalized: u64,
    /// Events in the `index.atf` files of all threads.
    pub event_count: u64,
    /// Events in the `detail.atf` files of all threads.
    pub detail_count: u64,
    /// The earliest first timestamp in nanoseconds, or 0 if there are no events.
    pub time_start_ns: u64,
    /// The latest last timestamp in nanoseconds, or 0 if there are no events.
    pub time_end_ns: u64,
    /// Events that were not recorded, with their details.
    pub lost_events: u64,
    /// Details that were not recorded, although their events were.
    pub lost_details: u64,
    /// Sessions written; always 1 without segments.
    pub segments: u64,
    /// Threads whose rings were smaller because of `ring_memory`.
    pub smaller_rings: u64,
}

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfRecordSummary {}

impl From<RecordSummary> for AtfRecordSummary {
    fn from(summary: RecordSummary) -> Self {
        let (time_start_ns, time_end_ns) = summary.totals.time_range.unwrap_or((0, 0));
        Self {
            threads: summary.totals.threads,
            finalized: summary.totals.finalized,
            event_count: summary.totals.event_count,
            detail_count: summary.totals.detail_count,
            time_start_ns,
            time_end_ns,
            lost_events: summary.lost_events,
            lost_details: summary.lost_details,
            segments: summary.segments,
            smaller_rings: summary.smaller_rings,
        }
    }
}
