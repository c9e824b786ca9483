//! `last`: how threads ended.

use std::fs;

use tempfile::TempDir;

use super::{atf, golden, lines, number, texts, written};
use atf_samples::files::{EventRecord, IndexFile, RingFile, crc32c};

#[test]
fn ends_match_the_golden_files() {
    golden("last.txt", &written(&atf_samples::folder(), &["last", "."]));
    let arguments = [
        "last",
        "--thread",
        "1",
        "--calls",
        "3",
        "--events",
        "2",
        "sample-crashed-nomanifest",
    ];
    golden(
        "last-thread.txt",
        &written(&atf_samples::folder(), &arguments),
    );
}

#[test]
fn the_last_events_may_be_those_of_a_span() {
    let folder = TempDir::new().unwrap();
    let event = |(timestamp_ns, function_id)| EventRecord {
        timestamp_ns,
        function_id,
        kind: 1,
        depth: 1,
        detail_seq: None,
    };
    for (thread, events) in [(1, [(1000, 5), (1990, 6)]), (2, [(1985, 7), (2000, 8)])] {
        let path = folder.path().join(format!("s/thread_{thread}"));
        fs::create_dir_all(&path).unwrap();
        let mut file = IndexFile::of(2, events.map(event).to_vec());
        file.thread_id = thread;
        fs::write(path.join("index.atf"), file.bytes()).unwrap();
    }
    let of = |span: &str| {
        let text = written(folder.path(), &["last", "--json", "--for", span, "s"]);
        let threads = lines(&text).remove(0)["threads"].take();
        let ids = |thread: &serde_json::Value| {
            let events = thread["events"].as_array().unwrap().iter();
            events.map(|event| number(&event["function_id"])).collect()
        };
        let all: Vec<Vec<u64>> = threads.as_array().unwrap().iter().map(ids).collect();
        all
    };
    assert_eq!(of("10ns"), [vec![6], vec![8]]);
    assert_eq!(of("15ns"), [vec![6], vec![7, 8]]);
    assert_eq!(of("0.009us"), [vec![], vec![8]]);
    assert_eq!(of("1s"), [vec![5, 6], vec![7, 8]]);
}

#[test]
fn the_open_calls_are_those_that_dump_lists() {
    for path in [
        "sample-crashed",
        "sample-crashed-nomanifest",
        "sample-small",
    ] {
        let spans = lines(&written(
            &atf_samples::folder(),
            &["dump", "--spans", "--json", path],
        ));
        let text = written(
            &atf_samples::folder(),
            &["last", "--json", "--calls", "99", path],
        );
        let [session] = &lines(&text)[..] else {
            panic!("{text}")
        };
        for thread in session["threads"].as_array().unwrap() {
            let spans = spans
                .iter()
                .filter(|span| span["thread"] == thread["thread"]);
            let open = spans.filter(|span| span["end"] == "open");
            let open: Vec<_> = open
                .map(|it| (&it["start_seq"], &it["function_id"]))
                .collect();
            let found = thread["open"].as_array().unwrap().iter();
            let found: Vec<_> = found
                .map(|it| (&it["start_seq"], &it["function_id"]))
                .collect();
            assert_eq!(found, open);
            assert_eq!(thread["open_count"], open.len().to_string());
            let events = thread["events"].as_array().unwrap();
            assert_eq!(events.len(), 5);
            assert_eq!(events[4]["timestamp_ns"], thread["end_ns"]);
        }
    }
}

/// Writes a killed thread with two events in the file and two in the ring.
fn killed(folder: &std::path::Path) {
    let event = |(timestamp_ns, kind, function_id)| EventRecord {
        timestamp_ns,
        function_id,
        kind,
        depth: 1,
        detail_seq: None,
    };
    let events = [(10, 1, 1), (20, 1, 2), (30, 2, 2), (70, 1, 3)].map(event);
    let mut file = IndexFile::of(1, events.to_vec()).placeholder();
    file.thread_id = 3;
    let bytes = file.without_footer();
    let start = bytes.len() - 64;
    let mut ring = RingFile::of(1, 3);
    ring.index.start = start as u64;
    ring.index.checksum = crc32c(&bytes[start - 64..start]);
    ring.index.bytes = bytes[start..].to_vec();
    let thread = folder.join("thread_3");
    fs::create_dir_all(&thread).unwrap();
    fs::write(thread.join("index.atf"), &bytes[..start]).unwrap();
    fs::write(thread.join("ring.atf"), ring.bytes()).unwrap();
    let manifest = serde_json::json!({
        "format_version": "2.0",
        "threads": [{"id": 3, "has_detail": false, "name": "main",
            "lost_events": {"count": 2, "first_ns": 40, "last_ns": 50}}],
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
}

#[test]
fn a_killed_thread_has_the_events_of_its_ring_and_what_is_missing() {
    let folder = TempDir::new().unwrap();
    killed(&folder.path().join("s"));
    fs::create_dir(folder.path().join("s/thread_5")).unwrap();
    let output = atf(folder.path(), &["last", "--events", "1", "s"]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""));
    let expected = "\
s: session, 2 threads, 1 not finalized, 1 unreadable

thread 3 \"main\": died or still runs: not finalized, 4 events, the last 2 from ring.atf
  ended +0.000000060 s, with the last event of all threads
  lost by the tracer: 2 events, from +0.000000030 to +0.000000040 s
  2 calls open, innermost first: since, for, depth, function
    +0.000000060          0 ns    1  0x0000000000000003
    +0.000000000         60 ns    1  0x0000000000000001
  the last 1 event: time, seq, kind, function
    +0.000000060        3  call      0x0000000000000003

thread 5: unreadable

";
    let (threads, problems) = text.split_at(expected.len());
    assert_eq!(threads, expected);
    let names: Vec<_> = problems.matches("s/thread_").collect();
    assert!(problems.starts_with("2 problems: "), "{problems}");
    assert_eq!(names.len(), 2, "{problems}");
    fs::remove_dir_all(folder.path().join("s/thread_3")).unwrap();
    let text = written(folder.path(), &["last", "s"]);
    let expected = "\
s: session, 2 threads, 2 unreadable
  lost by the tracer: 2 events of threads without files, from 0.000000040 to 0.000000050 s

thread 3: unreadable

thread 5: unreadable

2 problems: ";
    assert!(text.starts_with(expected), "{text}");
    killed(&folder.path().join("s"));
    let report = written(folder.path(), &["report", "s"]);
    assert!(
        report.contains("2 calls open at the end") && report.contains("2 events lost"),
        "{report}"
    );
}

/// Many threads fit on a screen: the one that died is first, and most get one line.
#[test]
fn a_thread_that_died_comes_first_and_most_threads_get_one_line() {
    let folder = TempDir::new().unwrap();
    let arguments = "synth --threads 30 --events 60 --details 0 --out s".split(' ');
    written(folder.path(), &arguments.collect::<Vec<_>>());
    let session = folder.path().join("s");
    let cut = session.join("thread_7/index.atf");
    let size = fs::metadata(&cut).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&cut).unwrap();
    file.set_len(size - 64).unwrap();
    let text = written(folder.path(), &["last", "s"]);
    let threads: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("thread "))
        .collect();
    assert_eq!(threads.len(), 3 + 20, "{text}");
    assert!(threads[0].starts_with("thread 7: "), "{text}");
    assert!(threads[3].contains(" before the last event"), "{text}");
    let end = "… and 7 more threads, see --limit and --thread\n\n1 problem: ";
    assert!(text.contains(end), "{text}");
    let all = written(folder.path(), &["last", "--limit", "30", "s"]);
    assert_eq!(all.matches("  ended +").count(), 30);
    let some = written(
        folder.path(),
        &["last", "--thread", "1", "--limit", "0", "s"],
    );
    assert_eq!(some.matches("  ended +").count(), 1);
    assert!(some.starts_with("s: session, 1 of 30 threads, finalized\n"));
}

#[test]
fn a_truncated_thread_has_the_number_of_its_remaining_events() {
    let folder = TempDir::new().unwrap();
    let mut bytes = IndexFile::finalized(1, 4).without_footer();
    bytes.truncate(bytes.len() - 32);
    fs::write(folder.path().join("index.atf"), bytes).unwrap();
    let text = written(folder.path(), &["last", "index.atf"]);
    let expected = ": truncated after it was finalized, 3 of 4 events left\n";
    assert!(text.contains(expected), "{text}");
}

/// A flight recording begins in the middle of calls.
#[test]
fn open_calls_that_began_before_the_first_event_are_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    let open = |version, events: &[(u8, u32)]| {
        let event = |(kind, depth): &(u8, u32)| EventRecord {
            timestamp_ns: 10,
            function_id: 1,
            kind: *kind,
            depth: *depth,
            detail_seq: None,
        };
        let file = IndexFile::of(version, events.iter().map(event).collect());
        fs::write(&path, file.bytes()).unwrap();
        let text = written(folder.path(), &["last", "index.atf"]);
        let line = text.lines().find(|line| line.contains(" open"));
        line.unwrap().trim().to_owned()
    };
    let missing = "whose start is not in the trace";
    let columns = "innermost first: since, for, depth, function";
    let calls = [(1, 9), (1, 10), (2, 10), (2, 9), (1, 9), (1, 10)];
    let expected = format!("2 calls open, and 8 {missing}; {columns}");
    assert_eq!(open(1, &calls), expected);
    assert_eq!(open(2, &calls), format!("2 calls open, {columns}"));
    assert_eq!(open(1, &[(1, 2), (2, 2)]), format!("1 call open {missing}"));
    for returned in [[(1, 1), (2, 1)], [(1, 0), (2, 0)]] {
        assert_eq!(open(1, &returned), "no call was open");
    }
    assert_eq!(open(1, &[(1, 0)]), format!("1 call open, {columns}"));
}
