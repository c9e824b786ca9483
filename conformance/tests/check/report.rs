//! Tests the text and JSON reports, and where reports can be written.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{INDEX, Trace};
use crate::{check, texts};
use tempfile::TempDir;

/// `ATF_BLESS=1 cargo test -p atf-conformance --test check` updates the golden file.
#[test]
fn the_text_of_a_sample_matches_the_golden_file() {
    let output = check(&atf_samples::folder(), &["sample-crashed"]);
    let (_, text, messages) = texts(&output);
    assert_eq!(messages, "");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/sample-crashed.txt");
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&golden, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&golden).unwrap());
}

#[test]
fn a_missing_manifest_is_called_missing() {
    let output = check(&atf_samples::folder(), &["sample-crashed-nomanifest"]);
    let (_, text, _) = texts(&output);
    let lines = "manifest.json: missing\n  should ATF-MANI-001  missing; threads are found";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn the_exit_status_depends_on_the_denied_severity() {
    let status = |arguments: &[&str]| texts(&check(&atf_samples::folder(), arguments)).0;
    assert_eq!(status(&["sample-crashed"]), 0);
    assert_eq!(status(&["--deny", "must", "sample-crashed"]), 0);
    assert_eq!(status(&["--deny", "should", "sample-crashed"]), 1);
    let clean = TempDir::new().unwrap();
    Trace::clean(1).write(clean.path()).unwrap();
    let status = |arguments: &[&str]| texts(&check(clean.path(), arguments)).0;
    assert_eq!(status(&["--deny", "advice", "."]), 0);
}

#[test]
fn reports_in_files_agree_with_the_text_and_the_exit_status() {
    let folder = TempDir::new().unwrap();
    Trace::clean(1).write(&folder.path().join("good")).unwrap();
    let mut broken = Trace::clean(1);
    broken.patch(INDEX, 0, b"none");
    broken.write(&folder.path().join("broken")).unwrap();
    let reports = [
        "--report",
        "tap=out.tap",
        "--report",
        "junit=out.xml",
        "--report",
        "html=out.html",
    ];
    let json = [
        "--report",
        "json=out.json",
        "--report",
        "text=out.txt",
        "--report",
        "badge=out.svg",
    ];
    let output = check(folder.path(), &[&reports[..], &json, &["."]].concat());
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("out.txt"), text);
    assert_eq!(read("out.tap").matches("\nnot ok ").count(), 1);
    assert_eq!(read("out.xml").matches("<failure ").count(), 1);
    assert!(read("out.html").contains("1 of 2 sessions breaks a MUST"));
    assert!(read("out.svg").contains("1 must, 0 should broken"));
    let whole = check(folder.path(), &["--json", "."]);
    assert_eq!(read("out.json"), texts(&whole).1);
}

#[test]
fn conflicting_and_unwritable_reports_are_usage_errors() {
    let refused = |arguments: &[&str], why: &str| {
        let output = check(
            &atf_samples::folder(),
            &[arguments, &["sample-small"]].concat(),
        );
        let (status, text, messages) = texts(&output);
        assert_eq!((status, text), (2, ""));
        assert!(messages.contains(why), "{messages}");
    };
    refused(
        &["--json", "--report", "tap"],
        "two reports go to standard output",
    );
    refused(
        &["--report", "tap=a", "--report", "html=a"],
        "two reports go to a",
    );
    refused(
        &["--report", "html=nowhere/at/all.html"],
        "nowhere/at/all.html: ",
    );
    refused(&["--report", "pdf=a"], "unknown report form \"pdf\"");
}

#[test]
fn a_report_never_overwrites_part_of_a_trace() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    Trace::clean(1).write(&trace).unwrap();
    let thread = fs::read_dir(&trace)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let thread = thread.into_iter().find(|path| path.is_dir()).unwrap();
    let index = thread.join("index.atf");
    let before = fs::read(&index).unwrap();
    fs::copy(&index, folder.path().join("alone.atf")).unwrap();
    let refused = |path: &str, report: &str| {
        let report = format!("json={report}");
        let output = check(folder.path(), &[path, "--report", &report]);
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2, "{report}");
        assert!(
            messages.contains("refusing to write a report over part of a trace"),
            "{messages}"
        );
    };
    for file in [
        &index,
        &trace.join("manifest.json"),
        &trace.join("recovery.json"),
        &trace.join("recovery-2.json"),
        &thread.join("ring.atf"),
        Path::new("alone.atf"),
    ] {
        refused("trace", &file.display().to_string());
    }
    #[cfg(unix)]
    for (name, file) in [
        ("link.json", Path::new("alone.atf")),
        ("second.json", Path::new("link.json")),
        ("index.json", &index),
        ("missing.json", &thread.join("ring.atf")),
    ] {
        std::os::unix::fs::symlink(file, folder.path().join(name)).unwrap();
        refused("trace", name);
    }
    fs::copy(&index, folder.path().join("odd")).unwrap();
    #[cfg(unix)]
    for (name, file) in [
        ("hard.json", &index),
        ("second_hard.json", &trace.join("manifest.json")),
    ] {
        let hard = folder.path().join(name);
        fs::hard_link(file, &hard).unwrap();
        let before = fs::read(&hard).unwrap();
        for path in ["trace", "."] {
            refused(path, name);
            assert_eq!(fs::read(&hard).unwrap(), before);
        }
    }
    // A checked file is protected under every path to it, even if its name is unusual.
    refused("odd", "odd");
    refused("odd", "./trace/../odd");
    assert_eq!(fs::read(folder.path().join("odd")).unwrap(), before);
    // A report may replace a file that has several hard links, even if one of them is inside the
    // trace.
    fs::write(folder.path().join("old.json"), "").unwrap();
    fs::hard_link(folder.path().join("old.json"), trace.join("old.json")).unwrap();
    let output = check(folder.path(), &["trace", "--report", "json=old.json"]);
    assert_eq!(texts(&output).0, 0);
    // Linux follows at most 40 symlinks in one path.
    #[cfg(unix)]
    for links in 38..=42 {
        let name = |link: usize| format!("chain_{links}_{link}.json");
        let mut file = index.clone();
        for link in 0..links {
            let path = folder.path().join(name(link));
            std::os::unix::fs::symlink(file, &path).unwrap();
            file = path;
        }
        let report = format!("json={}", name(links - 1));
        let output = check(folder.path(), &["trace", "--report", &report]);
        assert_eq!(texts(&output).0, 2, "{links}");
    }
    assert_eq!(fs::read(&index).unwrap(), before);
    assert_eq!(fs::read(folder.path().join("alone.atf")).unwrap(), before);
    assert!(!thread.join("ring.atf").exists());
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = check(folder, &[&["--json"], arguments].concat());
    let (_, text, messages) = texts(&output);
    assert_eq!(messages, "");
    serde_json::from_str(text).unwrap()
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn json_has_the_documented_shape() {
    let report = json(&atf_samples::folder(), &["sample-crashed", "nothing"]);
    assert_eq!(keys(&report), ["files", "unreadable", "summary"]);
    let file_keys = [
        "path", "kind", "wire", "verdict", "events", "details", "findings",
    ];
    let finding_keys = [
        "rule", "severity", "reader", "field", "offset", "message", "count", "more",
    ];
    for file in report["files"].as_array().unwrap() {
        assert_eq!(keys(file), file_keys);
        for finding in file["findings"].as_array().unwrap() {
            assert_eq!(keys(finding), finding_keys);
        }
    }
    assert_eq!(keys(&report["unreadable"][0]), ["path", "message"]);
    assert_eq!(report["unreadable"][0]["path"], "nothing");
    let summary_keys = [
        "files",
        "absent",
        "accept",
        "recover",
        "reject",
        "events",
        "details",
        "missing",
        "must",
        "should",
        "advice",
        "unreadable",
    ];
    assert_eq!(keys(&report["summary"]), summary_keys);

    let session = "sample-crashed/session_20260105_101500/pid_4243";
    let file = &report["files"][2];
    assert_eq!(file["path"], format!("{session}/thread_1/index.atf"));
    assert_eq!(file["kind"], "index");
    assert_eq!(file["wire"], 1);
    assert_eq!(file["verdict"], "recover");
    assert_eq!(file["events"], 510);
    assert_eq!(file["details"], Value::Null);
    let finding = &file["findings"][2];
    assert_eq!(finding["rule"], "ATF-LINK-002");
    assert_eq!(finding["severity"], "advice");
    assert_eq!(finding["reader"], "warn");
    assert_eq!(finding["field"], "events[317].detail_seq");
    assert_eq!(finding["offset"], 64 + 317 * 32 + 28);
    assert_eq!(finding["count"], 5);
    assert_eq!(finding["more"].as_array().unwrap().len(), 4);
    assert_eq!(keys(&finding["more"][0]), ["field", "offset"]);
}

#[test]
fn json_without_files_is_complete() {
    let report = json(&atf_samples::folder(), &["nothing"]);
    assert_eq!(report["files"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["unreadable"], 1);
}

#[test]
fn the_summary_adds_up_the_files() {
    let report = json(&atf_samples::folder(), &["."]);
    let files = report["files"].as_array().unwrap();
    let add = |key: &str| {
        files
            .iter()
            .filter_map(|file| file[key].as_u64())
            .sum::<u64>()
    };
    // The only session without a manifest has an entry for it, which is not a file.
    let is_absent = |file: &&serde_json::Value| file["findings"][0]["rule"] == "ATF-MANI-001";
    let with = |verdict: &str| {
        let of_verdict = files.iter().filter(|file| file["verdict"] == verdict);
        of_verdict.filter(|file| !is_absent(file)).count()
    };
    let findings = files
        .iter()
        .flat_map(|file| file["findings"].as_array().unwrap());
    let findings: Vec<_> = findings.collect();
    let of = |severity: &str| {
        findings
            .iter()
            .filter(|f| f["severity"] == severity)
            .count()
    };
    let expected = serde_json::json!({
        "files": files.len() - 1,
        "absent": files.iter().filter(is_absent).count(),
        "accept": with("accept"),
        "recover": with("recover"),
        "reject": with("reject"),
        "events": add("events"),
        "details": add("details"),
        "missing": 0,
        "must": of("must"),
        "should": of("should"),
        "advice": of("advice"),
        "unreadable": 0,
    });
    assert_eq!(report["summary"], expected);
    assert_eq!(
        (files.len(), add("events"), add("details")),
        (18, 4956, 379)
    );
}

#[test]
fn a_closed_output_changes_no_exit_status() {
    let folder = TempDir::new().unwrap();
    Trace::clean(1).write(&folder.path().join("a")).unwrap();
    let mut broken = Trace::clean(1);
    broken.patch(INDEX, 0, b"NONE");
    broken.write(&folder.path().join("b")).unwrap();
    for form in ["text", "json", "tap", "junit", "html"] {
        for (path, expected) in [("a", 0), (".", 1)] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
            check.args(["check", path, "--report", form]);
            let check = check.current_dir(&folder).stdout(writer).output().unwrap();
            let found = (check.status.code(), check.stderr.as_slice());
            assert_eq!(found, (Some(expected), &b""[..]), "{form} of {path}");
        }
    }
}
