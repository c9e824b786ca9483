//! Tests the progress callback of a rewrite.

use std::cell::RefCell;

use atf::Wire;
use atf::rewrite::{
    ConvertOptions, ProgressFn, RecoverOptions, Report, ScrubOptions, convert, scrub,
};

use crate::Places;
use crate::large::event;
use atf_samples::files::{DetailFile, IndexFile, ring_after};

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
