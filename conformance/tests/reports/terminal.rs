//! Tests the terminal reports.

use atf_conformance::results::{Failure, Grading, Outcome, Results, Role};
use atf_report::Form;

use atf_conformance::rules::Severity;

use crate::demo::{case, charged, demo, difference, empty, failed, note, testee};
use crate::{golden, plain, report};

#[test]
fn the_text_shows_failures_with_their_bytes_and_counts_by_group_of_rules() {
    golden("demo.txt", &plain(&demo(), Form::Text));
}

#[test]
fn the_matrix_of_writers_and_readers_has_a_cell_for_each_pair() {
    let mut results = demo();
    // Omit the results of the second writer with the second reader.
    let mut third = results.cross[0].clone();
    (third.writer, third.passed) = (1, 7);
    results.cross.push(third);
    let text = plain(&results, Form::Text);
    let (_, matrix) = text.split_once("writers by readers").unwrap();
    let rows: Vec<Vec<_>> = { matrix.lines().take(3) }
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows,
        [
            vec!["ada-c", "ada-py"],
            vec!["ada-c", "2", "1/2"],
            vec!["ada-py", "7"]
        ],
        "{text}"
    );
}

#[test]
fn the_matrix_shows_a_dash_if_everything_was_skipped() {
    let mut results = empty();
    results.testees = vec![testee("a", &[Role::Read])];
    let why = "feature detail".to_owned();
    results.cases = vec![
        case("v1/a", &["ATF-IHDR-001"], Outcome::Passed),
        case("v1/b", &["ATF-DHDR-001"], Outcome::Skipped { why }),
        case(
            "v1/c",
            &["ATF-LINK-001"],
            charged(Failure::Crash, "ATF-LINK-001"),
        ),
    ];
    results.cases[2].listed = Some("#1".to_owned());
    let text = plain(&results, Form::Text);
    let row = text.lines().find(|line| line.starts_with("a read "));
    // The columns are DHDR, IHDR, LINK with a known failure, all, and skipped.
    let words: Vec<_> = row.unwrap().split_whitespace().skip(2).collect();
    assert_eq!(words, ["-", "1", "0/1", "1/2", "1"], "{text}");
}

#[test]
fn the_last_messages_are_shown_and_the_others_counted() {
    let mut results = demo();
    let shown = |results: &Results| {
        let text = plain(results, Form::Text);
        let lines = text.lines().map(str::trim);
        let lines = lines.filter_map(|line| line.strip_prefix("stderr: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown(&results), ["warning: footer", "warning: count"]);
    results.cases[4].stderr = (0..100).map(|number| format!("line {number}\n")).collect();
    let lines = shown(&results);
    assert!((2..50).contains(&lines.len()), "{lines:?}");
    let first = 101 - lines.len();
    assert_eq!(lines[0], format!("… ({first} earlier lines)"));
    let last: Vec<_> = (first..100)
        .map(|number| format!("line {number}"))
        .collect();
    assert_eq!(lines[1..], last);
}

#[test]
fn empty_sections_are_omitted() {
    let mut results = empty();
    results.testees = vec![testee("a", &[Role::Read])];
    results.cases = vec![case("v1/a", &["ATF-IHDR-001"], Outcome::Passed)];
    let text = plain(&results, Form::Text);
    let end = "\n1 passed, 0 failed, 0 known, 0 skipped; 1 rule, 1.5 s\n\
               a: graded 100 %; data 1 of 1, labels 1 of 1\n\
               kit 0.1.0, spec 2.0, rules 1, corpus 1\n";
    assert!(text.ends_with(end), "{text}");
    for word in [
        "FAILED",
        "STALE",
        "NOT GRADED",
        "known  ",
        "with notes",
        "writers",
    ] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn only_a_run_without_problems_is_green() {
    const GREEN: &str = "\u{1b}[32m";
    let totals = |results| {
        let text = report(&results, Form::Text);
        let mut lines = text.lines();
        let line = lines.rfind(|line| line.contains(" skipped"));
        line.unwrap().starts_with(GREEN)
    };
    let mut good = empty();
    good.testees = vec![testee("a", &[Role::Read])];
    good.cases = vec![case("v1/a", &["ATF-IHDR-001"], Outcome::Passed)];
    assert!(totals(good.clone()));
    let mut listed = good.clone();
    listed.cases.push(case("v1/b", &[], failed(Failure::Crash)));
    assert!(!totals(listed.clone()));
    listed.cases[1].listed = Some("#1".to_owned());
    assert!(totals(listed));
    for fault in 0..3 {
        let mut results = good.clone();
        match fault {
            0 => results.testees[0].refused = Some("gone".to_owned()),
            1 => results.stale = vec!["line".to_owned()],
            _ => results.cross = demo().cross,
        }
        assert!(!totals(results), "{fault}");
    }
}

/// Returns the text about a difference whose dump has these bytes, from `offset`, and a field with
/// this offset and size.
fn text_of_dump(offset: u64, field: (u64, u64), bytes: Vec<u8>) -> String {
    let mut results = demo();
    let mut difference = difference();
    let dump = difference.hexdump.as_mut().unwrap();
    dump.offset = offset;
    (dump.field_offset, dump.field_size) = field;
    dump.bytes = bytes;
    results.cases[4].outcome = Outcome::Failed {
        class: Failure::WrongDecode,
        message: String::new(),
        differences: vec![difference],
    };
    plain(&results, Form::Text)
}

#[test]
fn a_hexdump_handles_extreme_offsets() {
    for (offset, field_offset, size, length) in [
        (u64::MAX, u64::MAX, u64::MAX, 40),
        (u64::MAX - 20, u64::MAX - 3, 8, 40),
        (0, u64::MAX, 8, 16),
        (7, 0, 3, 100_000),
        (3, 5, 0, 0),
    ] {
        let text = text_of_dump(offset, (field_offset, size), vec![0xff; length]);
        let lines = text.lines().filter(|line| line.contains(" ff ff"));
        assert!(lines.count() <= 12);
    }
}

#[test]
fn each_line_of_a_hexdump_begins_at_a_multiple_of_16() {
    let text = text_of_dump(40, (44, 2), vec![0x41; 30]);
    let eight = "   ".repeat(8);
    let first = format!("    00000020 {eight} 41 41 41 41 41 41 41 41  |        AAAAAAAA|\n");
    assert!(text.contains(&first), "{text}");
    let last = "\n    00000040  41 41 41 41 41 41    ";
    assert!(text.contains(last), "{text}");
}

#[test]
fn a_field_in_a_large_file_is_shown_with_its_surroundings() {
    let text = text_of_dump(0, (5_000, 2), vec![0x41; 10_000]);
    // Offset 5000 is 0x1388. The dump starts three lines before the line at 0x1380.
    assert!(text.contains("0x1388:\n    00001350  41 "), "{text}");
    let caret = text.lines().find(|line| line.contains("^^")).unwrap();
    assert_eq!(caret.trim(), "^^ ^^");
    assert_eq!(caret.find('^'), Some(4 + 8 + 2 + 8 * 3));
}

#[test]
fn notes_on_a_passing_writer_are_shown() {
    let mut results = demo();
    results.cases[11].notes = vec![note(Severity::Should, "ATF-IFTR-006", "checksum 0")];
    let text = plain(&results, Form::Text);
    let lines =
        "passed ada-py read v1/ihdr-001-good, with notes\n  should: ATF-IFTR-006 checksum 0\n\n";
    assert!(text.contains(lines), "{text}");
    assert!(report(&results, Form::Html).contains("should: ATF-IFTR-006 checksum 0"));
    // The notes are also shown if there are no failures.
    results.cases.drain(..11);
    let text = plain(&results, Form::Text);
    assert!(text.contains(lines) && !text.contains("known  "), "{text}");
}

#[test]
fn with_data_only_labels_do_not_fail_and_the_text_states_it() {
    let mut results = demo();
    results.grading = Grading::Data;
    for case in &mut results.cases {
        case.outcome.forget_labels();
    }
    let text = plain(&results, Form::Text);
    for label in ["wrong-label", "count_source"] {
        assert!(!text.contains(label), "{text}");
    }
    for part in [
        "\n3 passed, 7 failed, 1 known",
        "\nada-c: graded 90 %; data 2 of 10, labels not graded\n",
        // The wrong verdict still makes the case fail.
        "wrong-accept: accept, expected reject",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
