//! Tests `spec`.

use std::fs;

use crate::{changed_spec, files, real_spec, run, temp, utf8};

/// Every subcommand rejects a spec with faults, and shows the faults.
#[test]
fn one_changed_offset_is_refused_at_its_line_and_nothing_is_generated() {
    let old = "1: { offset: 28, type: u32, none: 0xFFFFFFFF }";
    let new = "1: { offset: 24, type: u32, none: 0xFFFFFFFF }";
    let spec = changed_spec("records/index_event.yaml", old, new);
    let text = fs::read_to_string(spec.path().join("records/index_event.yaml")).expect("the copy");
    let line = text.lines().position(|line| line.contains(new));
    let line = line.expect("the change") + 1;
    let out = temp();
    let out_path = utf8(out.path());
    for arguments in [
        &["spec", "check"][..],
        &["spec", "conflicts"],
        &["spec", "why", "index_event"],
        &["generate", "--out", out_path],
        &["generate", "--check", "--out", out_path],
    ] {
        let ran = run(spec.path(), arguments);
        ran.fails(1);
        let place = format!("--> records/index_event.yaml:{line}:20\n");
        ran.reports("index_event.detail_seq.layout is 4 bytes at 24 in wire version 1\n");
        ran.reports(&place);
        ran.reports("the sources say 4 bytes at 28");
        ran.reports("= note: at `fields[5].wire.1.offset`");
        let count = format!("\n{} faults\n", ran.stderr.matches("error: ").count());
        assert!(ran.stderr.ends_with(&count), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\x1b'), "{}", ran.stderr);
    }
    assert!(files(out.path()).is_empty());
}

#[test]
fn a_consistent_spec_is_summarized() {
    let ran = run(&real_spec(), &["spec", "check"]);
    ran.succeeds();
    assert!(ran.stdout.starts_with("the spec is consistent: "));
    ran.prints(" disagreements, all settled, ");
}

#[test]
fn why_explains_everything_in_the_spec() {
    let source = fs::read_to_string(real_spec().join("sources/S0.yaml")).expect("a source");
    let claimed = |line: &str| line.contains(r#"field: reserved, type: "u8[28]""#);
    let line = source.lines().position(claimed).expect("S0 claims it") + 1;
    let place = &*format!("[sources/S0.yaml:{line}:");
    let subjects: [(&str, &[&str]); 11] = [
        // A field: both wire versions, the claims, each with its place, and the decision.
        (
            "index_footer.reserved",
            &["24 bytes at 40 (states)", "conflict: 24 bytes at 40", place],
        ),
        ("index_event.call_depth", &["wire version 2: absent"]),
        ("index_event.timestamp_ns", &["all agree"]),
        // A field that has rules.
        ("index_footer.checksum", &["ATF-IFTR-004: "]),
        // A record: the stated sizes, and the totals of its fields.
        ("detail_header", &["60 (adds up to)"]),
        // An enumeration and a topic.
        ("os", &["absent (omits it)"]),
        ("checksum.algorithm", &["conflict: CRC-32C"]),
        // A silence.
        (
            "footer.damaged",
            &["no source answers this", "tested by: ATF-IFTR-002"],
        ),
        // A rule.
        (
            "ATF-IFTR-002",
            &[
                "severity: must; a reader: reject",
                "settled by: footer.damaged",
            ],
        ),
        // One property, as `spec conflicts` lists it.
        ("os.windows", &["conflict: 5 is Windows"]),
        (
            "index_event.detail_seq.none",
            &["18446744073709551615 (states)"],
        ),
    ];
    for (subject, answers) in subjects {
        let ran = run(&real_spec(), &["spec", "why", subject]);
        ran.succeeds();
        for answer in answers {
            ran.prints(answer);
        }
    }
}

#[test]
fn why_of_an_unknown_subject_is_a_usage_error() {
    for subject in [
        "index_footer.nothing",
        "nothing",
        "index_footer.",
        "",
        "os.beos",
    ] {
        let ran = run(&real_spec(), &["spec", "why", subject]);
        ran.fails(2);
        let says = format!("atf-codegen: the spec has no `{subject}`; name RECORD.FIELD");
        assert!(ran.stderr.starts_with(&says), "{}", ran.stderr);
    }
}

#[test]
fn diff_shows_moved_added_and_removed_fields() {
    let ran = run(&real_spec(), &["spec", "diff", "1", "2"]);
    ran.succeeds();
    let lines = [
        "index_footer: the same",
        "- _reserved2     u32 at 20",
        "~ event_count    u32 at 28 → u64 at 24",
        "~ version        u8 at 5 = 1 → u8 at 5 = 2",
        "+ _reserved      u8[7] at 25",
        "~ detail_seq     u32 at 28, 0xffffffff means none → u64 at 16, 0xffffffffffffffff means none",
        "ATF_NO_DETAIL_SEQ: u32 0xffffffff → u64 0xffffffffffffffff",
    ];
    for line in lines {
        let is_there = ran.stdout.lines().any(|found| found.trim_start() == line);
        assert!(is_there, "{line} in\n{}", ran.stdout);
    }
    let same = run(&real_spec(), &["spec", "diff", "1", "1"]).stdout;
    let is_same = |line: &str| line.ends_with(": the same");
    assert!(same.lines().all(is_same), "{same}");
}

#[test]
fn diff_with_an_unknown_wire_version_is_a_usage_error() {
    for (version, says) in [("9", "there is no wire version 9"), ("300", "300")] {
        let ran = run(&real_spec(), &["spec", "diff", "1", version]);
        ran.fails(2);
        ran.reports(says);
    }
}

#[test]
fn conflicts_lists_every_decision_with_its_claims() {
    let ran = run(&real_spec(), &["spec", "conflicts"]);
    ran.succeeds();
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = [
        "conflict on index_footer.reserved",
        "index_footer.reserved.layout: 28 bytes at 40 (S0, S1) · 24 bytes at 40 (S2)",
        "split on index_header.version",
        "os.windows: 5 (S0, S1, S2, S3) · absent (S1, S4)",
        "disagreements, all found by the compiler.",
    ];
    for text in expected {
        assert!(said.contains(text), "{text} in\n{}", ran.stdout);
    }
}
