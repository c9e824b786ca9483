//! Tests that a cause follows from the differences of a failure.

use std::collections::{BTreeMap, BTreeSet};

use atf_conformance::cause::table::KNOWN;
use atf_conformance::cause::{Cause, Causes, MAY_BE, crash, settle_charges};
use atf_conformance::results::{CaseResult, Difference, Failure, Grade, Outcome, Role};
use atf_conformance::rules;

/// The grade, place, expected value, given value and rule of a difference.
type Given<'a> = (Grade, &'a str, &'a str, &'a str, &'a str);

/// Makes a failure with these differences.
fn result(class: Failure, differences: &[Given<'_>]) -> CaseResult {
    let difference = |(grade, place, expected, got, rule): &Given<'_>| Difference {
        grade: *grade,
        rule: Some((*rule).to_owned()),
        ..Difference::in_data(*place, *expected, *got)
    };
    let outcome = Outcome::Failed {
        class,
        message: "killed by signal 11 (SIGSEGV)".to_owned(),
        differences: differences.iter().map(difference).collect(),
    };
    CaseResult {
        rules: vec!["ATF-IFTR-002".to_owned()],
        ..CaseResult::new(0, Role::Read, "v1/case", outcome)
    }
}

fn cause(case: &CaseResult) -> Option<Cause> {
    Causes::new(std::slice::from_ref(case)).of(case)
}

fn id(class: Failure, differences: &[Given<'_>]) -> String {
    cause(&result(class, differences)).unwrap().id
}

#[test]
fn a_cause_follows_from_the_rule_the_field_and_the_direction() {
    use Failure::{WrongAccept, WrongDecode, WrongLabel, WrongReject};
    use Grade::{Data, Label};
    #[rustfmt::skip]
    let causes = [
        (WrongAccept, (Data, "verdict", "reject", "accept", "ATF-IFTR-004"), "checksum-unnoticed"),
        (WrongLabel, (Label, "threads[0].index.derived.checksum", "\"bad\"", "\"good\"", "ATF-DFTR-004"), "checksum-unnoticed"),
        (WrongLabel, (Label, "derived.checksum", "\"good\"", "\"bad\"", "ATF-IFTR-004"), "checksum-false-alarm"),
        // The reader did not verify the checksum, so it reported no mismatch.
        (WrongLabel, (Label, "derived.checksum", "\"good\"", "\"not_checked\"", "ATF-IFTR-004"), "label-checksum"),
        (WrongAccept, (Data, "verdict", "recover or reject", "accept", "ATF-IFTR-004"), "checksum-unnoticed"),
        // An invented event does not show whether the reader noticed the mismatch.
        (WrongDecode, (Data, "events[6]", "nothing", "{}", "ATF-IFTR-004"), "data:ATF-IFTR-004:events:invented"),
        (WrongReject, (Data, "verdict", "accept or recover", "reject", "ATF-RDER-003"), "thread-spoils-session"),
        (WrongReject, (Data, "verdict", "accept", "reject", "ATF-IHDR-012"), "reserved-refused"),
        (WrongDecode, (Data, "events[6]", "nothing", "{}", "ATF-IFTR-011"), "zero-tail"),
        (WrongDecode, (Data, "threads[1]", "{}", "nothing", "ATF-MANI-003"), "manifest-needed"),
        (WrongDecode, (Data, "threads[1]", "nothing", "{}", "ATF-MANI-003"), "manifest-threads"),
        (WrongDecode, (Data, "events[3].call_depth", "1", "2", "ATF-XXXX-001"), "misread:events.call_depth"),
        // Only one field is wrong, so the case's rules do not matter.
        (WrongDecode, (Data, "threads[0].index.footer.time_end_ns", "1", "2", "ATF-IHDR-017"), "misread:footer.time_end_ns"),
        (WrongReject, (Data, "verdict", "accept", "reject", "ATF-IHDR-002"), "refused"),
        (WrongReject, (Data, "verdict", "recover", "reject", "ATF-IFTR-012"), "unfinalized-lost"),
        (WrongLabel, (Label, "derived.count_source", "\"footer\"", "\"file_size\"", "ATF-IFTR-011"), "label-count-source"),
        (Failure::Rule, (Data, "thread_0/index.atf: footer.checksum", "1", "2", "ATF-IFTR-005"), "writes:ATF-IFTR-005"),
        (Failure::Timeout, (Data, "answer", "a document", "still running", "ATF-DEVT-001"), "timeout:ATF-DEVT-001"),
    ];
    for (class, difference, cause) in causes {
        assert_eq!(id(class, &[difference]), cause, "{difference:?}");
    }
}

#[test]
fn only_observations_are_stated_as_facts() {
    let title = |class, difference: Given<'_>| cause(&result(class, &[difference])).unwrap().title;
    let accepts = |rule| {
        let difference = (Grade::Data, "verdict", "recover or reject", "accept", rule);
        title(Failure::WrongAccept, difference)
    };
    assert_eq!(accepts("ATF-IFTR-004"), "checksum mismatch not noticed");
    // The answer does not show why the reader accepts the file.
    let trusted = "may be: footer's count trusted, not checked";
    assert_eq!(accepts("ATF-IFTR-002"), trusted);
    let loses = (Grade::Data, "events[5]", "{}", "nothing", "ATF-IFTR-009");
    let one_place = "may be: footer looked for in one place only";
    assert_eq!(title(Failure::WrongDecode, loses), one_place);
    // A line in the standard error of a crash need not be where it crashed.
    let mut crash = result(Failure::Crash, &[]);
    crash.stderr = "reader.c:12: warning: no footer\n".to_owned();
    let named = "crash (SIGSEGV), stderr names reader.c:12";
    assert_eq!(cause(&crash).unwrap().title, named);
}

#[test]
fn data_outranks_labels_and_crashes_are_grouped_by_line() {
    let data = (Grade::Data, "verdict", "reject", "accept", "ATF-IFTR-002");
    let (place, footer, size) = ("derived.count_source", "\"footer\"", "\"file_size\"");
    let label = (Grade::Label, place, footer, size, "ATF-IFTR-002");
    assert_eq!(id(Failure::WrongAccept, &[data, label]), "count-believed");
    let verdict = (Grade::Label, "verdict", "recover", "accept", "ATF-IFTR-013");
    assert_eq!(id(Failure::WrongLabel, &[verdict]), "label-accept");
    let lost = (
        Grade::Data,
        "events[3]",
        "an event",
        "nothing",
        "ATF-IFTR-013",
    );
    assert_ne!(id(Failure::WrongDecode, &[lost]), "footer-as-events");
    let answer = (Grade::Data, "answer", "a document", "none", "ATF-IFTR-002");
    let mut crash = result(Failure::Crash, &[answer]);
    assert_eq!(cause(&crash).unwrap().id, "crash:SIGSEGV:ATF-IFTR");
    crash.stderr = "reader.c:88: read_all: Assertion failed\n".to_owned();
    assert_eq!(cause(&crash).unwrap().id, "crash:SIGSEGV:reader.c:88");
    crash.outcome = Outcome::Passed;
    assert_eq!(cause(&crash), None);
}

#[test]
fn a_writers_mistake_is_charged_as_in_finalized_scripts() {
    let place = "thread_0/index.atf: events[0].detail_seq";
    let of = |rule, is_clean| {
        let difference = (Grade::Data, place, "-1", "4294967295", rule);
        let mut case = result(Failure::Rule, &[difference]);
        case.role = Role::Write;
        case.files.is_clean = is_clean;
        case
    };
    let mut cases = [of("ATF-LINK-005", false), of("ATF-LINK-001", true)];
    settle_charges(&mut cases);
    let groups = Causes::new(&cases).groups();
    assert_eq!(groups[0].cause.id, "writes:ATF-LINK-001");
    assert_eq!(groups[0].cases.len(), 2);
    // If a header must not be rewritten at all, its values do not matter.
    let mut cases = [of("ATF-WRTR-001", false), of("ATF-LINK-001", true)];
    settle_charges(&mut cases);
    assert_eq!(Causes::new(&cases).groups().len(), 2);
}

#[test]
fn a_failure_with_wrong_data_is_the_example_of_a_cause() {
    let links = (
        Grade::Label,
        "derived.dangling_links",
        "0",
        "1",
        "ATF-IEVT-006",
    );
    let merged = (Grade::Data, "derived.merged[0]", "0", "1", "ATF-IEVT-006");
    let cases = [
        result(Failure::WrongLabel, &[links]),
        result(Failure::WrongDecode, &[merged]),
    ];
    let groups = Causes::new(&cases).groups();
    let all: Vec<_> = groups[0].cases.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(all, [1, 0]);
}

#[test]
fn each_cause_has_one_name_that_fits_on_a_line_and_names_rules_of_the_spec() {
    let mut titles = BTreeMap::new();
    for known in KNOWN {
        assert_eq!(*titles.entry(known.id).or_insert(known.title), known.title);
        let guess = if known.is_seen { "" } else { MAY_BE };
        assert!(guess.len() + known.title.len() <= 46, "{}", known.title);
        let mut same = KNOWN.iter().filter(|other| other.id == known.id);
        let is_same = same.all(|other| other.is_seen == known.is_seen);
        assert!(is_same, "{}", known.id);
        for rule in known.rules {
            let id = format!("ATF-{}", rule.trim_end_matches('*'));
            let mut all = rules::ALL.iter();
            assert!(all.any(|known| known.id.starts_with(&id)), "{rule}");
        }
    }
    let unique: BTreeSet<_> = titles.values().collect();
    assert_eq!(unique.len(), titles.len());
}

#[test]
fn a_crash_is_located_in_the_output_of_each_language() {
    let python = "Traceback (most recent call last):\n  File \"/a/testee.py\", line 70, in main\n    \
                  main()\n  File \"/a/index.py\", line 12, in read\n    x[5]\nIndexError: out of range\n";
    let rust = "\nthread 'main' (12) panicked at src/read.rs:120:9:\nindex out of bounds\n";
    let assertion = "reader: reader.c:88: read_all: Assertion `size >= 64' failed.\n";
    let sanitizer = "==1==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x55 in walk /src/detail.cpp:41:7\n";
    let go =
        "panic: runtime error\n\ngoroutine 1 [running]:\nmain.read(...)\n\t/src/read.go:17 +0x1d\n";
    for (stderr, expected) in [
        (python, Some("index.py:12")),
        (rust, Some("read.rs:120")),
        (assertion, Some("reader.c:88")),
        (sanitizer, Some("detail.cpp:41")),
        (go, Some("read.go:17")),
        ("warning: footer\nhttp://x.org:80/ at 12:30:00\n", None),
        ("", None),
    ] {
        assert_eq!(crash::place(stderr).as_deref(), expected, "{stderr}");
    }
}

#[test]
fn the_end_of_a_process_is_described_in_a_word_or_two() {
    for (message, how) in [
        ("killed by signal 11 (SIGSEGV)", "SIGSEGV"),
        ("killed by signal 31", "signal 31"),
        ("exit code 101, which has no meaning", "exit code 101"),
    ] {
        assert_eq!(crash::how(message), how);
    }
}
