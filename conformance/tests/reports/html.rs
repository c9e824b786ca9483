//! Tests that the page is well-formed, safe, accessible and printable.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use atf_conformance::results::{CaseResult, Failure, Made, Outcome, Results};
use atf_conformance::rules::Severity;
use atf_report::Form;
use roxmltree::{Document, Node};

use crate::demo::{CLASSES, HOSTILE, case, demo, difference, empty, failed, hostile, note};
use crate::hostile::steers;
use crate::report;

const CSS: &str = include_str!("../../../atf/report/templates/report.css");

/// Returns the page as XML, without its style and script.
pub(crate) fn markup(page: &str) -> String {
    let page = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    let (page, style) = without(page, "style");
    let (page, script) = without(&page, "script");
    let own_script = include_str!("../../../atf/report/templates/report.js");
    assert_eq!((&*style, &*script), (CSS.trim(), own_script.trim()));
    page
}

/// Removes the only element with this name.
fn without(page: &str, tag: &str) -> (String, String) {
    let (start, rest) = page.split_once(&format!("<{tag}>")).unwrap();
    let (content, end) = rest.split_once(&format!("</{tag}>")).unwrap();
    assert!(!end.contains(&format!("<{tag}")));
    (format!("{start}{end}"), content.trim().to_owned())
}

fn page(results: &Results) -> String {
    markup(&report(results, Form::Html))
}

/// Returns all text in an element.
fn texts(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|node| node.text()).collect()
}

/// Returns the words that a screen reader reads aloud for an element: its label or its text.
pub(crate) fn spoken(node: Node<'_, '_>) -> String {
    match node.attribute("aria-label") {
        Some(label) => label.to_owned(),
        None => texts(node).trim().to_owned(),
    }
}

pub(crate) fn elements<'a, 'i>(
    document: &'a Document<'i>,
    tag: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    document
        .descendants()
        .filter(move |node| node.has_tag_name(tag))
}

/// Returns the words of a page.
pub(crate) fn words(page: &str) -> String {
    spoken(Document::parse(page).unwrap().root_element())
}

/// Returns the words of each element in an element.
pub(crate) fn cells(node: Node<'_, '_>) -> Vec<String> {
    let cells = node.children().filter(Node::is_element);
    cells.map(spoken).collect()
}

pub(crate) fn by_id<'a, 'i>(document: &'a Document<'i>, id: &str) -> Node<'a, 'i> {
    let mut all = document.descendants();
    let found = all.find(|node| node.attribute("id") == Some(id));
    found.unwrap_or_else(|| panic!("no id {id}"))
}

/// Returns the words of all links to `target`.
pub(crate) fn links(document: &Document<'_>, target: &str) -> Vec<String> {
    let links = elements(document, "a").filter(|node| node.attribute("href") == Some(target));
    links.map(spoken).collect()
}

#[track_caller]
pub(crate) fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Asserts that ids are unique and every internal link has a target.
pub(crate) fn assert_links_within(document: &Document<'_>) {
    let mut ids = BTreeMap::new();
    for node in document.descendants() {
        if let Some(id) = node.attribute("id") {
            assert_eq!(ids.insert(id, node), None, "{id}");
        }
    }
    for node in elements(document, "a") {
        let link = node.attribute("href").unwrap();
        match link.strip_prefix('#') {
            Some(id) => assert!(ids.contains_key(id), "{link}"),
            None => assert_eq!(link, "https://example.org/ada"),
        }
    }
}

#[test]
fn the_page_is_well_formed_and_self_contained_and_its_links_resolve() {
    for results in [demo(), hostile(), empty()] {
        let page = page(&results);
        let document = Document::parse(&page).unwrap();
        assert_links_within(&document);
        let policy = elements(&document, "meta")
            .find(|node| node.attribute("http-equiv").is_some())
            .unwrap();
        let content = policy.attribute("content").unwrap();
        assert!(content.starts_with("default-src 'none'; "));
        for node in document.descendants().filter(Node::is_element) {
            let tag = node.tag_name().name();
            assert!(
                !["img", "link", "iframe", "object", "script", "style"].contains(&tag),
                "{tag}"
            );
            for attribute in node.attributes() {
                let name = attribute.name();
                assert!(
                    !name.starts_with("on") && name != "src" && name != "style",
                    "{name}"
                );
                assert!(!attribute.value().starts_with("javascript:"));
            }
        }
    }
    assert!(!CSS.contains("url(") && !CSS.contains("@import"));
}

#[test]
fn hostile_text_is_shown_as_text() {
    let page = page(&hostile());
    let document = Document::parse(&page).unwrap();
    let text = texts(document.root());
    let (desrever, red) = ("\\u{202e}desrever", "\\u{1b}[31mred");
    assert_parts(&text, &[HOSTILE[0], HOSTILE[1], desrever, red, HOSTILE[7]]);
    assert_eq!(page.chars().find(|letter| steers(*letter)), None);
}

#[test]
fn a_failure_links_to_its_rule_with_decision_and_sources() {
    let mut results = demo();
    results.made = Some(Made {
        at: "2026-01-05T10:15:00Z".to_owned(),
        system: "linux x86_64".to_owned(),
        command: "atf-conformance run 'my reader/TESTEE.toml'".to_owned(),
    });
    let page = page(&results);
    let document = Document::parse(&page).unwrap();
    assert_links_within(&document);
    let mut links = by_id(&document, "f4").descendants();
    assert!(links.any(|node| node.attribute("href") == Some("#rule-ATF-IFTR-004")));
    assert_parts(
        &spoken(by_id(&document, "rule-ATF-IFTR-004")),
        &[
            "A nonzero checksum is the CRC-32C of the events section.",
            "Which CRC do the footers use?",
            "CRC-32C over the events section, in both wire versions",
            "Only S2 names a polynomial",
            "S0 (ATF Index File Format (BH-002))",
            "docs/reference/rules.md#atf-iftr-004",
        ],
    );
    let made = [
        "2026-01-05T10:15:00Z",
        "linux x86_64",
        "'my reader/TESTEE.toml'",
    ];
    assert_parts(&spoken(document.root_element()), &made);
}

#[test]
fn causes_come_most_urgent_first_with_one_example_open() {
    let mut results = demo();
    for seq in 0..3 {
        let mut again = results.cases[0].clone();
        again.case = format!("v1/again-{seq}");
        results.cases.push(again);
    }
    let page = page(&results);
    let document = Document::parse(&page).unwrap();
    let causes: Vec<_> = elements(&document, "details")
        .filter(|node| node.attribute("class") == Some("cause"))
        .collect();
    assert_eq!(causes.len(), CLASSES.len());
    let first = causes[0]
        .children()
        .find(|node| node.has_tag_name("summary"));
    assert_eq!(
        spoken(first.unwrap()),
        "✗ 4 crash (SIGSEGV): Index footer and the end of the index file ada-c 4"
    );
    assert!(causes[0].attribute("open").is_some() && causes[1].attribute("open").is_none());
    let failures = causes[0]
        .descendants()
        .filter(|node| node.attribute("id").is_some_and(|id| id.starts_with('f')));
    let open: Vec<_> = failures
        .map(|node| node.attribute("open").is_some())
        .collect();
    assert_eq!(open, [true, false, false, false]);
    let rest = causes[0]
        .descendants()
        .filter(|node| node.attribute("class") == Some("rest"));
    let rest: Vec<_> = rest.map(|node| node.attribute("open").is_some()).collect();
    assert_eq!(rest, [false]);
}

#[test]
fn a_failure_is_one_click_from_its_result_and_from_its_cell() {
    let page = page(&demo());
    let document = Document::parse(&page).unwrap();
    // The previous failure broke the same rule, so the rule's cell links to that one.
    assert_eq!(links(&document, "#f4"), ["v1/iftr-004-off"]);
    let cell = "ada-c read, ATF-IFTR-004: 2 failed of 2";
    assert_eq!(links(&document, "#f3"), [cell, "v1/iftr-003-off"]);
    let failure = by_id(&document, "f4");
    assert!(failure.has_tag_name("details"));
    assert_parts(
        &spoken(failure),
        &[
            "wrong-accept",
            "One bit of the checksum is off",
            "The checksum is not the IEEE CRC-32 of the events section.",
            "verdict (breaks ATF-IFTR-004: A nonzero checksum is",
            "\"reject\"",
            "\"accept\"",
            "4 bytes at 0x64",
            "warning: footer\nwarning: count",
        ],
    );
    let marks = failure
        .descendants()
        .filter(|node| node.has_tag_name("mark"));
    let marks: Vec<_> = marks.map(|node| node.text().unwrap()).collect();
    assert_eq!(marks, ["de ad be ef", "...."]);
}

#[test]
fn the_headline_reports_the_outcome() {
    let headline = |results: &Results| words(&page(results));
    let mut results = empty();
    assert!(headline(&results).contains("Nothing was graded"));
    results.cases = vec![case("v1/a", &["ATF-IHDR-001"], Outcome::Passed); 3];
    assert!(headline(&results).contains("All 3 passed"));
    let mut known = case("v1/b", &[], failed(Failure::Crash));
    known.listed = Some("#1".to_owned());
    results.cases.push(known);
    assert!(headline(&results).contains("As expected: 3 passed, known failures: 1"));
    results.cases[3].listed = None;
    assert!(headline(&results).contains("1 failed"));
}

#[test]
fn only_web_addresses_become_links() {
    for (url, is_link) in [
        ("https://example.org/ada", true),
        ("http://example.org/ada", true),
        ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
        ("example.org", false),
    ] {
        let mut results = demo();
        for testee in &mut results.testees {
            testee.url = Some(url.to_owned());
        }
        let page = page(&results);
        let document = Document::parse(&page).unwrap();
        let links = elements(&document, "a").filter(|node| node.attribute("href") == Some(url));
        assert_eq!(links.count() > 0, is_link, "{url}");
    }
}

#[test]
fn results_can_be_filtered() {
    let page = page(&demo());
    let document = Document::parse(&page).unwrap();
    let options = |name| {
        let select =
            elements(&document, "select").find(|node| node.attribute("name") == Some(name));
        let options = select.unwrap().children();
        let options = options.filter(|node| node.has_tag_name("option"));
        options.map(spoken).collect::<Vec<_>>()
    };
    assert_eq!(options("wire"), ["any", "1", "2"]);
    let rows: Vec<_> = elements(&document, "tr")
        .filter(|node| node.attribute("data-c").is_some())
        .collect();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let mut cells = row.children();
        let case = spoken(cells.find(|node| node.has_tag_name("th")).unwrap());
        assert_eq!(format!("v{}", row.attribute("data-c").unwrap()), case[..2]);
    }
}

#[test]
fn known_skipped_refused_and_stale_are_named_in_words() {
    let headline =
        "✗ 8 failed, 1 failed between writers and readers, 1 not graded, 1 stale in failure lists";
    assert_parts(
        &words(&page(&demo())),
        &[
            headline,
            "hangs on a count of 0, #12",
            "data 3 of 11, labels 3 of 5",
            "A label differs at",
            "wire version 2",
            "Not graded: ./v: No such file or directory (os error 2)",
            "ada-c/failures.txt:3: crash v1/nothing-*: matches no case",
            "events[3]: depth 1, asked for 2",
        ],
    );
}

#[test]
fn a_screen_reader_can_name_every_element() {
    let page = page(&demo());
    let document = Document::parse(&page).unwrap();
    let html = document.root_element();
    assert_eq!(html.attribute("lang"), Some("en"));
    let one = |tag| assert_eq!(elements(&document, tag).count(), 1, "{tag}");
    ["title", "main", "h1", "header"].into_iter().for_each(one);
    for tag in ["a", "button", "summary", "th", "option"] {
        for node in elements(&document, tag) {
            assert!(!spoken(node).is_empty(), "{tag}: {node:?}");
        }
    }
    for tag in ["input", "select"] {
        for node in elements(&document, tag) {
            let label = node.parent().unwrap();
            assert!(label.has_tag_name("label") && !label.text().unwrap().trim().is_empty());
        }
    }
    for table in elements(&document, "table") {
        let heads = table.descendants().filter(|node| node.has_tag_name("th"));
        let mut scopes: Vec<_> = heads.map(|node| node.attribute("scope").unwrap()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let has = |scope| scopes.contains(&scope);
        assert!(has("col") && has("row"), "{scopes:?}");
        // Scrollable regions have a name and can be reached by keyboard.
        let region = table.parent().unwrap();
        let attributes = ["tabindex", "role"].map(|name| region.attribute(name));
        assert_eq!(attributes, [Some("0"), Some("region")]);
        by_id(&document, region.attribute("aria-labelledby").unwrap());
    }
    // No outcome is shown by colour alone.
    for cell in elements(&document, "td") {
        if let Some("failed" | "known" | "passed" | "skipped") = cell.attribute("class") {
            let mut all = cell.descendants();
            let is_labelled = all.any(|node| node.attribute("aria-label").is_some());
            assert!(is_labelled || spoken(cell).starts_with(['✗', '~', '✓', '–']));
        }
    }
}

/// Returns the light and the dark value of each named colour in the style.
fn colours() -> BTreeMap<String, [[f64; 3]; 2]> {
    let mut colours = BTreeMap::new();
    for line in CSS.lines() {
        let Some((name, value)) = line.trim().split_once(": light-dark(") else {
            continue;
        };
        let (light, dark) = value.strip_suffix(");").unwrap().split_once(", ").unwrap();
        let rgb = |text: &str| {
            let number = u32::from_str_radix(text.strip_prefix('#').unwrap(), 16).unwrap();
            [16, 8, 0].map(|shift| f64::from((number >> shift) & 0xff) / 255.0)
        };
        colours.insert(name.to_owned(), [rgb(light), rgb(dark)]);
    }
    colours
}

/// Returns the relative luminance as defined by WCAG 2.2.
fn luminance(rgb: [f64; 3]) -> f64 {
    let linear = rgb.map(|part| {
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn all_text_has_enough_contrast_in_light_and_dark() {
    assert!((contrast([1.0; 3], [0.0; 3]) - 21.0).abs() < 1e-9);
    let colours = colours();
    let pairs = [
        ("ink", "paper", 7.0),
        ("ink", "panel", 7.0),
        ("faint", "paper", 4.5),
        ("faint", "panel", 4.5),
        ("link", "paper", 4.5),
        ("passed", "passed-paper", 4.5),
        ("failed", "failed-paper", 4.5),
        ("known", "known-paper", 4.5),
        ("ink", "field", 4.5),
        // The edges of controls, and the focus indicator.
        ("edge", "paper", 3.0),
        ("link", "panel", 3.0),
    ];
    for (ink, paper, least) in pairs {
        let of = |name: &str| colours[&format!("--{name}")];
        for (ink_colour, paper_colour) in of(ink).into_iter().zip(of(paper)) {
            let found = contrast(ink_colour, paper_colour);
            assert!(found >= least, "{ink} on {paper}: {found:.2}");
        }
    }
}

/// Makes ten thousand results. The first `failing` results fail with full details.
pub(crate) fn many(failing: usize) -> Results {
    let mut results = demo();
    results.cases = (0..10_000)
        .map(|seq: usize| {
            let class = CLASSES[seq % CLASSES.len()];
            let outcome = if seq < failing {
                with_differences(class, 1)
            } else {
                Outcome::Passed
            };
            let rule = ["ATF-IHDR-001", "ATF-IFTR-004", "ATF-LINK-002"][seq % 3];
            let mut case = case(
                &format!("v1/some-case-with-a-long-name-{seq}"),
                &[rule],
                outcome,
            );
            case.testee = seq % 2;
            case.stderr = "<stderr> & more of it\n".repeat(100);
            case
        })
        .collect();
    results
}

fn with_differences(class: Failure, count: usize) -> Outcome {
    Outcome::Failed {
        class,
        message: String::new(),
        differences: vec![difference(); count],
    }
}

#[test]
fn a_page_of_ten_thousand_failures_stays_below_ten_megabytes() {
    let page = report(&many(10_000), Form::Html);
    assert!(page.len() < 10_000_000, "{}", page.len());
    Document::parse(&markup(&page)).unwrap();
    assert!(page.contains("Left out to limit the page's size"));
    assert_eq!(page.matches("<details id=\"f").count(), 10_000);
}

#[test]
fn each_part_of_the_details_counts_towards_the_limit() {
    let text = "a text of thirty letters or so".repeat(120);
    let parts: [fn(&mut CaseResult, &str); 5] = [
        |case, text| case.note = text.to_owned(),
        |case, text| case.stderr = text.to_owned(),
        |case, text| case.notes = vec![note(Severity::Advice, "ATF-IFTR-004", text); 30],
        |case, _| case.rules = vec!["ATF-IFTR-004".to_owned(); 30],
        |case, _| case.outcome = with_differences(Failure::WrongDecode, 8),
    ];
    for (seq, fill) in parts.into_iter().enumerate() {
        let mut results = demo();
        let mut one = case("v1/large", &[], failed(Failure::WrongDecode));
        fill(&mut one, &text);
        results.cases = vec![one; 2_000];
        let page = report(&results, Form::Html);
        assert!(page.contains("Left out to limit the page's size"), "{seq}");
        assert!(page.len() < 6_500_000, "{seq}: {}", page.len());
    }
}

#[test]
fn a_run_can_happen_at_any_time() {
    let day = Duration::from_secs(86_400);
    let at = |now| Made::new(now, String::new()).at;
    assert_eq!(at(UNIX_EPOCH - day), "1970-01-01T00:00:00Z");
    assert_eq!(at(UNIX_EPOCH + day * 5_000_000), "9999-12-31T23:59:59Z");
}
