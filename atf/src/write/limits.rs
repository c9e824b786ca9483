//! Tests counts up to 2³², many reserved details, and a writer in a forked child. To save hours, the
//! counts start just below 2³². Forks are simulated.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::{Detail, Event, Memory, ThreadWriter, WriteOptions};
use crate::error::{Error, ErrorKind};
use crate::sys::watch;
use crate::wire::{DetailEventType, EventKind, Wire};

const MOST: u64 = u32::MAX as u64;

const EVENT: Event = Event {
    timestamp_ns: 1,
    function_id: 2,
    event_kind: EventKind::CALL,
    call_depth: 1,
};

const DETAIL: Detail<'_> = Detail {
    event_type: DetailEventType::FUNCTION_CALL,
    flags: 0,
    payload: &[],
};

/// Returns a writer that starts with these counts.
fn writer(wire: Wire, events: u64, details: u64) -> ThreadWriter {
    let options = WriteOptions {
        wire,
        ..WriteOptions::default()
    };
    let storage = Arc::new(Memory::new());
    let mut writer = ThreadWriter::create_on(storage, "thread_0", 0, &options).unwrap();
    writer.count_from(events, details);
    writer
}

fn limit(error: &Error) -> (String, ErrorKind) {
    (error.field().unwrap().to_owned(), error.kind().clone())
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
fn version_1_counts_events_up_to_the_last_number_of_its_header() {
    let mut writer = writer(Wire::V1, MOST - 2, 0);
    assert_eq!(writer.write(&EVENT).unwrap(), MOST - 2);
    assert_eq!(writer.write(&EVENT).unwrap(), MOST - 1);
    let reached = (
        "event_count".to_owned(),
        ErrorKind::LimitReached { limit: MOST },
    );
    for _ in 0..2 {
        assert_eq!(limit(&writer.write(&EVENT).unwrap_err()), reached);
        let pair = writer.write_with_detail(&EVENT, &DETAIL).unwrap_err();
        assert_eq!(limit(&pair), reached);
    }
    assert_eq!(writer.next_index_seq(), MOST);
    assert_eq!(writer.next_detail_seq(), 0);
    assert_eq!(writer.finalize().unwrap().event_count, MOST);
}

#[test]
fn a_flush_does_not_lift_the_limit_of_a_count() {
    let mut writer = writer(Wire::V1, MOST - 2, 0);
    for _ in 0..2 {
        writer.write(&EVENT).unwrap();
        writer.flush().unwrap();
    }
    let reached = (
        "event_count".to_owned(),
        ErrorKind::LimitReached { limit: MOST },
    );
    assert_eq!(limit(&writer.write(&EVENT).unwrap_err()), reached);
    assert_eq!(writer.finalize().unwrap().event_count, MOST);
}

#[test]
fn version_1_links_to_each_detail_below_the_number_that_means_none() {
    let mut writer = writer(Wire::V1, 10, MOST - 3);
    assert_eq!(
        writer
            .write_with_detail(&EVENT, &DETAIL)
            .unwrap()
            .detail_seq,
        MOST - 3
    );
    writer.write_index(&EVENT, Some(MOST - 2)).unwrap();
    writer.write_detail(11, 1, &DETAIL).unwrap();
    writer.write_index(&EVENT, Some(MOST - 1)).unwrap();
    let reached = (
        "detail_count".to_owned(),
        ErrorKind::LimitReached { limit: MOST },
    );
    let split = writer.write_index(&EVENT, Some(MOST)).unwrap_err();
    assert_eq!(limit(&split), reached);
    writer.write_detail(12, 1, &DETAIL).unwrap();
    let pair = writer.write_with_detail(&EVENT, &DETAIL).unwrap_err();
    assert_eq!(limit(&pair), reached);
    // Events without details are still allowed.
    assert_eq!(writer.write(&EVENT).unwrap(), 13);
    assert_eq!(writer.finalize().unwrap().detail_count, MOST);
}

#[test]
fn version_2_counts_on() {
    let mut writer = writer(Wire::V2, MOST - 1, MOST - 1);
    for more in 0..3 {
        let link = writer.write_with_detail(&EVENT, &DETAIL).unwrap();
        assert_eq!(
            (link.index_seq, link.detail_seq),
            (MOST - 1 + more, MOST - 1 + more)
        );
    }
    assert_eq!(writer.finalize().unwrap().event_count, MOST + 2);
}

/// A tracer whose details may get lost drops the earlier ones before it writes each detail.
#[test]
fn dropping_no_details_changes_no_link_however_many_are_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        survive_kill: true,
        ..WriteOptions::default()
    };
    let mut writer = ThreadWriter::create(folder.path(), 0, &options).unwrap();
    for seq in 0..1000 {
        writer.write_index(&EVENT, Some(seq)).unwrap();
    }
    let stores = Rc::new(Cell::new(0));
    let seen = Rc::clone(&stores);
    watch::set(Some(Box::new(move |_| seen.set(seen.get() + 1))));
    assert_eq!(writer.drop_details_before(0).unwrap(), 0);
    let of_drop = stores.take();
    writer.drop_detail(998).unwrap();
    let of_last = stores.take();
    watch::set(None);
    // One link is removed and one is changed.
    assert_eq!((of_drop, of_last), (0, 2));
}

#[test]
fn a_forked_child_is_refused_before_it_writes_to_its_parents_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        survive_kill: true,
        ..WriteOptions::default()
    };
    let mut writer = ThreadWriter::create(folder.path(), 0, &options).unwrap();
    writer.pretend_owner(1);
    writer.write_index(&EVENT, Some(0)).unwrap();
    let large = Detail {
        payload: &[0; 200_000],
        ..DETAIL
    };
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
