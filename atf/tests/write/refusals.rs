//! Tests which calls a writer rejects and that rejected calls change nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use atf::detail::DetailEventHeader;
use atf::index::IndexEvent;
use atf::write::{Memory, SessionWriter, ThreadWriter, WriteOptions};
use atf::{DetailEventType, Error, ErrorKind, EventKind, Wire};

use super::{detail, event, put, refused};

fn writer(memory: &Memory, options: &WriteOptions) -> ThreadWriter {
    ThreadWriter::create_on(Arc::new(memory.clone()), "thread_7", 7, options).unwrap()
}

/// Returns the bytes of the thread written by `write`.
fn written(options: &WriteOptions, write: impl FnOnce(&mut ThreadWriter)) -> Vec<Option<Vec<u8>>> {
    let memory = Memory::new();
    let mut writer = writer(&memory, options);
    write(&mut writer);
    writer.finalize().unwrap();
    ["thread_7/index.atf", "thread_7/detail.atf"]
        .map(|path| memory.bytes(path))
        .to_vec()
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>, field: &str, kind: &ErrorKind) {
    let error = result.unwrap_err();
    assert_eq!((error.field(), error.kind()), (Some(field), kind));
    assert_eq!(error.path(), Some(Path::new("thread_7/index.atf")));
}

#[test]
fn an_event_earlier_than_the_last_one_is_refused() {
    for &wire in Wire::ALL {
        let options = WriteOptions::default().wire(wire);
        let plain = written(&options, |writer| {
            writer.write(&event(1)).unwrap();
            writer.write(&event(1)).unwrap();
        });
        let refused = written(&options, |writer| {
            writer.write(&event(1)).unwrap();
            let [found, last] = [0, 1].map(|seq| event(seq).timestamp_ns);
            let kind = ErrorKind::TimeGoesBack { found, last };
            assert_refused(writer.write(&event(0)), "timestamp_ns", &kind);
            let pair = writer.write_with_detail(&event(0), &detail(0, b"x"));
            assert_refused(pair, "timestamp_ns", &kind);
            let split = writer.write_index(&event(0), Some(0));
            assert_refused(split, "timestamp_ns", &kind);
            writer.write(&event(1)).unwrap();
        });
        assert!(plain == refused);
    }
}

#[test]
fn an_unknown_kind_is_refused() {
    for &wire in Wire::ALL {
        let options = WriteOptions::default().wire(wire);
        written(&options, |writer| {
            let EventKind(last) = *EventKind::MEMBERS.last().unwrap();
            let (min, max) = (1, last.into());
            for kind in [0, last + 1, 257, u32::MAX] {
                let event = event(0).event_kind(EventKind(kind));
                let found = kind.into();
                let kind = ErrorKind::OutOfRange { found, min, max };
                assert_refused(writer.write(&event), "event_kind", &kind);
            }
            // An event may have the same time as its predecessor.
            writer.write(&event(5)).unwrap();
            let unknown = event(5).event_kind(EventKind(last + 1));
            let error = writer.write(&unknown).unwrap_err();
            assert_eq!(error.field(), Some("event_kind"));
            assert_eq!(writer.next_index_seq(), 1);
        });
    }
}

#[test]
fn a_copy_keeps_events_that_a_tracer_must_not_write() {
    let options = WriteOptions::default().verbatim(true);
    let strange = [event(5), event(3).event_kind(EventKind(900)), event(4)];
    let files = written(&options, |writer| {
        for event in &strange {
            writer.write(event).unwrap();
        }
    });
    let index = atf::index::IndexReader::from_bytes(files[0].clone().unwrap()).unwrap();
    let read = index.events_in(..).map(|event| {
        let event = event.unwrap();
        (event.timestamp_ns, event.event_kind)
    });
    let expected = strange.map(|event| (event.timestamp_ns, event.event_kind));
    assert_eq!(read.collect::<Vec<_>>(), expected);
    let footer = index.footer().unwrap();
    let times = (event(5).timestamp_ns, event(4).timestamp_ns);
    assert_eq!((footer.time_start_ns, footer.time_end_ns), times);
}

#[test]
fn the_split_form_writes_the_same_as_the_joined_form() {
    for &wire in Wire::ALL {
        let options = WriteOptions::default().wire(wire).buffer_size(4 << 10);
        let joined = written(&options, |writer| {
            for seq in 0..1000 {
                put(writer, seq, (seq % 2 == 0).then_some(b"abc")).unwrap();
            }
        });
        // S3's tracer first drains all index events of a ring, and then all details.
        let split = written(&options, |writer| {
            for batch in 0..10 {
                for seq in batch * 100..(batch + 1) * 100 {
                    let link = (seq % 2 == 0).then_some(seq / 2);
                    if link.is_some() {
                        assert_eq!(Some(writer.next_detail_seq()), link);
                    }
                    assert_eq!(writer.write_index(&event(seq), link).unwrap(), seq);
                }
                for seq in (batch * 100..(batch + 1) * 100).step_by(2) {
                    let time = event(seq).timestamp_ns;
                    let written = writer.write_detail(seq, time, &detail(seq, b"abc"));
                    assert_eq!(written.unwrap(), seq / 2);
                }
            }
        });
        assert!(joined == split);
    }
}

#[test]
fn a_link_that_disagrees_with_the_counters_is_refused() {
    let disagrees = |found, expected, by| ErrorKind::Disagrees {
        found,
        expected,
        by,
    };
    let counter = "the writer's counter";
    let reserved = "the oldest reservation";
    written(&WriteOptions::default(), |writer| {
        let time = event(0).timestamp_ns;
        let none = writer.write_detail(0, time, &detail(0, b""));
        assert_refused(none, "detail_seq", &ErrorKind::NotReserved);
        let wrong = writer.write_index(&event(0), Some(1));
        assert_refused(wrong, "detail_seq", &disagrees(1, 0, counter));
        assert_eq!(writer.next_index_seq(), 0);

        writer.write_index(&event(0), Some(0)).unwrap();
        writer.write_index(&event(1), Some(1)).unwrap();
        let wrong = writer.write_index(&event(2), Some(1));
        assert_refused(wrong, "detail_seq", &disagrees(1, 2, counter));
        let wrong = writer.write_detail(1, event(1).timestamp_ns, &detail(1, b""));
        assert_refused(wrong, "index_seq", &disagrees(1, 0, reserved));
        let wrong = writer.write_detail(0, time + 1, &detail(0, b""));
        assert_refused(wrong, "timestamp", &disagrees(time + 1, time, reserved));

        let missing = |count| ErrorKind::DetailsMissing { count };
        let joined = writer.write_with_detail(&event(2), &detail(2, b""));
        assert_refused(joined, "detail_count", &missing(2));
        assert_refused(writer.drop_detail(3), "detail_seq", &ErrorKind::NotReserved);

        writer.write_detail(0, time, &detail(0, b"")).unwrap();
        assert_refused(writer.drop_detail(0), "detail_seq", &ErrorKind::NotReserved);
        let last = event(1).timestamp_ns;
        writer.write_detail(1, last, &detail(1, b"")).unwrap();
    });
}

#[test]
fn the_number_of_reserved_details_is_limited() {
    written(&WriteOptions::default(), |writer| {
        for seq in 0..1 << 20 {
            writer.write_index(&event(seq), Some(seq)).unwrap();
        }
        let (next, limit) = (1 << 20, 1 << 20);
        let full = writer.write_index(&event(next), Some(next));
        let kind = ErrorKind::TooManyReservations { limit };
        assert_refused(full, "detail_seq", &kind);
        for seq in 0..1 << 20 {
            let time = event(seq).timestamp_ns;
            writer.write_detail(seq, time, &detail(seq, b"")).unwrap();
        }
    });
}

#[test]
fn nothing_is_written_after_finalizing() {
    let memory = Memory::new();
    let mut writer = writer(&memory, &WriteOptions::default());
    put(&mut writer, 0, Some(b"x")).unwrap();
    writer.finalize().unwrap();
    let steps = memory.steps();
    for error in refused(&mut writer, 1) {
        assert_eq!(error.kind(), &ErrorKind::AlreadyFinalized);
    }
    assert!(writer.is_finalized());
    drop(writer);
    assert_eq!(memory.steps(), steps);
}

#[test]
fn a_folder_that_contains_a_thread_is_refused_and_left_unchanged() {
    for name in ["index.atf", "detail.atf", "ring.atf"] {
        for survive_kill in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, "theirs").unwrap();
            let options = WriteOptions::default().survive_kill(survive_kill);
            let error = ThreadWriter::create(folder.path(), 0, &options).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::AlreadyExists));
            assert_eq!(error.path(), Some(&*path));
            assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn a_session_refuses_a_second_writer_and_finalizing_while_one_is_open() {
    let root = tempfile::tempdir().unwrap();
    let options = WriteOptions::default();
    let session = SessionWriter::create(root.path().join("s"), &options).unwrap();
    let kind = |error: Error| error.kind().clone();

    let mut first = session.thread(1).unwrap();
    let twice = session.thread(1).unwrap_err();
    assert_eq!(kind(twice), ErrorKind::ThreadHasWriter { id: 1 });
    let open = session.finalize().unwrap_err();
    assert_eq!(kind(open), ErrorKind::ThreadsNotFinalized { count: 1 });
    first.finalize().unwrap();
    drop(session.thread(2).unwrap());
    let twice = session.thread(2).unwrap_err();
    assert_eq!(kind(twice), ErrorKind::ThreadHasWriter { id: 2 });

    let totals = session.finalize().unwrap();
    assert_eq!((totals.threads, totals.finalized), (2, 1));
    let refused = [
        session.finalize().unwrap_err(),
        session.thread(3).unwrap_err(),
    ];
    assert_eq!(
        refused.map(kind),
        [const { ErrorKind::AlreadyFinalized }; 2]
    );
    let again = SessionWriter::create(session.path(), &options).unwrap_err();
    assert_eq!(kind(again), ErrorKind::Io(io::ErrorKind::AlreadyExists));
}

/// A tracer that is killed before its first manifest leaves such a folder.
#[test]
fn a_session_refuses_a_folder_with_threads_but_no_manifest() {
    let root = tempfile::tempdir().unwrap();
    let options = WriteOptions::default();
    let session = SessionWriter::create(root.path(), &options).unwrap();
    drop(session.thread(7).unwrap());
    drop(session);
    let again = SessionWriter::create(root.path(), &options).unwrap_err();
    assert_eq!(again.kind(), &ErrorKind::Io(io::ErrorKind::AlreadyExists));
    assert_eq!(again.path(), Some(&*root.path().join("thread_7")));
    // Other files do not matter.
    std::fs::rename(root.path().join("thread_7"), root.path().join("thread_x")).unwrap();
    SessionWriter::create(root.path(), &options).unwrap();
}

#[test]
fn a_path_that_cannot_be_written_is_reported_and_left_unchanged() {
    let root = tempfile::tempdir().unwrap();
    let options = WriteOptions::default();
    let file = root.path().join("file");
    std::fs::write(&file, "theirs").unwrap();

    let long = root.path().join("n".repeat(300));
    for (path, kind) in [
        (&file.join("session"), io::ErrorKind::NotADirectory),
        (&file, io::ErrorKind::AlreadyExists),
        (&long, io::ErrorKind::InvalidFilename),
    ] {
        let error = SessionWriter::create(path, &options).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Io(kind));
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_path_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(std::ffi::OsStr::from_bytes(b"s\xff"));
    let session = SessionWriter::create(&folder, &WriteOptions::default()).unwrap();
    session.thread(0).unwrap().finalize().unwrap();
    session.finalize().unwrap();
    let reader = atf::session::SessionReader::open(&folder).unwrap();
    assert_eq!(reader.summary().threads, 1);
    let again = SessionWriter::create(&folder, &WriteOptions::default()).unwrap_err();
    assert!(again.to_string().contains("s\u{fffd}/manifest.json"));
}

#[test]
fn a_detail_with_a_different_timestamp_is_refused_except_in_a_copy() {
    let later = event(0).timestamp_ns + 1;
    let header = DetailEventHeader::new(DetailEventType::FUNCTION_CALL, 0, later)
        .total_length(25)
        .thread_id(7);
    let of = IndexEvent::new(event(0).timestamp_ns, 5, EventKind::CALL)
        .thread_id(7)
        .detail_seq(Some(0));
    let with = |verbatim| WriteOptions::default().verbatim(verbatim);
    written(&with(false), |writer| {
        let kind = ErrorKind::Disagrees {
            found: header.timestamp,
            expected: of.timestamp_ns,
            by: "its index event",
        };
        let refused = writer.write_decoded(&of, Some((&header, b"x")));
        assert_refused(refused, "timestamp", &kind);
    });
    let files = written(&with(true), |writer| {
        writer.write_decoded(&of, Some((&header, b"x"))).unwrap();
    });
    let detail = files.into_iter().flatten().nth(1).unwrap();
    let detail = atf::detail::DetailReader::from_bytes(detail).unwrap();
    let event = detail.get(0).unwrap().unwrap();
    assert_eq!(event.header.timestamp, header.timestamp);
}
