//! Tests that text from implementations and files can control neither a terminal nor the structure
//! of a report.

use atf_conformance::results::Outcome;
use atf_report::Form;

use crate::demo::{HOSTILE, demo, hostile};
use crate::forms::parse_tap;
use crate::{plain, report};

/// Returns whether a character controls a terminal or the order of the text.
pub(crate) fn steers(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}".contains(letter)
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || ('\u{2066}'..='\u{2069}').contains(&letter)
}

#[test]
fn no_text_report_contains_terminal_control_characters() {
    let results = hostile();
    for form in [Form::Text, Form::Tap, Form::Junit] {
        // `plain` removes the report's own colour escapes.
        let text = match form {
            Form::Text => plain(&results, form),
            _ => report(&results, form),
        };
        let found = text.chars().find(|letter| steers(*letter));
        assert_eq!(found, None, "{form:?}");
    }
    assert!(HOSTILE.concat().chars().any(steers));
}

#[test]
fn a_name_cannot_forge_a_line() {
    let (tap, honest) = (report(&hostile(), Form::Tap), report(&demo(), Form::Tap));
    let outline = |text: &str| {
        let points = parse_tap(text).into_iter();
        let outline = points.map(|point| (point.ok, point.directive.map(|(word, _)| word)));
        outline.collect::<Vec<_>>()
    };
    assert_eq!(outline(&tap), outline(&honest));
    for form in [Form::Text, Form::Tap] {
        let text = plain(&hostile(), form);
        let mut lines = text.lines();
        assert!(!lines.any(|line| line.starts_with("ok 1 - forged")));
    }
}

#[test]
fn a_long_place_is_truncated_in_text_reports() {
    let mut results = demo();
    let long = "p".repeat(100_000);
    for case in &mut results.cases {
        if let Outcome::Failed { differences, .. } = &mut case.outcome {
            for difference in differences {
                difference.place.clone_from(&long);
            }
        }
    }
    for form in [Form::Text, Form::Tap, Form::Junit] {
        let shown = "ppp… (99800 more bytes) (data, ATF-";
        assert!(plain(&results, form).contains(shown), "{form:?}");
    }
}
