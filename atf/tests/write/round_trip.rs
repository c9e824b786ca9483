//! Reads written traces back, and compares them byte by byte with the raw builders' files.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Barrier;

use atf::clock::{MediaTime, TimingAnchor};
use atf::manifest::{Loss, LossKind, Losses, Manifest, Module, Symbol};
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use atf::write::{SessionWriter, ThreadWriter, WriteOptions};
use atf::{Arch, Checksum, Clock, Completeness, ErrorKind, Os, Wire};

use super::{created, detail, event, put};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};

/// Returns options for the raw builders' platform: x86-64 Linux with its boot-time clock.
fn options(wire: Wire, buffer_size: usize) -> WriteOptions {
    WriteOptions::default()
        .wire(wire)
        .arch(Arch::X86_64)
        .os(Os::LINUX)
        .clock_type(Clock::BOOTTIME)
        .buffer_size(buffer_size)
}

/// Returns payloads of varying sizes, some larger than the smallest buffer.
fn payload(seq: u64) -> Vec<u8> {
    let size = match seq % 100 {
        99 => 5000,
        rest => rest * 7,
    };
    (0..size).map(|byte| byte.to_le_bytes()[0]).collect()
}

/// Returns the trace's events in the form that the raw builders expect.
fn records(count: u64) -> (Vec<EventRecord>, Vec<DetailRecord>) {
    let record = |seq: u64| {
        let kind = if seq.is_multiple_of(2) { 1 } else { 2 };
        let link = seq.is_multiple_of(3).then_some(seq / 3);
        EventRecord::new(event(seq).timestamp_ns, event(seq).function_id, kind, link)
    };
    let detail = |seq: u64| {
        let event_type = if seq.is_multiple_of(2) { 3 } else { 4 };
        DetailRecord::new(event_type, seq, event(seq).timestamp_ns, payload(seq))
    };
    let details = (0..count).step_by(3).map(detail);
    ((0..count).map(record).collect(), details.collect())
}

fn write(writer: &mut ThreadWriter, count: u64) {
    for seq in 0..count {
        let index_seq = if seq.is_multiple_of(3) {
            let payload = payload(seq);
            let link = writer.write_with_detail(&event(seq), &detail(seq, &payload));
            let link = link.unwrap();
            assert_eq!(link.detail_seq, seq / 3);
            link.index_seq
        } else {
            writer.write(&event(seq)).unwrap()
        };
        assert_eq!(index_seq, seq);
    }
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_finalized_thread_has_the_layout_of_the_sources() {
    for &wire in Wire::ALL {
        for (count, buffer_size) in [(1, 0), (2000, 0), (2000, 64 << 10)] {
            let root = tempfile::tempdir().unwrap();
            let folder = root.path().join("thread_7");
            let mut writer = ThreadWriter::create(&folder, 7, &options(wire, buffer_size)).unwrap();
            write(&mut writer, count);
            let summary = writer.finalize().unwrap();
            assert_eq!(summary.event_count, count);
            assert_eq!(summary.detail_count, count.div_ceil(3));
            let (first, last) = (event(0).timestamp_ns, event(count - 1).timestamp_ns);
            assert_eq!(summary.time_range, Some((first, last)));

            let (events, details) = records(count);
            let index = IndexFile::new(wire.version(), events);
            let detail = DetailFile::new(wire.version(), details);
            assert!(bytes(&folder, "index.atf") == index.bytes());
            assert!(bytes(&folder, "detail.atf") == detail.bytes());
        }
    }
}

#[test]
fn a_thread_without_details_or_events_has_no_detail_file() {
    for &wire in Wire::ALL {
        for count in [0, 10] {
            let (root, mut writer) = created(&options(wire, 0));
            (0..count).for_each(|seq| put(&mut writer, seq, None).unwrap());
            let summary = writer.finalize().unwrap();
            assert_eq!(summary.time_range.is_none(), count == 0);
            assert!(!root.path().join("detail.atf").exists());

            let (mut events, _) = records(count);
            events.iter_mut().for_each(|event| event.detail_seq = None);
            let mut index = IndexFile::new(wire.version(), events);
            index.flags = 0;
            assert!(bytes(root.path(), "index.atf") == index.bytes());
        }
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_all_its_events() {
    for &wire in Wire::ALL {
        let (root, mut writer) = created(&options(wire, 0));
        write(&mut writer, 1000);
        drop(writer);
        let thread = ThreadReader::open(root.path()).unwrap();
        assert_eq!(thread.index().event_count(), 1000);
        assert_eq!(thread.detail().unwrap().event_count(), 334);
        let completeness = thread.index().completeness();
        assert!(matches!(completeness, Completeness::Unfinalized { .. }));
    }
}

#[test]
fn threads_of_a_session_are_written_in_parallel() {
    let root = tempfile::tempdir().unwrap();
    let session = SessionWriter::create_in(root.path(), &WriteOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for id in 0..4 {
            let mut writer = session.thread(id).unwrap();
            scope.spawn(move || {
                write(&mut writer, 500);
                writer.finalize().unwrap();
            });
        }
    });
    let totals = session.finalize().unwrap();
    let reader = SessionReader::open(session.path()).unwrap();
    let manifest = reader.manifest().unwrap();
    assert!(manifest.problems.is_empty(), "{:?}", manifest.problems);
    assert_eq!(reader.summary().index_events, 2000);
    assert_eq!(totals.event_count, 2000);
    assert_eq!(totals.detail_count, 4 * 167);
    let range = (event(0).timestamp_ns, event(499).timestamp_ns);
    let times = manifest.time_start_ns.zip(manifest.time_end_ns);
    assert_eq!(times, Some(range));
    for entry in reader.threads() {
        let thread = entry.open().unwrap();
        assert_eq!(thread.index().checksum().unwrap(), Checksum::Good);
        assert!(thread.disagreements().is_empty());
    }
}

#[test]
fn if_two_threads_create_a_session_at_once_only_one_gets_the_folder() {
    for _ in 0..300 {
        let root = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(2);
        let create = || {
            barrier.wait();
            SessionWriter::create_in(root.path(), &WriteOptions::default())
        };
        let sessions = std::thread::scope(|scope| {
            let other = scope.spawn(create);
            [create(), other.join().unwrap()]
        });
        match sessions {
            // The second thread began in the next second.
            [Ok(one), Ok(other)] => assert_ne!(one.path(), other.path()),
            [Err(error), Ok(_)] | [Ok(_), Err(error)] => {
                let expected = ErrorKind::Io(io::ErrorKind::AlreadyExists);
                assert_eq!(error.kind(), &expected);
            }
            [Err(_), Err(error)] => panic!("{error}"),
        }
    }
}

#[test]
fn an_existing_manifest_lists_each_thread_that_is_opened() {
    let root = tempfile::tempdir().unwrap();
    let session = SessionWriter::create(root.path().join("s"), &options(Wire::V1, 0)).unwrap();
    drop(session.thread(9).unwrap());
    assert!(!session.path().join("manifest.json").exists());
    session.write_manifest().unwrap();
    let writers = std::thread::scope(|scope| {
        let session = &session;
        let opening = [3, 1, 2, 0].map(|id| scope.spawn(move || session.thread(id).unwrap()));
        opening.map(|thread| thread.join().unwrap())
    });
    // Read the manifest as a process killed at this point would leave it.
    let read = || {
        let text = std::fs::read(session.path().join("manifest.json")).unwrap();
        let manifest = Manifest::parse(&text);
        let threads = manifest.threads.iter().map(|t| (t.id, t.has_detail));
        let times = manifest.time_start_ns.zip(manifest.time_end_ns);
        (threads.collect::<Vec<_>>(), times)
    };
    let nine = (9, Some(false));
    let open = (0..4).map(|id| (id, None));
    assert_eq!(read(), (open.chain([nine]).collect(), None));

    for mut writer in writers {
        write(&mut writer, 4);
        writer.finalize().unwrap();
    }
    session.finalize().unwrap();
    // The times are unknown, because thread 9 is not finalized.
    let all = (0..4).map(|id| (id, Some(true))).chain([nine]);
    assert_eq!(read(), (all.collect(), None));
}

#[test]
fn a_relative_folder_is_the_same_in_another_working_directory() {
    let root = tempfile::tempdir().unwrap();
    let depth = std::env::current_dir().unwrap().components().count();
    let up = (1..depth).map(|_| Component::ParentDir);
    let inside = root.path().components().skip(1);
    let relative: PathBuf = up.chain(inside).collect();
    let session = SessionWriter::create(relative.join("s"), &options(Wire::V1, 0)).unwrap();
    assert!(session.path().is_absolute());
    let mut thread = ThreadWriter::create(relative.join("t"), 0, &options(Wire::V1, 0)).unwrap();
    std::fs::create_dir(root.path().join("t/detail.atf")).unwrap();
    let error = put(&mut thread, 0, Some(&[])).unwrap_err();
    assert!(error.path().unwrap().is_absolute());
}

#[test]
fn the_manifest_of_a_session_names_the_clock_of_its_threads() {
    let root = tempfile::tempdir().unwrap();
    let options = WriteOptions::default().clock_type(Clock::QPC);
    let session = SessionWriter::create(root.path().join("s"), &options).unwrap();
    session.thread(0).unwrap().finalize().unwrap();
    session.finalize().unwrap();
    let session = SessionReader::open(session.path()).unwrap();
    let manifest = session.manifest().unwrap();
    assert_eq!(manifest.clock_type, Some(Clock::QPC));
    assert_eq!(manifest.format_version.as_deref(), Some("2.0"));
}

#[test]
fn names_losses_and_anchors_are_in_the_manifest() {
    let root = tempfile::tempdir().unwrap();
    let session = SessionWriter::create(root.path().join("s"), &options(Wire::V1, 0)).unwrap();
    // Set names and losses before the threads' writers exist, and for a thread that never gets a
    // writer.
    session.set_thread_name(1, "main");
    session.set_thread_name(9, "never");
    let lost = Losses::default().with(LossKind::Events, Some(Loss::new(5, 10, 20)));
    session.set_losses(1, lost);
    session.write_manifest().unwrap();
    let writers = [1, 2].map(|id| session.thread(id).unwrap());
    let manifest = || {
        let manifest = Manifest::open(session.path().join("manifest.json")).unwrap();
        assert!(manifest.problems.is_empty(), "{:?}", manifest.problems);
        manifest
    };
    let threads = || {
        let threads = manifest().threads.into_iter();
        let threads = threads.map(|t| (t.id, t.name, t.lost_events, t.lost_details));
        threads.collect::<Vec<_>>()
    };
    let names = || {
        let symbols = manifest().symbols.into_iter();
        symbols.filter_map(|symbol| symbol.name).collect::<Vec<_>>()
    };
    let main = Some("main".to_owned());
    let early = (1, main.clone(), Some(Loss::new(5, 10, 20)), None);
    assert_eq!(threads(), [early, (2, None, None, None)]);

    session.set_thread_name(2, "audio");
    let lost = (Some(Loss::new(6, 10, 30)), Some(Loss::new(1, 7, 7)));
    let losses = Losses::default().with(LossKind::Events, lost.0);
    session.set_losses(1, losses.with(LossKind::Details, lost.1));
    let anchor = |scale| TimingAnchor::new(5, MediaTime::new(-1, scale));
    session.add_timing_anchor(anchor(600)).unwrap();
    session.add_timing_anchor(anchor(1)).unwrap();
    for scale in [0, -600] {
        let error = session.add_timing_anchor(anchor(scale)).unwrap_err();
        assert_eq!(error.field(), Some("media_timescale"));
        assert!(matches!(error.kind(), ErrorKind::WrongType { .. }));
    }
    session.set_modules(vec![Module::new(7).function_offsets(true)]);
    session.set_symbols(vec![Symbol::new(1, "set")]);
    session.add_symbol(Symbol::new(2, "added"));
    session.write_manifest().unwrap();
    assert_eq!(names(), ["set", "added"]);
    session.add_symbol(Symbol::new(3, "last"));
    for mut writer in writers {
        writer.finalize().unwrap();
    }
    session.finalize().unwrap();
    let audio = Some("audio".to_owned());
    let expected = [(1, main, lost.0, lost.1), (2, audio, None, None)];
    assert_eq!(threads(), expected);
    let manifest = manifest();
    assert_eq!(manifest.timing_anchors, [anchor(600), anchor(1)]);
    assert_eq!(manifest.modules[0].function_offsets, Some(true));
    assert_eq!(names(), ["set", "added", "last"]);
}
