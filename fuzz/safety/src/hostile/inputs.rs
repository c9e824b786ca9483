//! The hostile traces.

use std::borrow::Cow;

use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};

/// Files, with their paths in a session folder.
type Files = Vec<(Cow<'static, str>, Vec<u8>)>;

/// A hostile trace.
#[derive(Debug)]
pub struct Input {
    /// The input's name on the command line.
    pub name: &'static str,
    /// Creates a trace of about this many bytes.
    pub make: fn(usize) -> Files,
}

const INDEX: &str = "thread_7/index.atf";
const DETAIL: &str = "thread_7/detail.atf";
const RING: &str = "thread_7/ring.atf";
const MANIFEST: &str = "manifest.json";

/// All hostile traces.
pub const INPUTS: [Input; 28] = [
    input("nothing", |_| {
        vec![(INDEX.into(), IndexFile::finalized(1, 1).bytes())]
    }),
    input("threads-unfinalized", threads),
    input("threads-listed", |size| listed(threads(size / 2))),
    input("threads-far-apart", far_apart),
    input("index-counts", |size| with_zeros(lying_index(), size)),
    input("index-zeros", |size| {
        with_zeros(open(1, 3).without_footer(), size)
    }),
    input("index-holes", holes),
    input("index-footers", footers),
    input("index-back-in-time", back_in_time),
    input("index-links-to-one", links_to_one),
    input("index-calls", |size| calls(size, 1)),
    input("index-returns", |size| calls(size, 2)),
    input("index-calls-then-others-return", unmatched),
    input("detail-counts", lying_detail),
    input("detail-smallest", |size| details(size, 0)),
    input("detail-one-length", one_length),
    input("detail-broken-often", broken_often),
    input("detail-false-starts", false_starts),
    input("detail-one-payload", |size| details(size, size)),
    input("ring-sizes", ring),
    input("manifest-deep", |size| manifest(&"[".repeat(size))),
    input("manifest-deep-objects", |size| {
        manifest(&r#"{"a":"#.repeat(size / 5))
    }),
    input("manifest-threads", |size| {
        list(size, |at| format!(r#"{{"id":{at}}}"#))
    }),
    input("manifest-one-thread", |size| {
        list(size, |_| r#"{"id":7}"#.to_owned())
    }),
    input("manifest-keys", |size| keys(size, true)),
    input("manifest-one-key", |size| keys(size, false)),
    input("manifest-values", |size| {
        manifest(&format!(r#"[],"own":[{}0]}}"#, "[0],".repeat(size / 4)))
    }),
    input("manifest-symbols", symbols),
];

const fn input(name: &'static str, make: fn(usize) -> Files) -> Input {
    Input { name, make }
}

fn open(version: u8, count: u64) -> IndexFile {
    IndexFile::finalized(version, count).placeholder()
}

/// Makes as many threads as possible, each with problems.
fn threads(size: usize) -> Files {
    let file = open(1, 3).without_footer();
    let count = size / file.len();
    (0..count)
        .map(|id| (format!("thread_{id}/index.atf").into(), file.clone()))
        .collect()
}

/// Adds a manifest that lists the threads, the last one first.
fn listed(mut threads: Files) -> Files {
    let ids = (0..threads.len()).rev();
    let ids: Vec<_> = ids.map(|id| format!(r#"{{"id":{id}}}"#)).collect();
    let text = format!(
        r#"{{"format_version":"2.0","threads":[{}]}}"#,
        ids.join(",")
    );
    threads.push((MANIFEST.into(), text.into_bytes()));
    threads
}

/// Makes threads whose times span the full range of a timestamp.
fn far_apart(size: usize) -> Files {
    let count = (size / open(1, 3).without_footer().len()) as u64;
    let step = u64::MAX / count;
    let file = |id: u64| {
        let mut file = open(1, 3);
        for (event, after) in file.events.iter_mut().zip(0..) {
            event.timestamp_ns = step * id + after;
        }
        file.without_footer()
    };
    (0..count)
        .map(|id| (format!("thread_{id}/index.atf").into(), file(id)))
        .collect()
}

/// Makes an index file whose header and footer contain the highest possible counts.
fn lying_index() -> Vec<u8> {
    let mut file = IndexFile::finalized(2, 3);
    file.header_count = u64::MAX;
    file.footer_count = u64::MAX;
    file.bytes_written = u64::MAX;
    file.footer_offset = u64::MAX - 63;
    file.bytes()
}

fn with_zeros(mut bytes: Vec<u8>, size: usize) -> Files {
    bytes.resize(bytes.len() + size, 0);
    vec![(INDEX.into(), bytes)]
}

fn count(size: usize) -> u64 {
    size as u64 / 32
}

fn index_of(size: usize, event: impl Fn(u64) -> EventRecord) -> Files {
    vec![(
        INDEX.into(),
        IndexFile::new(1, (0..count(size)).map(event).collect()).bytes(),
    )]
}

fn event(seq: u64, kind: u8, function_id: u64) -> EventRecord {
    EventRecord::new(1_000_000 + seq, function_id, kind, None)
}

/// Makes every other event consist of zeros.
fn holes(size: usize) -> Files {
    let mut bytes = open(1, count(size)).without_footer();
    for hole in bytes[64..].chunks_mut(32).step_by(2) {
        hole.fill(0);
    }
    vec![(INDEX.into(), bytes)]
}

/// Makes every event begin like a footer.
fn footers(size: usize) -> Files {
    let mut bytes = open(1, count(size)).without_footer();
    for event in bytes[64..].chunks_mut(32) {
        event[..4].copy_from_slice(b"2ITA");
    }
    vec![(INDEX.into(), bytes)]
}

fn back_in_time(size: usize) -> Files {
    index_of(size, |seq| EventRecord::new(u64::MAX - seq, 7, 1, None))
}

/// Makes all events link to the same detail.
fn links_to_one(size: usize) -> Files {
    let event = |seq: u64| EventRecord::new(1_000_000 + seq, 7, 1, Some(0));
    let mut files = index_of(size, event);
    files.push((
        DETAIL.into(),
        DetailFile::new(1, vec![DetailRecord::call(0, 1_000_000, 0)]).bytes(),
    ));
    files
}

fn calls(size: usize, kind: u8) -> Files {
    index_of(size, |seq| event(seq, kind, seq))
}

/// Makes calls that never return, followed by as many returns from functions that were never
/// called.
fn unmatched(size: usize) -> Files {
    let half = count(size) / 2;
    index_of(size, |seq| {
        if seq < half {
            event(seq, 1, seq)
        } else {
            event(seq, 2, u64::MAX - seq)
        }
    })
}

fn with_details(detail: Vec<u8>, events: u64) -> Files {
    vec![
        (INDEX.into(), open(1, events).without_footer()),
        (DETAIL.into(), detail),
    ]
}

fn record(seq: u64, payload: usize) -> DetailRecord {
    DetailRecord::new(3, seq, 1_000_000 + seq, vec![0; payload])
}

/// Makes as many details as possible, with payloads of `payload` bytes.
fn details(size: usize, payload: usize) -> Files {
    let fits = (size / (24 + payload)).max(1) as u64;
    let file = DetailFile::new(1, (0..fits).map(|seq| record(seq, payload)).collect());
    with_details(file.bytes(), 3)
}

/// Makes a detail file whose header and footer contain the highest possible numbers.
fn lying_detail(size: usize) -> Files {
    let mut file = DetailFile::new(2, vec![record(0, size)]);
    (file.header_count, file.footer_count) = (u64::MAX, u64::MAX);
    (file.header_bytes, file.footer_bytes) = (u64::MAX, u64::MAX);
    with_details(file.bytes(), 3)
}

/// Fills the file with lengths that reach past its end.
fn one_length(size: usize) -> Files {
    let mut file = DetailFile::new(1, Vec::new()).placeholder().header();
    for _ in 0..size / 4 {
        file.extend(u32::MAX.to_le_bytes());
    }
    with_details(file, 3)
}

/// Sets the length of every fifth detail to 0, so that a reader cannot walk from one detail to the
/// next.
fn broken_often(size: usize) -> Files {
    let fits = (size / 32) as u64;
    let file = DetailFile::new(1, (0..fits).map(|seq| record(seq, 8)).collect());
    let mut bytes = file.placeholder().without_footer();
    for event in bytes[64..].chunks_mut(32).step_by(5) {
        event[..4].fill(0);
    }
    with_details(bytes, fits)
}

/// Makes bytes that look like the start of a detail every 24 bytes; each such detail reaches to the
/// end of the file.
fn false_starts(size: usize) -> Files {
    let file = DetailFile::new(1, vec![record(0, size)]).placeholder();
    let mut bytes = file.without_footer();
    bytes[64..68].fill(0);
    let end = bytes.len();
    for at in (68..end.saturating_sub(24)).step_by(24) {
        let length = u32::try_from(end - at).unwrap_or(u32::MAX);
        bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        bytes[at + 4..at + 6].copy_from_slice(&3_u16.to_le_bytes());
        bytes[at + 12..at + 16].copy_from_slice(&7_u32.to_le_bytes());
        bytes[at + 16..at + 24].copy_from_slice(&1_000_000_u64.to_le_bytes());
    }
    with_details(bytes, 3)
}

/// Makes a kill journal with the highest possible sizes and counts.
fn ring(size: usize) -> Files {
    let mut bytes = b"ATR2\x01\x01\0\0".to_vec();
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend([0xff; 52]);
    bytes.resize(size.max(128), 0xff);
    vec![
        (INDEX.into(), open(1, 3).without_footer()),
        (RING.into(), bytes),
    ]
}

fn manifest(text: &str) -> Files {
    let text = format!(r#"{{"clock_type":3,"threads":{text}"#);
    vec![
        (INDEX.into(), IndexFile::finalized(1, 3).bytes()),
        (MANIFEST.into(), text.into_bytes()),
    ]
}

/// Makes a manifest with a list of about `size` bytes.
fn list(size: usize, item: impl Fn(usize) -> String) -> Files {
    let one = item(1000).len() + 1;
    let items: Vec<_> = (0..size / one).map(item).collect();
    manifest(&format!("[{}]}}", items.join(",")))
}

/// Makes a manifest with many additional keys: either different unknown keys, or one key over and
/// over.
fn keys(size: usize, differ: bool) -> Files {
    let key = |at: usize| {
        if differ {
            format!(r#","key{at:08}":1"#)
        } else {
            r#","threads":[]"#.to_owned()
        }
    };
    let keys: String = (0..size / 16).map(key).collect();
    manifest(&format!("[]{keys}}}"))
}

fn symbols(size: usize) -> Files {
    let symbol = |at: usize| format!(r#"{{"function_id":"{at:#x}","name":"f"}}"#);
    let symbols: Vec<_> = (0..size / 36).map(symbol).collect();
    manifest(&format!(r#"[],"symbols":[{}]}}"#, symbols.join(",")))
}
