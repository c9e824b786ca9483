//! Parses the TAP, JUnit and JSON reports.

use atf_report::Form;
use serde_json::{Value, json};

use atf_conformance::results::{Failure, Outcome, Results, Role, State};

use atf_conformance::rules::Severity;

use crate::demo::{case, demo, empty, failed, hostile, note};
use crate::html::elements;
use crate::{golden, plain, report};

/// A parsed TAP test point.
#[derive(Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) ok: bool,
    pub(crate) title: String,
    pub(crate) directive: Option<(String, String)>,
    pub(crate) diagnostics: Vec<(String, Value)>,
}

/// Parses TAP 14. Panics on an invalid line.
pub(crate) fn parse_tap(text: &str) -> Vec<Point> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let mut plan = None;
    let mut points: Vec<Point> = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("# ") {
        } else if let Some(count) = line.strip_prefix("1..") {
            assert_eq!(plan.replace(count.parse::<usize>().unwrap()), None);
        } else if line == "  ---" {
            let diagnostics = &mut points.last_mut().unwrap().diagnostics;
            for line in lines.by_ref().take_while(|line| *line != "  ...") {
                let (key, value) = line.strip_prefix("  ").unwrap().split_once(": ").unwrap();
                diagnostics.push((key.to_owned(), serde_json::from_str(value).unwrap()));
            }
        } else {
            points.push(point(line, points.len() + 1));
        }
    }
    assert_eq!(plan, Some(points.len()));
    points
}

fn point(line: &str, seq: usize) -> Point {
    let (ok, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ").unwrap()),
    };
    let rest = rest.strip_prefix(&format!("{seq} - ")).unwrap();
    let mut parts = vec![String::new()];
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => parts.last_mut().unwrap().push(letters.next().unwrap()),
            '#' => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(letter),
        }
    }
    assert!(parts.len() <= 2, "{line}");
    let directive = parts.get(1).map(|directive| {
        let (word, why) = directive.trim_start().split_once(' ').unwrap();
        (word.to_owned(), why.to_owned())
    });
    Point {
        ok,
        title: parts[0].trim_end().to_owned(),
        directive,
        diagnostics: Vec::new(),
    }
}

#[test]
fn tap_has_a_point_for_each_result_and_problem() {
    let text = report(&demo(), Form::Tap);
    golden("demo.tap", &text);
    assert_eq!(parse_tap(&text).len(), 16);
}

/// Returns the counts in a node's attributes.
pub(crate) fn counts(node: roxmltree::Node<'_, '_>) -> [usize; 4] {
    ["tests", "failures", "errors", "skipped"]
        .map(|key| node.attribute(key).unwrap().parse().unwrap())
}

/// Counts the test cases below a node.
pub(crate) fn counted(node: roxmltree::Node<'_, '_>) -> [usize; 4] {
    let count = |tag: &str| {
        let all = node.descendants();
        all.filter(|node| node.has_tag_name(tag)).count()
    };
    ["testcase", "failure", "error", "skipped"].map(count)
}

#[test]
fn junit_counts_match_and_errors_differ_from_failures() {
    let mut only_good = demo();
    only_good.cross.truncate(1);
    let mut only_bad = demo();
    only_bad.cross.remove(0);
    for results in [demo(), hostile(), empty(), only_good, only_bad] {
        let text = report(&results, Form::Junit);
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        assert_eq!(counts(root), counted(root));
        for suite in root.children().filter(roxmltree::Node::is_element) {
            assert_eq!(suite.tag_name().name(), "testsuite");
            assert_eq!(counts(suite), counted(suite));
        }
    }
    let text = report(&demo(), Form::Junit);
    let document = roxmltree::Document::parse(&text).unwrap();
    // There are 12 results, 2 pairs, 1 refused implementation and 1 stale entry. A crash, exceeded
    // memory, garbage and a refusal count as errors.
    assert_eq!(counts(document.root_element()), [16, 7, 4, 2]);
    let mut all = document.descendants();
    let verdict = all.find(|node| node.attribute("type") == Some("wrong-accept"));
    let verdict = verdict.unwrap();
    assert!(verdict.has_tag_name("failure"));
    let text = verdict.text().unwrap();
    assert!(text.contains("thread_7/index.atf, 4 bytes at 0x64:"));
    let case = verdict.parent().unwrap();
    assert_eq!(case.attribute("classname"), Some("ada-c read"));
    assert_eq!(case.attribute("name"), Some("v1/iftr-004-off"));
    assert_eq!(case.attribute("time"), Some("0.012"));
    let stderr = case.children().find(|node| node.has_tag_name("system-err"));
    let messages = "warning: footer\nwarning: count";
    assert_eq!(stderr.unwrap().text(), Some(messages));
}

#[test]
fn junit_round_trips_texts() {
    let mut results = demo();
    let text = r#"<a href="b">c & d &amp; e</a>"#;
    results.testees[0].name = text.to_owned();
    results.cases[0].stderr = format!("{text}\n{text}");
    let written = report(&results, Form::Junit);
    let document = roxmltree::Document::parse(&written).unwrap();
    let class = format!("{text} read");
    let mut classes = elements(&document, "testcase").map(|node| node.attribute("classname"));
    assert!(classes.any(|it| it == Some(class.as_str())), "{written}");
    let stderr = results.cases[0].stderr.as_str();
    let mut texts = elements(&document, "system-err").map(|node| node.text());
    assert!(texts.any(|it| it == Some(stderr)), "{written}");
}

#[test]
fn json_matches_its_schema() {
    let schema = include_str!("../../schema/results.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let schema = jsonschema::validator_for(&schema).unwrap();
    for results in [demo(), hostile(), empty()] {
        let value: Value = serde_json::from_str(&report(&results, Form::Json)).unwrap();
        let errors = schema.iter_errors(&value).map(|error| error.to_string());
        assert_eq!(errors.collect::<Vec<_>>(), [""; 0]);
    }
    let mut value: Value = serde_json::from_str(&report(&demo(), Form::Json)).unwrap();
    value["cases"][4]["class"] = json!("wrong");
    assert!(!schema.is_valid(&value));
}

#[test]
fn json_has_the_numbers_of_the_run() {
    let value: Value = serde_json::from_str(&report(&demo(), Form::Json)).unwrap();
    let summary = json!({
        "passed": 2, "failed": 8, "known": 1, "skipped": 1, "refused": 1, "stale": 1, "cross_failed": 1,
        "data": {"passed": 3, "failed": 8}, "label": {"passed": 3, "failed": 2}
    });
    assert_eq!(value["format"], 2);
    assert_eq!(value["grading"], "all");
    assert_eq!(value["summary"], summary);
    assert_eq!(value["seconds"], 1.5);
    let case = &value["cases"][4];
    assert_eq!(case["outcome"], "failed");
    assert_eq!(case["class"], "wrong-accept");
    for (seq, scores) in [
        (0_usize, ["failed", "none"]),
        (4, ["failed", "failed"]),
        (6, ["passed", "failed"]),
    ] {
        let case = &value["cases"][seq];
        assert_eq!([&case["data"], &case["label"]], scores);
    }
    let bytes = case["differences"][0]["hexdump"]["bytes"].as_str();
    assert_eq!(bytes.unwrap()[32..48], *"32495441deadbeef");
}

#[test]
fn json_and_junit_name_the_editions() {
    let value: Value = serde_json::from_str(&report(&demo(), Form::Json)).unwrap();
    let editions = json!({"kit": "0.1.0", "spec": "2.0", "rules": "1", "corpus": "1"});
    assert_eq!(value["editions"], editions);
    let text = report(&demo(), Form::Junit);
    let document = roxmltree::Document::parse(&text).unwrap();
    let suites = elements(&document, "testsuite")
        .filter(|suite| suite.attribute("name").unwrap().starts_with("ada-"));
    let mut graded = 0;
    for suite in suites {
        let mut own = suite.children();
        let properties = own.find(|node| node.has_tag_name("properties")).unwrap();
        let properties: Vec<_> = { properties.children() }
            .filter(|node| node.has_tag_name("property"))
            .map(|node| ["name", "value"].map(|key| node.attribute(key).unwrap()))
            .collect();
        let (scores, properties) = properties.split_last().unwrap();
        assert_eq!(scores[0], "atf.scores");
        assert!(scores[1].starts_with("graded "), "{scores:?}");
        let expected = [
            ["version", "1.4"],
            ["atf.kit", "0.1.0"],
            ["atf.spec", "2.0"],
            ["atf.rules", "1"],
            ["atf.corpus", "1"],
        ];
        assert_eq!(properties, expected);
        graded += 1;
    }
    assert!(graded > 0);
}

#[test]
fn a_cross_failure_is_known_if_it_is_on_the_readers_list() {
    let result = |testee, role, script: &str, fails: bool, listed: bool| {
        let outcome = if fails {
            failed(Failure::WrongDecode)
        } else {
            Outcome::Passed
        };
        let mut result = case(script, &[], outcome);
        (result.testee, result.role) = (testee, role);
        result.listed = listed.then(|| "#1".to_owned());
        result
    };
    let of = |testee, role| vec![result(testee, role, "two-threads", true, true)];
    // The reader is the second implementation. Results of the other implementations must not count.
    #[rustfmt::skip]
    let lists = [
        (of(1, Role::Read), true),
        (of(1, Role::Validate), true),
        (of(0, Role::Read), false),
        (of(1, Role::Write), false),
        (vec![result(1, Role::Read, "two-threads", true, false)], false),
        (vec![result(1, Role::Read, "another", true, true)], false),
        (vec![result(1, Role::Read, "two-threads", false, false), of(1, Role::Validate).remove(0)], true),
    ];
    for (cases, is_known) in lists {
        let mut results = demo();
        results.cases = cases;
        results.settle_cross();
        let cell = &results.cross[1];
        let counts = (cell.known, cell.failed.len());
        let expected = if is_known { (1, 0) } else { (0, 1) };
        assert_eq!(counts, expected, "{:?}", results.cases);
    }
}

#[test]
fn a_pair_with_nothing_in_common_is_skipped_in_each_format() {
    let mut results = demo();
    for (passed, known, words, cell) in [
        (0, 0, "all 3 skipped", "-"),
        (1, 0, "all 1 passed", "1"),
        (0, 1, "1 known failures of 1", "0/1"),
    ] {
        let is_skipped = cell == "-";
        let pair = &mut results.cross[0];
        (pair.passed, pair.known, pair.skipped) = (passed, known, 3);
        let points = parse_tap(&report(&results, Form::Tap)).into_iter();
        let mut pair = points.filter(|point| point.title == "ada-c reads what ada-c writes");
        let pair = pair.next().unwrap();
        assert!(pair.ok);
        let skip = ("SKIP".to_owned(), "nothing supported by both".to_owned());
        assert_eq!(pair.directive, is_skipped.then_some(skip));
        let text = report(&results, Form::Junit);
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(counts(root), counted(root));
        let case = elements(&document, "testcase").find(|node| {
            let texts = ["classname", "name"].map(|key| node.attribute(key).unwrap_or_default());
            texts.concat().matches("ada-c").count() == 2
        });
        let mut marks = case.unwrap().children();
        let is_marked = marks.any(|node| node.has_tag_name("skipped"));
        assert_eq!(is_marked, is_skipped, "{text}");
        let label = format!("ada-c reads what ada-c writes: {words}");
        assert!(report(&results, Form::Html).contains(&label), "{words}");
        let text = plain(&results, Form::Text);
        let row = text.lines().rfind(|line| line.starts_with("ada-c "));
        assert_eq!(row.unwrap().split_whitespace().nth(1), Some(cell), "{text}");
    }
}

#[test]
fn a_denied_should_fails_with_its_own_class_and_a_note_does_not() {
    let mut results = demo();
    let state = |results: &Results, case: usize| {
        let case = &results.cases[case];
        (case.state(), case.outcome.clone())
    };
    let lost = "the kill took 3 of 4 events";
    results.cases[10].notes = vec![note(Severity::Advice, "ATF-WRTR-008", lost)];
    let should = note(Severity::Should, "ATF-IFTR-006", "the checksum is 0");
    results.cases[11].notes = vec![should];
    let before = state(&results, 10);
    results.deny_shoulds();
    assert_eq!(state(&results, 10), before);
    let (state, outcome) = state(&results, 11);
    assert_eq!(state, State::Failed);
    assert!(
        matches!(&outcome, Outcome::Failed { class: Failure::Should, message, .. } if message.contains("checksum")),
        "{outcome:?}"
    );
    let json: Value = serde_json::from_str(&report(&results, Form::Json)).unwrap();
    assert_eq!(json["cases"][11]["class"], "should");
}
