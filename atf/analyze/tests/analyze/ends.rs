//! Tests which calls are reported as running at the end of a trace.

use std::fs;
use std::path::Path;

use atf::manifest::{Loss, LossKind, Losses};
use atf::session::SessionReader;
use atf::trace::Process;
use atf::write::{Event, SessionWriter, WriteOptions};
use atf::{ErrorKind, EventKind};
use atf_analyze::{Options, Problem};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::model::Expected;
use crate::{CALL, RETURN, file, session, write_index};
use atf_samples::files::{RingFile, crc32c, patched};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_open_calls_are_those_that_nothing_ended(
        events in prop::collection::vec((0..99_u64, 0..5_u32, 0..4_u64), 0..60),
        most in 0..9_usize,
    ) {
        let threads = [events];
        let (_folder, session) = session(&threads);
        let expected = Expected::new(&threads, &(0..=u64::MAX));
        let last = atf_analyze::last(&session, &Options::default(), most, most);
        let thread = &last.threads[0];
        let open: Vec<_> = thread.open.iter().map(|call| call.function_id).collect();
        let all = &expected.open[0];
        assert_eq!(open, all[..most.min(all.len())]);
        assert_eq!(thread.open_count, all.len() as u64);
        assert_eq!(thread.outermost.map(|it| it.function_id), all.last().copied());
        let events = thread.events.iter();
        let events: Vec<(u32, u64)> = events
            .map(|(_, it)| (it.event_kind.into(), it.function_id))
            .collect();
        let first = threads[0].len().saturating_sub(most);
        let expected = threads[0][first..].iter();
        assert_eq!(events, expected.map(|(_, kind, id)| (*kind, *id)).collect::<Vec<_>>());
        assert!(thread.events.is_sorted_by_key(|(_, it)| it.timestamp_ns));
        assert!(thread.events.iter().zip(first as u64..).all(|((seq, _), at)| *seq == at));
    }
}

#[test]
fn events_that_are_only_in_the_ring_come_last() {
    let folder = TempDir::new().unwrap();
    let events = [(10, CALL, 1), (20, CALL, 2), (30, RETURN, 2), (40, CALL, 3)];
    let whole = file(3, &events).placeholder();
    let bytes = whole.without_footer();
    // Only half of the third event reached the file.
    let start = bytes.len() - 64;
    write_index(folder.path(), 3, &bytes[..start + 16]);
    let mut ring = RingFile::new(1, 3);
    ring.index.start = start as u64;
    ring.index.checksum = crc32c(&bytes[start - 64..start]);
    ring.index.bytes = bytes[start..].to_vec();
    fs::write(folder.path().join("thread_3/ring.atf"), ring.bytes()).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let last = atf_analyze::last(&session, &Options::default(), 9, 1);
    let thread = &last.threads[0];
    assert_eq!(thread.event_count, 4);
    assert_eq!(thread.events[0].1.function_id, 3);
    let open = thread.open.iter().map(|it| (it.function_id, it.start_ns));
    assert_eq!(open.collect::<Vec<_>>(), [(3, 40), (1, 10)]);
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
    writer.set_losses(
        1,
        Losses::default().with(LossKind::Events, Some(Loss::new(5, 20, 30))),
    );
    writer.write_manifest().unwrap();
    fs::create_dir(folder.join("thread_2")).unwrap();
}

fn kinds(problems: &[Problem]) -> Vec<(Option<u32>, &ErrorKind)> {
    let problems = problems.iter();
    problems.map(|it| (it.thread, it.error.kind())).collect()
}

#[test]
fn a_crashed_thread_keeps_its_open_calls_and_reports_missing_data() {
    let folder = TempDir::new().unwrap();
    crashed(folder.path());
    let session = SessionReader::open(folder.path()).unwrap();
    let last = atf_analyze::last(&session, &Options::default(), 1, 1);
    let [thread] = &last.threads[..] else {
        panic!("{last:?}")
    };
    assert!(thread.is_unfinalized());
    assert_eq!((thread.open_count, thread.open.len()), (2, 1));
    assert_eq!(thread.times, Some((10, 40)));
    assert_eq!(thread.losses.get(LossKind::Events).unwrap().count, 5);
    let reported = kinds(&last.problems);
    assert!(
        matches!(
            reported[..],
            [
                (Some(1), ErrorKind::NotFinalized { .. }),
                (Some(2), ErrorKind::Io(_))
            ]
        ),
        "{reported:?}"
    );

    let functions = atf_analyze::functions(&session, &Options::default());
    let totals = functions.totals();
    assert_eq!(totals.losses.get(LossKind::Events).unwrap().count, 5);
    assert_eq!(totals.open, 2);
    assert_eq!(functions.problems.len(), 2);
    let outer = &functions.functions[0];
    let found = (outer.function_id, outer.times.self_ns, outer.times.open);
    assert_eq!(found, (7, 30, 1));
    assert_eq!(outer.durations.count(), 0, "its duration is unknown");
}

#[test]
fn every_analysis_reports_damage() {
    let folder = TempDir::new().unwrap();
    let mut bytes = file(3, &[(10, CALL, 1), (20, RETURN, 1)]).bytes();
    // Change the second event's time.
    bytes[64 + 32] ^= 1;
    write_index(folder.path(), 3, &bytes);
    fs::create_dir(folder.path().join("thread_x")).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let threads = [3].into();
    for options in [
        Options::default(),
        Options {
            threads,
            ..Options::default()
        },
    ] {
        let functions = atf_analyze::functions(&session, &options);
        // The header and the footer also contain its time.
        assert_eq!(functions.functions[0].times.total_ns, 10);
        let all = [
            functions.problems,
            atf_analyze::tree(&session, &options).problems,
            atf_analyze::pairs(&session, &options).problems,
            atf_analyze::last(&session, &options, 1, 1).problems,
        ];
        for problems in all {
            let reported = kinds(&problems);
            let of_session = usize::from(options.threads.is_empty());
            assert_eq!(reported.len(), of_session + 1, "{reported:?}");
            assert!(matches!(
                reported[of_session],
                (Some(3), ErrorKind::ChecksumMismatch { .. })
            ));
            let mut of_session = reported[..of_session].iter();
            assert!(of_session.all(|it| *it == (None, &ErrorKind::NoThreadId)));
        }
    }
}

#[test]
fn a_single_thread_has_the_same_problems_as_in_its_session() {
    let sample = "sample-crashed/session_20260105_101500/pid_4243";
    let folder = atf_samples::folder().join(sample);
    let session = SessionReader::open(&folder).unwrap();
    let thread = Process::of_thread(folder.join("thread_1")).unwrap();
    let options = Options {
        threads: [1].into(),
        ..Options::default()
    };
    let texts = |problems: Vec<Problem>| {
        let texts = problems.iter().map(|it| it.error.to_string());
        texts.collect::<Vec<_>>()
    };
    let in_session = texts(atf_analyze::functions(&session, &options).problems);
    let alone = texts(atf_analyze::functions(&thread, &options).problems);
    assert_eq!(in_session.len(), 3);
    assert_eq!(in_session, alone);
}

#[test]
fn all_analyses_correct_the_same_times() {
    let whole = file(0, &[(100, CALL, 7), (110, CALL, 8), (120, RETURN, 8)]).bytes();
    let patch = |event: usize, byte: usize, bits: u8| {
        let at = 64 + 32 * event + byte;
        patched(&whole, at, &[whole[at] ^ bits])
    };
    // One bit of the first, second and last times. The footer and the header also contain the
    // first and the last time.
    for (bytes, goes_back) in [
        (patch(0, 0, 0x40), 0),
        (patch(0, 5, 0x40), 0),
        (patch(1, 5, 0x40), 1),
        (patch(2, 5, 0x40), 0),
    ] {
        let folder = TempDir::new().unwrap();
        write_index(folder.path(), 0, &bytes);
        let session = SessionReader::open(folder.path()).unwrap();
        let last = atf_analyze::last(&session, &Options::default(), 9, 9);
        let [thread] = &last.threads[..] else {
            panic!("{last:?}")
        };
        assert_eq!(thread.times, Some((100, 120)));
        assert_eq!(thread.out_of_order, goes_back);
        assert_eq!((thread.open[0].start_ns, last.problems.len()), (100, 1));
        let found = atf_analyze::functions(&session, &Options::default());
        assert_eq!(found.totals().times, Some((100, 120)));
        assert_eq!(Process::from(&session).time_range(), Some((100, 120)));
    }
}

/// Writes a session whose thread 0 waits in function 7 while thread 1 works until 1500 ns, and
/// returns how long function 7 took, its number of minimums, and the end of the wait in `last`.
fn wait(change: impl Fn(&Path)) -> (u64, u64, Option<u64>) {
    let (folder, _) = session(&[vec![(10, CALL, 7)], vec![(20, CALL, 8), (1500, RETURN, 8)]]);
    let manifest = r#"{"threads": [{"id": 0}, {"id": 1}], "ended_by": "SIGKILL"}"#;
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    change(folder.path());
    let session = SessionReader::open(folder.path()).unwrap();
    let found = atf_analyze::functions(&session, &Options::default());
    let mut functions = found.functions.iter();
    let times = functions.find(|it| it.function_id == 7).unwrap().times;
    assert_eq!((times.calls, times.open), (1, 1));
    assert_eq!(times.self_ns, times.total_ns);
    let last = atf_analyze::last(&session, &Options::default(), 9, 9);
    (
        times.total_ns,
        times.at_least,
        last.threads[0].open_until_ns,
    )
}

#[test]
fn an_open_call_of_a_killed_process_lasts_until_its_last_event() {
    assert_eq!(wait(|_| ()), (1490, 1, Some(1500)));
}

#[test]
fn an_open_call_is_not_extended_if_its_end_may_be_missing() {
    let manifest = |text: &'static str| {
        move |folder: &Path| fs::write(folder.join("manifest.json"), text).unwrap()
    };
    let none = (0, 0, None);
    assert_eq!(wait(manifest(r#"{"threads": [{"id": 0}]}"#)), none);
    for more in [
        r#"{"threads": [], "ended_by": "SIGKILL", "unwritten_events": 64}"#,
        r#"{"threads": [{"id": 0, "lost_events": {"count": 1, "first_ns": 11, "last_ns": 12}}],
            "ended_by": "SIGKILL"}"#,
        r#"{"threads": [{"id": 0, "cut": {"from_ns": 1, "to_ns": 2, "calls": 0, "returns": 0}}],
            "ended_by": "SIGKILL"}"#,
        r#"{"threads": [], "ended_by": "SIGKILL", "recovered": [{"what": "x", "lost": true}]}"#,
    ] {
        assert_eq!(wait(manifest(more)), none, "{more}");
    }
    let index = |folder: &Path| folder.join("thread_0/index.atf");
    let whole = file(0, &[(10, CALL, 7), (12, RETURN, 7)]).bytes();
    let cut = |folder: &Path| fs::write(index(folder), &whole[..64 + 32]).unwrap();
    assert_eq!(wait(cut), none);
    let hole = |folder: &Path| {
        let mut file = file(0, &[(10, CALL, 7), (12, RETURN, 7)]);
        file.checksum = 0;
        fs::write(index(folder), patched(&file.bytes(), 64 + 32, &[0; 32])).unwrap();
    };
    assert_eq!(wait(hole), none);
}
