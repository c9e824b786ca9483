//! Tests that planted bugs are caught, and that the report names the broken rule.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::{fs, thread};

use atf_conformance::cause::Causes;
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{Failure, Grading, Results, Role};
use atf_conformance::run::{Candidate, Limits, Options, Select, Smoke, exit_code, run, tasks};
use tempfile::TempDir;

use crate::programs::{self, Testee};

/// The planted bugs, each with a case or script that must catch it, the class of the failure, the
/// rule that it must break or, if no rule covers it, the field of the format, and the field that
/// differs. Any other rule or field is wrong.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str, &str)] = &[
    ("ranges-by-headers", "v1/query-iftr-001-in-one-thread-and-no-manifest", "wrong-decode", "ATF-RDER-008", "events from=1234566999999000 to=1234567000099000"),
    ("links-by-position", "v1/query-clean-session", "wrong-decode", "ATF-LINK-001", "detail thread=7 index=1"),
    ("count-trusted", "v1/iftr-002-a-billion", "crash", "ATF-IFTR-002", "answer"),
    ("count-allocated", "v1/iftr-002-a-billion", "memory", "ATF-IFTR-002", "answer"),
    ("count-phantom", "v1/iftr-002-one-too-many", "wrong-decode", "ATF-IFTR-002", "events"),
    ("detail-count-phantom", "v1/dftr-002-one-too-many", "wrong-decode", "ATF-DFTR-002", "events"),
    ("header-count-first", "v1/ihdr-014-5", "wrong-decode", "ATF-IHDR-014", "events"),
    ("offset-wraps", "v1/ihdr-015-2-64-64-which-wraps-when-the-footer-is-added", "crash", "ATF-IHDR-015", "answer"),
    ("events-offset-ignored", "v1/ihdr-007-65-and-the-footer-says-otherwise", "wrong-decode", "ATF-IHDR-007", "events_offset"),
    ("footer-as-events", "v1/ihdr-017-a-placeholder-with-footer-offset-64", "wrong-decode", "ATF-IHDR-017", "events"),
    ("magic-is-enough", "v1/iftr-001-and-a-first-timestamp-that-begins-as-a-footer", "wrong-decode", "ATF-RDER-001", "events"),
    ("cut-footer-counted", "v1/iftr-012-32-of-its-bytes-under-a-placeholder", "wrong-decode", "ATF-IFTR-012", "events"),
    ("mapping-overrun", "v1/iftr-001-at-the-end-of-a-page", "crash", "ATF-IFTR-001", "answer"),
    ("zero-tail-counted", "v1/iftr-011-64-kib-of-zeros", "wrong-decode", "ATF-IFTR-011", "events"),
    ("last-details-lost", "v1/dftr-001-never-finalized", "wrong-decode", "ATF-RDER-001", "events"),
    ("footer-in-a-payload", "v1/dftr-001-a-stack-that-ends-as-a-footer-whose-numbers-fit", "wrong-reject", "ATF-DFTR-001", "verdict"),
    ("hole-dropped", "v1/ievt-006-one-event-no-checksum", "wrong-decode", "ATF-IEVT-006", "timestamp_ns"),
    ("garbage-behind-footer", "v1/iftr-009-one-byte", "wrong-reject", "ATF-IFTR-009", "verdict"),
    ("other-layout-read", "v1/ihdr-005-the-layout-of-version-2-with-32-events", "wrong-accept", "ATF-IHDR-005", "verdict"),
    ("checksum-ignored", "v1/iftr-004-one-bit-off", "wrong-accept", "ATF-IFTR-004", "verdict"),
    ("ieee-accepted", "v1/iftr-005-the-ieee-crc-32", "wrong-accept", "ATF-IFTR-005", "verdict"),
    ("thread-ids-refused", "v1/ievt-003-8", "wrong-reject", "ATF-IEVT-003", "verdict"),
    ("reserved-refused", "v1/ihdr-012-the-last-of-three-bytes", "wrong-reject", "ATF-IHDR-012", "verdict"),
    ("unknown-kind-fails", "v1/ievt-002-4", "crash", "ATF-IEVT-002", "answer"),
    ("footer-order-swapped", "v1/dftr-007-a-nanosecond-early", "wrong-decode", "detail_footer.bytes_length", "bytes_length"),
    ("zero-length-hangs", "v1/devt-001-0", "timeout", "ATF-DEVT-001", "answer"),
    ("length-past-end", "v1/devt-002-past-the-end-of-the-file", "crash", "ATF-DEVT-002", "answer"),
    ("length-into-footer", "v1/devt-002-one-byte-into-the-footer", "wrong-label", "ATF-DEVT-002", "verdict"),
    ("payload-always-function", "v1/dpay-002-none", "crash", "ATF-DPAY-002", "answer"),
    ("links-not-followed", "v1/link-001-to-an-event-behind-the-last", "wrong-decode", "ATF-LINK-001", "dangling_links"),
    ("links-one-way", "v1/link-001-to-anothers-event", "wrong-decode", "ATF-LINK-001", "dangling_links"),
    ("one-corrupt-thread", "v1/ihdr-002-nonsense-in-one-thread-of-two", "wrong-reject", "ATF-RDER-003", "verdict"),
    ("listed-twice", "v1/mani-004-thread-7-twice", "wrong-decode", "ATF-MANI-004", "threads"),
    ("path-in-id", "v1/mani-003-a-path-to-a-thread-elsewhere", "outside", "ATF-MANI-003", "answer"),
    ("path-behind-thread", "v1/mani-003-a-path-through-a-threads-folder-and-up", "outside", "ATF-MANI-003", "answer"),
    ("numbers-for-threads", "v1/mani-003-0-in-place-of-a-thread", "crash", "ATF-MANI-003", "answer"),
    ("id-wraps", "v1/mani-003-an-id-that-is-9-in-32-bits", "wrong-decode", "ATF-MANI-003", "threads"),
    ("symbolic-links-followed", "v1/sess-003-a-link-to-a-threads-folder", "wrong-decode", "ATF-SESS-003", "threads"),
    ("manifest-needed", "v1/mani-002-empty", "wrong-reject", "ATF-MANI-002", "verdict"),
    ("time-from-empty-thread", "v1/mani-008-a-thread-without-events-beside-others", "wrong-decode", "ATF-RDER-013", "time_start_ns"),
    ("short-header-aborts", "v1/ihdr-001-63-bytes", "crash", "ATF-IHDR-001", "answer"),
    ("cut-event-hangs", "v1/iftr-010-one-byte-of-the-sixth", "timeout", "ATF-IFTR-010", "answer"),
    ("garbage-printed", "v1/ihdr-003-0", "garbage", "ATF-IHDR-003", "answer"),
    ("writes-ieee", "v1/write-exception", "rule", "ATF-IFTR-005", "checksum"),
    ("writes-stale-checksum", "v1/write-exception", "rule", "ATF-IFTR-004", "checksum"),
    ("writes-count-off-by-one", "v1/write-exception", "rule", "ATF-IFTR-002", "event_count"),
    ("writes-other-footer", "v1/write-exception", "rule", "ATF-IFTR-003", "bytes_written"),
    ("writes-no-times", "v1/write-exception", "rule", "ATF-IFTR-007", "time_start_ns"),
    ("writes-header-count-less", "v1/write-exception", "rule", "ATF-IHDR-014", "event_count"),
    ("writes-other-version", "v1/write-exception", "rule", "ATF-IHDR-005", "version"),
    ("writes-no-flag", "v1/write-one-detail", "rule", "ATF-IHDR-018", "flags"),
    ("writes-zero-for-none", "v1/write-exception", "rule", "ATF-LINK-001", "detail_seq"),
    ("writes-index-seq-from-1", "v1/write-one-detail", "rule", "ATF-LINK-003", "index_seq"),
    ("writes-other-time", "v1/write-one-detail", "rule", "ATF-LINK-006", "timestamp"),
    ("writes-payload-length", "v1/write-one-detail", "rule", "ATF-DEVT-002", "total_length"),
    ("writes-thread-0", "v1/write-extreme-threads", "rule", "ATF-IEVT-003", "thread_id"),
    ("writes-open-range", "v1/write-one-detail", "rule", "ATF-DHDR-011", "index_seq_end"),
    ("writes-half-a-detail", "v1/write-abort-with-small-details", "wrong-file", "ATF-DFTR-010", "payload"),
    ("writes-at-the-end", "v1/write-kill-after-flush", "wrong-file", "ATF-WRTR-008", "the number of events"),
    ("writes-header-first", "v1/write-full-disk", "wrong-file", "ATF-WRTR-001", "event_count"),
    ("writes-on-a-full-disk", "v1/write-full-disk-recovers", "rule", "ATF-IFTR-002", "event_count"),
    ("writes-no-footer", "v1/write-exception", "wrong-file", "ATF-IFTR-001", "magic"),
    ("writes-placeholder", "v1/write-exception", "wrong-file", "ATF-IHDR-017", "event_count"),
    ("writes-crash", "v1/write-64-kib-payload", "crash", "no rule", "script"),
    ("writes-hang", "v1/write-equal-timestamps", "timeout", "no rule", "script"),
    ("writes-reopened", "v1/write-late-event", "wrong-file", "ATF-IFTR-001", "magic"),
    ("writes-short-paths", "v1/write-deep-folder", "crash", "no rule", "script"),
];

/// The minimum percentage of bugs for which the report must name the expected rule or field.
const TRUE: usize = 95;

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
        let halves = halves.map(|half| scope.spawn(|| rows(&testee, half, &planted)));
        let halves: Vec<_> = halves.collect();
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    let missed: Vec<_> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let wrong = rows.iter().filter_map(|row| row.wrong.as_ref());
    let wrong: Vec<_> = wrong.collect();
    let right = rows.len() - wrong.len();
    assert!(right * 100 >= rows.len() * TRUE, "{wrong:#?}");
    let share = format!("{right} of {}", rows.len());
    let rows: String = rows.into_iter().map(|row| row.text).collect();
    assert_documented(&share, &rows);
}

/// A row of the documented table.
struct Row {
    text: String,
    /// The rule or field that was reported, if it is not the expected one.
    wrong: Option<String>,
}

const HEAD: &str = "\
# Planted bugs

<!-- Generated by `ATF_BLESS=1 cargo test -p atf-conformance --test testees bugs`. Without the variable, the test
fails if this file is out of date. -->

Mistakes of real implementations, planted in the [Python implementation](../../conformance/testees/python). For
each, the table shows a case that catches it, how the case fails, and what the report names: the broken rule or field,
the field that differs, and the cause. To try one, use `testee.py --bug NAME` in its `TESTEE.toml`.

The rule or field expected for each bug was written down before the run. The report names the expected one for SHARE
bugs.

| bug | what it does | role | case | class | charged | differs | cause |
|---|---|---|---|---|---|---|---|
";

/// Checks that the table in the documentation matches the runs.
fn assert_documented(share: &str, rows: &str) {
    let path = programs::root().join("docs/conformance/planted-bugs.md");
    let text = format!("{}{rows}", HEAD.replace("SHARE", share));
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// A bug, as listed by `testee.py --bugs`.
struct Bug {
    role: String,
    words: String,
}

fn planted(testee: &Testee) -> BTreeMap<String, Bug> {
    let list = programs::succeeds(Command::new(testee.folder().join("testee.py")).arg("--bugs"));
    let bug = |line: &str| {
        let words: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [name, role, _, words] = words.try_into().unwrap();
        (name, Bug { role, words })
    };
    list.lines().map(bug).collect()
}

/// Returns one row of the table per bug, or a message if the kit missed the bug or reported a
/// failure of another class.
fn rows(
    python: &Testee,
    table: &[(&str, &str, &str, &str, &str)],
    planted: &BTreeMap<String, Bug>,
) -> Vec<Result<Row, String>> {
    let row = |(bug, name, class, rule, field): &(&str, &str, &str, &str, &str)| {
        let Bug { role, words } = &planted[*bug];
        let results = graded(python, bug, name, role, class);
        let case = results.cases.iter().find(|case| case.case == *name);
        let seen = case.and_then(|case| case.outcome.class().map(Failure::name));
        let difference = case.and_then(|case| case.outcome.differences().first());
        let cause = case.and_then(|case| Causes::new(&results.cases).of(case));
        let code = exit_code(&results);
        // The report must show a difference.
        let (1, Some(seen), Some(difference), Some(cause)) = (code, seen, difference, cause) else {
            return Err(format!("{bug}: {class}: {code}: {results:?}"));
        };
        if seen != *class {
            return Err(format!("{bug}: {class}: {seen}: {case:?}"));
        }
        let by = if role == "write" { "writer" } else { "reader" };
        let charged = difference.rule.as_deref().unwrap_or("no rule");
        let differs = difference.place.rsplit([':', '.']).next().unwrap();
        let differs = differs.split('[').next().unwrap().trim();
        let link = if charged.starts_with("ATF-") {
            let id = charged.to_lowercase();
            format!("[{charged}](../reference/rules.md#{id})")
        } else {
            format!("`{charged}`")
        };
        let cause = cause.title;
        let is_wrong = (charged, differs) != (*rule, *field);
        let wrong = format!("{bug}: {charged} {differs}, expected {rule} {field}");
        Ok(Row {
            text: format!(
                "| `{bug}` | {words} | {by} | `{name}` | {seen} | {link} | `{differs}` | {cause} |\n"
            ),
            wrong: is_wrong.then_some(wrong),
        })
    };
    table.iter().map(row).collect()
}

/// Grades the implementation with a bug on the case.
fn graded(python: &Testee, bug: &str, name: &str, role: &str, class: &str) -> Results {
    // Building the tasks takes longer than most bugs do.
    static TASKS: LazyLock<Vec<Box<dyn Smoke>>> = LazyLock::new(|| tasks(|_| false));
    let folder = TempDir::new().unwrap();
    let options = Options {
        kit: env!("CARGO_BIN_EXE_atf-conformance").into(),
        folder: folder.path().to_owned(),
        jobs: NonZero::<usize>::MIN,
        repeat: NonZero::<u32>::MIN,
        seed: 1,
        limits: Limits {
            // A program that never ends runs until the time limit.
            time: Duration::from_secs(if class == "timeout" { 2 } else { 60 }),
            memory: 200 << 20,
            ..Limits::default()
        },
        grading: Grading::All,
        interrupt: Arc::default(),
    };
    let role = Role::ALL.iter().find(|it| it.name() == role).unwrap();
    let select = Select::new(&[name.to_owned()], &[], &[*role]).unwrap();
    let manifest = Manifest::open(&python.planted(bug).manifest()).unwrap();
    let candidates = [Candidate::Manifest(Box::new(manifest))];
    run(&candidates, &TASKS, &select, &options, &|_, _| {}).unwrap()
}
