//! Tests every interleaving of a reader's reads with a running writer's stores.
//!
//! Both sides run production code. The writer is a [`ThreadWriter`] that exposes its ring between
//! any two stores ([`watch`]). The reader is [`look`], which reads five times: header, index area,
//! header, detail area, header. So each sequence of five images, in which no image is earlier than
//! its predecessor, is one interleaving. The tests assume that a single read sees the ring at one
//! moment; stores of single numbers are atomic.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::mem::offset_of;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{HEADER_SIZE, RingHeader, Snapshot, Which, area, header, look};
use crate::checksum::Crc32c;
use crate::files::{DETAIL_FILE, INDEX_FILE};
use crate::source::{Input, ReadAt};
use crate::sys::watch;
use crate::wire::{DetailEventType, EventKind};
use crate::write::{Detail, Event, ThreadWriter, WriteOptions};

/// The size of an area in bytes.
const AREA: usize = 4096;
/// The size of an event in bytes.
const EVENT: usize = 32;
/// The size of a detail in bytes. Two details fill an area, so the third one makes the writer empty
/// the area.
const DETAIL: usize = 2048;

const INDEX_AT: usize = RingHeader::SIZE;
const DETAIL_AT: usize = INDEX_AT + AREA;

/// The ring after one store, and the state of the files at that time.
#[derive(Clone, PartialEq, Eq)]
struct Moment {
    image: Vec<u8>,
    /// How many of the calls that write an event have returned.
    returned: usize,
    /// The sizes of the events in both files, in bytes.
    written: [usize; 2],
}

/// One run of a writer: the ring at each moment, and all bytes that the writer wrote.
struct Course {
    moments: Vec<Moment>,
    streams: [Vec<u8>; 2],
}

/// The files of a thread, and the moments so far.
struct Watcher {
    folder: PathBuf,
    returned: usize,
    moments: Vec<Moment>,
}

impl Watcher {
    fn see(&mut self, image: &[u8]) {
        let written = [INDEX_FILE, DETAIL_FILE].map(|name| {
            let file = fs::metadata(self.folder.join(name));
            file.map_or(0, |file| file.len() as usize - HEADER_SIZE)
        });
        let moment = Moment {
            image: image.to_vec(),
            returned: self.returned,
            written,
        };
        if self.moments.last() != Some(&moment) {
            self.moments.push(moment);
        }
    }

    /// Records that one more call has returned.
    fn returns(&mut self) {
        self.returned += 1;
        self.moments.last_mut().unwrap().returned = self.returned;
    }
}

/// Writes four events with details. The third detail does not fit into its area, and both areas are
/// emptied before the fourth.
fn course() -> Course {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thread_7");
    let watcher = Rc::new(RefCell::new(Watcher {
        folder: path.clone(),
        returned: 0,
        moments: Vec::new(),
    }));
    let options = WriteOptions {
        buffer_size: AREA,
        survive_kill: true,
        ..WriteOptions::default()
    };
    let mut writer = ThreadWriter::create(&path, 7, &options).unwrap();
    let seen = Rc::clone(&watcher);
    watch::set(Some(Box::new(move |image| seen.borrow_mut().see(image))));
    for seq in 0..4 {
        if seq == 3 {
            writer.flush().unwrap();
        }
        let event = Event {
            timestamp_ns: seq + 1,
            function_id: seq + 1,
            event_kind: EventKind::CALL,
            call_depth: 1,
        };
        let detail = Detail {
            event_type: DetailEventType(3),
            flags: 0,
            payload: &[seq as u8 + 1; DETAIL - 24],
        };
        writer.write_with_detail(&event, &detail).unwrap();
        watcher.borrow_mut().returns();
    }
    watch::set(None);
    writer.flush().unwrap();
    let stream = |name| fs::read(path.join(name)).unwrap().split_off(HEADER_SIZE);
    let streams = [INDEX_FILE, DETAIL_FILE].map(stream);
    assert_eq!(streams.each_ref().map(Vec::len), [4 * EVENT, 4 * DETAIL]);
    let moments = std::mem::take(&mut watcher.borrow_mut().moments);
    Course { moments, streams }
}

/// Returns the same run, but with these bytes of the ring taken from `shift` moments later or
/// earlier.
fn shifted(mut course: Course, bytes: &[Range<usize>], shift: isize) -> Course {
    let images: Vec<_> = course
        .moments
        .iter()
        .map(|moment| moment.image.clone())
        .collect();
    let last = images.len() - 1;
    for (at, moment) in course.moments.iter_mut().enumerate() {
        let other = &images[at.saturating_add_signed(shift).min(last)];
        for bytes in bytes {
            moment.image[bytes.clone()].copy_from_slice(&other[bytes.clone()]);
        }
    }
    course
}

/// A file whose contents advance to the next moment of `order` with each read. The offset
/// identifies the read.
struct Changing {
    course: Arc<Course>,
    order: [usize; 5],
    headers: AtomicUsize,
}

impl ReadAt for Changing {
    fn size(&self) -> u64 {
        self.course.moments[0].image.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match offset as usize {
            0 => 2 * self.headers.fetch_add(1, Ordering::Relaxed),
            INDEX_AT => 1,
            DETAIL_AT => 3,
            _ => unreachable!("a reader reads whole areas"),
        };
        let image = &self.course.moments[self.order[read]].image;
        image.as_slice().read_at(offset, buffer)
    }
}

/// Describes a fault in a reader's result; `None` if the result is correct.
fn fault(snapshot: &Snapshot, course: &Course, order: [usize; 5]) -> Option<&'static str> {
    let areas = [&snapshot.index, &snapshot.detail];
    for (area, stream) in areas.iter().zip(&course.streams) {
        let (before, from) = stream.split_at(area.start as usize - HEADER_SIZE);
        if !from.starts_with(&area.bytes) {
            return Some("bytes that belong elsewhere");
        }
        let mut crc = Crc32c::new();
        crc.update(before);
        if !area.bytes.is_empty() && area.checksum != crc.finish() {
            return Some("the checksum of another start");
        }
    }
    let [events, details] = areas.map(|area| area.start as usize - HEADER_SIZE + area.bytes.len());
    // Files are read after the ring.
    let written = course.moments[order[4]].written;
    let (events, details) = (events / EVENT, details.max(written[1]) / DETAIL);
    if !snapshot.index.bytes.is_empty() && events > details {
        return Some("an event without its detail");
    }
    let found = events.max(written[0] / EVENT);
    (found < course.moments[order[0]].returned).then_some("an event is missing")
}

/// A faulty reader: it trusts the first header.
fn careless(input: &Input) -> Option<Snapshot> {
    let header = header(input).unwrap();
    Some(Snapshot {
        path: "ring.atf".into(),
        version: 1,
        thread_id: 7,
        index: area(input, &header, Which::Index).unwrap(),
        detail: area(input, &header, Which::Detail).unwrap(),
        most_missing: 0,
        is_used_without_details: false,
    })
}

fn looked(input: &Input) -> Option<Snapshot> {
    look(input, "ring.atf".as_ref()).unwrap()
}

/// Returns the number of interleavings, the number of those with a snapshot, and the first fault.
fn all(
    course: Course,
    reader: impl Fn(&Input) -> Option<Snapshot>,
) -> (u64, u64, Option<&'static str>) {
    let course = Arc::new(course);
    let count = course.moments.len();
    let (mut all, mut given) = (0, 0);
    let mut order = [0; 5];
    loop {
        let input = Input::new(Changing {
            course: Arc::clone(&course),
            order,
            headers: AtomicUsize::new(0),
        });
        all += 1;
        if let Some(snapshot) = reader(&input) {
            given += 1;
            let fault = fault(&snapshot, &course, order);
            if fault.is_some() {
                return (all, given, fault);
            }
        }
        // Advance to the next sequence in which no moment is earlier than its predecessor.
        let Some(place) = order.iter().rposition(|moment| moment + 1 < count) else {
            return (all, given, None);
        };
        let next = order[place] + 1;
        order[place..].fill(next);
    }
}

#[test]
fn a_reader_finds_whole_events_in_every_interleaving_with_a_writer() {
    let course = course();
    let moments = course.moments.len() as u64;
    let (count, given, fault) = all(course, looked);
    assert_eq!(fault, None);
    // The number of multisets of five moments.
    let binomial = (0..5).fold(1, |product, i| product * (moments + 4 - i) / (i + 1));
    assert_eq!(count, binomial);
    // A snapshot fails only if a start moved in the meantime.
    assert!(given > 0 && given < count);
    println!("{moments} moments, {count} interleavings, {given} snapshots");
}

#[test]
fn a_broken_writer_or_reader_is_caught_in_some_interleaving() {
    let field = |offset, size| offset..offset + size;
    let sizes = [
        field(offset_of!(RingHeader, index_size), 8),
        field(offset_of!(RingHeader, detail_size), 8),
    ];
    let starts = [
        field(offset_of!(RingHeader, index_start), 8),
        field(offset_of!(RingHeader, detail_start), 8),
    ];
    let details = [
        sizes[1].clone(),
        starts[1].clone(),
        DETAIL_AT..DETAIL_AT + AREA,
    ];
    for (what, bytes, shift) in [
        ("a size before its bytes", &sizes[..], 2),
        ("a start before its size", &starts[..], 2),
        ("an event before its detail", &details[..], -4),
    ] {
        let (.., fault) = all(shifted(course(), bytes, shift), looked);
        assert!(fault.is_some(), "{what}");
    }
    let (.., fault) = all(course(), careless);
    assert!(fault.is_some());
}
