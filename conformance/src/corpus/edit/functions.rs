//! Edits that need code. Data files call them by their names, with numbers.

use crate::corpus::trace::{
    CANARY, DETAIL, INDEX, MANIFEST, OTHER, RING, T, Trace, call, event, record, ret, thread,
};
use atf_samples::files::{
    DetailFile, DetailRecord, EventRecord, IndexFile, RingArea, RingFile, crc32_ieee, crc32c,
    ring_after,
};

type Function = fn(&mut Trace, &[u64]);

/// The functions that data files may call.
pub(super) const ALL: &[(&str, Function)] = &[
    ("ieee_checksum_of_index", |t, _| {
        t.index(|file| file.checksum = crc32_ieee(&file.section()));
    }),
    ("ieee_checksum_of_detail", |t, _| {
        t.detail(|file| file.checksum = crc32_ieee(&file.section()));
    }),
    ("index_instead_of_detail", |t, _| {
        let index = t.file(INDEX).to_vec();
        t.put(DETAIL, index);
    }),
    ("detail_of_other_version", |t, _| {
        t.take(DETAIL, &Trace::clean(3 - t.version));
    }),
    ("index_in_other_layout", index_in_other_layout),
    ("swapped_details", |t, _| {
        t.details(|details| details.swap(1, 2));
    }),
    ("detail_of_exception", detail_of_exception),
    ("depths_from", depths_from),
    ("footer_as_events", footer_as_events),
    ("footer_in_stack", footer_in_stack),
    ("torn_at", torn_at),
    ("magic_times", magic_times),
    ("deep_calls", deep_calls),
    ("details_in_two_threads", details_in_two_threads),
    ("wide_numbers", wide_numbers),
    ("index_to", index_to),
    ("many_events", many_events),
    ("many_details", many_details),
    ("many_threads", many_threads),
    ("details_to", details_to),
    ("ring_of_last_events", |t, _| {
        let ring = ring_after(t.version, 7, [t.file(INDEX), t.file(DETAIL)], [192, 329]);
        t.put(RING, ring);
    }),
];

pub(super) fn find(name: &str) -> Option<Function> {
    let found = ALL.iter().find(|(own, _)| *own == name);
    found.map(|(_, function)| *function)
}

/// Adds an index file of this many events in another version's layout, with the trace's version
/// number.
fn index_in_other_layout(trace: &mut Trace, numbers: &[u64]) {
    let version = trace.version;
    trace.put_index(INDEX, &IndexFile::finalized(3 - version, numbers[0]));
    trace.patch(INDEX, 5, &[version]);
}

/// Adds a detail of type 2 to the exception.
fn detail_of_exception(trace: &mut Trace, _: &[u64]) {
    trace.events(|events| events[4].detail_seq = Some(3));
    let detail = DetailRecord {
        event_type: 2,
        index_seq: 4,
        timestamp: T + 4000,
        payload: vec![1, 2, 3],
    };
    trace.details(|details| details.push(detail));
}

/// Shifts the depths of all events, so that the smallest is this one.
fn depths_from(trace: &mut Trace, first: &[u64]) {
    let first = u32::try_from(first[0]).expect("a depth");
    trace.events(|events| {
        for event in events {
            event.depth = first + (event.depth - 1);
        }
    });
}

/// Replaces the third and fourth events with a footer for the first two.
fn footer_as_events(trace: &mut Trace, _: &[u64]) {
    let before = vec![call(T, 1, 1), call(T + 1000, 2, 2)];
    let footer = IndexFile::new(trace.version, before).footer();
    trace.patch(INDEX, 128, &footer);
    trace.checksum(INDEX, 64..256);
}

/// Creates an unfinalized file whose last event has a stack that consists of the first bytes of a
/// footer. The numbers are the stack's size and the footer's four numbers.
fn footer_in_stack(trace: &mut Trace, numbers: &[u64]) {
    let size = u8::try_from(numbers[0]).expect("a small stack");
    let numbers = numbers[1..].iter().flat_map(|number| number.to_le_bytes());
    let footer = b"2DTA\0\0\0\0".iter().copied().chain(numbers);
    trace.detail(|file| {
        *file = file.clone().placeholder();
        let payload = &mut file.events[2].payload;
        payload.truncate(96);
        payload.extend([size, 0, 0, 0]);
        payload.extend(footer.chain([0; 24]).take(size.into()));
    });
    trace.cut(DETAIL, 353 + 100 + usize::from(size));
}

/// Describes a detail file whose last event ends at this offset, inside the footer.
fn torn_at(trace: &mut Trace, end: &[u64]) {
    let end = size(end[0]);
    let rest = trace.file(DETAIL)[end..].to_vec();
    trace.cut(DETAIL, end);
    trace.append(DETAIL, &rest);
}

/// Sets the timestamps of this and all later events to increasing numbers. The first one ends in
/// 0x41544932, so in little-endian order it begins with the bytes "2ITA".
fn magic_times(trace: &mut Trace, from: &[u64]) {
    const MAGIC: u64 = 0x0004_62d5_4154_4932;
    trace.without_details();
    trace.events(|events| {
        for (event, seq) in events.iter_mut().zip(0..).skip(size(from[0])) {
            event.timestamp_ns = MAGIC + seq - from[0];
        }
    });
    // The manifest's time range covers all threads.
    let last = MAGIC + 5 - from[0];
    trace.replace(MANIFEST, "1234567000099000", &last.to_string());
}

/// Replaces the events with 256 nested calls.
fn deep_calls(trace: &mut Trace, _: &[u64]) {
    trace.without_details();
    let calls = (T..).zip(1..).map(|(time, depth)| call(time, 1, depth));
    trace.events(|events| *events = calls.take(256).collect());
}

/// Adds two details to thread 9 as well.
fn details_in_two_threads(trace: &mut Trace, _: &[u64]) {
    let version = trace.version;
    let mut events = vec![call(T + 50, 4, 1), call(T + 60, 5, 2), ret(T + 4000, 5, 2)];
    (events[1].detail_seq, events[2].detail_seq) = (Some(0), Some(1));
    let mut index = thread(version, 9, events);
    index.flags = 1;
    let details = vec![record(3, 1, T + 60, 5, 3), record(4, 2, T + 4000, 5, 0)];
    let mut detail = DetailFile::new(version, details);
    detail.thread_id = 9;
    detail.checksum = crc32c(&detail.section());
    trace.put_index(OTHER, &index);
    trace.put_detail("thread_9/detail.atf", &detail);
}

/// Adds a thread of three calls whose numbers need all of their bits.
fn wide_numbers(trace: &mut Trace, _: &[u64]) {
    let (version, id) = (trace.version, (1 << 31) + 7);
    let depths = [u32::MAX - 2, u32::MAX - 1, u32::MAX];
    let links = match version {
        1 => [0x0001_ffff, 1 << 31, u64::from(u32::MAX) - 1],
        _ => [0x0001_ffff, 1 << 63, u64::MAX - 1],
    };
    let events = (1..).zip(depths).zip(links);
    let events = events.map(|((after, depth), link)| EventRecord {
        timestamp_ns: (1 << 63) + after,
        function_id: u64::MAX - after,
        kind: 1,
        depth,
        detail_seq: Some(link),
    });
    let file = thread(version, id, events.collect());
    trace.put_index(&format!("thread_{id}/index.atf"), &file);
}

/// The size of a header or footer in bytes.
const END: usize = 64;
/// The size in bytes of the smallest detail event with registers.
const LEAST: usize = 24 + 100;
/// The size in bytes of the largest detail event with registers.
const GREATEST: usize = LEAST + 256;

/// Keeps only thread 7, with events up to this offset.
fn index_to(trace: &mut Trace, end: &[u64]) {
    let count = (size(end[0]) - END) / 32;
    let happening = |seq: u64| event(if seq.is_multiple_of(2) { 1 } else { 2 }, T + seq, 1, 1);
    trace.without_details();
    trace.remove("thread_9");
    trace.events(|events| *events = (0..).map(happening).take(count).collect());
    trace.list("7", (T, T + count as u64 - 1));
}

/// Keeps only thread 7, with one detail per event. The first details fill the file up to the offset
/// `numbers[0]`, and `numbers[1]` details follow.
fn details_to(trace: &mut Trace, numbers: &[u64]) {
    let mut left = size(numbers[0]) - END;
    let mut stacks = Vec::new();
    while left > 0 {
        // The remaining space must always be enough for another event.
        let size = if left <= GREATEST {
            left
        } else {
            GREATEST.min(left - LEAST)
        };
        stacks.push(u16::try_from(size - LEAST).expect("a small stack"));
        left -= size;
    }
    stacks.extend(vec![0; size(numbers[1])]);
    let calls = (T..).zip(1..).map(|(time, depth)| call(time, 1, depth));
    trace.remove("thread_9");
    trace.events(|events| *events = calls.take(stacks.len()).collect());
    trace.detail_each(&stacks);
    trace.list("7", (T, T + stacks.len() as u64 - 1));
}

/// Replaces the events with this many calls and returns.
fn many_events(trace: &mut Trace, numbers: &[u64]) {
    trace.events(|events| *events = (0..numbers[0]).map(nested).collect());
}

/// Returns event `seq` of a series of calls, each followed by its return.
fn nested(seq: u64) -> EventRecord {
    let kind = if seq.is_multiple_of(2) { 1 } else { 2 };
    event(kind, T + 100 * seq, 1 + seq / 2, 1)
}

/// Replaces the events and details with this many, each with 8 bytes that say which it is.
fn many_details(trace: &mut Trace, numbers: &[u64]) {
    let detail = |seq: u64| DetailRecord {
        event_type: 2,
        index_seq: seq,
        timestamp: T + 100 * seq,
        payload: seq.to_le_bytes().to_vec(),
    };
    trace.details(|details| *details = (0..numbers[0]).map(detail).collect());
}

/// Replaces the second thread with this many, of one event each, in reverse order of their times.
fn many_threads(trace: &mut Trace, numbers: &[u64]) {
    let (version, count) = (trace.version, numbers[0]);
    trace.without_details();
    trace.remove("thread_9");
    let ids: Vec<_> = (100..).take(size(count)).collect();
    for (id, before) in ids.iter().zip(1..) {
        let events = vec![call(T - before, before, 1)];
        trace.put_index(
            &format!("thread_{id}/index.atf"),
            &thread(version, *id, events),
        );
    }
    let ids: Vec<_> = ids.iter().map(u32::to_string).collect();
    let ids = format!("7 {}", ids.join(" "));
    trace.list(&ids, (T - count, T + 5000));
}

fn size(number: u64) -> usize {
    usize::try_from(number).expect("a size")
}

/// Moves the session into the folder `session`, with decoys next to it, and lists `threads` in its
/// manifest.
///
/// The decoys' events call functions of [`CANARY`], which must not appear in an answer. The kit
/// also notices if a decoy is opened.
pub(super) fn outside(trace: &mut Trace, threads: &str) {
    for part in ["thread_7", "thread_9"] {
        trace.rename(part, &format!("session/{part}"));
    }
    trace.remove(MANIFEST);
    let text = format!(r#"{{"threads": [{threads}]}}"#);
    trace.put("session/manifest.json", text);
    let event = EventRecord {
        function_id: CANARY + 1,
        ..call(T, 1, 1)
    };
    let index = thread(trace.version, 1, vec![event]);
    for folder in ["", "x/", "outside/thread_1/"] {
        trace.put_index(&format!("{folder}index.atf"), &index);
    }
    let mut detail = record(3, 0, T, 1, 0);
    let function = (CANARY + 1).to_le_bytes();
    detail.payload.splice(..function.len(), function);
    let details = DetailFile::new(trace.version, vec![detail]);
    trace.put_detail("outside/thread_1/detail.atf", &details);
}

/// Adds a ring that belongs to the files. Its index area, its detail area or both contain one event
/// that is not in the file, after the file's six events or three details. A reader that wrongly
/// trusts the ring returns it.
pub(super) fn add_ring(trace: &mut Trace, [index, detail]: [bool; 2]) {
    let mut ring = RingFile::new(trace.version, 7);
    let mut clean = Trace::clean(trace.version);
    if detail {
        let details = clean.file(DETAIL);
        ring.detail = RingArea {
            capacity: 128,
            start: 461,
            checksum: crc32c(&details[64..461]),
            bytes: details[64..188].to_vec(),
        };
    }
    if index {
        clean.events(|events| *events = vec![call(T + 6000, 2, 1)]);
        ring.index = RingArea {
            capacity: 64,
            start: 256,
            checksum: crc32c(&trace.file(INDEX)[64..256]),
            bytes: clean.file(INDEX)[64..96].to_vec(),
        };
    }
    trace.put(RING, ring.bytes());
}
