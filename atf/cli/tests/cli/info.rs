//! `info`: compares its output on the samples with an independent parser's.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::{atf, expected, golden, number, texts, written};
use atf_samples::files::{DetailFile, IndexFile, patched};

fn info(arguments: &[&str]) -> Value {
    let text = written(
        &atf_samples::folder(),
        &[&["info", "--json"], arguments].concat(),
    );
    serde_json::from_str(&text).unwrap()
}

#[test]
fn sample_sessions_match_an_independent_parser() {
    for (path, expected) in expected() {
        let session = info(&["--verify", &path]);
        assert_eq!(session["what"], "session");
        assert_eq!(
            session["manifest"].is_object(),
            expected["manifest"] == true
        );
        let mut events = 0;
        for (position, (name, expected)) in
            expected["threads"].as_object().unwrap().iter().enumerate()
        {
            let thread = &session["threads"][position];
            assert_eq!(name, &format!("thread_{}", thread["id"]));
            let index = &thread["index"];
            events += number(&index["event_count"]);
            assert_eq!(number(&index["event_count"]), expected["events"]);
            let is_finalized = index["completeness"]["state"] == "finalized";
            assert_eq!(is_finalized, expected["finalized"] == true);
            assert_eq!(number(&index["time"]["start_ns"]), expected["ts_min"]);
            assert_eq!(number(&index["time"]["end_ns"]), expected["ts_max"]);
            let contents = &index["contents"];
            assert_eq!(number(&contents["out_of_order"]), 0);
            for (kind, count) in expected["kinds"].as_object().unwrap() {
                assert_eq!(number(&contents["kinds"][kind]), *count);
            }
            assert_eq!(number(&contents["links"]), expected["links"]);
            if let Some(details) = expected["details"].as_u64() {
                let (detail, links) = (&thread["detail"], &thread["links"]);
                assert_eq!(number(&detail["event_count"]), details);
                let dangling = expected["dangling_links"].as_u64().unwrap();
                assert_eq!(number(&links["dangling"]), dangling);
                assert_eq!(number(&links["orphans"]), expected["orphan_details"]);
                let good = expected["links"].as_u64().unwrap() - dangling;
                assert_eq!(number(&links["good"]), good);
                let trailing = &detail["completeness"]["trailing_bytes"];
                let trailing = trailing.as_str().map_or(0, |bytes| bytes.parse().unwrap());
                assert_eq!(Some(trailing), expected["detail_tail_bytes"].as_u64());
            } else {
                assert_eq!(thread["detail"], Value::Null);
            }
        }
        assert_eq!(number(&session["index_events"]), events);
    }
}

#[test]
fn info_matches_the_golden_files() {
    let text = written(&atf_samples::folder(), &["info", "."]);
    golden("info-samples.txt", &text);
    let text = written(
        &atf_samples::folder(),
        &["info", "--verify", "sample-crashed"],
    );
    golden("info-verify.txt", &text);
    let thread = "sample-crashed/session_20260105_101500/pid_4243/thread_1";
    let text = written(&atf_samples::folder(), &["info", "--verify", thread]);
    golden("info-thread.txt", &text);
}

#[test]
fn problems_appear_in_both_forms_and_the_exit_status() {
    let folder = TempDir::new().unwrap();
    let whole = IndexFile::finalized(1, 4).bytes();
    let say = |arguments: &[&str], bytes: &[u8], expected: Option<&str>| {
        fs::write(folder.path().join("i.ati2"), bytes).unwrap();
        let arguments = [&["info", "i.ati2"], arguments].concat();
        let output = atf(folder.path(), &arguments);
        let (status, text, messages) = texts(&output);
        assert_eq!(messages, "");
        assert_eq!(status, i32::from(expected.is_some()), "{text}");
        let output = atf(folder.path(), &[&arguments[..], &["--json"]].concat());
        let json: Value = serde_json::from_str(texts(&output).1).unwrap();
        let problems = json["problems"].as_array().unwrap();
        assert_eq!(problems.is_empty(), expected.is_none());
        if let Some(expected) = expected {
            assert!(text.contains(expected), "{expected} in\n{text}");
            let message = |problem: &Value| problem["message"].as_str().unwrap().to_owned();
            assert!(
                problems
                    .iter()
                    .map(message)
                    .any(|message| message.contains(expected))
            );
        }
    };
    say(&[], &whole, None);
    say(&["--verify"], &whole, None);
    // Change the last event's function.
    let flipped = patched(&whole, 64 + 3 * 32 + 8, &[0]);
    say(&[], &flipped, None);
    say(
        &["--verify"],
        &flipped,
        Some("the CRC-32C of the events is"),
    );
    let count = "footer.event_count: 5 events need 160 bytes";
    say(&[], &patched(&whole, 192 + 8, &[5]), Some(count));
    say(
        &[],
        &patched(&whole, 28, &[5]),
        Some("header.event_count: 5, the footer has 4 (at 0x1c)"),
    );
    let magic = "header.magic: \"XTI2\", expected \"ATI2\" (at 0x0)";
    say(&[], &patched(&whole, 0, b"X"), Some(magic));
    let back = patched(&whole, 64 + 32, &[0; 8]);
    say(&["--verify"], &back, Some("the CRC-32C"));
    let mut unordered = IndexFile::finalized(2, 4);
    unordered.events.swap(1, 2);
    let unordered = IndexFile::of(2, unordered.events).bytes();
    say(
        &["--verify"],
        &unordered,
        Some("i.ati2: events[2]: time goes back, at 1 event in total (at 0x80)"),
    );
    let cut = IndexFile::finalized(1, 4).placeholder().without_footer();
    let unfinalized = "i.ati2: footer: no footer: the file was not finalized";
    say(&["--verify"], &cut[..cut.len() - 5], Some(unfinalized));
}

#[test]
fn the_first_thread_of_two_does_not_hide_the_second() {
    let folder = TempDir::new().unwrap();
    for (id, bytes) in [
        (0, b"ATI2".to_vec()),
        (1, IndexFile::finalized(1, 3).bytes()),
    ] {
        let thread = folder.path().join(format!("thread_{id}"));
        fs::create_dir(&thread).unwrap();
        fs::write(thread.join("index.atf"), bytes).unwrap();
    }
    let output = atf(folder.path(), &["info", "."]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1);
    assert!(text.contains("unreadable"), "{text}");
    assert!(text.contains("2 threads, 3 events"), "{text}");
    assert!(
        text.contains("thread_0/index.atf: header: truncated: 4 of 64 bytes"),
        "{text}"
    );
}

#[test]
fn a_thread_whose_header_has_another_id_than_its_folder_is_marked() {
    let folder = TempDir::new().unwrap();
    for name in ["thread_7", "thread_5"] {
        let thread = folder.path().join("s").join(name);
        fs::create_dir_all(&thread).unwrap();
        let index = IndexFile::finalized(1, 9).bytes();
        fs::write(thread.join("index.atf"), index).unwrap();
        let details = DetailFile::finalized(1, 3).bytes();
        fs::write(thread.join("detail.atf"), details).unwrap();
    }
    let problem = "s/thread_5/index.atf: header.thread_id: 7, the folder is thread_5 (at 0xc)";
    for arguments in [&["info", "s"][..], &["info", "--verify", "s"]] {
        let output = atf(folder.path(), arguments);
        let (status, text, _) = texts(&output);
        assert_eq!(status, 1, "{text}");
        let row = |id: &str| {
            let mut lines = text.lines();
            lines.find(|line| line.split_whitespace().next() == Some(id))
        };
        assert!(row("5").unwrap().ends_with("  !"), "{text}");
        assert!(!row("7").unwrap().ends_with('!'), "{text}");
        let problems = text.split_once("problems\n").unwrap().1;
        assert_eq!(problems, format!("  {problem} [ATF-SESS-001]\n"));
    }
    let output = atf(folder.path(), &["info", "--json", "s/thread_5"]);
    let (status, text, _) = texts(&output);
    let thread: Value = serde_json::from_str(text).unwrap();
    let found = &thread["index"]["problems"][0];
    assert_eq!((status, &found["rule"]), (1, &"ATF-SESS-001".into()));
    assert_eq!(found["message"], problem);
    let named =
        |id| serde_json::json!({"id": id, "has_detail": true, "name": format!("name {id}")});
    let manifest = serde_json::json!({"threads": [named(7), named(5)]});
    fs::write(folder.path().join("s/manifest.json"), manifest.to_string()).unwrap();
    for (folder, path) in [
        (folder.path(), "s/thread_5"),
        (&folder.path().join("s/thread_5"), "."),
    ] {
        let output = atf(folder, &["info", "--json", path]);
        let thread: Value = serde_json::from_str(texts(&output).1).unwrap();
        assert_eq!(thread["name"], "name 5", "the folder's id decides");
    }
}

#[test]
fn the_row_of_a_thread_without_a_readable_index_has_its_details_and_the_reason() {
    let folder = TempDir::new().unwrap();
    for name in ["thread_7", "thread_8"] {
        let thread = folder.path().join("s").join(name);
        fs::create_dir_all(&thread).unwrap();
        let details = DetailFile::finalized(1, 3).bytes();
        fs::write(thread.join("detail.atf"), details).unwrap();
    }
    fs::write(folder.path().join("s/thread_8/index.atf"), b"ATI2").unwrap();
    let output = atf(folder.path(), &["info", "s"]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1, "{text}");
    assert!(text.starts_with("s: session, 2 threads, 0 events, 6 details\n"));
    let missing = std::io::Error::from_raw_os_error(2);
    for (id, reason) in [
        (7, missing.to_string()),
        (8, "header: truncated: 4 of 64 bytes (at 0x4)".to_owned()),
    ] {
        let row = format!(
            "  {id:>9} {:>12} {:>9} {:>13}  unreadable: index.atf: {reason}  !\n",
            "?", 3, "-"
        );
        assert!(text.contains(&row), "{row} in\n{text}");
    }
}

#[test]
fn a_recovery_report_says_whether_the_recovery_lost_something() {
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("recovery.json");
    fs::create_dir(folder.path().join("thread_7")).unwrap();
    let index = IndexFile::finalized(1, 4).bytes();
    fs::write(folder.path().join("thread_7/index.atf"), index).unwrap();
    for (losses, expected) in [
        (r#"{"losses": 0}"#, ", with nothing lost by the recovery"),
        (r#"{"losses": 1}"#, "; 1 thing was lost or changed"),
        (r#"{"losses": 3}"#, "; 3 things were lost or changed"),
        ("{", ""),
    ] {
        fs::write(&report, losses).unwrap();
        let text = written(folder.path(), &["info", "."]);
        let expected = format!("  recovered{expected}: see recovery.json\n");
        assert!(text.contains(&expected), "{expected} in\n{text}");
    }
}
