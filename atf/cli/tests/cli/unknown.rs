//! Checks that commands state nothing that they have not read.

use std::fs;

use atf_samples::files::{EventRecord, IndexFile, RingFile, patched};
use serde_json::Value;
use tempfile::TempDir;

use super::told::{run, session, thread};

/// Five lost events at 5 ns, as in a manifest.
const LOSS: &str = r#"{"count": 5, "first_ns": 5, "last_ns": 5}"#;

/// Returns a call or, if `depth` is negative, a return.
fn event(timestamp_ns: u64, function_id: u64, depth: i32) -> EventRecord {
    EventRecord {
        timestamp_ns,
        function_id,
        kind: if depth > 0 { 1 } else { 2 },
        depth: depth.unsigned_abs(),
        detail_seq: None,
    }
}

/// Writes a session's manifest.
fn manifest(folder: &TempDir, session: &str, text: &str) {
    fs::write(folder.path().join(session).join("manifest.json"), text).unwrap();
}

#[test]
fn losses_that_no_manifest_or_read_thread_states_are_unknown() {
    let folder = session(None);
    let unknown = |arguments: &[&str]| {
        let (_, text, _) = run(&folder, arguments);
        assert!(!text.contains(" 0 events lost by the tracer"), "{text}");
        text.contains("events lost by the tracer: unknown")
    };
    for path in ["s", "s/thread_7", "s/thread_7/index.atf"] {
        assert!(unknown(&["report", path]), "{path}");
    }
    assert!(unknown(&["diff", "s", "s/thread_7"]));
    let loss = r#"{"count": 5, "first_ns": 5, "last_ns": 5}"#;
    let manifest = format!(r#"{{"threads": [{{"id": 7}}, {{"id": 9, "lost_events": {loss}}}]}}"#);
    fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
    thread(folder.path(), "thread_9", b"");
    assert!(unknown(&["report", "--thread", "7", "--thread", "9", "s"]));
    assert!(unknown(&["report", "s/thread_7/index.atf"]));
    let (_, text, _) = run(&folder, &["report", "s/thread_7"]);
    assert!(text.contains(" 0 events lost by the tracer"), "{text}");
    let (_, json, _) = run(&folder, &["report", "--json", "s/thread_7"]);
    assert!(json.contains(r#""knows_losses":true"#), "{json}");
    for manifest in [
        "{",
        r#"{"lost_events": {"count": 5, "first_ns": "x"}}"#,
        r#"{"threads": [{"id": 7, "lost_events": 5}]}"#,
    ] {
        fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
        assert!(unknown(&["report", "s"]), "{manifest}");
        let (_, json, _) = run(&folder, &["report", "--json", "s"]);
        assert!(json.contains(r#""knows_losses":false"#), "{json}");
    }
}

#[test]
fn a_number_of_lost_events_is_a_minimum_if_a_segment_has_no_manifest() {
    let folder = TempDir::new().unwrap();
    for segment in ["pid_42", "pid_42_segment_000002"] {
        let path = folder.path().join("run").join(segment);
        thread(&path, "thread_7", &IndexFile::finalized(1, 8).bytes());
        fs::rename(path.join("s/thread_7"), path.join("thread_7")).unwrap();
    }
    let lost = format!(r#"{{"threads": [{{"id": 7, "lost_events": {LOSS}}}]}}"#);
    manifest(&folder, "run/pid_42", &lost);
    let (_, text, _) = run(&folder, &["report", "run"]);
    assert!(text.contains(", at least 5 events lost"), "{text}");
    // The first segment's tracer left events in memory.
    manifest(&folder, "run/pid_42", r#"{"unwritten_events": 64}"#);
    manifest(&folder, "run/pid_42_segment_000002", "{}");
    for command in ["report", "last", "dump", "diff"] {
        let paths = &["run", "run/pid_42"][..if command == "diff" { 2 } else { 1 }];
        let (_, text, messages) = run(&folder, &[&[command], paths].concat());
        assert!(
            messages.contains("64 events") || text.contains("64 events"),
            "{command}: {text}"
        );
        assert!(!text.contains(" 0 events lost"), "{text}");
    }
}

#[test]
fn a_recovery_makes_no_unknown_number_of_lost_events_known() {
    let folder = session(None);
    let recover = |name: &str| {
        let (status, text, messages) = run(&folder, &["recover", "s", "--out", name]);
        assert!(text.contains("recovered"), "{messages}");
        let (_, report, _) = run(&folder, &["report", name]);
        assert!(
            report.contains("events lost by the tracer: unknown"),
            "{report}"
        );
        (status, text)
    };
    let (status, _) = recover("without");
    assert_eq!(status, 0);
    manifest(
        &folder,
        "s",
        r#"{"lost_events": {"count": 5, "first_ns": "x"}}"#,
    );
    let (status, text) = recover("damaged");
    assert_eq!(status, 1);
    assert!(text.contains("lost or mended: "), "{text}");
    let (_, text, _) = run(&folder, &["info", "damaged"]);
    assert!(!text.contains("nothing lost"), "{text}");
}

#[test]
fn a_threads_losses_are_those_of_its_folders_id() {
    let folder = session(None);
    thread(
        folder.path(),
        "thread_8",
        &IndexFile::finalized(1, 8).bytes(),
    );
    let lost = format!(r#"{{"threads": [{{"id": 7, "lost_events": {LOSS}}}, {{"id": 8}}]}}"#);
    manifest(&folder, "s", &lost);
    let (_, text, _) = run(&folder, &["report", "s/thread_8"]);
    assert!(text.contains(" 0 events lost by the tracer"), "{text}");
    let (_, text, _) = run(&folder, &["last", "s/thread_8"]);
    assert!(
        text.contains("thread 8: ") && !text.contains("lost by"),
        "{text}"
    );
    for options in [&["--json"][..], &["--json", "--follow"]] {
        let (_, text, _) = run(&folder, &[&["dump"], options, &["s/thread_8"]].concat());
        assert!(text.contains(r#""thread":8"#), "{text}");
    }
}

#[test]
fn losses_of_threads_without_files_are_not_those_of_a_selected_thread() {
    let folder = session(None);
    let lost = r#"{"threads": [{"id": 7}],
        "lost_events": {"count": 77, "first_ns": 5, "last_ns": 5}}"#;
    manifest(&folder, "s", lost);
    for command in [
        &["last"][..],
        &["dump"],
        &["export", "--format", "folded", "--out", "-"],
        &["export", "--format", "csv", "--out", "-"],
    ] {
        let all = run(&folder, &[command, &["s"]].concat());
        assert!(format!("{all:?}").contains("77 events"), "{all:?}");
        let one = run(&folder, &[command, &["--thread", "7", "s"]].concat());
        assert!(!format!("{one:?}").contains("77 events"), "{one:?}");
    }
}

#[test]
fn a_cut_says_that_a_range_has_no_events_only_if_none_was_found() {
    let times = [100, 500, 510, 520, 200, 210];
    let events = times.map(|time_ns| event(time_ns, 1, if time_ns % 20 == 0 { 1 } else { -1 }));
    let folder = session(Some(&IndexFile::of(1, events.to_vec()).bytes()));
    let (_, text, messages) = run(&folder, &["cut", "--from", "400ns", "s", "--out", "some"]);
    assert!(!messages.contains("no event is in"), "{text}{messages}");
    let (_, text, messages) = run(&folder, &["cut", "--from", "600ns", "s", "--out", "none"]);
    assert!(
        messages.contains("no event is in this range"),
        "{text}{messages}"
    );
}

#[test]
fn nothing_read_is_not_called_no_events() {
    let folder = session(Some(&[0; 64]));
    let (_, text, _) = run(&folder, &["recover", "s", "--out", "o"]);
    assert!(
        text.contains("no events; 1 thread could not be read"),
        "{text}"
    );
    let (_, _, messages) = run(&folder, &["dump", "s"]);
    assert!(messages.contains("no events were found"), "{messages}");
}

#[test]
fn a_lost_footer_is_not_called_unfinalized() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let folder = session(Some(&whole[..whole.len() - 64]));
    let (_, text, _) = run(&folder, &["last", "s"]);
    assert!(text.contains("1 thread, 1 damaged at the end\n"), "{text}");
    for command in ["last", "info"] {
        let (_, text, _) = run(&folder, &[command, "--json", "s"]);
        assert!(
            text.replace(' ', "").contains(r#""lost_footer":true"#),
            "{text}"
        );
    }
    fs::remove_dir_all(folder.path().join("s/thread_7")).unwrap();
    manifest(&folder, "s", "{}");
    let (_, text, _) = run(&folder, &["last", "s"]);
    assert!(text.contains("session, 0 threads\n"), "{text}");
}

#[test]
fn open_calls_have_the_corrected_times_of_a_report() {
    // The time 520 is wrong, because the next event is from 110.
    let events = [event(100, 1, 1), event(520, 2, 1), event(110, 2, -2)];
    let folder = session(Some(&IndexFile::of(1, events.to_vec()).bytes()));
    let (_, text, _) = run(&folder, &["last", "--json", "s"]);
    let last: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(last["threads"][0]["open"][0]["open_ns"], "10");
    let (_, text, _) = run(&folder, &["report", "--json", "s"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["totals"]["end_ns"], "110");
}

#[test]
fn details_that_cannot_be_read_are_not_called_missing() {
    let folder = session(None);
    let path = folder.path().join("s/thread_7/detail.atf");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, patched(&bytes, 0, b"XXXX")).unwrap();
    let (status, text, _) = run(&folder, &["info", "--verify", "s"]);
    assert!(status == 1 && !text.contains("missing detail"), "{text}");
    fs::remove_file(&path).unwrap();
    let (_, text, _) = run(&folder, &["info", "--verify", "s"]);
    assert!(text.contains("3 to missing detail events"), "{text}");
}

#[test]
fn an_event_in_a_hole_has_the_time_in_the_footer() {
    let whole = IndexFile::finalized(1, 9).bytes();
    for seq in [0, 8] {
        let folder = session(Some(&patched(&whole, 64 + seq * 32, &[0; 32])));
        let (_, text, _) = run(&folder, &["info", "s"]);
        let times = "1234567.890075648 s to 1234567.890083648 s, 8.000 µs";
        assert!(text.contains(times), "{text}");
    }
}

#[test]
fn functions_of_missing_events_are_not_called_named() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let modules = r#"{"threads": [{"id": 7}], "modules": [{"module_id": 9, "path": "/none"}]}"#;
    for (size, missing) in [(whole.len(), false), (64 + 4 * 32, true)] {
        let folder = session(Some(&whole[..size]));
        manifest(&folder, "s", modules);
        let (_, text, _) = run(&folder, &["symbolize", "s"]);
        let told = text.contains("1 thread whose events could not all be read");
        assert_eq!(told, missing, "{text}");
    }
}

#[test]
fn names_of_another_segment_are_not_called_missing() {
    let folder = TempDir::new().unwrap();
    let modules = r#""modules": [{"module_id": 105140161, "function_offsets": true}]"#;
    let symbols = r#""symbols": [{"function_id": "0x06444fc100000001", "name": "one"}]"#;
    for (segment, keys) in [("pid_42", symbols), ("pid_42_segment_000002", modules)] {
        let path = folder.path().join("run").join(segment);
        thread(&path, "thread_7", &IndexFile::finalized(1, 8).bytes());
        fs::rename(path.join("s/thread_7"), path.join("thread_7")).unwrap();
        let session = format!("run/{segment}");
        manifest(
            &folder,
            &session,
            &format!(r#"{{"threads": [{{"id": 7}}], {keys}}}"#),
        );
    }
    let unnamed = "functions have no names";
    let (_, _, messages) = run(&folder, &["report", "run"]);
    assert!(!messages.contains(unnamed), "{messages}");
    let (_, _, messages) = run(&folder, &["report", "run/pid_42_segment_000002"]);
    assert!(messages.contains(unnamed), "{messages}");
}

#[test]
fn a_kill_journal_that_was_cut_is_damaged() {
    let folder = TempDir::new().unwrap();
    let ring = RingFile::of(1, 7).bytes();
    fs::write(folder.path().join("ring.atf"), &ring[..128]).unwrap();
    let (status, text, messages) = run(&folder, &["explain", "ring.atf"]);
    assert_eq!(status, 1, "{text}{messages}");
}
