//! Every way in which a reader's looks can fall between a living writer's stores.
//!
//! The reader is [`look`]; the writer is the order of stores that `write/ring.rs` promises, an image of the file
//! after each of them. A reader reads five times: header, index area, header, detail area, header. So
//! each sequence of five images, none earlier than the one before it, is one interleaving. That a read sees one
//! moment is assumed; stores of single numbers are atomic, and bytes that are not published are not read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{HEADER_SIZE, RingHeader, Snapshot, Which, area, header, look};
use crate::source::{Input, ReadAt};
use crate::wire::DetailHeader;

/// Bytes of an event and of a detail in this model, and how many of each an area holds.
const EVENT: usize = 32;
const DETAIL: usize = 40;
const ROOM: usize = 2;
const EVENTS: usize = 3;

const INDEX_AT: usize = RingHeader::SIZE;
const DETAIL_AT: usize = INDEX_AT + ROOM * EVENT;

/// A promise of the writer that is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Planted {
    Nothing,
    SizeBeforeBytes,
    EventBeforeDetail,
    StartBeforeSize,
}

/// The ring after one store, and what is beside it then.
struct Moment {
    image: Vec<u8>,
    /// Events whose call has returned.
    returned: usize,
    /// Events and details in the files.
    written: [usize; 2],
}

struct Writer {
    header: RingHeader,
    areas: Vec<u8>,
    returned: usize,
    written: [usize; 2],
    moments: Vec<Moment>,
}

fn event(seq: usize) -> [u8; EVENT] {
    [seq as u8 + 1; EVENT]
}

fn detail(seq: usize) -> [u8; DETAIL] {
    [seq as u8 + 101; DETAIL]
}

impl Writer {
    fn moment(&mut self) {
        let header = zerocopy::IntoBytes::as_bytes(&self.header);
        self.moments.push(Moment {
            image: [header, &self.areas].concat(),
            returned: self.returned,
            written: self.written,
        });
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        let offset = offset - RingHeader::SIZE;
        // Two stores, so that one can be seen without the other.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        self.areas[offset..offset + first.len()].copy_from_slice(first);
        self.moment();
        let offset = offset + first.len();
        self.areas[offset..offset + second.len()].copy_from_slice(second);
        self.moment();
    }

    fn put_detail(&mut self, seq: usize) {
        let place = self.header.detail_size.get();
        self.store(DETAIL_AT + place as usize, &detail(seq));
        self.header.detail_size = (place + DETAIL as u64).into();
        self.moment();
    }

    fn put_event(&mut self, seq: usize, planted: Planted) {
        let place = self.header.index_size.get();
        let size = (place + EVENT as u64).into();
        if planted == Planted::SizeBeforeBytes {
            self.header.index_size = size;
            self.moment();
        }
        self.store(INDEX_AT + place as usize, &event(seq));
        self.header.index_size = size;
        self.moment();
    }

    /// Empties both areas, that of the details first; a checksum here is the start once more.
    fn flush(&mut self, planted: Planted) {
        let start = self.header.detail_start.get() + self.header.detail_size.get();
        self.written[1] = (start as usize - HEADER_SIZE) / DETAIL;
        self.header.detail_size = 0.into();
        self.moment();
        self.header.detail_start = start.into();
        self.moment();
        self.header.detail_checksum = (start as u32).into();
        self.moment();
        let start = self.header.index_start.get() + self.header.index_size.get();
        self.written[0] = (start as usize - HEADER_SIZE) / EVENT;
        if planted == Planted::StartBeforeSize {
            self.header.index_start = start.into();
            self.moment();
        }
        self.header.index_size = 0.into();
        self.moment();
        self.header.index_start = start.into();
        self.moment();
        self.header.index_checksum = (start as u32).into();
        self.moment();
    }
}

/// The ring at each moment of a writer that writes three events with details, and empties its areas
/// before the third.
fn moments(planted: Planted) -> Arc<Vec<Moment>> {
    let start = HEADER_SIZE as u64;
    let header = RingHeader {
        magic: RingHeader::MAGIC,
        endian: DetailHeader::ENDIAN,
        version: 1,
        _reserved1: [0; 2],
        thread_id: 7.into(),
        _reserved2: 0.into(),
        index_capacity: ((ROOM * EVENT) as u64).into(),
        index_start: start.into(),
        index_size: 0.into(),
        index_checksum: (start as u32).into(),
        detail_checksum: (start as u32).into(),
        detail_capacity: ((ROOM * DETAIL) as u64).into(),
        detail_start: start.into(),
        detail_size: 0.into(),
        _reserved3: [0; 56],
    };
    let mut writer = Writer {
        header,
        areas: vec![0; ROOM * (EVENT + DETAIL)],
        returned: 0,
        written: [0; 2],
        moments: Vec::new(),
    };
    writer.moment();
    for seq in 0..EVENTS {
        if seq == ROOM {
            writer.flush(planted);
        }
        if planted == Planted::EventBeforeDetail {
            writer.put_event(seq, planted);
            writer.put_detail(seq);
        } else {
            writer.put_detail(seq);
            writer.put_event(seq, planted);
        }
        writer.returned = seq + 1;
        writer.moments.last_mut().unwrap().returned = seq + 1;
    }
    Arc::new(writer.moments)
}

/// A file that is at one moment after another, by what is read of it.
struct Changing {
    moments: Arc<Vec<Moment>>,
    order: [usize; 5],
    headers: AtomicUsize,
}

impl ReadAt for Changing {
    fn size(&self) -> u64 {
        self.moments[0].image.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match offset as usize {
            0 => 2 * self.headers.fetch_add(1, Ordering::Relaxed),
            INDEX_AT => 1,
            _ => 3,
        };
        let image = &self.moments[self.order[read]].image;
        image.as_slice().read_at(offset, buffer)
    }
}

/// What is wrong with what a reader found.
fn fault(snapshot: &Snapshot, moments: &[Moment], order: [usize; 5]) -> Option<&'static str> {
    let stream = |of: &dyn Fn(usize) -> Vec<u8>| (0..EVENTS).flat_map(of).collect::<Vec<_>>();
    let streams = [
        stream(&|seq| event(seq).to_vec()),
        stream(&|seq| detail(seq).to_vec()),
    ];
    let areas = [&snapshot.index, &snapshot.detail];
    for (area, stream) in areas.iter().zip(&streams) {
        let start = area.start as usize - HEADER_SIZE;
        if !stream[start..].starts_with(&area.bytes) {
            return Some("bytes that belong elsewhere");
        }
        if !area.bytes.is_empty() && u64::from(area.checksum) != area.start {
            return Some("the checksum of another start");
        }
    }
    let [events, details] = areas.map(|area| area.start as usize - HEADER_SIZE + area.bytes.len());
    // Files are looked at after the ring.
    let written = moments[order[4]].written;
    let details = (details / DETAIL).max(written[1]);
    if !snapshot.index.bytes.is_empty() && events / EVENT > details {
        return Some("an event without its detail");
    }
    let found = (events / EVENT).max(written[0]);
    (found < moments[order[0]].returned).then_some("an event is missing")
}

/// A reader that trusts the first header.
fn careless(input: &Input) -> Option<Snapshot> {
    let header = header(input).unwrap();
    Some(Snapshot {
        path: "ring.atf".into(),
        version: 1,
        thread_id: 7,
        index: area(input, &header, Which::Index).unwrap(),
        detail: area(input, &header, Which::Detail).unwrap(),
    })
}

/// How many interleavings there are, how many of these gave a snapshot, and the faults.
fn all(planted: Planted, reader: impl Fn(&Input) -> Option<Snapshot>) -> [u64; 3] {
    let moments = moments(planted);
    let count = moments.len();
    let [mut all, mut given, mut faults] = [0; 3];
    let mut order = [0; 5];
    loop {
        let input = Input::new(Changing {
            moments: Arc::clone(&moments),
            order,
            headers: AtomicUsize::new(0),
        });
        all += 1;
        if let Some(snapshot) = reader(&input) {
            given += 1;
            faults += u64::from(fault(&snapshot, &moments, order).is_some());
        }
        // The next sequence that does not go back.
        let Some(place) = order.iter().rposition(|moment| moment + 1 < count) else {
            return [all, given, faults];
        };
        let next = order[place] + 1;
        order[place..].fill(next);
    }
}

fn looked(input: &Input) -> Option<Snapshot> {
    look(input, "ring.atf".as_ref()).unwrap()
}

#[test]
fn a_reader_beside_a_writer_finds_whole_events_in_every_interleaving() {
    let [count, given, faults] = all(Planted::Nothing, looked);
    // 25 moments, five of them with repetition: 29 over 5.
    assert_eq!(count, 118_755);
    // Of the others a start had moved: 14, 3 and 8 moments have the same ones.
    assert_eq!(given, 8568 + 21 + 792);
    assert_eq!(faults, 0);
}

#[test]
fn a_broken_promise_of_the_writer_or_the_reader_is_seen_in_some_interleaving() {
    for planted in [
        Planted::SizeBeforeBytes,
        Planted::EventBeforeDetail,
        Planted::StartBeforeSize,
    ] {
        let [_, _, faults] = all(planted, looked);
        assert!(faults > 0);
    }
    let [_, _, faults] = all(Planted::Nothing, careless);
    assert!(faults > 0);
}
