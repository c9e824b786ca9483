//! Tests recordings that span several sessions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use atf::check::{FileReport, Output, check};
use atf::manifest::{Loss, Manifest, Module, Symbol};
use atf::rules::Severity;
use atf::write::{Detail, Event, Fate, Memory, SessionWriter, Step, WriteOptions};
use atf::{DetailEventType, ErrorKind, EventKind};
use atf_record::{Capacity, Overflow, RecordOptions, Recording, Segment, ThreadRecorder, Window};

use crate::recording::{DEADLINE, manifest, start, thread_folder};
use crate::windows::{call, times};
use crate::{many, read};

fn options(segment: Segment) -> RecordOptions {
    RecordOptions::default()
        .capacity(Capacity::default().events(64).payload_size(4096))
        .overflow(Overflow::Block)
        .segment(Some(segment))
}

/// Starts a recording in memory.
pub(crate) fn start_on(memory: &Memory, options: &RecordOptions) -> Recording {
    let (storage, write) = (Arc::new(memory.clone()), WriteOptions::default());
    let session = SessionWriter::create_on(storage, "pid_42", &write).unwrap();
    Recording::start(session, options).unwrap()
}

/// Makes the disk full for the steps that `is_full` selects.
pub(crate) fn fill_if(
    memory: &Memory,
    mut is_full: impl FnMut(Step, &Path) -> bool + Send + 'static,
) {
    memory.decide(move |step, path| {
        if is_full(step, path) {
            Fate::Refused(io::ErrorKind::StorageFull)
        } else {
            Fate::Done
        }
    });
}

/// Returns the sessions in a folder, in order.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Asserts that the trace breaks no MUST or SHOULD rule of the format.
fn accept(session: &Path) {
    struct Findings;
    impl Output for Findings {
        fn file(&mut self, report: FileReport) {
            for found in report.findings() {
                let path = report.path.display();
                assert_eq!(found.rule.severity, Severity::Advice, "{path}: {found:?}");
            }
        }
        fn unreadable(&mut self, path: &Path, why: &str) {
            panic!("{}: {why}", path.display());
        }
    }
    check(session, &mut Findings);
}

/// Returns event `n` of a series of calls of depths 1 to 5 and their returns.
fn nested(n: u64) -> Event {
    let step = n % 10;
    let (kind, depth) = match step {
        0..5 => (EventKind::CALL, step + 1),
        _ => (EventKind::RETURN, 10 - step),
    };
    Event::new(1000 + n, depth, kind, u32::try_from(depth).unwrap())
}

#[test]
fn all_segments_are_valid_and_have_every_event_once() {
    const EVENTS: u64 = many(20_000);
    let folder = tempfile::tempdir().unwrap();
    let segment = Segment::default().size(Some(if cfg!(miri) { 100 } else { 20_000 }));
    let recording = start(&folder.path().join("pid_42"), false, &options(segment));
    recording.session().set_modules(vec![Module::new(3)]);
    recording.session().set_symbols(vec![Symbol::new(1, "one")]);
    thread::scope(|scope| {
        for name in ["first", "second"] {
            let recording = &recording;
            let work = move || {
                let mut thread = recording.thread(Some(name)).unwrap();
                for n in 0..EVENTS {
                    let (event, payload) = (nested(n), [7; 20]);
                    let kind = match event.event_kind {
                        EventKind::CALL => DetailEventType::FUNCTION_CALL,
                        _ => DetailEventType::FUNCTION_RETURN,
                    };
                    let recorded = match n % 3 {
                        0 => thread
                            .record_with_detail(&event, &Detail::new(kind, &payload))
                            .map(drop),
                        _ => thread.record(&event).map(drop),
                    };
                    recorded.unwrap();
                }
            };
            scope.spawn(work);
        }
    });
    let summary = recording.stop().unwrap();
    let found = segments(folder.path());
    assert!(found.len() > 2, "{found:?}");
    assert_eq!(summary.segments, found.len() as u64);
    assert_eq!(summary.totals.event_count, 2 * EVENTS);
    assert_eq!(summary.totals.detail_count, 2 * EVENTS.div_ceil(3));
    assert_eq!((summary.lost_events, summary.lost_details), (0, 0));
    assert_eq!(summary.totals.time_range, Some((1000, 999 + EVENTS)));
    assert!(found[0].ends_with("pid_42"));
    assert!(found[1].ends_with("pid_42_segment_000002"));
    let mut all = [Vec::new(), Vec::new()];
    for session in &found {
        accept(session);
        let manifest = manifest(session);
        assert_eq!(manifest.modules[0].module_id, 3);
        assert_eq!(manifest.unwritten_events, None);
        assert_eq!(manifest.symbols.len(), 1);
        for thread in &manifest.threads {
            assert!(thread.name.is_some());
            let folder = thread_folder(session, thread.id);
            all[thread.id as usize].extend(read(&folder));
        }
    }
    let expected: Vec<_> = (0..EVENTS).map(nested).collect();
    assert_eq!(all, [expected.clone(), expected]);
}

#[test]
fn the_last_segments_are_kept() {
    const EVENTS: u64 = many(20_000);
    let folder = tempfile::tempdir().unwrap();
    let size = if cfg!(miri) { 10 } else { 10_000 };
    let segment = Segment::default().size(Some(size)).keep(Some(3));
    let recording = start(&folder.path().join("pid_42"), false, &options(segment));
    let mut thread = recording.thread(None).unwrap();
    for n in 0..EVENTS {
        thread.record(&call(n)).unwrap();
        if cfg!(miri) {
            recording.flush(DEADLINE).unwrap();
        }
    }
    let summary = recording.stop().unwrap();
    assert_eq!(summary.totals.event_count, EVENTS);
    let found = segments(folder.path());
    assert_eq!(found.len(), 3, "{found:?}");
    let last = format!("pid_42_segment_{:06}", summary.segments);
    assert!(found[2].ends_with(last));
    let kept = found.iter().flat_map(|session| times(session, 0));
    let kept: Vec<_> = kept.map(|(time, _)| time).collect();
    let count = kept.len() as u64;
    assert!(count < EVENTS);
    assert_eq!(kept, (EVENTS - count..EVENTS).collect::<Vec<_>>());
    found.iter().for_each(|session| accept(session));
}

/// Records one event in each of `count` segments.
fn fill_segments(recording: &Recording, thread: &mut ThreadRecorder, count: u64) {
    for n in 0..count {
        thread.record(&call(n)).unwrap();
        // The second pass notices the new segment. Flushes return the error of an earlier segment,
        // which the end of the recording returns too.
        for _ in 0..2 {
            let _ = recording.flush(DEADLINE);
        }
    }
}

#[test]
fn other_files_in_an_old_segment_are_kept_and_the_recording_continues() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("pid_42");
    let options = options(Segment::default().size(Some(1)).keep(Some(1)));
    let recording = start(&session, false, &options);
    let [note, inner] = ["note.txt", "thread_0/note.txt"].map(|name| session.join(name));
    fs::write(&note, "mine").unwrap();
    let thread = recording.thread(None).unwrap();
    fs::write(&inner, "mine").unwrap();
    fill_segments(&recording, &mut recording.thread(None).unwrap(), 4);
    drop(thread);
    assert_eq!(recording.stop().unwrap().segments, 5);
    let found = segments(folder.path());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].ends_with("pid_42_segment_000005"));
    assert_eq!(segments(&session), [note, session.join("thread_0")]);
    assert_eq!(segments(&session.join("thread_0")), [inner]);
}

#[test]
fn a_file_that_cannot_be_deleted_does_not_prevent_other_deletions() {
    let memory = Memory::new();
    let options = options(Segment::default().size(Some(1)).keep(Some(1)));
    let recording = start_on(&memory, &options);
    let removed = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&removed);
    memory.decide(move |step, path| match step {
        Step::Remove if path.ends_with("pid_42/thread_0/index.atf") => {
            Fate::Refused(io::ErrorKind::PermissionDenied)
        }
        Step::Remove => {
            all.lock().unwrap().push(path.to_path_buf());
            Fate::Done
        }
        _ => Fate::Done,
    });
    let mut thread = recording.thread(None).unwrap();
    fill_segments(&recording, &mut thread, 3);
    let error = recording.stop().unwrap_err();
    let refused = Path::new("pid_42/thread_0/index.atf");
    assert_eq!(error.path(), Some(refused));
    // A partly deleted session that has lost its manifest still breaks no rule.
    let first = removed.lock().unwrap().first().cloned();
    assert_eq!(first, Some("pid_42/manifest.json".into()));
    let left: Vec<_> = memory.paths();
    let last = Path::new("pid_42_segment_000004");
    let expected = [refused.to_path_buf()]
        .into_iter()
        .chain([last.join("manifest.json"), last.join("thread_0/index.atf")]);
    assert_eq!(left, expected.collect::<Vec<_>>());
}

#[test]
fn an_old_segment_ends_once_it_has_events() {
    let folder = tempfile::tempdir().unwrap();
    let segment = Segment::default().duration(Some(Duration::ZERO));
    let recording = start(&folder.path().join("pid_42"), false, &options(segment));
    let mut thread = recording.thread(None).unwrap();
    for _ in 0..3 {
        recording.flush(DEADLINE).unwrap();
    }
    assert_eq!(segments(folder.path()).len(), 1);
    fill_segments(&recording, &mut thread, 3);
    let summary = recording.stop().unwrap();
    assert_eq!(summary.segments, 4);
    let found = segments(folder.path());
    let counts = found.iter().map(|session| times(session, 0).len());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 1, 0]);
}

#[test]
fn threads_that_have_ended_count_towards_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let segment = Segment::default().size(Some(3 * 32));
    let recording = start(&folder.path().join("pid_42"), false, &options(segment));
    for n in 0..6 {
        let mut thread = recording.thread(None).unwrap();
        thread.record(&call(n)).unwrap();
        drop(thread);
        recording.flush(DEADLINE).unwrap();
    }
    let mut thread = recording.thread(None).unwrap();
    thread.record(&call(6)).unwrap();
    assert_eq!(recording.stop().unwrap().segments, 3);
}

#[test]
fn losses_are_reported_in_the_segment_that_counted_them() {
    let folder = tempfile::tempdir().unwrap();
    let segment = Segment::default().size(Some(1));
    let options = RecordOptions::default()
        .capacity(Capacity::default().events(2))
        .interval(DEADLINE)
        .segment(Some(segment));
    let recording = start(&folder.path().join("pid_42"), false, &options);
    let mut thread = recording.thread(None).unwrap();
    let mut n = 0;
    for lost in [1, 0, 3] {
        recording.flush(DEADLINE).unwrap();
        recording.flush(DEADLINE).unwrap();
        for place in 0..2 + lost {
            let recorded = thread.record(&call(n));
            assert_eq!(recorded.is_ok(), place < 2, "{recorded:?}");
            n += 1;
        }
    }
    let summary = recording.stop().unwrap();
    assert_eq!((summary.segments, summary.lost_events), (3, 4));
    let listed: Vec<_> = segments(folder.path())
        .iter()
        .map(|session| manifest(session).threads[0].lost_events)
        .collect();
    let expected = [Some(Loss::new(1, 2, 2)), None, Some(Loss::new(3, 7, 9))];
    assert_eq!(listed, expected);
}

#[test]
fn segment_names_that_are_taken_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("pid_42_segment_000002"), "mine").unwrap();
    let left = path("pid_42_segment_000003");
    fs::create_dir_all(left.join("thread_0")).unwrap();
    fs::write(left.join("thread_0/index.atf"), "mine").unwrap();
    let options = options(Segment::default().size(Some(1)));
    let recording = start(&path("pid_42"), false, &options);
    fill_segments(&recording, &mut recording.thread(None).unwrap(), 2);
    let summary = recording.stop().unwrap();
    assert_eq!((summary.segments, summary.totals.event_count), (3, 2));
    for (name, time) in [("pid_42", 0), ("pid_42_segment_000004", 1)] {
        assert_eq!(times(&path(name), 0), [(time, false)]);
        accept(&path(name));
    }
    accept(&path("pid_42_segment_000005"));
    let mine = fs::read(left.join("thread_0/index.atf")).unwrap();
    assert_eq!(mine, b"mine");
}

/// Reads the manifest of a session in memory.
pub(crate) fn manifest_in(memory: &Memory, session: &str) -> Manifest {
    let path = Path::new(session).join("manifest.json");
    Manifest::parse(&memory.bytes(path).unwrap())
}

#[test]
fn a_recording_continues_in_its_segment_until_the_next_one_can_be_created() {
    for (step, end) in [
        (Step::CreateFolder, "_000002"),
        (Step::Create, "_000002/manifest.json.part"),
        (Step::Rename, "_000002/manifest.json.part"),
        (Step::CreateFolder, "_000002/thread_1"),
        (Step::Create, "_000002/thread_1/index.atf"),
    ] {
        for is_transient in [true, false] {
            let memory = Memory::new();
            // The drain runs only on request.
            let options = options(Segment::default().size(Some(1))).interval(DEADLINE);
            let recording = start_on(&memory, &options);
            let is_full = Arc::new(AtomicBool::new(true));
            let is_now_full = Arc::clone(&is_full);
            fill_if(&memory, move |now, path| {
                let is_it = now == step && path.to_str().unwrap().ends_with(end);
                is_it && is_now_full.load(Ordering::SeqCst)
            });
            let mut threads = [(); 2].map(|()| recording.thread(None).unwrap());
            for n in 0..5 {
                for thread in &mut threads {
                    thread.record(&call(n)).unwrap();
                }
                threads[0].loss_counter().lose_event(n);
                assert!(recording.flush(DEADLINE).unwrap());
                assert!(recording.flush(DEADLINE).unwrap());
            }
            let has_second = |memory: &Memory| {
                let second = Path::new("pid_42_segment_000002");
                memory.folders().iter().any(|path| path == second)
            };
            // A segment that could not be created leaves nothing behind.
            assert!(!has_second(&memory), "{end}");
            is_full.store(!is_transient, Ordering::SeqCst);
            while is_transient && !has_second(&memory) {
                assert!(recording.flush(DEADLINE).unwrap());
            }
            if is_transient {
                // The new segment's manifest lists the threads as soon as it exists.
                let second = manifest_in(&memory, "pid_42_segment_000002");
                assert_eq!(second.threads.len(), 2);
            }
            let stopped = recording.stop();
            assert_eq!(has_second(&memory), is_transient, "{end}");
            if is_transient {
                let summary = stopped.unwrap();
                assert_eq!((summary.segments, summary.totals.event_count), (2, 10));
            } else {
                let kind = ErrorKind::Io(io::ErrorKind::StorageFull);
                assert_eq!(*stopped.unwrap_err().kind(), kind);
            }
            let first = manifest_in(&memory, "pid_42");
            assert_eq!(first.unwritten_events, None);
            assert_eq!(first.threads[0].lost_events, Some(Loss::new(5, 0, 4)));
            let index = memory.bytes("pid_42/thread_0/index.atf").unwrap();
            // The file contains a header, five events and a footer.
            assert_eq!(index.len(), 64 + 5 * 32 + 64);
        }
    }
}

#[test]
fn a_manifest_that_cannot_be_written_at_the_change_is_written_at_the_end() {
    let memory = Memory::new();
    let recording = start_on(&memory, &options(Segment::default().size(Some(1))));
    let mut thread = recording.thread(None).unwrap();
    thread.loss_counter().lose_event(7);
    let mut refused = 0;
    fill_if(&memory, move |step, path| {
        let is_it = step == Step::Rename && path.starts_with("pid_42");
        refused += u64::from(is_it);
        is_it && refused == 1
    });
    fill_segments(&recording, &mut thread, 2);
    let kind = ErrorKind::Io(io::ErrorKind::StorageFull);
    assert_eq!(*recording.stop().unwrap_err().kind(), kind);
    let first = manifest_in(&memory, "pid_42");
    assert_eq!(first.unwritten_events, None);
    assert_eq!(first.threads[0].lost_events, Some(Loss::new(1, 7, 7)));
    let third = manifest_in(&memory, "pid_42_segment_000003");
    assert_eq!(third.threads[0].lost_events, None);
}

#[test]
fn a_session_that_survives_a_kill_has_no_segments_or_windows_and_one_segment_is_kept() {
    let window = RecordOptions::default().window(Some(Window::default()));
    let none = Segment::default().keep(Some(0));
    for (survive_kill, options, field) in [
        (true, options(Segment::default()), "segment"),
        (true, window, "window"),
        (false, options(none), "keep"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let write = WriteOptions::default().survive_kill(survive_kill);
        let session = SessionWriter::create(folder.path(), &write).unwrap();
        let refused = Recording::start(session, &options).unwrap_err();
        assert_eq!(refused.field(), Some(field));
        assert_eq!(*refused.kind() == ErrorKind::NeedsRings, survive_kill);
    }
}
