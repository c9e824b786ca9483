//! Tests rejected events and failing writers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atf::index::IndexReader;
use atf::manifest::Loss;
use atf::write::{Detail, Memory, SessionWriter, Step, ThreadWriter, WriteOptions};
use atf::{DetailEventType, ErrorKind, EventKind};
use atf_record::{Lost, Overflow, RecordOptions, Recording};

use crate::segments::{fill_if, manifest_in, start_on};
use crate::{event, finalized, ring, ring_with, writer};

const DETAIL: Detail<'_> = Detail::new(DetailEventType::FUNCTION_CALL, b"payload");

#[test]
fn a_refused_event_is_counted_and_later_ones_are_written() {
    let (_folder, mut writer) = writer();
    let (mut recorder, mut drain) = ring(8, 64);
    let unknown = event(1).event_kind(EventKind(9));
    assert_eq!(recorder.record(&event(0)), Ok(0));
    let refused = recorder.record_with_detail(&unknown, &DETAIL);
    assert_eq!(refused, Err(Lost::Refused));
    let link = recorder.record_with_detail(&event(2), &DETAIL).unwrap();
    assert_eq!((link.index_seq, link.detail_seq), (1, 0));
    assert_eq!(recorder.record(&event(1)), Err(Lost::Refused));
    assert_eq!(recorder.record(&event(3)), Ok(2));
    let drained = drain.drain_into(&mut writer).unwrap();
    assert_eq!(drained, crate::drained(3, 1, 2, 0));
    let loss = Loss::new(2, event(1).timestamp_ns, event(1).timestamp_ns);
    assert_eq!(drain.event_loss(), Some(loss));
    assert_eq!(drain.detail_loss(), None);
    assert_eq!(finalized(writer), [event(0), event(2), event(3)]);
}

#[test]
fn an_event_that_a_writer_refuses_stays_in_the_ring() {
    let (_folder, mut later) = writer();
    later.write(&event(9)).unwrap();
    let (_folder, mut over) = writer();
    over.finalize().unwrap();
    let (mut recorder, mut drain) = ring(8, 0);
    recorder.record(&event(0)).unwrap();
    let error = drain.drain_into(&mut later).unwrap_err();
    assert_eq!(error.field(), Some("timestamp_ns"));
    let error = drain.drain_into(&mut over).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::AlreadyFinalized);
    let (_folder, mut new) = writer();
    assert_eq!(drain.drain_into(&mut new).unwrap().events, 1);
}

/// Creates a writer on a full disk. It has the smallest buffer, which holds 128 events.
fn on_a_full_disk() -> ThreadWriter {
    let memory = Memory::new();
    let options = WriteOptions::default().buffer_size(0);
    let writer = ThreadWriter::create_on(Arc::new(memory.clone()), "thread_0", 0, &options);
    fill_if(&memory, |step, _| step == Step::Write);
    writer.unwrap()
}

#[test]
fn a_failed_writer_fails_at_each_call_and_never_stops_the_recorder() {
    let mut writer = on_a_full_disk();
    let (mut recorder, mut drain) = ring(200, 0);
    for n in 0..200 {
        recorder.record(&event(n)).unwrap();
    }
    let full = ErrorKind::Io(io::ErrorKind::StorageFull);
    for _ in 0..3 {
        let error = drain.drain_into(&mut writer).unwrap_err();
        assert_eq!(*error.kind(), full);
        assert!(error.path().unwrap().ends_with("index.atf"));
    }
    // The buffer accepted 128 events, so their slots in the ring are free. No other slots will
    // become free.
    assert_eq!(drain.totals().events, 128);
    assert_eq!(writer.next_index_seq(), 128);
    for n in 200..400 {
        let recorded = recorder.record(&event(n));
        assert_eq!(recorded, if n < 328 { Ok(n) } else { Err(Lost::Event) });
    }
    // Losses are counted even though every call fails.
    drain.drain_into(&mut writer).unwrap_err();
    assert_eq!(drain.totals(), crate::drained(128, 0, 72, 0));
    drop(recorder);
    drain.drain_into(&mut writer).unwrap_err();
    assert!(!drain.is_finished());
}

#[test]
fn another_writer_gets_the_events_that_the_failed_one_did_not_accept() {
    let mut failing = on_a_full_disk();
    let (mut recorder, mut drain) = ring_with(200, 4_000, Overflow::DropNewest);
    for n in 0..200 {
        let recorded = if n < 50 {
            recorder.record(&event(n)).map(drop)
        } else {
            recorder.record_with_detail(&event(n), &DETAIL).map(drop)
        };
        recorded.unwrap();
    }
    // Writing the first detail fails, because its file cannot be created.
    drain.drain_into(&mut failing).unwrap_err();
    assert_eq!(failing.next_index_seq(), 50);

    let (_folder, mut writer) = writer();
    let drained = drain.drain_into(&mut writer).unwrap();
    assert_eq!((drained.events, drained.details), (150, 150));
    let expected: Vec<_> = (50..200).map(event).collect();
    assert_eq!(finalized(writer), expected);
}

/// Asserts that the manifest lists every thread's folder and nothing else (ATF-MANI-005,
/// ATF-MANI-006).
#[track_caller]
fn assert_listed(memory: &Memory, expected: &[u32]) {
    let manifest = manifest_in(memory, "pid_42");
    let listed: Vec<_> = manifest.threads.iter().map(|thread| thread.id).collect();
    assert_eq!(listed, expected);
    let folders = expected.iter().map(|id| format!("pid_42/thread_{id}"));
    let folders: Vec<_> = folders.map(PathBuf::from).collect();
    let mut threads = memory.folders();
    threads.retain(|path| path.parent() == Some("pid_42".as_ref()));
    assert_eq!(threads, folders);
    let mut files = memory.paths();
    files.retain(|path| path.ends_with("index.atf"));
    assert_eq!(files.len(), folders.len());
}

#[test]
fn events_left_in_the_buffer_of_a_failed_writer_are_lost() {
    const EVENTS: u64 = 1000;
    let memory = Memory::new();
    // The smallest buffer, which holds 128 events.
    let write = WriteOptions::default().buffer_size(0);
    let session = SessionWriter::create_on(Arc::new(memory.clone()), "pid_42", &write).unwrap();
    let recording = Recording::start(session, &RecordOptions::default()).unwrap();
    let mut recorder = recording.thread(None).unwrap();
    let mut room = 2_u32;
    fill_if(&memory, move |step, path| {
        if step != Step::Write || !path.ends_with("index.atf") {
            return false;
        }
        let is_full = room == 0;
        room = room.saturating_sub(1);
        is_full
    });
    for n in 0..EVENTS {
        // The recorder counts what it loses.
        let _ = recorder.record(&event(n));
    }
    drop(recorder);
    recording.stop().unwrap_err();
    let index = memory.bytes("pid_42/thread_0/index.atf").unwrap();
    let written = IndexReader::from_bytes(index).unwrap().event_count();
    let lost = manifest_in(&memory, "pid_42").threads[0].lost_events;
    assert!(written > 0);
    assert_eq!(written + lost.unwrap().count, EVENTS);
}

#[test]
fn while_the_manifest_cannot_be_written_no_thread_is_created() {
    let memory = Memory::new();
    let recording = start_on(&memory, &RecordOptions::default());
    let mut first = recording.thread(None).unwrap();
    assert_listed(&memory, &[0]);
    let is_full = Arc::new(AtomicBool::new(true));
    let is_now_full = Arc::clone(&is_full);
    fill_if(&memory, move |step, path| {
        let is_manifest = path.ends_with("pid_42/manifest.json.part");
        step == Step::Write && is_manifest && is_now_full.load(Ordering::SeqCst)
    });
    let full = ErrorKind::Io(io::ErrorKind::StorageFull);
    for _ in 0..2 {
        assert_eq!(*recording.thread(None).unwrap_err().kind(), full);
        assert_listed(&memory, &[0]);
    }
    first.record(&event(0)).unwrap();
    is_full.store(false, Ordering::SeqCst);
    let mut last = recording.thread(None).unwrap();
    assert_eq!(last.thread_id(), 3);
    assert_listed(&memory, &[0, 3]);
    last.record(&event(0)).unwrap();
    drop((first, last));
    // The first error is returned, but the session is still finalized.
    assert_eq!(*recording.stop().unwrap_err().kind(), full);
    assert_listed(&memory, &[0, 3]);
}

/// A recording that cannot replace its manifest stores its losses, and the reason, in the old one.
#[cfg(all(unix, not(miri)))]
#[test]
fn a_recording_that_cannot_replace_its_manifest_stores_the_reason_in_it() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("pid_1");
    let session = SessionWriter::create(&path, &WriteOptions::default()).unwrap();
    let recording = Recording::start(session, &RecordOptions::default()).unwrap();
    // Nothing can replace a folder, whatever the privileges of the user who runs this test.
    std::fs::create_dir_all(path.join("manifest.json.part/full")).unwrap();
    recording.loss_counter().lose_event(7);
    recording.thread(None).unwrap_err();
    assert!(recording.stop().is_err());
    let session = atf::session::SessionReader::open(&path).unwrap();
    let manifest = session.manifest().unwrap();
    assert_eq!(manifest.recording_error.as_deref(), Some("is a directory"));
    assert_eq!(manifest.lost_events.map(|loss| loss.count), Some(1));
}
