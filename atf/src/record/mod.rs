//! Takes events from a traced thread without making it wait.
//!
//! The traced thread has a [`Recorder`], another thread the [`Drain`] of the same ring. Recording
//! copies 32 bytes: no system call, no lock, no allocation, and the ring's pages are resident
//! before the first event. The drain takes the available events in slices and passes them to a
//! [`ThreadWriter`](crate::write::ThreadWriter). Each traced thread has its own ring and writer
//! (S0, S1, S3); one thread may drain them all in turn.
//!
//! # When a ring is full
//!
//! The traced program never waits for its tracer, so what does not fit is dropped and counted.
//! Events and the payloads of details each have a lane. The index lane has priority (S1): if only
//! the payload does not fit, the event is recorded without its detail; a dropped event loses its
//! detail too. The writer creates the links from the events that arrive, so they are valid whatever
//! was dropped. Calls whose returns were lost, and returns whose calls were lost, are reported by
//! [`spans`](crate::spans) as unmatched.
//!
//! # After a kill
//!
//! A ring is memory of this process: SIGKILL loses whatever was not drained, at most the capacity.
//! A tracer that must not lose anything writes from the traced thread, with
//! [`survive_kill`](crate::write::WriteOptions::survive_kill).
//!
//! ```
//! use std::{thread, time::Duration};
//! use atf::EventKind;
//! use atf::record::{Capacity, channel};
//! use atf::write::{Event, ThreadWriter, WriteOptions};
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path().join("thread_0");
//!
//! let (mut recorder, mut drain) = channel(Capacity::default())?;
//! let traced = thread::spawn(move || {
//!     for timestamp_ns in 1..=1000 {
//!         // What is lost is counted: a tracer has nothing else to do about it.
//!         let _ = recorder.record(&Event::new(timestamp_ns, 7, EventKind::CALL, 1));
//!     }
//! });
//!
//! let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
//! while !drain.is_finished() {
//!     if drain.drain_into(&mut writer)?.events == 0 {
//!         thread::sleep(Duration::from_millis(1));
//!     }
//! }
//! let summary = writer.finalize()?;
//! assert_eq!(summary.event_count + drain.totals().lost_events, 1000);
//! # traced.join().unwrap();
//! # Ok::<(), atf::Error>(())
//! ```

use crate::setters::setters;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rtrb::RingBuffer;

use crate::error::{Error, ErrorKind, Result};
use crate::wire::DetailEventType;
use crate::write::Event;

mod drain;
mod recorder;

pub use drain::{Drain, Drained};
pub use recorder::{Lost, Recorder};

/// The capacity of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capacity {
    /// Events, 32 bytes of memory each: 1 to 2²⁵.
    pub events: usize,
    /// Bytes for the payloads of details: at most 2³⁰, and 0 if none are recorded.
    pub payload_size: usize,
}

setters!(Capacity {
    events: usize,
    payload_size: usize,
});

impl Default for Capacity {
    /// 2¹⁶ events in 2 MiB, and 1 MiB of payloads: at ten million events per second, six times what
    /// a drain needs that runs every millisecond.
    fn default() -> Self {
        Self {
            events: 1 << 16,
            payload_size: 1 << 20,
        }
    }
}

const MOST_EVENTS: usize = 1 << 25;
const MOST_PAYLOAD: usize = 1 << 30;

/// Creates a ring: the traced thread's end, and the writer thread's end.
///
/// # Errors
///
/// [`ErrorKind::OutOfRange`] at `events` or `payload_size`.
pub fn channel(capacity: Capacity) -> Result<(Recorder, Drain)> {
    check("events", capacity.events, 1, MOST_EVENTS)?;
    check("payload_size", capacity.payload_size, 0, MOST_PAYLOAD)?;
    let events = touched(capacity.events, Slot::EMPTY);
    let payloads = touched(capacity.payload_size, 0);
    let losses = Arc::new(Losses::default());
    let recorder = Recorder::new(events.0, payloads.0, Arc::clone(&losses));
    Ok((recorder, Drain::new(events.1, payloads.1, losses)))
}

fn check(field: &'static str, found: usize, min: usize, max: usize) -> Result<()> {
    if (min..=max).contains(&found) {
        return Ok(());
    }
    let [found, min, max] = [found, min, max].map(|number| number as u64);
    Err(Error::new(ErrorKind::OutOfRange { found, min, max }).with_field(field))
}

/// Creates a ring and writes every slot once, so that the system has allocated the memory.
fn touched<T: Copy>(capacity: usize, value: T) -> (rtrb::Producer<T>, rtrb::Consumer<T>) {
    let (mut producer, mut consumer) = RingBuffer::new(capacity);
    while producer.push(value).is_ok() {}
    if let Ok(all) = consumer.read_chunk(consumer.slots()) {
        all.commit_all();
    }
    (producer, consumer)
}

/// An entry of the index lane.
#[derive(Debug, Clone, Copy)]
struct Slot {
    event: Event,
    /// Bytes in the payload lane, or [`NO_DETAIL`].
    payload_size: u32,
    event_type: DetailEventType,
    flags: u16,
}

/// More than the payload lane can hold.
const NO_DETAIL: u32 = u32::MAX;

impl Slot {
    const EMPTY: Self = Self::without_detail(&Event {
        timestamp_ns: 0,
        function_id: 0,
        event_kind: crate::EventKind(0),
        call_depth: 0,
    });

    #[inline]
    const fn without_detail(event: &Event) -> Self {
        Self {
            event: *event,
            payload_size: NO_DETAIL,
            event_type: DetailEventType(0),
            flags: 0,
        }
    }
}

/// An event takes half a cache line.
const _: () = assert!(size_of::<Slot>() == 32);

/// Counts of what the recorder lost. Only the recorder writes them; the drain reads them.
#[derive(Debug, Default)]
struct Losses {
    events: AtomicU64,
    details: AtomicU64,
}
