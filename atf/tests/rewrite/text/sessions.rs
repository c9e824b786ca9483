//! Tests the report's text for rings, manifests, whole sessions, and the data that each kind of
//! rewrite drops.

use super::*;
use crate::{files, session_of};

#[test]
fn rings() {
    let places = Places::new();
    put(&places, 1, index(1, 2).bytes(), None);
    places.put("in/thread_1/ring.atf", b"ATR2 and more");
    put(&places, 2, index(2, 2).placeholder().without_footer(), None);
    let foreign = RingFile::new(1, 3).bytes();
    places.put("in/thread_2/ring.atf", &foreign);
    let expected = "\
session: recovered, 4 events and 0 details of 2 threads; 1 thing was lost or changed
  thread_1: 2 events, 0 details
    repaired: a ring.atf whose events the files already have: ring.atf: index.atf has a footer [ATF-RING-001]
  thread_2: 2 events, 0 details
    repaired: the file was not finalized: index.atf: footer: no footer (at 0x80) [ATF-IFTR-001]
    lost: the contents of a ring.atf that cannot be read or does not belong to the thread's files: ring.atf: header.thread_id: 3, index.atf has 2 [ATF-RING-002]
";
    assert_without_manifest(&places.recover(), 1, expected);
    let kept = files(&places.path("out/unreadable"));
    assert_eq!(kept["thread_1/ring.atf"], b"ATR2 and more");
    assert_eq!(kept["thread_2/ring.atf"], foreign);
}

#[test]
fn fields_missing_from_the_other_wire_version() {
    let places = Places::new();
    let index = linked(7, 4).placeholder().without_footer();
    let index = patched(&index, EVENTS + EVENT + 16, &[8]);
    put(&places, 7, index, Some(&detail(7, 2).bytes()));
    let report = places.convert("in", "2", Wire::V2);
    let expected = "\
session: converted, 4 events and 2 details of 1 thread
  thread_7: 4 events, 2 details
    repaired: the file was not finalized: index.atf: footer: no footer (at 0xc0) [ATF-IFTR-001]
    lost: wire version 2 has no call_depth: 4 times, first index.atf: events[0].call_depth (at 0x58)
    lost: wire version 2 has no thread_id of events: index.atf: events[1].thread_id: 8, the header has 7 (at 0x70) [ATF-IEVT-003]
";
    assert_without_manifest(&report, 0, expected);
    let report = places.convert("2", "1", Wire::V1);
    let expected = "\
session: converted, 4 events and 2 details of 1 thread
  thread_7: 4 events, 2 details
    deduced: call_depth, counted from calls and returns: 4 times, first index.atf: events[0].call_depth (at 0x40)
  manifest.json: 0 modules, 0 symbols
";
    assert_report(&report, 0, expected);
    let report = places.convert("1", "0", Wire::V1);
    let expected = "\
session: nothing to change, 4 events and 2 details of 1 thread
  thread_7: 4 events, 2 details
  manifest.json: 0 modules, 0 symbols
";
    assert_report(&report, 0, expected);
}

#[test]
fn content_that_scrubbing_drops() {
    let places = Places::new();
    let mut details = detail(7, 3).events;
    (details[1].event_type, details[1].payload) = (9, vec![1; 5]);
    // Add a detail that no event refers to.
    details.push(DetailRecord::call(77, TIME, 9));
    let details = DetailFile::new(1, details).bytes();
    put(&places, 7, linked(7, 7).bytes(), Some(&details));
    places.put("in/thread_7/orphans.atf", "x");
    places.put("in/recovery.json", "x");
    places.put("in/thread_X/index.atf", "x");
    let session = "  manifest.json: 0 modules, 0 symbols
    repaired: the original had no manifest: manifest.json [ATF-MANI-001]
  recovery.json: not copied: set aside by an earlier recovery
  thread_7/orphans.atf: not copied: set aside by an earlier recovery
  thread_X: not copied: not a thread's name: to read it, rename it to thread_N [ATF-SESS-004]
";
    let report = places.scrub("one");
    let expected = "\
session: scrubbed, 7 events and 3 details of 1 thread; 2 things were lost or changed
  thread_7: 7 events, 3 details
    dropped: details that no event refers to: detail.atf: 133 bytes (at 0x155) [ATF-LINK-003]
    stays: content that breaks a rule: detail.atf: events[1].event_type: 9, expected 3: index event 3 has kind 1 (at 0xc0) [ATF-LINK-007]
    lost: registers and stack: 2 times, first detail.atf: events[0].payload (at 0x58)
    lost: a payload of unknown shape: detail.atf: events[1].payload (at 0xd4)
";
    assert_report(&report, 2, &[expected, session].concat());
    let options = ScrubOptions::default().drop_details(true);
    let report = scrub(places.path("in"), places.path("two"), &options).unwrap();
    let expected = "\
session: scrubbed, 7 events and 0 details of 1 thread; 2 things were lost or changed
  thread_7: 7 events, 0 details
    dropped: details that no event refers to: detail.atf: 133 bytes (at 0x155) [ATF-LINK-003]
    lost: a detail: 3 times, first index.atf: events[0].detail_seq: 0 (at 0x5c)
";
    assert_report(&report, 2, &[expected, session].concat());
}

#[test]
fn manifests() {
    let places = Places::new();
    let details = detail(7, 2).bytes();
    put(&places, 7, linked(7, 4).bytes(), Some(&details));
    put(&places, 8, patched(&index(8, 1).bytes(), 16, &[1]), None);
    put(&places, 9, index(9, 1).bytes(), None);
    let own = r#"{"format_version": "2.1",
    "threads": [{"id": 7, "has_detail": false}, {"id": 8, "x": 1}, {"id": 12, "has_detail": true}],
    "time_start_ns": 5, "time_end_ns": "x", "clock_type": 2, "tool": "t", "run": 1,
    "modules": [{"module_id": 1, "path": "/bin/app", "uuid": "AA"}]}"#;
    places.put("in/manifest.json", own);
    let other = r#"{"threads": [], "modules": [{"module_id": 1, "path": "/bin/app", "uuid": "BB"},
        {"module_id": 2, "path": "/bin/lib"}],
    "symbols": [{"function_id": "0x0000000100000001", "name": "no"},
        {"function_id": "0x0000000200000001", "name": "yes"}]}"#;
    let options = RecoverOptions::default().symbols(Some(Manifest::parse(other.as_bytes())));
    let report = places.recover_by(&options);
    let expected = "\
session: recovered, 6 events and 2 details of 3 threads; 1 thing was lost or changed
  thread_7: 4 events, 2 details
  thread_8: 1 event, 0 details
  thread_9: 1 event, 0 details
  manifest.json: 2 modules, 1 symbol (1 from the other manifest)
    repaired: 2 problems, first manifest.json: threads[1].x: unknown key (at 0x59) [ATF-MANI-011]
    repaired: the manifest was wrong about the threads: manifest.json: threads: thread 9 is not listed [ATF-MANI-006]
    repaired: the manifest was wrong about the threads: manifest.json: threads[0].has_detail: false [ATF-MANI-007]
    repaired: the manifest was wrong about the threads: manifest.json: time_start_ns: 5 [ATF-MANI-008]
    repaired: the manifest was wrong about the threads: manifest.json: clock_type: 2 [ATF-MANI-009]
    stays: threads with different clocks: manifest.json: clock_type: 1, 3 [ATF-SESS-005]
    stays: names of another build, which were not used: manifest.json: modules.uuid: AA, the other manifest has BB
    lost: a thread whose folder is missing: manifest.json: threads[2]: thread 12 [ATF-MANI-005]
";
    assert_report(&report, 1, expected);
    let manifest = &session_of(&report)["manifest"];
    // The text has only the first problem.
    assert_eq!(manifest["problem_count"], 2);
    let problem = &manifest["problems"][1];
    assert_eq!(problem["field"], "time_end_ns");
    assert_eq!(problem["found"], "\"x\", expected a u64");
    let new = places.manifest("out");
    let names = new.symbols.iter().map(|symbol| symbol.name.as_deref());
    assert_eq!(names.collect::<Vec<_>>(), [Some("yes")]);
    assert_eq!(new.modules[0].uuid.as_deref(), Some("AA"));
    // The old manifest is kept, because the new one omits some of its contents.
    let kept = std::fs::read(places.path("out/unreadable/manifest.json")).unwrap();
    assert_eq!(kept, own.as_bytes());

    let report = places.scrub("scrubbed");
    let line = "    lost: an unknown key: 2 times, first manifest.json: tool [ATF-MANI-011]\n";
    assert!(report.to_string().contains(line), "{report}");
    assert_eq!(report.losses(), 1, "{report}");
    assert!(!places.path("scrubbed/unreadable").exists());
}

#[test]
fn a_tree_of_sessions() {
    let places = Places::new();
    let manifest = format!(
        r#"{{"format_version": "2.0", "threads": [{{"id": 1, "has_detail": false}}],
        "time_start_ns": {TIME}, "time_end_ns": {TIME}, "clock_type": 3}}"#
    );
    let clean = index(1, 1).bytes();
    places.put("in/a/pid_1/thread_1/index.atf", &clean);
    places.put("in/a/pid_1/manifest.json", manifest);
    places.put("in/a/pid_2/thread_1/index.atf", &clean);
    places.put("in/a/pid_2/notes.txt", "x");
    places.put("in/a/pid_2/notes/a.txt", "x");
    places.put("in/a/pid_2/renamed/detail.atf", "x");
    places.put("in/a/pid_2/thread_1/core", "x");
    places.put("in/a/pid_2/thread_2", "x");
    places.put("in/a/pid_3/index.atf", &clean);
    places.put("in/b/notes.txt", "x");
    places.put("in/README", "x");
    let expected = "\
a/pid_1: nothing to change, 1 event and 0 details of 1 thread
  thread_1: 1 event, 0 details
  manifest.json: 0 modules, 0 symbols
a/pid_2: recovered, 1 event and 0 details of 1 thread; 5 things were lost or changed
  thread_1: 1 event, 0 details
  manifest.json: 0 modules, 0 symbols
    repaired: the original had no manifest: manifest.json [ATF-MANI-001]
  thread_1/core: not copied: not part of a thread
  thread_2: not copied: not a folder [ATF-SESS-002]
  notes: not copied: not part of a session
  notes.txt: not copied: not part of a session
  renamed: not read: not a thread's name: to read it, rename it to thread_N; a copy is in unreadable/
a/pid_3: nothing to change, 1 event and 0 details of 1 thread
  the thread: 1 event, 0 details
README: not copied: not part of a session
b: not copied: not a session, and contains none
";
    assert_report(&places.recover(), 5, expected);
    let copy = files(&places.path("out/a/pid_2/unreadable"));
    assert_eq!(copy["renamed/detail.atf"], b"x");
}

#[test]
fn a_thread_without_a_session() {
    let places = Places::new();
    put(&places, 1, index(1, 1).bytes(), None);
    let options = RecoverOptions::default();
    let report = recover(places.path("in/thread_1"), places.path("a"), &options).unwrap();
    let expected = "\
thread: nothing to change, 1 event and 0 details of 1 thread
  the thread: 1 event, 0 details
";
    assert_report(&report, 0, expected);
    // The report escapes line separators.
    places.put("in/thread_1/a\u{2028}b", "x");
    places.put("in/thread_1/recovery-1.json", "x");
    // Add files of an earlier recovery.
    places.put("in/thread_1/recovery.json", "x");
    places.put("in/thread_1/orphans-2.atf", "x");
    let report = recover(places.path("in/thread_1"), places.path("b"), &options).unwrap();
    let expected = "\
thread: recovered, 1 event and 0 details of 1 thread; 2 things were lost or changed
  the thread: 1 event, 0 details
  a\\u{2028}b: not copied: not part of a thread
  recovery-1.json: not copied: not part of a thread
";
    assert_report(&report, 2, expected);
}

#[test]
fn omitted_threads_are_not_faults_of_the_manifest() {
    let places = Places::new();
    put(&places, 1, index(1, 2).bytes(), None);
    put(&places, 2, vec![b'?'; 100], None);
    put(&places, 3, Vec::new(), None);
    let (start, end) = (0, u64::MAX);
    let own = format!(
        r#"{{"format_version": "2.1", "time_start_ns": {start},
        "time_end_ns": {end}, "threads": [{{"id": 1, "has_detail": false}},
        {{"id": 2, "has_detail": false, "name": "worker"}}, {{"id": 3, "has_detail": false}},
        {{"id": 4, "has_detail": false}}], "symbols": [], "modules": []}}"#
    );
    places.put("in/manifest.json", &own);
    let report = places.recover();
    let expected = "\
session: recovered, 2 events and 0 details of 1 thread; 1 could not be read; 1 thing was lost or changed
  thread_1: 2 events, 0 details
  thread_2: cannot be read: index.atf: header.magic: \"????\", expected \"ATI2\" (at 0x0) [ATF-IHDR-002]; a copy is in unreadable/
  thread_3: no events: index.atf: 0 bytes [ATF-IFTR-001]
  manifest.json: 0 modules, 0 symbols
    lost: the entry of an omitted thread: manifest.json: threads[1]: thread 2
    lost: a thread whose folder is missing: manifest.json: threads[3]: thread 4 [ATF-MANI-005]
";
    assert_report(&report, 2, expected);
    // The old manifest contains the name of thread 2.
    let kept = std::fs::read(places.path("out/unreadable/manifest.json")).unwrap();
    assert_eq!(kept, own.as_bytes());
}
