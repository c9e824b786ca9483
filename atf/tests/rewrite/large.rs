//! Rewrites payloads that are never completely in memory, and reports progress.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use atf::rewrite::{
    ConvertOptions, ProgressFn, RecoverOptions, Report, ScrubOptions, convert, scrub,
};
use atf::thread::ThreadReader;
use atf::{Checksum, Wire};

use crate::{Places, count, files, thread_of};
use atf_samples::files::{Bytes, DetailFile, DetailRecord, EventRecord, IndexFile, ring_after};

fn event(seq: u64, detail_seq: Option<u64>) -> EventRecord {
    EventRecord::new(1000 + seq, 5, 1, detail_seq)
}

fn opaque(index_seq: u64, size: usize) -> DetailRecord {
    // The pattern's period does not divide the buffer size.
    let payload = (0..size).map(|at| at.to_le_bytes()[at % 3]).collect();
    DetailRecord::new(9, index_seq, 1000 + index_seq, payload)
}

#[test]
fn payloads_of_any_size_keep_their_bytes_and_order() {
    let sizes = [3, 65_631, 65_632, 70_000, 0, 300_000, 256 << 10, 9];
    for version in [1, 2] {
        let links = (0..8).map(|seq| event(seq, Some(seq)));
        let index = IndexFile::new(version, links.collect());
        let details = (0..).zip(sizes).map(|(seq, size)| opaque(seq, size));
        // No event refers to the last detail.
        let all = details.chain([opaque(99, 700_000)]).collect();
        let all = DetailFile::new(version, all);
        let [detail, orphans] = [&all.events[..8], &all.events[8..]]
            .map(|events| DetailFile::new(version, events.to_vec()));
        let places = Places::new();
        places.put_thread("thread_7", index.without_footer(), all.without_footer());
        let report = places.recover();
        assert_eq!((report.events(), report.details()), (8, 8), "{report}");
        let found = files(&places.path("out"));
        assert!(found["thread_7/index.atf"] == index.bytes());
        assert!(found["thread_7/detail.atf"] == detail.bytes());
        assert!(found["thread_7/orphans.atf"] == orphans.bytes());

        let thread = thread_of(&places.scrub("shared"));
        assert_eq!(count(&thread, "payload_emptied"), 8);
        let emptied = (0..8).map(|seq| opaque(seq, 0)).collect();
        let emptied = DetailFile::new(version, emptied).bytes();
        let found = files(&places.path("shared"));
        assert!(found["thread_7/detail.atf"] == emptied);
    }
}

/// Returns the peak memory of this process in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib = line.trim().strip_suffix("kB").unwrap().trim();
    1024 * kib.parse::<u64>().unwrap()
}

/// Writes a detail file with two payloads of `size` bytes. Except for its last byte, each payload
/// is a hole in the file.
#[cfg(target_os = "linux")]
fn put_sparse(path: &Path, size: u32) {
    let mut file = File::create(path).unwrap();
    let header = DetailFile::new(1, Vec::new()).header();
    file.write_all(&header).unwrap();
    for index_seq in [0, 9] {
        let mut head = Bytes::default();
        head.u32(24 + size).u16(9).u16(0).u32(index_seq).u32(7);
        head.u64(1000 + u64::from(index_seq));
        file.write_all(&head.0).unwrap();
        let skip = SeekFrom::Current(i64::from(size) - 1);
        file.seek(skip).unwrap();
        file.write_all(&[1]).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_payload_of_256_mib_is_never_in_memory() {
    const SIZE: u32 = 256 << 20;
    let index = IndexFile::new(1, vec![event(0, Some(0))]);
    let places = Places::with_index(index.without_footer());
    put_sparse(&places.path("in/thread_7/detail.atf"), SIZE);
    let out = places.path("out");
    let report = places.recover();
    assert_eq!((report.events(), report.details()), (1, 1), "{report}");
    // The peak includes the other tests in this process.
    let peak = peak_memory();
    assert!(peak < u64::from(SIZE), "{peak} bytes");

    let thread = ThreadReader::open(out.join("thread_7")).unwrap();
    let detail = thread.detail().unwrap();
    assert_eq!(detail.checksum().unwrap(), Checksum::Good);
    let found = detail.get(0).unwrap().unwrap();
    assert_eq!(found.payload_size(), u64::from(SIZE));
    let mut last = [0; 2];
    detail
        .read_payload(&found, u64::from(SIZE) - 2, &mut last)
        .unwrap();
    assert_eq!(last, [0, 1]);
    let orphans = fs::metadata(out.join("thread_7/orphans.atf")).unwrap();
    assert_eq!(orphans.len(), 64 + 24 + u64::from(SIZE) + 64);
}

/// The number of events, enough for more than two steps of 1 MiB.
const EVENTS: u64 = 80_000;

/// Creates four threads: one with most of its events in a ring, a large one, an unreadable one, and
/// one with only orphaned details.
fn session() -> (Places, u64) {
    let places = Places::new();
    let events = (0..EVENTS).map(|seq| event(seq, None)).collect();
    let file = IndexFile::new(1, events).placeholder().without_footer();
    let detail = DetailFile::finalized(1, 3).placeholder().without_footer();
    let ring = ring_after(1, 7, [&file, &detail], [64 + 32, detail.len()]);
    let mut size = 0;
    let mut put = |name: &str, bytes: &[u8]| {
        size += bytes.len() as u64;
        places.put(&format!("in/{name}"), bytes);
    };
    put("thread_1/index.atf", &file[..64 + 32]);
    put("thread_1/detail.atf", &detail);
    put("thread_2/index.atf", &file);
    put("thread_3/index.atf", b"no index");
    put("thread_4/index.atf", &file[..64 + 32]);
    put("thread_4/detail.atf", &detail);
    // The ring is not counted, because its bytes end up in the new files but are not in the old
    // ones.
    places.put("in/thread_1/ring.atf", ring);
    (places, size)
}

#[track_caller]
fn assert_reported(total: u64, rewrite: impl FnOnce(ProgressFn<'_>) -> Report) {
    let calls = RefCell::new(Vec::new());
    rewrite(&|done, all| calls.borrow_mut().push((done, all)));
    let calls = calls.into_inner();
    assert_eq!(calls.first(), Some(&(0, total)));
    assert_eq!(calls.last(), Some(&(total, total)));
    assert!(calls.iter().all(|(_, all)| *all == total), "{calls:?}");
    assert!(calls.is_sorted(), "{calls:?}");
    // The callback is called between threads and several times within the large one, but not for
    // every event.
    assert!(calls.len() > 6, "{calls:?}");
    assert!(calls.len() < 40, "{} times", calls.len());
}

#[test]
fn progress_only_grows_and_ends_with_all_bytes_done() {
    let (places, total) = session();
    let path = places.path("in");
    assert_reported(total, |progress| {
        let options = RecoverOptions::default().salvage(true);
        let report = places.recover_by(&options.progress(Some(progress)));
        assert_eq!(report.events(), 2 * EVENTS + 1);
        report
    });
    assert_reported(total, |progress| {
        let options = ConvertOptions::default().progress(Some(progress));
        convert(&path, places.path("b"), Wire::V2, &options).unwrap()
    });
    assert_reported(total, |progress| {
        let options = ScrubOptions::default().progress(Some(progress));
        scrub(&path, places.path("c"), &options).unwrap()
    });
}
