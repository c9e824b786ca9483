//! Opens the page in headless Chromium, if installed.
//!
//! Without Chromium, the tests print SKIPPED, or fail if `ATF_REQUIRE_TOOLS=1` is set.

use std::collections::BTreeMap;

use atf_conformance::results::Results;
use atf_report::Form;
use atf_samples::tools::browsed;
use tempfile::TempDir;

use crate::check;
use crate::demo::{demo, hostile};
use crate::html::{many, markup};
use crate::report;

/// Runs the page's script and returns the resulting DOM and the console messages. Returns `None` if
/// there is no browser.
fn opened(page: &str, fragment: &str) -> Option<(String, Vec<String>)> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let address = format!("file://{}{fragment}", file.display());
    browsed(&address, &folder.path().join("profile"))
}

/// Opens a page and asserts that the console stays empty.
fn quiet(page: &str, fragment: &str) -> Option<String> {
    let (page, said) = opened(page, fragment)?;
    assert_eq!(said, [""; 0]);
    Some(page)
}

fn run(results: &Results) -> String {
    report(results, Form::Html)
}

fn count(page: &str) -> &str {
    let (_, rest) = page
        .split_once("<output id=\"count\" role=\"status\">")
        .unwrap();
    rest.split_once("</output>").unwrap().0
}

/// Returns the ids of the visible failures and whether each is open.
fn shown(page: &str) -> Vec<(&str, bool)> {
    let failures = page.split("<details id=\"").skip(1);
    let tags = failures.map(|rest| rest.split_once('>').unwrap().0);
    let shown = tags.filter(|tag| tag.starts_with('f') && !tag.contains(" hidden="));
    shown
        .map(|tag| (tag.split_once('"').unwrap().0, tag.contains(" open=")))
        .collect()
}

#[test]
fn a_browser_applies_the_filters_in_the_url() {
    #[rustfmt::skip]
    let filters = [
        ("#?state=failed&role=write", "2 of 9 failures, 2 of 12 results", &["f7", "f8"][..]),
        ("#?state=failed+known&text=WRONG-ACCEPT", "1 of 9 failures, 1 of 12 results", &["f4"]),
    ];
    for (fragment, text, failures) in filters {
        let Some(page) = quiet(&run(&demo()), fragment) else {
            return;
        };
        assert_eq!(count(&page), text, "{fragment}");
        // Each of these failures is the example of its cause, so it is open.
        let open: Vec<_> = failures.iter().map(|id| (*id, true)).collect();
        assert_eq!(shown(&page), open, "{fragment}");
    }
}

#[test]
fn a_browser_opens_the_failure_that_a_link_names() {
    // Add two failures that have the same cause as f4.
    let mut results = demo();
    for name in ["v1/second", "v1/third"] {
        let mut again = results.cases[4].clone();
        again.case = name.to_owned();
        results.cases.push(again);
    }
    let Some(page) = quiet(&run(&results), "#f13") else {
        return;
    };
    let states: BTreeMap<_, _> = shown(&page).into_iter().collect();
    let opened = ["f4", "f12", "f13"].map(|id| states[id]);
    assert_eq!(opened, [true, false, true]);
    // The enclosing `<details>` is open too.
    let tag = page.split("<details class=\"rest\"").nth(1).unwrap();
    let (tag, _) = tag.split_once('>').unwrap();
    assert!(tag.contains(" open="), "{tag}");
}

#[test]
fn a_browser_runs_no_text_from_an_implementation() {
    let Some(page) = quiet(&run(&hostile()), "") else {
        return;
    };
    // The DOM contains no more elements of these kinds than the page itself.
    let ours = markup(&report(&hostile(), Form::Html));
    for tag in ["<script", "<img", "<a "] {
        let own = ours.matches(tag).count() + usize::from(tag == "<script");
        assert_eq!(page.matches(tag).count(), own, "{tag}");
    }
}

#[test]
fn a_browser_opens_ten_thousand_results() {
    let Some(page) = quiet(&run(&many(1_000)), "#?text=name-77&state=failed") else {
        return;
    };
    // The text matches failures 77 and 770 to 779.
    assert_eq!(count(&page), "11 of 1000 failures, 11 of 10000 results");
}

#[test]
fn a_browser_runs_only_our_script_and_style() {
    let forged =
        "<script>document.title = 'forged'</script><style>h1 { display: none; }</style></main>";
    let page = run(&demo()).replace("</main>", forged);
    let Some((page, said)) = opened(&page, "") else {
        return;
    };
    let title = page.split_once("<title>").unwrap().1;
    assert!(title.starts_with("ATF conformance: "), "{title:.80}");
    let forbids = |what: &str| said.iter().any(|line| line.contains(what));
    assert!(
        said.len() == 2 && forbids("script-src") && forbids("style-src"),
        "{said:#?}"
    );
    // Our own script ran.
    assert_eq!(count(&page), "9 of 9 failures, 12 of 12 results");
}

#[test]
fn a_browser_opens_the_finding_that_a_cell_links_to_and_filters_sessions() {
    let page = check::page();
    let Some(opened) = quiet(&page, "#s0-ATF-IFTR-004") else {
        return;
    };
    assert_eq!(count(&opened), "3 of 3 sessions, 2 of 2 with findings");
    let tag = opened.split("<details ").nth(1).unwrap();
    let tag = tag.split_once('>').unwrap().0;
    assert!(tag.contains("id=\"s0\"") && tag.contains(" open="), "{tag}");
    let filtered = quiet(&page, "#?state=must+should&verdict=accept").unwrap();
    assert_eq!(count(&filtered), "1 of 3 sessions, 1 of 2 with findings");
}
