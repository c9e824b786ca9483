//! Tests merges of a time range: which parts of the files they read, and which values they must not
//! trust.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use atf::index::IndexReader;
use atf::merge::Merge;
use atf_samples::files::IndexFile;

use crate::model::Thread;
use crate::support_source::{Counts, counted};

/// The block size in this test. A merge may read two blocks per thread.
const BLOCK: u64 = 4096;

/// Creates threads of 100,000 events each, one microsecond apart. Thread `n` begins at `n` seconds.
fn threads() -> Vec<Thread> {
    let thread = |id: u32| {
        let time = |seq: u64| 1_000_000_000 * u64::from(id) + 1000 * seq;
        Thread::new(id, (0..100_000).map(time))
    };
    (0..4).map(thread).collect()
}

/// Creates a merge of files whose reads are counted.
fn merge(files: Vec<(u32, Vec<u8>)>) -> (Merge, Vec<Arc<Counts>>) {
    let open = |(id, bytes)| {
        let (source, counts) = counted(bytes);
        ((id, IndexReader::from_source(source).unwrap()), counts)
    };
    let (files, counts): (Vec<_>, _) = files.into_iter().map(open).unzip();
    (Merge::new(files), counts)
}

#[test]
fn a_time_range_reads_its_own_blocks_and_the_ends_of_other_threads() {
    for version in [1, 2] {
        let threads = threads();
        let files = threads.iter().map(|t| (t.id, t.file(version).bytes()));
        let (merge, counts) = merge(files.collect());
        // Select ten events in the middle of thread 2.
        let from = 2_000_000_000 + 1000 * 50_000;
        let merge = merge.time_range(from..from + 10_000);
        let found = merge.events().map(|event| event.unwrap());
        let places: Vec<_> = found.map(|event| (event.thread, event.seq)).collect();
        let expected: Vec<_> = (50_000..50_010).map(|seq| (2, seq)).collect();
        assert_eq!(places, expected);
        let read = counts.iter().map(|it| it.bytes.load(Ordering::Relaxed));
        let read: Vec<_> = read.collect();
        for (thread, read) in read.iter().enumerate() {
            let most = if thread == 2 { 2 * BLOCK } else { 1024 };
            assert!(*read <= most, "{read:?} bytes of version {version}");
        }
        assert_eq!(merge.unverified().count(), 4, "nothing was compared");
    }
}

#[test]
fn headers_and_footers_with_wrong_times_hide_no_event() {
    let file = Thread::new(0, [10, 20, 30, 40]).file(1);
    let lies: [fn(&mut IndexFile); 4] = [
        |file| file.header_times = (100, 200),
        |file| file.footer_times = (100, 200),
        |file| (file.header_times, file.footer_times) = ((100, 200), (100, 200)),
        |file| (file.header_times, file.footer_times) = ((40, 10), (40, 10)),
    ];
    for lie in lies {
        let mut file = file.clone();
        lie(&mut file);
        let (merge, _) = merge(vec![(0, file.bytes())]);
        let merge = merge.time_range(15..=35);
        let times = merge.events().map(|it| it.unwrap().event.timestamp_ns);
        assert_eq!(times.collect::<Vec<_>>(), [20, 30]);
    }
    // The times in an unfinalized file are not trusted either.
    let unfinalized = file.placeholder().without_footer();
    let (merge, _) = merge(vec![(0, unfinalized)]);
    let merge = merge.time_range(15..=35);
    let events = merge.events().filter(Result::is_ok).count();
    let problems = merge.events().filter(Result::is_err).count();
    assert_eq!((events, problems), (2, 1));
}

#[test]
fn a_search_that_finds_events_out_of_order_checks_all_events() {
    // The first and last times are correct, but between them, every second event is out of order.
    let times = (0..10_000).map(|seq| 1_000_000 + (seq * 7_919) % 10_000);
    let mut thread = Thread::new(0, times);
    thread.times[0] = 1_000_000;
    thread.times[9_999] = 1_010_000;
    let mut file = thread.file(1);
    file.header_times = file.footer_times;
    let (merge, _) = merge(vec![(0, file.bytes())]);
    let range = 1_004_000_u64..1_004_100;
    let expected = thread.times.iter().filter(|time| range.contains(*time));
    let expected = expected.count();
    assert_eq!(merge.time_range(range).events().count(), expected);
}

#[test]
fn hidden_disorder_yields_no_event_outside_a_time_range() {
    for version in [1, 2] {
        let mut file = Thread::new(0, [1, 1000, 2, 3, 2000, 4]).file(version);
        file.header_times = (1, 4);
        let index = IndexReader::from_bytes(file.bytes()).unwrap();
        let merge = Merge::new([(0, index)]).time_range(..10);
        let events = merge.events().filter_map(Result::ok);
        let times: Vec<_> = events.map(|event| event.event.timestamp_ns).collect();
        assert_eq!(times, [1, 2, 3, 4]);
    }
}
