//! Tests which calls are reported as running at the end.

use std::fs;
use std::path::Path;

use atf::analyze::{self, Options};
use atf::manifest::Loss;
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use atf::write::{Event, SessionWriter, WriteOptions};
use atf::{ErrorKind, EventKind};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::model::Expected;
use crate::{CALL, RETURN, Short, file, session};
use atf_samples::files::{RingFile, crc32c};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_open_calls_are_those_that_nothing_ended(
        events in prop::collection::vec((0..99_u64, 0..5_u32, 0..4_u64), 0..60),
        most in 0..9_usize,
    ) {
        let threads = [events];
        let (_folder, session) = session(&threads);
        let expected = Expected::of(&threads, &(0..=u64::MAX));
        let last = analyze::last(&session, &Options::default(), most, most).unwrap();
        let thread = &last.threads[0];
        let open: Vec<_> = thread.open.iter().map(|call| call.function_id).collect();
        let all = &expected.open[0];
        assert_eq!(open, all[..most.min(all.len())]);
        assert_eq!(thread.open_count, all.len() as u64);
        assert_eq!(thread.outermost.map(|it| it.function_id), all.last().copied());
        let events = thread.events.iter();
        let events: Vec<Short> = events
            .map(|(_, it)| (it.timestamp_ns, it.event_kind.into(), it.function_id))
            .collect();
        let first = threads[0].len().saturating_sub(most);
        assert_eq!(events, threads[0][first..]);
        assert!(thread.events.iter().zip(first as u64..).all(|((seq, _), at)| *seq == at));
    }
}

#[test]
fn events_only_in_the_ring_are_the_last_ones() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("thread_3");
    fs::create_dir(&thread).unwrap();
    let events = [(10, CALL, 1), (20, CALL, 2), (30, RETURN, 2), (40, CALL, 3)];
    let whole = file(3, &events).placeholder();
    let bytes = whole.without_footer();
    // Only half of the third event reached the file.
    let start = bytes.len() - 64;
    fs::write(thread.join("index.atf"), &bytes[..start + 16]).unwrap();
    let mut ring = RingFile::of(1, 3);
    ring.index.start = start as u64;
    ring.index.checksum = crc32c(&bytes[start - 64..start]);
    ring.index.bytes = bytes[start..].to_vec();
    fs::write(thread.join("ring.atf"), ring.bytes()).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let last = analyze::last(&session, &Options::default(), 9, 1).unwrap();
    let thread = &last.threads[0];
    assert_eq!(thread.event_count, 4);
    assert_eq!(thread.events[0].1.function_id, 3);
    let open: Vec<_> = thread
        .open
        .iter()
        .map(|it| (it.function_id, it.start_ns))
        .collect();
    assert_eq!(open, [(3, 40), (1, 10)]);
    assert_eq!(thread.ring.unwrap().index_bytes, 48);
}

/// Writes a session in which thread 1 was killed. The manifest lists a loss and a thread 2 that
/// does not exist.
fn crashed(folder: &Path) {
    let writer = SessionWriter::create(folder, &WriteOptions::default()).unwrap();
    let mut thread = writer.thread(1).unwrap();
    let call = |timestamp_ns, id| Event::new(timestamp_ns, id, EventKind::CALL, 1);
    thread.write(&call(10, 7)).unwrap();
    thread.write(&call(40, 8)).unwrap();
    thread.flush().unwrap();
    writer.set_losses(1, Some(Loss::new(5, 20, 30)), None);
    writer.write_manifest().unwrap();
    fs::create_dir(folder.join("thread_2")).unwrap();
}

#[test]
fn a_crashed_thread_has_its_open_calls_and_tells_what_is_missing() {
    let folder = TempDir::new().unwrap();
    crashed(folder.path());
    let session = SessionReader::open(folder.path()).unwrap();
    let last = analyze::last(&session, &Options::default(), 1, 1).unwrap();
    let [thread] = &last.threads[..] else {
        panic!("{last:?}")
    };
    assert!(thread.is_unfinalized());
    assert_eq!((thread.open_count, thread.open.len()), (2, 1));
    assert_eq!(thread.times, Some((10, 40)));
    assert_eq!(thread.lost_events.unwrap().count, 5);
    let told: Vec<_> = last
        .problems
        .iter()
        .map(|it| (it.thread, it.error.kind()))
        .collect();
    assert!(
        matches!(
            told[..],
            [
                (Some(1), ErrorKind::NotFinalized { .. }),
                (Some(2), ErrorKind::Io(_))
            ]
        ),
        "{told:?}"
    );

    let functions = analyze::functions(&session, &Options::default()).unwrap();
    assert_eq!(functions.totals().lost_events.unwrap().count, 5);
    assert_eq!(functions.totals().open, 2);
    assert_eq!(functions.problems.len(), 2);
    let outer = &functions.functions[0];
    assert_eq!(
        (outer.function_id, outer.times.self_ns, outer.times.open),
        (7, 30, 1)
    );
    assert_eq!(outer.durations.count(), 0, "its duration is unknown");
}

#[test]
fn damage_is_told_by_every_analysis() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("thread_3");
    fs::create_dir(&thread).unwrap();
    let mut bytes = file(3, &[(10, CALL, 1), (20, RETURN, 1)]).bytes();
    // Change the second event's time.
    bytes[64 + 32] ^= 1;
    fs::write(thread.join("index.atf"), bytes).unwrap();
    fs::create_dir(folder.path().join("thread_x")).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    for options in [Options::default(), Options::default().threads([3].into())] {
        let functions = analyze::functions(&session, &options).unwrap();
        assert_eq!(functions.functions[0].times.total_ns, 11);
        let all = [
            functions.problems,
            analyze::tree(&session, &options).unwrap().problems,
            analyze::pairs(&session, &options).unwrap().problems,
            analyze::last(&session, &options, 1, 1).unwrap().problems,
        ];
        for problems in all {
            let told: Vec<_> = problems
                .iter()
                .map(|it| (it.thread, it.error.kind()))
                .collect();
            let of_session = usize::from(options.threads.is_empty());
            assert_eq!(told.len(), of_session + 1, "{told:?}");
            assert!(matches!(
                told[of_session],
                (Some(3), ErrorKind::ChecksumMismatch { .. })
            ));
            let of_session = &told[..of_session];
            assert!(
                of_session
                    .iter()
                    .all(|it| *it == (None, &ErrorKind::NoThreadId))
            );
        }
    }
}

#[test]
fn a_thread_alone_tells_the_same_problems_as_in_its_session() {
    let sample = "sample-crashed/session_20260105_101500/pid_4243";
    let folder = atf_samples::folder().join(sample);
    let session = SessionReader::open(&folder).unwrap();
    let thread = ThreadReader::open(folder.join("thread_1")).unwrap();
    let options = Options::default().threads([1].into());
    let texts = |problems: Vec<atf::session::Problem>| {
        let texts = problems.iter().map(|it| it.error.to_string());
        texts.collect::<Vec<_>>()
    };
    let in_session = texts(analyze::functions(&session, &options).unwrap().problems);
    let alone = texts(analyze::functions(&thread, &options).unwrap().problems);
    assert_eq!(in_session.len(), 3);
    assert_eq!(in_session, alone);
}
