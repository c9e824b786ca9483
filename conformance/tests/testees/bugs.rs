//! Tests that planted bugs are caught, and that the report names the broken rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::programs::{self, Testee};

/// The planted bugs, each with a case or script that must catch it and the class of the failure.
const TABLE: &[(&str, &str, &str)] = &[
    ("count-trusted", "v1/iftr-002-a-billion", "crash"),
    ("count-allocated", "v1/iftr-002-a-billion", "memory"),
    ("count-phantom", "v1/iftr-002-one-too-many", "wrong-decode"),
    (
        "detail-count-phantom",
        "v1/dftr-002-one-too-many",
        "wrong-decode",
    ),
    ("header-count-first", "v1/ihdr-014-5", "wrong-decode"),
    (
        "offset-wraps",
        "v1/ihdr-015-2-64-64-which-wraps-when-the-footer-is-added",
        "crash",
    ),
    (
        "events-offset-ignored",
        "v1/ihdr-007-65-and-the-footer-says-otherwise",
        "wrong-decode",
    ),
    (
        "footer-as-events",
        "v1/ihdr-017-a-placeholder-with-footer-offset-64",
        "wrong-decode",
    ),
    (
        "magic-is-enough",
        "v1/iftr-001-and-a-first-timestamp-that-begins-as-a-footer",
        "wrong-decode",
    ),
    (
        "cut-footer-counted",
        "v1/iftr-012-32-of-its-bytes-under-a-placeholder",
        "wrong-decode",
    ),
    (
        "mapping-overrun",
        "v1/iftr-001-at-the-end-of-a-page",
        "crash",
    ),
    (
        "zero-tail-counted",
        "v1/iftr-011-64-kib-of-zeros",
        "wrong-decode",
    ),
    (
        "last-details-lost",
        "v1/dftr-001-never-finalized",
        "wrong-decode",
    ),
    (
        "footer-in-a-payload",
        "v1/dftr-001-a-stack-that-ends-as-a-footer-whose-numbers-fit",
        "wrong-reject",
    ),
    (
        "hole-dropped",
        "v1/ievt-006-one-event-no-checksum",
        "wrong-decode",
    ),
    (
        "garbage-behind-footer",
        "v1/iftr-009-one-byte",
        "wrong-reject",
    ),
    (
        "other-layout-read",
        "v1/ihdr-005-the-layout-of-version-2-with-32-events",
        "wrong-accept",
    ),
    (
        "checksum-ignored",
        "v1/iftr-004-one-bit-off",
        "wrong-accept",
    ),
    (
        "ieee-accepted",
        "v1/iftr-005-the-ieee-crc-32",
        "wrong-accept",
    ),
    ("thread-ids-refused", "v1/ievt-003-8", "wrong-reject"),
    (
        "reserved-refused",
        "v1/ihdr-012-the-last-of-three-bytes",
        "wrong-reject",
    ),
    ("unknown-kind-fails", "v1/ievt-002-4", "crash"),
    (
        "footer-order-swapped",
        "v1/dftr-007-a-nanosecond-early",
        "wrong-decode",
    ),
    ("zero-length-hangs", "v1/devt-001-0", "timeout"),
    (
        "length-past-end",
        "v1/devt-002-past-the-end-of-the-file",
        "crash",
    ),
    (
        "length-into-footer",
        "v1/devt-002-one-byte-into-the-footer",
        "wrong-label",
    ),
    ("payload-always-function", "v1/dpay-002-none", "crash"),
    (
        "links-not-followed",
        "v1/link-001-to-an-event-behind-the-last",
        "wrong-decode",
    ),
    (
        "links-one-way",
        "v1/link-001-to-anothers-event",
        "wrong-decode",
    ),
    (
        "one-corrupt-thread",
        "v1/ihdr-002-nonsense-in-one-thread-of-two",
        "wrong-reject",
    ),
    ("listed-twice", "v1/mani-004-thread-7-twice", "wrong-decode"),
    (
        "path-in-id",
        "v1/mani-003-a-path-to-a-thread-elsewhere",
        "outside",
    ),
    (
        "path-behind-thread",
        "v1/mani-003-a-path-through-a-threads-folder-and-up",
        "outside",
    ),
    (
        "numbers-for-threads",
        "v1/mani-003-0-in-place-of-a-thread",
        "crash",
    ),
    (
        "id-wraps",
        "v1/mani-003-an-id-that-is-9-in-32-bits",
        "wrong-decode",
    ),
    (
        "symbolic-links-followed",
        "v1/sess-003-a-link-to-a-threads-folder",
        "wrong-decode",
    ),
    ("manifest-needed", "v1/mani-002-empty", "wrong-reject"),
    (
        "time-from-empty-thread",
        "v1/mani-008-a-thread-without-events-beside-others",
        "wrong-decode",
    ),
    ("short-header-aborts", "v1/ihdr-001-63-bytes", "crash"),
    (
        "cut-event-hangs",
        "v1/iftr-010-one-byte-of-the-sixth",
        "timeout",
    ),
    ("garbage-printed", "v1/ihdr-003-0", "garbage"),
    ("writes-ieee", "v1/write-exception", "rule"),
    ("writes-stale-checksum", "v1/write-exception", "rule"),
    ("writes-count-off-by-one", "v1/write-exception", "rule"),
    ("writes-other-footer", "v1/write-exception", "rule"),
    ("writes-no-times", "v1/write-exception", "rule"),
    ("writes-header-count-less", "v1/write-exception", "rule"),
    ("writes-other-version", "v1/write-exception", "rule"),
    ("writes-no-flag", "v1/write-one-detail", "rule"),
    ("writes-zero-for-none", "v1/write-exception", "rule"),
    ("writes-index-seq-from-1", "v1/write-one-detail", "rule"),
    ("writes-other-time", "v1/write-one-detail", "rule"),
    ("writes-payload-length", "v1/write-one-detail", "rule"),
    ("writes-thread-0", "v1/write-extreme-threads", "rule"),
    ("writes-open-range", "v1/write-one-detail", "rule"),
    (
        "writes-half-a-detail",
        "v1/write-abort-with-small-details",
        "wrong-file",
    ),
    (
        "writes-at-the-end",
        "v1/write-kill-after-flush",
        "wrong-file",
    ),
    ("writes-header-first", "v1/write-full-disk", "wrong-file"),
    (
        "writes-on-a-full-disk",
        "v1/write-full-disk-recovers",
        "rule",
    ),
    ("writes-no-footer", "v1/write-exception", "wrong-file"),
    ("writes-placeholder", "v1/write-exception", "wrong-file"),
    ("writes-crash", "v1/write-64-kib-payload", "crash"),
    ("writes-hang", "v1/write-equal-timestamps", "timeout"),
];

#[test]
fn each_planted_bug_is_caught_by_a_case_of_its_rule() {
    let Some(testee) = programs::python() else {
        return;
    };
    let planted = planted(&testee);
    let known: Vec<_> = planted.keys().map(String::as_str).collect();
    let mut listed: Vec<_> = TABLE.iter().map(|(bug, ..)| *bug).collect();
    listed.sort_unstable();
    assert_eq!(listed, known);
    let halves = TABLE.chunks(TABLE.len().div_ceil(2));
    let rows: Vec<_> = thread::scope(|scope| {
        let halves = halves.map(|half| scope.spawn(|| rows(half, &planted)));
        let halves: Vec<_> = halves.collect();
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    let missed: Vec<_> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert_documented(&rows.into_iter().flatten().collect::<String>());
}

const HEAD: &str = "\
# Planted bugs

<!-- Generated by `ATF_BLESS=1 cargo test -p atf-conformance --test testees bugs`. Without the variable, the test
fails if this file is out of date. -->

Mistakes of real implementations, planted in the [Python implementation](../../conformance/testees/python). For
each, the table shows a case that catches it, how the case fails, and the rule and cause in the report. To try one,
use `testee.py --bug NAME` in its `TESTEE.toml`.

| bug | what it does | role | case | class | rule | cause |
|---|---|---|---|---|---|---|
";

/// Checks that the table in the documentation matches the runs.
fn assert_documented(rows: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance/planted-bugs.md");
    let text = format!("{HEAD}{rows}");
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// A bug, as listed by `testee.py --bugs`.
struct Bug {
    role: String,
    rule: String,
    words: String,
}

fn planted(testee: &Testee) -> BTreeMap<String, Bug> {
    let list = programs::succeeds(Command::new(testee.folder().join("testee.py")).arg("--bugs"));
    let bug = |line: &str| {
        let words: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [name, role, rule, words] = words.try_into().unwrap();
        (name, Bug { role, rule, words })
    };
    list.lines().map(bug).collect()
}

/// Returns one line of the table per bug, or a message if the kit missed the bug or reported a
/// different one.
fn rows(
    table: &[(&str, &str, &str)],
    planted: &BTreeMap<String, Bug>,
) -> Vec<Result<String, String>> {
    let row = |(bug, name, class): &(&str, &str, &str)| {
        let Bug { role, rule, words } = &planted[*bug];
        let (code, case) = caught(bug, name, role, class);
        let seen = case["class"].as_str();
        // The report must show a difference.
        let shows = case["differences"][0].is_object();
        let got = (code, seen, names(&case, rule), shows);
        if got != (Some(1), Some(*class), true, true) {
            return Err(format!("{bug}: {rule}, {class}: {got:?}: {case}"));
        }
        let (name, seen) = (case["case"].as_str().unwrap(), seen.unwrap());
        let by = if role == "write" { "writer" } else { "reader" };
        let link = format!("../reference/rules.md#{}", rule.to_lowercase());
        let cause = case["cause"]["title"].as_str().unwrap();
        Ok(format!(
            "| `{bug}` | {words} | {by} | `{name}` | {seen} | [{rule}]({link}) | {cause} |\n"
        ))
    };
    table.iter().map(row).collect()
}

/// Returns whether a failure points to the rule. If any difference names a rule, only the
/// differences count. Otherwise, the rule must be tested by the case or named in a note on a
/// writer's files.
fn names(case: &Value, rule: &str) -> bool {
    let notes = case["notes"].as_array().into_iter().flatten();
    let mut notes = notes.filter_map(|note| note["rule"].as_str());
    let differences = case["differences"].as_array().into_iter().flatten();
    let named: Vec<_> = differences.filter_map(|it| it["rule"].as_str()).collect();
    if named.is_empty() {
        let rules = case["rules"].as_array().into_iter().flatten();
        return rules.into_iter().any(|own| own == rule) || notes.any(|note| note.contains(rule));
    }
    named.contains(&rule)
}

/// Returns the kit's exit code and the result of the case.
fn caught(bug: &str, name: &str, role: &str, class: &str) -> (Option<i32>, Value) {
    let testee = programs::python().unwrap();
    let text = fs::read_to_string(testee.manifest()).unwrap();
    let text = text.replace(
        "\"./testee.py\", ",
        &format!("\"./testee.py\", \"--bug\", \"{bug}\", "),
    );
    fs::write(testee.manifest(), text).unwrap();
    // A program that never ends runs until the time limit.
    let seconds = if class == "timeout" { "15" } else { "60" };
    let limits = ["--memory-limit", "200", "--time-limit", seconds];
    let arguments = [&["--case", name, "--role", role], &limits[..]].concat();
    let (code, report) = programs::run(&[&testee], &arguments);
    let cases = report["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["case"] == name);
    let mut case = case.cloned().unwrap_or(report.clone());
    // Replace the id of the cause with the cause itself.
    let causes = report["causes"].as_array().unwrap();
    let cause = causes.iter().find(|cause| cause["id"] == case["cause"]);
    case["cause"] = cause.cloned().unwrap_or_default();
    (code, case)
}
