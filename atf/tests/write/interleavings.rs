//! Tests every interleaving of a reader's reads with a running writer's stores.
//!
//! Both sides run production code. The writer is a [`ThreadWriter`] that exposes its ring between
//! any two stores ([`watch`]). The reader is [`look_at`], which reads five times: header, index
//! area, header, detail area, header. So each sequence of five images, in which no image is earlier
//! than its predecessor, is one interleaving. The tests assume that a single read sees the ring at
//! one moment; stores of single numbers are atomic.

#![cfg(debug_assertions)] // Only debug builds show their stores.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atf::index::IndexEvent;
use atf::internal::{look_at, watch};
use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
use atf::{DetailEventType, EventKind, ReadAt, Wire};
use atf_samples::files::crc32c;

use super::ring::{
    DETAIL_CHECKSUM, DETAIL_SIZE, DETAIL_START, INDEX_CHECKSUM, INDEX_SIZE, INDEX_START,
};

/// The size of an area in bytes.
const AREA: usize = 4096;
/// The size of an event in bytes.
const EVENT: usize = 32;
/// The size of a detail in bytes. Two details fill an area, so the third one makes the writer empty
/// the area.
const DETAIL: usize = 2048;
/// The sizes of a small detail and of a detail larger than an area.
const SMALL: usize = 100;
const LARGE: usize = 5000;

/// The sizes of a file's header and footer in bytes.
const HEADER_SIZE: usize = 64;
const FOOTER_SIZE: usize = 64;
const NAMES: [&str; 2] = ["index.atf", "detail.atf"];

/// The offsets of the areas in the ring.
const INDEX_AT: usize = 128;
const DETAIL_AT: usize = INDEX_AT + AREA;

/// The calls of each run, and the number of moments they produce.
///
/// `event` writes an event without a detail; `pair`, `small` and `large` write one with a detail of
/// that size, and `reserve` one whose detail comes later. `detail` writes the oldest reserved
/// detail, and `drop` drops it.
const RUNS: [(&str, u64); 5] = [
    // The third detail does not fit into its area, and both areas are emptied before the fourth.
    ("pair pair pair flush pair", 29),
    // A detail is dropped before its event leaves the area, so the links of two events change.
    ("event reserve detail reserve reserve drop detail flush", 23),
    // A detail is dropped after its event has left the area, so a placeholder takes its place.
    ("reserve flush drop small", 13),
    // A detail larger than its area bypasses it.
    ("small large small", 18),
    ("small event reserve finalize", 17),
];

/// The ring after one store, and the state of the files at that time.
#[derive(Clone, PartialEq, Eq)]
struct Moment {
    image: Vec<u8>,
    /// How many events and details are in calls that have returned.
    returned: [usize; 2],
    /// The sizes of the events in both files, in bytes.
    written: [usize; 2],
}

/// One run of a writer: the ring at each moment, and all bytes that the writer wrote.
struct Course {
    moments: Vec<Moment>,
    streams: [Vec<u8>; 2],
    /// The index events before any link was changed.
    unchanged: Vec<u8>,
    /// The offset of the end of each detail in its stream.
    ends: Vec<usize>,
    /// The positions of the events whose details were reserved. The others are written after their
    /// details.
    reserved: Vec<usize>,
}

/// The files of a thread, and the moments so far.
struct Watcher {
    folder: PathBuf,
    returned: [usize; 2],
    moments: Vec<Moment>,
    unchanged: Vec<u8>,
}

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
}

fn with_watcher(work: impl FnOnce(&mut Watcher)) {
    WATCHER.with_borrow_mut(|watcher| work(watcher.as_mut().unwrap()));
}

impl Watcher {
    fn see(&mut self, image: &[u8]) {
        let written = NAMES.map(|name| {
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
        let size = number(image, INDEX_SIZE);
        let start = number(image, INDEX_START) - HEADER_SIZE;
        let events = &image[INDEX_AT..INDEX_AT + size];
        let new = self.unchanged.len().saturating_sub(start);
        self.unchanged.extend(events.get(new..).unwrap_or_default());
    }

    /// Records that a call with these numbers of events and details has returned.
    fn returns(&mut self, more: [usize; 2]) {
        self.returned = [0, 1].map(|which| self.returned[which] + more[which]);
        self.moments.last_mut().unwrap().returned = self.returned;
    }
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize
}

/// Makes these calls.
fn course(calls: &str) -> Course {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thread_7");
    WATCHER.set(Some(Watcher {
        folder: path.clone(),
        returned: [0, 0],
        moments: Vec::new(),
        unchanged: Vec::new(),
    }));
    let options = WriteOptions::default().buffer_size(AREA).survive_kill(true);
    let mut writer = ThreadWriter::create(&path, 7, &options).unwrap();
    watch::set(Some(|image| with_watcher(|watcher| watcher.see(image))));
    let (mut reserved, mut open, mut ends) = (Vec::new(), VecDeque::new(), Vec::new());
    for call in calls.split(' ') {
        let seq = writer.next_index_seq();
        let event = Event::new(seq + 1, seq + 1, EventKind::CALL, 1);
        let size = match call {
            "pair" => DETAIL,
            "large" => LARGE,
            _ => SMALL,
        };
        let payload = vec![u8::try_from(seq).unwrap() + 1; size - 24];
        let detail = Detail::new(DetailEventType(3), &payload);
        let returned = match call {
            "event" => {
                writer.write(&event).unwrap();
                [1, 0]
            }
            "pair" | "small" | "large" => {
                writer.write_with_detail(&event, &detail).unwrap();
                [1, 1]
            }
            "reserve" => {
                let number = writer.next_detail_seq();
                writer.write_index(&event, Some(number)).unwrap();
                reserved.push(seq as usize);
                open.push_back((seq, number));
                [1, 0]
            }
            "detail" => {
                let (seq, _) = open.pop_front().unwrap();
                writer.write_detail(seq, seq + 1, &detail).unwrap();
                [0, 1]
            }
            "drop" => {
                let (_, number) = open.pop_front().unwrap();
                writer.drop_detail(number).unwrap();
                [0, 0]
            }
            "flush" => {
                writer.flush().unwrap();
                [0, 0]
            }
            "finalize" => {
                writer.finalize().unwrap();
                [0, 0]
            }
            other => panic!("{other}"),
        };
        with_watcher(|watcher| watcher.returns(returned));
    }
    watch::set(None);
    let footer_size = if writer.is_finalized() {
        FOOTER_SIZE
    } else {
        writer.flush().unwrap();
        0
    };
    let streams = NAMES.map(|name| {
        let mut stream = fs::read(path.join(name)).unwrap().split_off(HEADER_SIZE);
        stream.truncate(stream.len() - footer_size);
        stream
    });
    assert_eq!(streams[0].len(), writer.next_index_seq() as usize * EVENT);
    let mut end = 0;
    while let Some(length) = streams[1][end..].first_chunk() {
        end += u32::from_le_bytes(*length) as usize;
        ends.push(end);
    }
    let watcher = WATCHER.take().unwrap();
    Course {
        moments: watcher.moments,
        unchanged: watcher.unchanged,
        streams,
        ends,
        reserved,
    }
}

/// Returns the same run, but with these bytes of the ring taken from `shift` moments later or
/// earlier.
fn shifted(mut course: Course, bytes: &[Range<usize>], shift: isize) -> Course {
    let images = course.moments.iter().map(|moment| moment.image.clone());
    let images: Vec<_> = images.collect();
    let last = images.len() - 1;
    for (at, moment) in course.moments.iter_mut().enumerate() {
        let other = &images[at.saturating_add_signed(shift).min(last)];
        for bytes in bytes {
            moment.image[bytes.clone()].copy_from_slice(&other[bytes.clone()]);
        }
    }
    course
}

/// Returns the same run, but each event is withdrawn while its link changes.
fn withdrawn(mut course: Course) -> Course {
    for at in 1..course.moments.len() {
        let [before, after] = [at - 1, at].map(|at| &course.moments[at].image);
        let [before_size, after_size] = [before, after].map(|image| number(image, INDEX_SIZE));
        let changed = (0..before_size.min(after_size))
            .find(|byte| before[INDEX_AT + byte] != after[INDEX_AT + byte]);
        if let Some(changed) = changed {
            let left = (changed / EVENT * EVENT) as u64;
            course.moments[at].image[INDEX_SIZE..][..8].copy_from_slice(&left.to_le_bytes());
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
            _ => unreachable!("a reader reads complete areas"),
        };
        let image = &self.course.moments[self.order[read]].image;
        image.as_slice().read_at(offset, buffer)
    }
}

/// The start, checksum and bytes of the index and detail areas, as a reader found them.
type Areas = [(u64, u32, Vec<u8>); 2];

/// Describes a fault in a reader's result; `None` if the result is correct.
fn fault(areas: &Areas, course: &Course, order: [usize; 5]) -> Option<&'static str> {
    let starts = [0, 1].map(|which| areas[which].0 as usize - HEADER_SIZE);
    for (which, (_, checksum, bytes)) in areas.iter().enumerate() {
        let start = starts[which];
        let (before, from) = course.streams[which].split_at(start);
        let is_written = |(at, event): (usize, &[u8])| {
            let unchanged = course.unchanged.get(start + at * EVENT..);
            from[at * EVENT..].starts_with(event)
                || unchanged.is_some_and(|events| events.starts_with(event))
        };
        let mut events = bytes.chunks(EVENT).enumerate();
        let is_whole = from.starts_with(bytes) || (which == 0 && events.all(is_written));
        if !is_whole {
            return Some("bytes from another position");
        }
        if !bytes.is_empty() && *checksum != crc32c(before) {
            return Some("the checksum of another start");
        }
    }
    let [events, details] = [0, 1].map(|which| starts[which] + areas[which].2.len());
    // Files are read after the ring.
    let written = course.moments[order[4]].written;
    let details = details.max(written[1]);
    let details = course.ends.partition_point(|end| *end <= details);
    for (seq, record) in (starts[0] / EVENT..).zip(areas[0].2.as_chunks().0) {
        let link = IndexEvent::decode(Wire::V1, 7, record).detail_seq;
        let is_reserved = course.reserved.contains(&seq);
        if !is_reserved && link.is_some_and(|link| link >= details as u64) {
            return Some("an event without its detail");
        }
    }
    let found = [events.max(written[0]) / EVENT, details];
    let returned = course.moments[order[0]].returned;
    (found[0] < returned[0] || found[1] < returned[1]).then_some("an event or a detail is missing")
}

/// A faulty reader: it trusts the first header.
#[allow(clippy::needless_pass_by_value, reason = "like `look_at`")]
fn careless(ring: Changing) -> Option<Areas> {
    let read = |offset: usize, size: usize| {
        let mut bytes = vec![0; size];
        assert_eq!(ring.read_at(offset as u64, &mut bytes).unwrap(), size);
        bytes
    };
    let header = read(0, INDEX_AT);
    let checksum = |at| u32::from_le_bytes(*header[at..].first_chunk().unwrap());
    let area = |at, start, size, sum| {
        let bytes = read(at, number(&header, size));
        (number(&header, start) as u64, checksum(sum), bytes)
    };
    Some([
        area(INDEX_AT, INDEX_START, INDEX_SIZE, INDEX_CHECKSUM),
        area(DETAIL_AT, DETAIL_START, DETAIL_SIZE, DETAIL_CHECKSUM),
    ])
}

fn looked(ring: Changing) -> Option<Areas> {
    look_at(ring).unwrap()
}

/// Returns the number of interleavings, the number of those with a snapshot, and the first fault.
fn all(
    course: Course,
    reader: impl Fn(Changing) -> Option<Areas>,
) -> (u64, u64, Option<&'static str>) {
    let course = Arc::new(course);
    let count = course.moments.len();
    let (mut all, mut given) = (0, 0);
    let mut order = [0; 5];
    loop {
        let ring = Changing {
            course: Arc::clone(&course),
            order,
            headers: AtomicUsize::new(0),
        };
        all += 1;
        if let Some(areas) = reader(ring) {
            given += 1;
            let fault = fault(&areas, &course, order);
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
fn a_reader_finds_complete_events_in_every_interleaving_with_a_writer() {
    let mut total = 0;
    for (run, (calls, expected)) in RUNS.iter().enumerate() {
        let course = course(calls);
        let moments = course.moments.len() as u64;
        let (count, given, fault) = all(course, looked);
        assert_eq!(fault, None, "run {run}");
        assert_eq!(moments, *expected, "run {run}");
        // The number of multisets of five moments.
        let binomial = (0..5).fold(1, |product, i| product * (moments + 4 - i) / (i + 1));
        assert_eq!(count, binomial);
        // A snapshot fails only if a start moved in the meantime.
        assert!(given > 0 && given < count);
        println!("{moments} moments, {count} interleavings, {given} snapshots");
        total += count;
    }
    println!("{total} interleavings");
}

#[test]
fn a_broken_writer_or_reader_is_caught_in_some_interleaving() {
    let field = |offset, size| offset..offset + size;
    let sizes = [field(INDEX_SIZE, 8), field(DETAIL_SIZE, 8)];
    let starts = [field(INDEX_START, 8), field(DETAIL_START, 8)];
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
        let (.., fault) = all(shifted(course(RUNS[0].0), bytes, shift), looked);
        assert!(fault.is_some(), "{what}");
    }
    let (.., fault) = all(withdrawn(course(RUNS[1].0)), looked);
    assert!(
        fault.is_some(),
        "an event that is withdrawn to change its link"
    );
    let (.., fault) = all(course(RUNS[0].0), careless);
    assert!(fault.is_some());
}
