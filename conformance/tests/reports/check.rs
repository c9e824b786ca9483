//! Tests the reports of a check, made from hand-written findings.

use std::fs;
use std::path::Path;

use atf_conformance::rule;
use atf_conformance::rules::{self, Rule, Severity};
use atf_conformance::{FileReport, Kind, Output, Place, Summary};
use atf_report::check::Reports;
use atf_report::{Form, Target};
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::demo::HOSTILE;
use crate::forms::{counted, counts, parse_tap};
use crate::hostile::steers;
use crate::html::{
    assert_links_within, assert_parts, by_id, cells, elements, links, markup, spoken, words,
};

/// A check's report in all formats but text, which `commands/check.txt` tests.
struct Written {
    folder: TempDir,
    summary: Summary,
}

const FORMS: [(Form, &str); 6] = [
    (Form::Tap, "tap"),
    (Form::Junit, "xml"),
    (Form::Json, "json"),
    (Form::Html, "html"),
    (Form::Badge, "svg"),
    (Form::Sarif, "sarif"),
];

impl Written {
    fn new(deny: Severity, fill: impl FnOnce(&mut Reports)) -> Self {
        let folder = TempDir::new().unwrap();
        let target = |(form, name): (Form, &str)| Target {
            form,
            file: Some(folder.path().join(name)),
        };
        let mut reports = Reports::open(FORMS.map(target).to_vec(), deny).unwrap();
        fill(&mut reports);
        let summary = reports.finish().unwrap();
        Self { folder, summary }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn page(&self) -> String {
        markup(&self.read("html"))
    }
}

fn file(path: &str, kind: Kind, broken: &[(&'static Rule, &str, u64, &str)]) -> FileReport {
    let mut report = FileReport::new(Path::new(path), kind);
    report.wire = (kind != Kind::Manifest).then_some(1);
    report.events = (kind == Kind::Index).then_some(6);
    for (rule, field, offset, message) in broken {
        let place = Place::at(*field, *offset);
        report.add(rule, place, || (*message).to_owned());
    }
    report
}

/// Makes the report on a detail file that breaks a MUST.
fn wrong_detail(path: &str, message: &str) -> FileReport {
    let broken = (rule("ATF-DFTR-004"), "footer.magic", 99, message);
    file(path, Kind::Detail, &[broken])
}

/// Reports a clean session, a session that breaks a MUST once and an advice rule twice, a session
/// that breaks a SHOULD, and an unreadable path. Appends `suffix` to each string that comes from a
/// file.
fn fill(reports: &mut Reports, suffix: &str) {
    let path = |path: &str| path.replace('$', suffix);
    reports.file(file("clean/thread_1/index.atf", Kind::Index, &[]));
    reports.file(file("clean/manifest.json", Kind::Manifest, &[]));
    let wrong = format!("1, expected 0x2a{suffix}");
    let field = format!("events[3].detail_seq{suffix}");
    reports.file(file(
        &path("wrong$/thread_7/index.atf"),
        Kind::Index,
        &[
            (rule("ATF-LINK-002"), &field, 188, "not there"),
            (rule("ATF-LINK-002"), "events[5].detail_seq", 252, "unused"),
            (rule("ATF-IFTR-004"), "footer.checksum", 260, &wrong),
        ],
    ));
    let why = format!("Permission denied{suffix}");
    reports.unreadable(Path::new(&path("wrong$/thread_7/detail.atf")), &why);
    reports.file(file(&path("wrong$/manifest.json"), Kind::Manifest, &[]));
    let checksum = (rule("ATF-DFTR-006"), "footer.checksum", 100, "0");
    reports.file(file("lax/thread_0/detail.atf", Kind::Detail, &[checksum]));
}

fn written(deny: Severity) -> Written {
    Written::new(deny, |reports| fill(reports, ""))
}

/// Returns the complete page.
pub(crate) fn page() -> String {
    written(Severity::Must).read("html")
}

fn hostile() -> Written {
    let harm = HOSTILE.join(" ").replace(['/', '\0'], "_");
    Written::new(Severity::Must, |reports| fill(reports, &harm))
}

#[test]
fn tap_has_a_point_for_each_file_with_all_its_findings_and_names_the_editions() {
    let tap = written(Severity::Must).read("tap");
    let points = parse_tap(&tap);
    let lines: Vec<_> = { points.iter() }
        .map(|point| (point.ok, point.title.as_str(), point.diagnostics.len()))
        .collect();
    assert_eq!(
        lines,
        [
            (true, "clean/thread_1/index.atf", 0),
            (true, "clean/manifest.json", 0),
            (false, "wrong/thread_7/index.atf", 2),
            (false, "wrong/thread_7/detail.atf can be read", 1),
            (true, "wrong/manifest.json", 0),
            (true, "lax/thread_0/detail.atf", 2),
        ]
    );
    let verdict = ("verdict".to_owned(), json!("reject"));
    assert_eq!(points[2].diagnostics[0], verdict);
    let finding = json!({
        "rule": "ATF-IFTR-004", "severity": "must", "reader": "reject",
        "field": "footer.checksum", "offset": 260, "message": "1, expected 0x2a", "count": 1, "more": [],
    });
    assert_eq!(points[2].diagnostics[1].1[0], finding);
    let why = json!("Permission denied");
    assert_eq!(points[3].diagnostics, [("message".to_owned(), why)]);
    let [kit, spec, rules] = [
        env!("CARGO_PKG_VERSION"),
        rules::SPEC_EDITION.version,
        rules::RULES_EDITION.version,
    ];
    let comments = tap.lines().filter_map(|line| line.strip_prefix("# "));
    let expected = format!("kit {kit}\nspec {spec}\nrules {rules}");
    assert_eq!(comments.collect::<Vec<_>>().join("\n"), expected);
}

#[test]
fn only_denied_rules_fail_in_each_format() {
    for (deny, failed) in [(Severity::Must, 2), (Severity::Should, 3)] {
        let written = written(deny);
        let points = parse_tap(&written.read("tap"));
        assert_eq!(points.iter().filter(|point| !point.ok).count(), failed);
        let text = written.read("xml");
        let document = Document::parse(&text).unwrap();
        // The unreadable path counts as an error.
        assert_eq!(counts(document.root_element()), [6, failed - 1, 1, 0]);
    }
}

#[test]
fn junit_has_a_suite_for_each_session_with_matching_counts() {
    for written in [written(Severity::Must), hostile()] {
        let text = written.read("xml");
        let document = Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(counts(root), counted(root));
        let suites: Vec<_> = root.children().filter(Node::is_element).collect();
        let of_suites: Vec<_> = suites.iter().map(|suite| counts(*suite)).collect();
        assert_eq!(of_suites, [[2, 0, 0, 0], [3, 1, 1, 0], [1, 0, 0, 0]]);
        for suite in suites {
            assert_eq!(counts(suite), counted(suite));
        }
    }
    let text = written(Severity::Must).read("xml");
    let document = Document::parse(&text).unwrap();
    let failure = elements(&document, "failure").next().unwrap();
    let first = "must ATF-IFTR-004 footer.checksum (at 0x104): 1, expected 0x2a";
    assert_eq!(failure.attribute("message"), Some(first));
    let second = "advice ATF-LINK-002 events[3].detail_seq (at 0xbc): not there; 2 times in all, next at \
                  events[5].detail_seq";
    assert_eq!(failure.text(), Some(format!("{first}\n{second}").as_str()));
    let case = failure.parent().unwrap();
    assert_eq!(case.attribute("classname"), Some("wrong"));
    assert_eq!(case.attribute("name"), Some("thread_7/index.atf"));
}

/// Checks the properties that SARIF 2.1.0 and GitHub require, and returns the run.
fn sarif(written: &Written) -> Value {
    let mut log: Value = serde_json::from_str(&written.read("sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    assert_eq!(log["$schema"], schema);
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    let run = log["runs"][0].take();
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "atf-conformance");
    let rules = driver["rules"].as_array().unwrap();
    let ids = rules.iter().map(|rule| rule["id"].as_str().unwrap());
    let ids: Vec<_> = ids.collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
    }
    for result in run["results"].as_array().unwrap() {
        let id = result["ruleId"].as_str().unwrap();
        assert!(ids.contains(&id), "{result}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        for location in result["locations"].as_array().unwrap() {
            let physical = &location["physicalLocation"];
            assert!(physical["artifactLocation"]["uri"].is_string(), "{result}");
            assert_eq!(physical["region"]["startLine"], 1);
        }
    }
    let invocation = &run["invocations"][0];
    assert!(invocation["executionSuccessful"].is_boolean());
    for told in invocation["toolExecutionNotifications"].as_array().unwrap() {
        assert!(told["message"]["text"].is_string(), "{told}");
    }
    run
}

#[test]
fn sarif_has_a_result_for_each_finding() {
    let run = sarif(&written(Severity::Must));
    let results = run["results"].as_array().unwrap();
    let found = results.iter().map(|it| [&it["ruleId"], &it["level"]]);
    let expected = [
        ["ATF-IFTR-004", "error"],
        ["ATF-LINK-002", "note"],
        ["ATF-DFTR-006", "warning"],
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(
        results[0]["locations"],
        json!([{
            "physicalLocation": {
                "artifactLocation": {"uri": "wrong/thread_7/index.atf"},
                "region": {"startLine": 1, "byteOffset": 260},
            },
            "logicalLocations": [{"fullyQualifiedName": "footer.checksum"}],
        }])
    );
    assert_eq!(results[1]["locations"].as_array().unwrap().len(), 2);
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"];
    assert_eq!(told[0]["message"]["text"], "Permission denied");
}

#[test]
fn sarif_escapes_paths_and_is_complete_without_findings() {
    let run = sarif(&hostile());
    let uri = &run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    let uri = uri.as_str().unwrap();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "%/-._~".contains(letter);
    assert!(uri.contains('%') && uri.chars().all(is_plain), "{uri}");
    let run = sarif(&Written::new(Severity::Must, |_| {}));
    assert_eq!(run["results"], json!([]));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn an_unreadable_path_is_listed_with_its_session() {
    let written = Written::new(Severity::Must, |reports| {
        reports.file(file("one/thread_1/index.atf", Kind::Index, &[]));
        reports.unreadable(Path::new("one/thread_1/detail.atf"), "gone");
        reports.unreadable(Path::new("elsewhere"), "gone");
        reports.unreadable(Path::new("one"), "gone");
    });
    let text = written.read("xml");
    let document = Document::parse(&text).unwrap();
    let suites: Vec<_> = elements(&document, "testsuite")
        .map(|suite| (suite.attribute("name").unwrap(), counts(suite)))
        .collect();
    let errors = |tests, errors| [tests, 0, errors, 0];
    let expected = [
        ("one", errors(2, 1)),
        ("elsewhere", errors(1, 1)),
        ("one", errors(1, 1)),
    ];
    assert_eq!(suites, expected);
}

#[test]
fn a_cell_links_to_its_finding_only_if_it_is_shown() {
    let links = |findings: usize| {
        let written = Written::new(Severity::Must, |reports| {
            for thread in 0..findings {
                let path = format!("large/thread_{thread}/detail.atf");
                reports.file(wrong_detail(&path, "wrong"));
            }
            let broken = (rule("ATF-IFTR-004"), "footer.magic", 99, "wrong");
            reports.file(file("large/thread_9999/index.atf", Kind::Index, &[broken]));
        });
        let page = written.page();
        let document = Document::parse(&page).unwrap();
        assert_links_within(&document);
        let links = elements(&document, "a").filter_map(|node| node.attribute("href"));
        let mut links: Vec<_> = links
            .filter(|link| link.starts_with("#s0-"))
            .map(str::to_owned)
            .collect();
        links.sort();
        links.dedup();
        links
    };
    assert_eq!(links(0), ["#s0-ATF-IFTR-004"]);
    assert_eq!(links(1), ["#s0-ATF-DFTR-004", "#s0-ATF-IFTR-004"]);
    assert_eq!(links(300), ["#s0-ATF-DFTR-004"]);
}

#[test]
fn a_badge_counts_broken_rules() {
    // Returns the words and the colour.
    let badge = |written: &Written| {
        let text = written.read("svg");
        let document = Document::parse(&text).unwrap();
        let label = document.root_element().attribute("aria-label").unwrap();
        let words = label.strip_prefix("ATF v2 traces: ").unwrap();
        let papers = elements(&document, "rect").filter_map(|rect| rect.attribute("fill"));
        (words.to_owned(), papers.last().unwrap().to_owned())
    };
    assert_eq!(badge(&written(Severity::Must)).0, "1 unreadable");
    let nothing = Written::new(Severity::Must, |_| {});
    assert_eq!(badge(&nothing).0, "nothing checked");
    let breaking = |id: &str| {
        badge(&Written::new(Severity::Must, |reports| {
            let broken = (rule(id), "footer.checksum", 100, "0");
            reports.file(file("a/thread_0/index.atf", Kind::Index, &[]));
            reports.file(file("a/thread_0/detail.atf", Kind::Detail, &[broken]));
        }))
    };
    let [allowed, denied, good] = ["ATF-DFTR-006", "ATF-DFTR-004", "ATF-LINK-002"].map(breaking);
    assert_eq!(allowed.0, "0 must, 1 should broken");
    assert_eq!(denied.0, "1 must, 0 should broken");
    assert_eq!(good.0, "2 files good");
    // The badges for allowed, denied and good results have different colours.
    assert!(allowed.1 != denied.1 && allowed.1 != good.1 && denied.1 != good.1);
}

#[test]
fn the_page_has_each_finding_with_file_field_byte_and_message() {
    let page = written(Severity::Must).page();
    let document = Document::parse(&page).unwrap();
    assert_parts(
        &spoken(document.root_element()),
        &[
            "✗ 1 of 3 sessions breaks a MUST; 1 path could not be read",
            "wrong/thread_7/detail.atf: Permission denied",
            rule("ATF-IFTR-004").rule,
            "accept; 1 file, 0 events, 0 details",
            "reject; 2 files, 6 events, 0 details",
        ],
    );
    let expected = [
        "✗ must ATF-IFTR-004",
        "thread_7/index.atf",
        "footer.checksum",
        "0x104",
        "1, expected 0x2a",
    ];
    assert_eq!(cells(by_id(&document, "s0-ATF-IFTR-004")), expected);
    // The table of sessions by rules starts with the worst session and has a cell for each rule.
    let matrix =
        elements(&document, "tbody").find(|node| node.attribute("data-list") == Some("sessions"));
    let rows = matrix.unwrap().children().filter(Node::is_element);
    let rows: Vec<_> = rows.map(cells).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0][..2], ["wrong", "✗ reject"], "{rows:?}");
    assert_eq!(rows[1][..2], ["lax", "! accept"]);
    assert_eq!(rows[2], ["clean", "✓ accept", "", "", ""]);
    let cell = "wrong, ATF-IFTR-004: 1 file, 1 time";
    assert_eq!(links(&document, "#s0-ATF-IFTR-004"), [cell]);
}

#[test]
fn each_page_of_a_check_is_well_formed_and_its_links_resolve() {
    for written in [
        written(Severity::Must),
        hostile(),
        Written::new(Severity::Must, |_| {}),
    ] {
        let page = written.page();
        let document = Document::parse(&page).unwrap();
        assert_links_within(&document);
        assert_eq!(page.chars().find(|letter| steers(*letter)), None);
    }
    let text = words(&hostile().page());
    assert!(text.contains("<script>alert(1)<_script>"), "{text}");
}

#[test]
fn findings_on_a_folder_are_listed_with_its_session() {
    let written = Written::new(Severity::Must, |reports| {
        let broken = (rule("ATF-SESS-002"), "", 0, "no index.atf");
        // Report a thread in a session, and a thread that is checked on its own, regardless of its
        // name.
        for (folder, file_path) in [
            ("session/thread_1", "session/thread_1/detail.atf"),
            ("alone", "alone/detail.atf"),
        ] {
            reports.file(file(folder, Kind::Folder, &[broken]));
            reports.file(file(file_path, Kind::Detail, &[]));
        }
    });
    let text = written.read("xml");
    let document = Document::parse(&text).unwrap();
    let cases: Vec<_> = elements(&document, "testcase")
        .map(|case| ["classname", "name"].map(|key| case.attribute(key).unwrap()))
        .collect();
    let expected = [
        ["session", "thread_1"],
        ["session", "thread_1/detail.atf"],
        ["alone", "."],
        ["alone", "detail.atf"],
    ];
    assert_eq!(cases, expected);
    assert!(written.page().contains("2 of 2 sessions break a MUST"));
}

/// Reports many sessions that break a SHOULD. One session in the middle and the last session also
/// break a MUST.
fn many(reports: &mut Reports, count: usize) {
    for seq in 0..count {
        let lax = (rule("ATF-DFTR-006"), "footer.checksum", 100, "0");
        let wrong = (rule("ATF-DFTR-004"), "footer.magic", 99, "wrong");
        let broken = if seq == count / 2 || seq + 1 == count {
            &[lax, wrong][..]
        } else {
            &[lax]
        };
        let path = format!("session_{seq}/thread_0/detail.atf");
        reports.file(file(&path, Kind::Detail, broken));
        reports.file(file(
            &format!("session_{seq}/manifest.json"),
            Kind::Manifest,
            &[],
        ));
    }
}

#[test]
fn a_page_of_many_sessions_shows_the_worst_and_counts_all() {
    let written = Written::new(Severity::Must, |reports| many(reports, 1_500));
    let summary = &written.summary;
    assert_eq!((summary.files, summary.should), (3_000, 1_500));
    let whole = written.read("html");
    assert!(whole.len() < 3_000_000, "{}", whole.len());
    let page = markup(&whole);
    let document = Document::parse(&page).unwrap();
    assert_links_within(&document);
    assert_parts(
        &spoken(document.root_element()),
        &[
            "✗ 2 of 1500 sessions break a MUST",
            "This page shows the worst 1000 of 1500 sessions",
            "500 sessions whose strictest broken rule is a SHOULD",
        ],
    );
    let names = elements(&document, "summary")
        .filter_map(|summary| summary.children().find(|node| node.has_tag_name("b")));
    let names: Vec<_> = names.map(spoken).collect();
    assert_eq!(names[..3], ["session_750", "session_1499", "session_0"]);
    assert_eq!(names.len(), 1000);
    let counts = cells(by_id(&document, "ATF-DFTR-006"));
    assert_eq!(counts[3..], ["1500", "1500", "1500"]);
    // The other formats contain all findings.
    assert_eq!(parse_tap(&written.read("tap")).len(), 3_000);
    let json: serde_json::Value = serde_json::from_str(&written.read("json")).unwrap();
    assert_eq!(json["files"].as_array().unwrap().len(), 3_000);
    let xml = written.read("xml");
    assert_eq!(xml.matches("<testsuite ").count(), 1_500);
}

#[test]
fn a_page_of_long_findings_is_limited_in_size() {
    // Each session takes up more than a megabyte, because HTML escapes its characters.
    let long = "&".repeat(1_000);
    let written = Written::new(Severity::Must, |reports| {
        for session in 0..8 {
            for thread in 0..150 {
                let path = format!("large_{session}/thread_{thread}/detail.atf");
                reports.file(wrong_detail(&path, &long));
            }
        }
    });
    let whole = written.read("html");
    assert!(
        (2_000_000..5_000_000).contains(&whole.len()),
        "{}",
        whole.len()
    );
    let text = words(&markup(&whole));
    assert!(
        text.contains("✗ 8 of 8 sessions break a MUST"),
        "{}",
        &text[..300]
    );
    let (_, held) = text.split_once("This page shows the worst ").unwrap();
    let (held, rest) = held.split_once(' ').unwrap();
    assert!(rest.starts_with("of 8 sessions"), "{}", &rest[..50]);
    let held: usize = held.parse().unwrap();
    assert!((2..8).contains(&held), "{held}");
    let names = { 0..held }.map(|seq| format!("large_{seq}"));
    assert!(names.into_iter().all(|name| text.contains(&name)));
}

#[test]
fn a_page_names_some_unreadable_paths_and_counts_all() {
    for (count, named) in [(199, 199), (200, 200), (201, 200), (500, 200)] {
        let written = Written::new(Severity::Must, |reports| {
            for seq in 0..count {
                reports.unreadable(Path::new(&format!("path-{seq};")), "gone");
            }
        });
        let text = words(&written.page());
        assert_parts(&text, &[&format!("{count} paths could not be read")]);
        let is_named = |seq: &usize| text.contains(&format!("path-{seq};"));
        assert_eq!((0..count).filter(is_named).count(), named);
    }
}

#[test]
fn one_large_session_does_not_crowd_out_the_others() {
    let long = "&".repeat(1_200);
    let written = Written::new(Severity::Must, |reports| {
        for seq in 0..300 {
            let path = format!("large/thread_{seq}/detail.atf");
            reports.file(wrong_detail(&path, &long));
        }
        fill(reports, "");
    });
    let whole = written.read("html");
    assert!(whole.len() < 2_000_000, "{}", whole.len());
    assert_parts(
        &words(&markup(&whole)),
        &[
            "100 more findings",
            "2 of 4 sessions break a MUST",
            "1, expected 0x2a",
        ],
    );
}

#[test]
fn a_failed_report_does_not_stop_the_others() {
    let folder = TempDir::new().unwrap();
    let good = folder.path().join("tap");
    let target = |form, path: &Path| Target {
        form,
        file: Some(path.to_owned()),
    };
    let full = Path::new("/dev/full");
    if !full.exists() {
        atf_samples::tools::skip("no /dev/full");
        return;
    }
    let targets = vec![target(Form::Json, full), target(Form::Tap, &good)];
    let mut reports = Reports::open(targets, Severity::Must).unwrap();
    many(&mut reports, 1_000);
    assert!(!reports.is_done());
    let error = reports.finish().unwrap_err().to_string();
    assert!(error.starts_with("/dev/full: No space left"), "{error}");
    assert_eq!(parse_tap(&fs::read_to_string(good).unwrap()).len(), 2_000);
    let targets = vec![target(Form::Json, full)];
    let mut reports = Reports::open(targets, Severity::Must).unwrap();
    many(&mut reports, 1_000);
    assert!(reports.is_done(), "no report is left to write");
}
