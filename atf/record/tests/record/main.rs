//! Tests the ring between a traced thread and a writer thread.

mod counter;
mod details;
mod ends;
mod errors;
mod model;
mod order;
mod pages;
mod recording;
mod segments;
mod windows;
mod windows_model;

use std::path::Path;

use atf::EventKind;
use atf::thread::ThreadReader;
use atf::write::{Event, ThreadWriter, WriteOptions};
use atf_record::{Capacity, Drain, Drained, Overflow, Recorder, channel};
use tempfile::TempDir;

/// Returns event `n` of a trace.
fn event(n: u64) -> Event {
    Event::new(
        5_000 + n,
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        match n % 3 {
            0 => EventKind::CALL,
            1 => EventKind::RETURN,
            _ => EventKind::EXCEPTION,
        },
        u32::try_from(n % 40 + 1).unwrap(),
    )
}

/// Returns the number of events that two threads should exchange. Under Miri, each event takes
/// thousands of times longer.
const fn many(events: u64) -> u64 {
    if cfg!(miri) { events / 5_000 } else { events }
}

/// Creates a ring for `events` events and `payload_size` bytes of payloads.
fn ring(events: usize, payload_size: usize) -> (Recorder, Drain) {
    ring_with(events, payload_size, Overflow::default())
}

fn ring_with(events: usize, payload_size: usize, overflow: Overflow) -> (Recorder, Drain) {
    let capacity = Capacity::default();
    channel(capacity.events(events).payload_size(payload_size), overflow).unwrap()
}

/// Returns the expected result of draining.
fn drained(events: u64, details: u64, lost_events: u64, lost_details: u64) -> Drained {
    let mut drained = Drained::default();
    (drained.events, drained.details) = (events, details);
    (drained.lost_events, drained.lost_details) = (lost_events, lost_details);
    drained
}

/// Creates the writer of a thread in a new folder.
fn writer() -> (TempDir, ThreadWriter) {
    let folder = TempDir::new().unwrap();
    let writer = ThreadWriter::create(folder.path(), 0, &WriteOptions::default()).unwrap();
    (folder, writer)
}

/// Finalizes a thread and returns its events.
fn finalized(mut writer: ThreadWriter) -> Vec<Event> {
    writer.finalize().unwrap();
    read(writer.path())
}

/// Returns the events of a finalized thread as the tracer recorded them.
fn read(folder: &Path) -> Vec<Event> {
    let reader = ThreadReader::open(folder).unwrap();
    let events = reader.index().events_in(..).map(|read| {
        let read = read.unwrap();
        Event::new(
            read.timestamp_ns,
            read.function_id,
            read.event_kind,
            read.call_depth.unwrap(),
        )
    });
    events.collect()
}
