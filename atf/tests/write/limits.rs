//! Tests counts up to 2³², many reserved details, and a writer in a forked child. To save hours,
//! the counts start just below 2³². Forks are simulated.

use std::cell::Cell;
use std::fmt::Debug;
use std::sync::Arc;

use atf::internal::watch;
use atf::write::{Detail, Event, Memory, ThreadWriter, WriteOptions};
use atf::{DetailEventType, Error, ErrorKind, EventKind, Wire};

use super::created;

const MOST: u64 = u32::MAX as u64;

const EVENT: Event = Event::new(1, 2, EventKind::CALL, 1);
const DETAIL: Detail<'_> = Detail::new(DetailEventType::FUNCTION_CALL, &[]);

/// Returns a writer that starts with these counts.
fn writer(wire: Wire, events: u64, details: u64) -> ThreadWriter {
    let options = WriteOptions::default().wire(wire);
    let storage = Arc::new(Memory::new());
    let mut writer = ThreadWriter::create_on(storage, "thread_0", 0, &options).unwrap();
    writer.count_from(events, details);
    writer
}

#[track_caller]
fn assert_limit<T: Debug>(result: Result<T, Error>, field: &str) {
    let error = result.unwrap_err();
    let kind = ErrorKind::LimitReached { limit: MOST };
    assert_eq!((error.field(), error.kind()), (Some(field), &kind));
}

#[test]
fn room_is_exact_up_to_the_limit_of_a_count() {
    for (events, details, has_room) in [
        (MOST - 10, 0, true),
        (MOST - 9, 0, false),
        (0, MOST - 10, true),
        (0, MOST - 9, false),
    ] {
        let writer = writer(Wire::V1, events, details);
        assert_eq!(writer.has_room_for(10), has_room, "{events} {details}");
    }
}

#[test]
fn version_1_counts_events_up_to_the_largest_number_in_its_header() {
    for flushes in [false, true] {
        let mut writer = writer(Wire::V1, MOST - 2, 0);
        for seq in [MOST - 2, MOST - 1] {
            assert_eq!(writer.write(&EVENT).unwrap(), seq);
            if flushes {
                writer.flush().unwrap();
            }
        }
        for _ in 0..2 {
            assert_limit(writer.write(&EVENT), "event_count");
            assert_limit(writer.write_with_detail(&EVENT, &DETAIL), "event_count");
        }
        assert_eq!(writer.next_index_seq(), MOST);
        assert_eq!(writer.next_detail_seq(), 0);
        assert_eq!(writer.finalize().unwrap().event_count, MOST);
    }
}

#[test]
fn version_1_links_to_each_detail_below_the_number_that_means_none() {
    let mut writer = writer(Wire::V1, 10, MOST - 3);
    let link = writer.write_with_detail(&EVENT, &DETAIL).unwrap();
    assert_eq!(link.detail_seq, MOST - 3);
    writer.write_index(&EVENT, Some(MOST - 2)).unwrap();
    writer.write_detail(11, 1, &DETAIL).unwrap();
    writer.write_index(&EVENT, Some(MOST - 1)).unwrap();
    assert_limit(writer.write_index(&EVENT, Some(MOST)), "detail_count");
    writer.write_detail(12, 1, &DETAIL).unwrap();
    assert_limit(writer.write_with_detail(&EVENT, &DETAIL), "detail_count");
    // Events without details are still allowed.
    assert_eq!(writer.write(&EVENT).unwrap(), 13);
    assert_eq!(writer.finalize().unwrap().detail_count, MOST);
}

#[test]
fn version_2_counts_past_this_limit() {
    let mut writer = writer(Wire::V2, MOST - 1, MOST - 1);
    for more in 0..3 {
        let link = writer.write_with_detail(&EVENT, &DETAIL).unwrap();
        let seq = MOST - 1 + more;
        assert_eq!((link.index_seq, link.detail_seq), (seq, seq));
    }
    assert_eq!(writer.finalize().unwrap().event_count, MOST + 2);
}

thread_local! {
    static STORES: Cell<u64> = const { Cell::new(0) };
}

/// A tracer that can lose details drops all earlier reserved ones before it writes a detail.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds log their stores")]
fn dropping_no_details_changes_no_link_however_many_are_reserved() {
    let (_folder, mut writer) = created(&WriteOptions::default().survive_kill(true));
    for seq in 0..1000 {
        writer.write_index(&EVENT, Some(seq)).unwrap();
    }
    watch::set(Some(|_| STORES.set(STORES.get() + 1)));
    assert_eq!(writer.drop_details_before(0).unwrap(), 0);
    let of_drop = STORES.take();
    writer.drop_detail(998).unwrap();
    let of_last = STORES.take();
    watch::set(None);
    // One link is removed and one is changed.
    assert_eq!((of_drop, of_last), (0, 2));
}

#[test]
fn a_forked_child_is_refused_before_it_writes_to_its_parents_files() {
    let (folder, mut writer) = created(&WriteOptions::default().survive_kill(true));
    writer.pretend_owner(1);
    writer.write_index(&EVENT, Some(0)).unwrap();
    let large = DETAIL.payload(&[0; 200_000]);
    let errors = [
        writer.write_detail(0, 1, &large).unwrap_err(),
        writer.flush().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), &ErrorKind::Forked { owner: 1 });
    }
    drop(writer);
    assert!(!folder.path().join("detail.atf").exists());
    assert!(folder.path().join("ring.atf").exists());
    let size = folder.path().join("index.atf").metadata().unwrap().len();
    assert_eq!(size, 64);
}
