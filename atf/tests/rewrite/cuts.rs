//! Recovers files truncated at every offset.

use atf::index::IndexEvent;
use atf::rewrite::{RecoverOptions, recover};
use atf::thread::ThreadReader;

use crate::{Places, files};
use atf_samples::files::{DetailFile, IndexFile};

const EVENTS: u64 = 9;
const DETAILS: u64 = 3;

/// Returns the number of complete details in the first `size` bytes.
fn whole_details(detail: &DetailFile, size: usize) -> u64 {
    let ends = detail.places();
    ends[1..].iter().filter(|end| **end <= size as u64).count() as u64
}

/// Recovers a thread and compares the result with the first `events` events and `details` details.
#[track_caller]
fn assert_prefix(places: &Places, index: &IndexFile, events: u64, details: u64, orphans: u64) {
    let (out, again) = (places.path("out"), places.path("again"));
    let options = RecoverOptions::default();
    let report = recover(places.path("in"), &out, &options).unwrap();
    assert_eq!((report.events(), report.details()), (events, details));
    let thread = report.threads().next().unwrap();
    let aside: u64 = thread.set_aside.iter().map(|aside| aside.count).sum();
    assert_eq!(aside, orphans);

    let thread = ThreadReader::open(out.join("thread_7")).unwrap();
    let whole = IndexFile::of(
        index.version,
        index.events[..usize::try_from(events).unwrap()].to_vec(),
    );
    let found: Vec<IndexEvent> = thread.index().events_in(..).map(Result::unwrap).collect();
    assert_eq!(found.len(), whole.events.len());
    let mut linked = 0;
    for (seq, (found, event)) in (0_u64..).zip(found.iter().zip(&whole.events)) {
        assert_eq!(found.timestamp_ns, event.timestamp_ns);
        assert_eq!(found.function_id, event.function_id);
        assert_eq!(found.event_kind.0, u32::from(event.kind));
        let is_linked = seq % 3 == 0 && linked < details;
        assert_eq!(found.detail_seq, is_linked.then_some(linked), "{seq}");
        linked += u64::from(is_linked);
        if is_linked {
            let detail = thread.detail_of(found).unwrap().found().unwrap();
            assert_eq!(detail.header.index_seq, seq);
        }
    }
    let checksum = match events {
        0 => atf::Checksum::Absent,
        _ => atf::Checksum::Good,
    };
    assert_eq!(thread.index().checksum().unwrap(), checksum);
    assert!(thread.disagreements().is_empty());
    let second = recover(&out, &again, &options).unwrap();
    assert!(!second.changed(), "{second}");
    assert_eq!(files(&out), files(&again));
}

#[test]
fn an_index_cut_anywhere_keeps_its_whole_events_and_their_details() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, EVENTS);
        let detail = DetailFile::finalized(version, DETAILS);
        for bytes in [index.bytes(), index.clone().placeholder().bytes()] {
            for size in 64..=bytes.len() {
                let places = Places::new();
                places.put("in/thread_7/index.atf", &bytes[..size]);
                places.put("in/thread_7/detail.atf", detail.bytes());
                let events = ((size as u64 - 64) / 32).min(EVENTS);
                let details = events.div_ceil(3);
                assert_prefix(&places, &index, events, details, DETAILS - details);
            }
        }
    }
}

#[test]
fn a_detail_file_cut_anywhere_keeps_its_whole_details() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, EVENTS);
        let detail = DetailFile::finalized(version, DETAILS);
        for bytes in [detail.bytes(), detail.clone().placeholder().bytes()] {
            for size in 0..=bytes.len() {
                let places = Places::new();
                places.put("in/thread_7/index.atf", index.bytes());
                places.put("in/thread_7/detail.atf", &bytes[..size]);
                let details = match size {
                    0..64 => 0,
                    _ => whole_details(&detail, size),
                };
                assert_prefix(&places, &index, EVENTS, details, 0);
            }
        }
    }
}

#[test]
fn an_index_with_a_truncated_header_is_kept_unchanged() {
    let detail = DetailFile::finalized(1, DETAILS).bytes();
    let index = IndexFile::finalized(1, EVENTS).bytes();
    for size in 0..64 {
        let places = Places::new();
        places.put("in/thread_7/index.atf", &index[..size]);
        places.put("in/thread_7/detail.atf", &detail);
        let out = places.path("out");
        let report = recover(places.path("in"), &out, &RecoverOptions::default()).unwrap();
        assert!(report.threads().next().unwrap().not_recovered.is_some());
        let files = files(&out);
        assert_eq!(files["unreadable/thread_7/index.atf"], index[..size]);
        assert_eq!(files["unreadable/thread_7/detail.atf"], detail);
        assert!(!out.join("thread_7").exists());
    }
}
