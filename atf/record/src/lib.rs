//! Records events from traced threads, which do not wait unless [`Overflow::Block`] is set.
//!
//! A [`Recording`] is a session that is being recorded: each traced thread has a ring, and one
//! thread drains them all into the threads' files (S0, S1, S3). Recording an event copies 32 bytes
//! into the ring, without a system call, a lock or an allocation; the ring's pages are resident
//! before the first event. With a [`Window`], which needs large rings, pages become resident when
//! they are first written. A thread's first event registers the thread, which takes milliseconds: a
//! tracer that cannot wait there calls [`Recording::thread`] beforehand.
//!
//! ```
//! use atf::EventKind;
//! use atf::clock::now_ns;
//! use atf_record::{RecordOptions, Recording};
//! use atf::write::{Event, SessionWriter, WriteOptions};
//! # let root = tempfile::tempdir().unwrap();
//! # let root = root.path();
//!
//! let session = SessionWriter::create_in(root, &WriteOptions::default())?;
//! let recording = Recording::start(session, &RecordOptions::default())?;
//! std::thread::scope(|scope| {
//!     for _ in 0..2 {
//!         scope.spawn(|| {
//!             for event_kind in [EventKind::CALL, EventKind::RETURN] {
//!                 // The first event registers the thread. Losses are counted, so a tracer can
//!                 // ignore them.
//!                 let _ = recording.record(&Event::new(now_ns(), 7, event_kind, 1));
//!             }
//!         });
//!     }
//! });
//! let summary = recording.stop()?;
//! assert_eq!(summary.totals.event_count + summary.lost_events, 4);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! [`channel`] creates a single ring, for tracers that drain and write it themselves.
//!
//! # When a ring is full
//!
//! [`Overflow`] determines what happens: the detail is dropped first, the newest event is dropped,
//! or the thread blocks. Nothing is dropped silently: the call reports each loss, and the manifest
//! lists the number and times of each thread's losses in each lane. The sequence numbers of an
//! event and its detail are reserved together when both have room, so links stay correct even after
//! losses. [`spans`](atf::spans) reports a call without its return, or a return without its call,
//! as unmatched.
//!
//! # Windows and segments
//!
//! With a [`Window`], the drain writes details, or everything, only around triggers: the rings hold
//! the events that a trigger may still request. With a [`Segment`], a long recording is split into
//! several sessions.
//!
//! # After a kill
//!
//! A ring is in the memory of this process: SIGKILL loses all events that were not yet drained, or
//! were drained only into the buffer of the thread's writer. Until the recording stops, the
//! manifest contains the maximum number of events that the two may contain (`unwritten_events`).
//! With [`survive_kill`](atf::write::WriteOptions::survive_kill) there are no rings: each call
//! writes to the thread's files, whose buffers outlive the process. Each call takes longer, but
//! once it has returned, its event is safe.

// Only the module `sys` may use unsafe code; each block has a safety comment.
#![deny(unsafe_code)]
// A traced program must not end because of its tracer.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod counter;
mod drain;
mod drainer;
mod exit;
mod let_go;
mod losses;
mod options;
mod recorder;
mod recording;
mod requests;
mod segments;
pub mod settings;
mod shared;
mod sys;
mod thread;
mod trigger;
mod window;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rtrb::RingBuffer;

use atf::write::Event;
use atf::{DetailEventType, Error, ErrorKind, EventKind, Result, with_setters};

use let_go::LetGo;
use losses::Losses;

pub use counter::CounterClock;
pub use drain::{Drain, Drained};
pub use options::{RecordOptions, RecordSummary};
pub use recorder::{Lost, Recorder};
pub use recording::Recording;
pub use segments::Segment;
pub use thread::{LossCounter, ThreadRecorder};
pub use trigger::Trigger;
pub use window::{Lanes, Window};

pub use atf::internal::uncancelled;

with_setters! {
    /// The capacity of a ring.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Capacity {
        /// The number of events, from 1 to 2²⁵; each uses 32 bytes of memory.
        pub events: usize,
        /// The number of bytes for the payloads of details, at most 2³⁰; 0 to record no details.
        pub payload_size: usize,
    }
}

impl Default for Capacity {
    /// Returns a capacity of 2¹⁶ events, which use 2 MiB, and 1 MiB of payloads. At ten million
    /// events per second, a drain that runs every millisecond finds a sixth of the event slots
    /// full.
    fn default() -> Self {
        Self {
            events: 1 << 16,
            payload_size: 1 << 20,
        }
    }
}

const MOST_EVENTS: usize = 1 << 25;
const MOST_PAYLOAD: usize = 1 << 30;

/// The policy for an event that does not fit into its ring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The index lane has priority (S1): if the payload does not fit, or less than a quarter of the
    /// ring's event slots is free, the event is recorded without its detail.
    #[default]
    DropDetail,
    /// The event is dropped, together with its detail.
    DropNewest,
    /// The thread waits for room, so nothing is lost while the drain runs. If the drain exists but
    /// never runs, the thread waits forever. A payload larger than the capacity is dropped. With a
    /// [`Window`], a payload larger than half of the capacity is dropped too, unless there is room.
    Block,
}

/// Creates a ring and returns its two ends: one for the traced thread, and one for the writer
/// thread.
///
/// # Errors
///
/// [`ErrorKind::OutOfRange`] at `events` or `payload_size`; [`ErrorKind::Io`] if there is not enough
/// memory.
///
/// # Examples
///
/// ```
/// use std::{thread, time::Duration};
/// use atf::EventKind;
/// use atf_record::{Capacity, Overflow, channel};
/// use atf::write::{Event, ThreadWriter, WriteOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("thread_0");
///
/// let (mut recorder, mut drain) = channel(Capacity::default(), Overflow::Block)?;
/// let traced = thread::spawn(move || {
///     for timestamp_ns in 1..=1000 {
///         let _ = recorder.record(&Event::new(timestamp_ns, 7, EventKind::CALL, 1));
///     }
/// });
///
/// let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
/// while !drain.is_finished() {
///     if drain.drain_into(&mut writer)?.events == 0 {
///         thread::sleep(Duration::from_millis(1));
///     }
/// }
/// let summary = writer.finalize()?;
/// assert_eq!(summary.event_count, 1000);
/// # traced.join().unwrap();
/// # Ok::<(), atf::Error>(())
/// ```
pub fn channel(capacity: Capacity, overflow: Overflow) -> Result<(Recorder, Drain)> {
    channel_for(capacity, overflow, false)
}

/// Like [`channel`], but if `is_judged` is true, the drain decides which details are recorded.
fn channel_for(
    capacity: Capacity,
    overflow: Overflow,
    is_judged: bool,
) -> Result<(Recorder, Drain)> {
    capacity.check()?;
    check_memory(ring_size(capacity, is_judged))?;
    // Do not touch these pages: rings with windows are large, and short-lived threads use only a
    // small part of them.
    let (events, payloads) = if is_judged {
        let events = RingBuffer::new(capacity.events);
        (events, RingBuffer::new(capacity.payload_size))
    } else {
        let events = touched(capacity.events, Slot::EMPTY);
        (events, touched(capacity.payload_size, 0))
    };
    let losses = Arc::new(Losses::new());
    let mut recorder = Recorder::new(events.0, payloads.0, Arc::clone(&losses), overflow);
    recorder.is_judged = is_judged;
    Ok((recorder, Drain::new(events.1, payloads.1, losses)))
}

impl Capacity {
    fn check(self) -> Result<()> {
        check("events", self.events, 1, MOST_EVENTS)?;
        check("payload_size", self.payload_size, 0, MOST_PAYLOAD)
    }
}

/// Sleeps in a traced thread, which must not be cancelled there: its state would remain in use.
fn sleep(time: Duration) {
    uncancelled(|| std::thread::sleep(time));
}

fn check(field: &'static str, found: usize, min: usize, max: usize) -> Result<()> {
    if (min..=max).contains(&found) {
        return Ok(());
    }
    let [found, min, max] = [found, min, max].map(|number| number as u64);
    Err(Error::new(ErrorKind::OutOfRange { found, min, max }).with_field(field))
}

/// Returns an error if `size` bytes, plus a reserve for everything else, cannot be allocated now. A
/// traced process may be able to continue without memory, but a failed allocation would abort it.
fn check_memory(size: usize) -> Result<()> {
    const REST: usize = 4 << 20;
    let mut probe = Vec::<u8>::new();
    let found = probe.try_reserve_exact(size.saturating_add(REST));
    // Without this, the compiler may assume that an unused allocation succeeds.
    std::hint::black_box(&mut probe);
    found.map_err(|_| Error::new(ErrorKind::Io(io::ErrorKind::OutOfMemory)))
}

/// Creates a ring and writes every slot once, so that its memory is resident.
fn touched<T: Copy>(capacity: usize, value: T) -> (rtrb::Producer<T>, rtrb::Consumer<T>) {
    let (mut producer, mut consumer) = RingBuffer::new(capacity);
    if let Ok(all) = producer.write_chunk_uninit(capacity) {
        all.fill_from_iter(std::iter::repeat_n(value, capacity));
    }
    if let Ok(all) = consumer.read_chunk(consumer.slots()) {
        all.commit_all();
    }
    (producer, consumer)
}

/// Returns the memory size, in bytes, of a ring and of its drain's record of discarded events.
fn ring_size(capacity: Capacity, is_judged: bool) -> usize {
    let events = capacity.events.saturating_mul(size_of::<Slot>());
    let size = events.saturating_add(capacity.payload_size);
    size.saturating_add(if is_judged {
        LetGo::most_size(capacity.events)
    } else {
        0
    })
}

/// An entry of the index lane.
#[derive(Debug, Clone, Copy)]
struct Slot {
    event: Event,
    /// The payload's size in the payload lane, [`NO_DETAIL`] or [`MISSED`].
    payload_size: u32,
    event_type: DetailEventType,
    flags: u16,
}

/// The value for an event without a detail, which is larger than any payload lane.
const NO_DETAIL: u32 = u32::MAX;

/// The value for a detail that did not fit, if the drain has yet to decide whether that is a loss.
const MISSED: u32 = u32::MAX - 1;

impl Slot {
    const EMPTY: Self = Self::without_detail(&Event::new(0, 0, EventKind(0), 0));

    #[inline]
    const fn without_detail(event: &Event) -> Self {
        Self {
            event: *event,
            payload_size: NO_DETAIL,
            event_type: DetailEventType(0),
            flags: 0,
        }
    }

    /// Returns the payload's size in the payload lane.
    #[inline]
    fn stored_size(&self) -> usize {
        match self.payload_size {
            NO_DETAIL | MISSED => 0,
            // The size is at most the capacity, which is a `usize`.
            size => usize::try_from(size).unwrap_or(usize::MAX),
        }
    }
}

/// A slot takes half a cache line.
const _: () = assert!(size_of::<Slot>() == 32);
