//! `cut`: every command can read the new session.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::report::session;
use super::{atf, clean, lines, texts, written};

const SAMPLE: &str = "sample-small/session_20260105_101500/pid_4242";

/// Cuts a sample and returns the report.
fn cut(path: &str, out: &Path, range: &[&str]) -> String {
    let out = ["--out", out.to_str().unwrap()];
    clean(
        &atf_samples::folder(),
        &[&["cut", path], range, &out].concat(),
    )
}

/// Returns each function's calls and times.
fn functions(folder: &Path, arguments: &[&str]) -> Vec<[Value; 4]> {
    let options = ["report", "--json", "--limit", "0"];
    let report = lines(&written(folder, &[&options, arguments].concat())).remove(0);
    let functions = report["functions"].as_array().unwrap().clone();
    let row =
        |row: &Value| ["function", "calls", "self_ns", "total_ns"].map(|key| row[key].clone());
    functions.iter().map(row).collect()
}

#[test]
fn a_cut_has_the_report_of_its_range() {
    let folder = TempDir::new().unwrap();
    for (place, (from, to)) in [("+0", "+60us"), ("+50us", "+60us"), ("+61.5us", "+1s")]
        .into_iter()
        .enumerate()
    {
        let out = folder.path().join(place.to_string());
        let range = ["--from", from, "--to", to];
        let text = cut(SAMPLE, &out, &range);
        assert!(text.contains("written to"), "{text}");
        let expected = functions(&atf_samples::folder(), &[&[SAMPLE], &range[..]].concat());
        assert_eq!(functions(&out, &["."]), expected, "{range:?}");
    }
}

#[test]
fn every_command_accepts_a_cut() {
    let folder = TempDir::new().unwrap();
    let synth = ["synth", "--seed", "7", "--events", "3000", "--out", "all"];
    clean(folder.path(), &synth);
    let range = ["--from", "+10us", "--to", "+200us"];
    clean(
        folder.path(),
        &[&["cut", "all", "--out", "part"], &range[..]].concat(),
    );
    clean(folder.path(), &["check", "--deny", "should", "part"]);
    let text = clean(folder.path(), &["info", "--verify", "part"]);
    assert!(text.contains("from a cut"), "{text}");
    let text = clean(folder.path(), &["info", "--json", "part"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    let threads = info["threads"].as_array().unwrap();
    assert!(
        threads
            .iter()
            .all(|thread| thread["cut"]["calls"].is_string()),
        "{text}"
    );
    for command in ["dump", "report", "last"] {
        clean(folder.path(), &[command, "part"]);
    }
    // There is nothing to recover, and a recovery keeps the manifest's entry about the cut.
    let text = clean(folder.path(), &["recover", "part", "--out", "again"]);
    assert!(text.contains("nothing to change"), "{text}");
}

#[test]
fn threads_and_times_are_checked_before_anything_is_written() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    session(&folder.path().join("two/a"), &[(5, 1, 1), (9, 2, 1)], "one");
    session(&folder.path().join("two/b"), &[(7, 1, 1), (9, 2, 1)], "one");
    let two = folder.path().join("two");
    let two = two.to_str().unwrap();
    let thread = format!("{SAMPLE}/thread_0");
    for (arguments, message) in [
        (
            &[SAMPLE, "--thread", "9"][..],
            "there is no thread 9 (threads: 0, 1, 2)",
        ),
        (&[SAMPLE, "--from", "+2us", "--to", "+1us"], "is after --to"),
        (&[thread.as_str()], "thread_0"),
        (&["nosuchpath"], "nosuchpath"),
        (&[two, "--from", "+1"], "start at different times"),
    ] {
        let output = atf(
            &atf_samples::folder(),
            &[&["cut", "--out", out], arguments].concat(),
        );
        let (status, text, messages) = texts(&output);
        assert_eq!((status, text), (2, ""), "{messages}");
        assert!(messages.contains(message), "{messages}");
        assert!(!Path::new(out).exists());
    }
    clean(
        &atf_samples::folder(),
        &["cut", two, "--from", "6", "--out", out],
    );
    let thread = cut(SAMPLE, &folder.path().join("one"), &["--thread", "1"]);
    assert!(thread.contains("of 1 thread"), "{thread}");
}

#[test]
fn a_listed_thread_without_a_folder_is_told() {
    let folder = TempDir::new().unwrap();
    let synth = ["synth", "--threads", "2", "--events", "100", "--out", "s"];
    clean(folder.path(), &synth);
    fs::remove_dir_all(folder.path().join("s/thread_1")).unwrap();
    let output = atf(folder.path(), &["cut", "s", "--out", "part"]);
    let (status, text, messages) = texts(&output);
    let lost = "lost: a thread whose folder is missing: manifest.json: threads[1]: thread 1";
    assert!(text.contains(lost), "{text}{messages}");
    assert_eq!(status, 1);
}

#[test]
fn a_damaged_session_is_cut_and_what_is_missing_is_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("s");
    session(&path, &[(5, 1, 1), (9, 2, 1), (20, 1, 1)], "one");
    let index = path.join("thread_4/index.atf");
    let mut bytes = std::fs::read(&index).unwrap();
    bytes[64] ^= 1;
    std::fs::write(&index, bytes).unwrap();
    let output = atf(folder.path(), &["cut", "s", "--from", "6", "--out", "part"]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1);
    assert!(text.contains("do not match their checksum"), "{text}");
}
