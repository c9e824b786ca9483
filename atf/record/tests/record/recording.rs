//! Tests recorded sessions: their threads, losses and ends.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use atf::index::IndexReader;
use atf::manifest::{Loss, Manifest};
use atf::write::{Detail, SessionWriter, WriteOptions};
use atf::{DetailEventType, ErrorKind};
use atf_record::{Capacity, Lost, Overflow, RecordOptions, Recording, Segment, ThreadRecorder};
use tempfile::TempDir;

use crate::{event, many, read};

/// A deadline that even a slow machine does not exceed. Only a failing test waits this long.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) fn start(folder: &Path, survive_kill: bool, options: &RecordOptions) -> Recording {
    let write = WriteOptions::default().survive_kill(survive_kill);
    Recording::start(SessionWriter::create(folder, &write).unwrap(), options).unwrap()
}

/// Starts a recording in a new folder.
pub(crate) fn start_in_new_folder(
    survive_kill: bool,
    options: &RecordOptions,
) -> (TempDir, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let recording = start(folder.path(), survive_kill, options);
    (folder, recording)
}

/// Starts a recording through rings in a new folder, and registers a thread.
pub(crate) fn start_thread(options: &RecordOptions) -> (TempDir, Recording, ThreadRecorder) {
    let (folder, recording) = start_in_new_folder(false, options);
    let thread = recording.thread(None).unwrap();
    // The pass that registers a thread also drains it. Wait for the next pass.
    recording.flush(DEADLINE).unwrap();
    (folder, recording, thread)
}

/// Returns options for a blocking ring of `events` events.
fn blocking(events: usize) -> RecordOptions {
    RecordOptions::default()
        .capacity(Capacity::default().events(events))
        .overflow(Overflow::Block)
}

#[test]
fn threads_are_registered_with_their_first_event_and_all_is_written() {
    const EVENTS: u64 = many(20_000);
    for survive_kill in [false, true] {
        let (folder, recording) = start_in_new_folder(survive_kill, &blocking(64));
        let record = || {
            for n in 0..EVENTS {
                assert_eq!(recording.record(&event(n)), Ok(n));
            }
        };
        thread::scope(|scope| {
            for name in ["reader", "writer"] {
                let thread = thread::Builder::new().name(name.to_owned());
                thread.spawn_scoped(scope, record).unwrap();
            }
            record();
        });
        let summary = recording.stop().unwrap();
        assert_eq!((summary.lost_events, summary.lost_details), (0, 0));
        assert_eq!(summary.totals.event_count, 3 * EVENTS);
        assert_eq!(summary.totals.finalized, 3);

        let names = manifest(folder.path()).threads.into_iter();
        let names: Vec<_> = names.filter_map(|thread| thread.name).collect();
        for name in ["reader", "writer"] {
            assert!(names.iter().any(|found| found == name), "{names:?}");
        }
        let expected: Vec<_> = (0..EVENTS).map(event).collect();
        for id in 0..3 {
            assert_eq!(read(&thread_folder(folder.path(), id)), expected);
        }
    }
}

#[test]
fn threads_that_have_ended_are_finalized_and_do_not_count_towards_the_limit() {
    for survive_kill in [false, true] {
        // The drain does nothing unless it is woken.
        let options = blocking(64)
            .max_threads(4)
            .interval(Duration::from_secs(3600));
        let (folder, recording) = start_in_new_folder(survive_kill, &options);
        for _ in 0..10 {
            let all_record = Barrier::new(4);
            let record = || {
                let recorded = recording.record(&event(0));
                all_record.wait();
                recorded
            };
            thread::scope(|scope| {
                // Unlike the scope's end, `join` waits for the thread's local variables.
                let traced = [0; 4].map(|_| scope.spawn(record));
                assert_eq!(traced.map(|it| it.join().unwrap()), [Ok(0); 4]);
            });
        }
        let held: Vec<_> = (0..4).map(|_| recording.thread(None).unwrap()).collect();
        let refused = recording.thread(None).unwrap_err();
        assert_eq!(*refused.kind(), ErrorKind::LimitReached { limit: 4 });
        assert_eq!(refused.field(), Some("max_threads"));
        drop(held);
        recording.flush(DEADLINE).unwrap();
        let last = recording.thread(None).unwrap();
        assert_eq!(last.thread_id(), 44);
        for ended in [0, 43] {
            let index = thread_folder(folder.path(), ended).join("index.atf");
            let index = IndexReader::open(index).unwrap();
            assert!(index.completeness().has_verified_footer());
        }
        let summary = recording.stop().unwrap();
        assert_eq!((summary.lost_events, summary.totals.event_count), (0, 40));
        assert_eq!(summary.totals.finalized, 45);
    }
}

#[test]
fn threads_beyond_the_memory_limit_have_smaller_rings_and_the_last_has_none() {
    // Full-size rings use 64 KiB, and the smallest rings use 8 KiB.
    let capacity = Capacity::default().events(2048).payload_size(0);
    let options = blocking(0).capacity(capacity).ring_memory(136 << 10);
    let (_folder, recording) = start_in_new_folder(false, &options);
    let mut threads: Vec<_> = (0..10).map(|_| recording.thread(None).unwrap()).collect();
    let capacities = threads.iter().map(|thread| thread.capacity().unwrap());
    let events: Vec<_> = capacities.map(|capacity| capacity.events).collect();
    assert_eq!(events, [2048, 256, 256, 256, 256, 256, 256, 256, 256, 256]);
    let refused = recording.thread(None).unwrap_err();
    let full = ErrorKind::LimitReached { limit: 136 << 10 };
    assert_eq!(*refused.kind(), full);
    assert_eq!(refused.field(), Some("ring_memory"));
    // A thread that waits for room loses nothing, even if its ring is small.
    for thread in &mut threads {
        (0..1000).for_each(|n| assert_eq!(thread.record(&event(n)), Ok(n)));
    }
    // Once a thread has ended, another one may use its share of the memory.
    drop(threads.pop());
    recording.flush(DEADLINE).unwrap();
    drop(recording.thread(None).unwrap());
    let summary = recording.stop().unwrap();
    let totals = &summary.totals;
    assert_eq!((totals.event_count, summary.lost_events), (10_000, 0));
    assert_eq!((totals.threads, summary.smaller_rings), (11, 10));
}

#[test]
fn the_manifest_lists_the_losses_of_a_full_ring() {
    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[7; 600]);
    // The drain sleeps until the recording stops.
    let options = RecordOptions::default()
        .capacity(Capacity::default().events(4).payload_size(1000))
        .interval(DEADLINE);
    let (folder, recording, mut thread) = start_thread(&options);
    let (mut events, mut details) = (0, 0);
    for n in 0..10 {
        match thread.record_with_detail(&event(n), &detail) {
            Ok(_) => {}
            Err(Lost::Detail) => details += 1,
            Err(lost) => {
                assert_eq!(lost, Lost::Event);
                events += 1;
            }
        }
    }
    assert_eq!((events, details), (6, 3));
    let summary = recording.stop().unwrap();
    assert_eq!((summary.lost_events, summary.lost_details), (6, 3));
    assert_eq!(summary.totals.event_count, 4);
    // Events after the stop are not counted, because the manifest has already been written.
    assert!(thread.is_abandoned());
    assert_eq!(thread.record(&event(10)), Err(Lost::Event));

    let listed = manifest(folder.path()).threads;
    let loss = |count, first, last| {
        let [first, last] = [first, last].map(|n| event(n).timestamp_ns);
        Some(Loss::new(count, first, last))
    };
    assert_eq!(listed[0].lost_events, loss(6, 4, 9));
    assert_eq!(listed[0].lost_details, loss(3, 1, 3));
}

#[test]
fn the_manifest_lists_the_losses_of_unregistered_threads() {
    for survive_kill in [false, true] {
        let (folder, recording) = start_in_new_folder(survive_kill, &blocking(64).max_threads(1));
        let mut first = recording.thread(None).unwrap();
        first.record(&event(0)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                for n in [3, 5] {
                    assert_eq!(recording.record(&event(n)), Err(Lost::Event));
                }
            });
        });
        let last = event(7).timestamp_ns;
        recording.loss_counter().lose_event(last);
        let lost = Some(Loss::new(3, event(3).timestamp_ns, last));
        recording.write_manifest().unwrap_err();
        assert_eq!(manifest(folder.path()).lost_events, lost);
        drop(first);
        recording.stop().unwrap_err();
        let manifest = manifest(folder.path());
        assert_eq!(manifest.lost_events, lost);
        assert_eq!(manifest.threads[0].lost_events, None);
    }
}

#[test]
fn until_a_recording_stops_its_manifest_contains_the_number_of_events_in_memory() {
    for (survive_kill, unwritten) in [(false, Some(64 + 2 * 4096 / 32)), (true, None)] {
        let folder = tempfile::tempdir().unwrap();
        let write = WriteOptions::default().survive_kill(survive_kill);
        let session = SessionWriter::create(folder.path(), &write.buffer_size(8192)).unwrap();
        let recording = Recording::start(session, &blocking(64)).unwrap();
        let found = manifest(folder.path()).unwritten_events;
        assert_eq!(found, unwritten);
        recording.stop().unwrap();
        assert_eq!(manifest(folder.path()).unwritten_events, None);
    }
}

#[test]
fn a_flush_writes_the_events_recorded_before_it() {
    for survive_kill in [false, true] {
        let (folder, recording) = start_in_new_folder(survive_kill, &blocking(64));
        let mut thread = recording.thread(None).unwrap();
        for n in 0..500 {
            thread.record(&event(n)).unwrap();
        }
        assert!(recording.flush(DEADLINE).unwrap());
        assert_eq!(read(&thread_folder(folder.path(), 0)).len(), 500);
    }
}

#[test]
fn a_thread_that_cannot_be_written_loses_its_events_and_the_others_continue() {
    let (folder, recording) = start_in_new_folder(false, &blocking(64));
    // Put a file where the second thread's folder would be.
    fs::write(thread_folder(folder.path(), 1), []).unwrap();
    recording.record(&event(0)).unwrap();
    thread::scope(|scope| {
        let second = || {
            for n in 0..3 {
                assert_eq!(recording.record(&event(n)), Err(Lost::Event));
            }
        };
        scope.spawn(second).join().unwrap();
    });
    recording.record(&event(1)).unwrap();
    let error = recording.flush(DEADLINE).unwrap_err();
    assert!(error.path().unwrap().ends_with("thread_1"));
    let stopped = recording.stop().unwrap_err();
    assert_eq!(stopped.to_string(), error.to_string());
    let index = thread_folder(folder.path(), 0).join("index.atf");
    let index = IndexReader::open(index).unwrap();
    assert!(index.completeness().has_verified_footer());
    assert_eq!(index.event_count(), 2);
    assert_eq!(manifest(folder.path()).threads.len(), 1);
}

#[test]
fn a_dropped_recording_is_finalized_and_accepts_no_more_events() {
    for survive_kill in [false, true] {
        let (folder, recording) = start_in_new_folder(survive_kill, &blocking(64));
        let mut thread = recording.thread(None).unwrap();
        thread.record(&event(0)).unwrap();
        drop(recording);
        assert_eq!(thread.record(&event(1)), Err(Lost::Event));
        assert_eq!(read(&thread_folder(folder.path(), 0)), [event(0)]);
        assert!(manifest(folder.path()).time_end_ns.is_some());
    }
}

#[test]
fn a_stop_while_threads_record_keeps_events_recorded_before_it() {
    for survive_kill in [false, true] {
        let (folder, recording) = start_in_new_folder(survive_kill, &blocking(1 << 16));
        let mut thread = recording.thread(None).unwrap();
        let returned = AtomicU64::new(0);
        let (summary, before) = thread::scope(|scope| {
            scope.spawn(|| {
                let mut n = 0;
                while thread.record(&event(n)).is_ok() {
                    n += 1;
                    returned.store(n, Ordering::Release);
                }
            });
            while returned.load(Ordering::Acquire) < 2_000 {
                thread::yield_now();
            }
            let before = returned.load(Ordering::Acquire);
            (recording.stop().unwrap(), before)
        });
        // While the recording stops, calls may succeed although their events come too late.
        let kept = summary.totals.event_count;
        assert!((before..=returned.into_inner()).contains(&kept), "{kept}");
        let events = read(&thread_folder(folder.path(), 0));
        assert_eq!(events, (0..kept).map(event).collect::<Vec<_>>());
    }
}

#[test]
fn a_stop_while_threads_wait_reports_success_only_for_events_in_the_files() {
    let options = blocking(4).interval(Duration::from_millis(20));
    let (_folder, recording) = start_in_new_folder(false, &options);
    let (send, receive) = mpsc::channel();
    let traced: Vec<_> = (0..8)
        .map(|_| {
            let (mut thread, send) = (recording.thread(None).unwrap(), send.clone());
            thread::spawn(move || {
                // From the fifth event on, the thread waits for room.
                (0..)
                    .take_while(|n| {
                        let is_recorded = thread.record(&event(*n)).is_ok();
                        is_recorded && (*n < 10 || send.send(()).is_ok())
                    })
                    .count() as u64
            })
        })
        .collect();
    for _ in 0..100 {
        receive.recv().unwrap();
    }
    let kept = recording.stop().unwrap().totals.event_count;
    let recorded: u64 = traced.into_iter().map(|it| it.join().unwrap()).sum();
    assert_eq!(kept, recorded);
}

#[test]
fn a_shared_session_can_be_used_until_the_recording_stops_and_not_after() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionWriter::create(folder.path(), &WriteOptions::default()).unwrap();
    let session = Arc::new(session);
    let options = blocking(64);
    let recording = Recording::start(Arc::clone(&session), &options).unwrap();
    recording.record(&event(0)).unwrap();
    session.set_modules(vec![atf::manifest::Module::new(3)]);
    thread::scope(|scope| {
        // A flush that is interrupted by the end of the recording returns before its deadline.
        scope.spawn(|| while recording.flush(Duration::MAX).is_ok() {});
        assert_eq!(recording.stop().unwrap().totals.event_count, 1);
    });
    let refused = ErrorKind::AlreadyFinalized;
    assert_eq!(*recording.stop().unwrap_err().kind(), refused);
    assert_eq!(*recording.flush(Duration::MAX).unwrap_err().kind(), refused);
    assert_eq!(*recording.thread(None).unwrap_err().kind(), refused);
    assert_eq!(recording.record(&event(1)), Err(Lost::Event));
    assert_eq!(*session.finalize().unwrap_err().kind(), refused);
    drop(recording);
    assert_eq!(manifest(folder.path()).modules[0].module_id, 3);
}

#[test]
fn a_session_has_one_recording() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionWriter::create(folder.path(), &WriteOptions::default()).unwrap();
    let session = Arc::new(session);
    let start = || Recording::start(Arc::clone(&session), &blocking(64));
    let no_thread = |_| Err(std::io::ErrorKind::OutOfMemory.into());
    let failed = Recording::start_on(Arc::clone(&session), &blocking(64), no_thread);
    let no_memory = ErrorKind::Io(std::io::ErrorKind::OutOfMemory);
    assert_eq!(*failed.unwrap_err().kind(), no_memory);
    // A recording that could not start leaves nothing in the manifest.
    session.write_manifest().unwrap();
    assert_eq!(manifest(folder.path()).unwritten_events, None);
    let recording = start().unwrap();
    assert_eq!(*start().unwrap_err().kind(), ErrorKind::HasRecording);
    recording.record(&event(0)).unwrap();
    assert_eq!(recording.stop().unwrap().totals.event_count, 1);
    assert_eq!(*start().unwrap_err().kind(), ErrorKind::HasRecording);
    assert_eq!(manifest(folder.path()).unwritten_events, None);

    let finalized = folder.path().join("finalized");
    let session = SessionWriter::create(&finalized, &WriteOptions::default()).unwrap();
    session.finalize().unwrap();
    let refused = Recording::start(session, &blocking(64)).unwrap_err();
    assert_eq!(*refused.kind(), ErrorKind::AlreadyFinalized);
    assert_eq!(manifest(&finalized).unwritten_events, None);
}

#[test]
fn anchors_are_stored_until_the_recording_stops_and_then_refused() {
    use atf::clock::{MediaTime, TimingAnchor};

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("pid_42");
    // Each flush begins a new segment.
    let options = blocking(64).segment(Some(Segment::default().size(Some(1))));
    let recording = start(&folder, false, &options);
    let anchors = [1, 2, 3].map(|n| TimingAnchor::new(n, MediaTime::new(0, 600)));
    for (n, anchor) in anchors.into_iter().enumerate() {
        recording.session().add_timing_anchor(anchor).unwrap();
        recording.record(&event(n as u64)).unwrap();
        assert!(recording.flush(DEADLINE).unwrap());
    }
    let count = recording.stop().unwrap().segments;
    let late = recording.session().add_timing_anchor(anchors[0]);
    assert_eq!(*late.unwrap_err().kind(), ErrorKind::AlreadyFinalized);
    let last = folder.with_file_name(format!("pid_42_segment_{count:06}"));
    assert_eq!(manifest(&last).timing_anchors, anchors);
}

#[test]
fn a_deleted_session_is_not_created_again() {
    for survive_kill in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("session");
        let recording = start(&folder, survive_kill, &blocking(64));
        let mut first = recording.thread(None).unwrap();
        first.record(&event(0)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let refused = recording.thread(None).unwrap_err();
        let is_gone = ErrorKind::Io(std::io::ErrorKind::NotFound);
        assert_eq!((refused.kind(), refused.path()), (&is_gone, Some(&*folder)));
        first.record(&event(1)).unwrap();
        drop(first);
        assert_eq!(*recording.stop().unwrap_err().kind(), is_gone);
        assert!(!folder.exists());
    }
}

#[test]
fn the_name_of_a_refused_thread_is_forgotten() {
    let (folder, recording) = start_in_new_folder(false, &blocking(64).ring_memory(1));
    recording.thread(Some("refused")).unwrap_err();
    recording.session().thread(0).unwrap().finalize().unwrap();
    recording.stop().unwrap();
    assert_eq!(manifest(folder.path()).threads[0].name, None);
}

#[test]
fn a_thread_that_ends_while_the_recording_stops_is_finalized_either_way() {
    for round in 0..200 {
        let (_folder, recording) = start_in_new_folder(round % 2 == 0, &blocking(64));
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                recording.record(&event(0)).unwrap();
                send.send(()).unwrap();
            });
            receive.recv().unwrap();
            assert_eq!(recording.stop().unwrap().totals.finalized, 1);
        });
    }
}

#[test]
fn a_killed_process_leaves_a_manifest_with_its_losses() {
    let options = RecordOptions::default().capacity(Capacity::default().events(1));
    let (folder, recording) = start_in_new_folder(false, &options);
    recording
        .session()
        .set_modules(vec![atf::manifest::Module::new(3)]);
    let mut thread = recording.thread(Some("busy")).unwrap();
    while thread.record(&event(0)).is_ok() {}
    // The drain writes the manifest within about a second.
    let mut found = manifest(folder.path());
    while found.threads.is_empty() || found.threads[0].lost_events.is_none() {
        thread::sleep(Duration::from_millis(20));
        found = manifest(folder.path());
    }
    assert_eq!(found.threads[0].name.as_deref(), Some("busy"));
    assert_eq!(found.modules[0].module_id, 3);
}

pub(crate) fn thread_folder(session: &Path, id: u32) -> std::path::PathBuf {
    session.join(format!("thread_{id}"))
}

pub(crate) fn manifest(session: &Path) -> Manifest {
    Manifest::parse(&fs::read(session.join("manifest.json")).unwrap())
}
