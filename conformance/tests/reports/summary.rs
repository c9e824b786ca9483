//! Tests the screen that a run prints: scores and causes.

use atf_conformance::results::{Made, Outcome, Results};
use atf_conformance::rules::Severity;
use atf_report::Form;

use crate::demo::{CLASSES, case, charged, demo, note, testee};
use crate::{golden, plain, report};

const SUMMARY: &str = include_str!("summary.txt");

fn made() -> Made {
    Made {
        at: "2026-01-05T10:15:00Z".to_owned(),
        system: "linux x86_64".to_owned(),
        command: "atf-conformance run c/TESTEE.toml py/TESTEE.toml v/TESTEE.toml".to_owned(),
    }
}

#[test]
fn a_summary_has_scores_causes_and_a_legend() {
    let mut results = demo();
    results.made = Some(made());
    golden("summary.txt", &plain(&results, Form::Summary));
}

/// Makes results of five implementations. All cases fail, with many causes.
fn five() -> Results {
    let mut results = demo();
    results.testees = (0..5)
        .map(|seq| testee(&format!("testee-number-{seq}"), &results.testees[0].roles))
        .collect();
    results.cases = (0..1_000)
        .map(|seq: usize| {
            let rule = format!("ATF-XXXX-{:03}", seq % 200);
            let class = CLASSES[seq % CLASSES.len()];
            let name = format!("v1/a-case-with-a-name-that-is-as-long-as-they-get-{seq}");
            let mut case = case(&name, &[&rule], charged(class, &rule));
            case.testee = seq % 5;
            case
        })
        .collect();
    results.stale.clear();
    results
}

#[test]
fn a_summary_of_five_implementations_fits_on_a_screen() {
    let mut results = five();
    results.made = Some(made());
    let text = plain(&results, Form::Summary);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() <= 40, "{}: {text}", lines.len());
    for line in lines {
        assert!(line.chars().count() <= 100, "{line}");
    }
    // Causes that do not fit are added up in one line, so that every failure is counted.
    let counts = text.lines().skip_while(|line| !line.starts_with(" all"));
    let counts = counts.skip(1).take_while(|line| !line.is_empty());
    let count = |line: &str| line.split_whitespace().next()?.parse::<usize>().ok();
    assert_eq!(counts.filter_map(count).sum::<usize>(), 1_000, "{text}");
}

#[test]
fn the_guide_shows_the_current_summary() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/conformance/README.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let shown = format!("```text\n{SUMMARY}```\n");
    assert!(guide.contains(&shown), "{SUMMARY}");
}

#[test]
fn shoulds_are_listed_by_rule_and_do_not_fail() {
    let mut results = demo();
    for case in &mut results.cases[10..12] {
        case.outcome = Outcome::Passed;
        let notes = ["ATF-IFTR-006", "ATF-IFTR-009"].map(|rule| note(Severity::Should, rule, "0"));
        case.notes = notes.into();
    }
    results.cases[11].notes.pop();
    let advice = note(
        Severity::Advice,
        "ATF-WRTR-008",
        "the kill took 3 of 4 events",
    );
    results.cases[11].notes.push(advice);
    let text = plain(&results, Form::Summary);
    let shoulds: Vec<_> = { text.lines() }
        .filter(|line| line.contains("should: "))
        .collect();
    let [first, second] = shoulds[..] else {
        panic!("{text}");
    };
    assert!(first.starts_with("   2  should: ATF-IFTR-006 "));
    assert!(second.starts_with("   1  should: ATF-IFTR-009 "));
    assert!(!text.contains("WRTR-008"), "{text}");
}

#[test]
fn known_failures_are_counted_but_their_causes_are_not_listed() {
    let mut results = demo();
    results.cases.retain(|case| case.listed.is_some());
    assert_eq!(results.cases.len(), 1);
    let text = plain(&results, Form::Summary);
    assert!(!text.contains("cause"), "{text}");
    assert!(text.contains("known: on a failure list"), "{text}");
}

#[test]
fn a_summary_escapes_text_from_implementations() {
    let mut results = demo();
    let case = &mut results.cases[0];
    case.case = "v1/\u{1b}[31mred".to_owned();
    case.stderr = "panicked at \u{1b}[2Jx.rs:1:1".to_owned();
    let text = report(&results, Form::Summary);
    let is_raw = |escape: &str| text.contains(escape);
    assert!(!is_raw("\u{1b}[2J") && !is_raw("\u{1b}[31mred"), "{text}");
}
