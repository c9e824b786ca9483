//! Tests the text and the layout of the badge.

use atf_conformance::results::{Failure, Outcome, Results};
use atf_report::Form;
use roxmltree::{Document, Node};

use crate::demo::{case, demo, empty, failed, hostile};
use crate::html::elements;
use crate::report;

fn words(results: &Results) -> String {
    let text = report(results, Form::Badge);
    let document = Document::parse(&text).unwrap();
    let svg = document.root_element();
    let number = |node: Node<'_, '_>, name| node.attribute(name).unwrap().parse::<u32>().unwrap();
    let texts: Vec<_> = elements(&document, "text").collect();
    let papers = elements(&document, "rect").filter(|node| node.attribute("fill").is_some());
    let papers: Vec<_> = papers.collect();
    assert_eq!((texts.len(), papers.len()), (2, 2));
    // Each string is centred on its own background, and the two backgrounds fill the image.
    let start = |node: Node<'_, '_>| node.attribute("x").map_or(0, |x| x.parse().unwrap());
    let end = |node, length| start(node) + number(node, length);
    for (text, paper) in texts.iter().zip(&papers) {
        let before = start(*text) - start(*paper);
        let behind = end(*paper, "width") - end(*text, "textLength");
        assert!(
            before > 0 && before == behind,
            "{before} before, {behind} after"
        );
    }
    assert_eq!(end(papers[0], "width"), start(papers[1]));
    assert_eq!(end(papers[1], "width"), number(svg, "width"));
    let words = texts[1].text().unwrap();
    let label = svg.attribute("aria-label").unwrap();
    assert_eq!(label, format!("ATF v2 conformance: {words}"));
    words.to_owned()
}

#[test]
fn a_badge_reports_the_outcome() {
    let mut results = empty();
    assert_eq!(words(&results), "nothing graded");
    results.cases = vec![case("v1/a", &[], Outcome::Passed); 412];
    assert_eq!(words(&results), "412 passed");
    let mut known = case("v1/b", &[], failed(Failure::Crash));
    known.listed = Some("#1".to_owned());
    results.cases.push(known.clone());
    assert_eq!(words(&results), "412 passed, 1 known");
    results.stale = vec!["a line".to_owned()];
    assert_eq!(words(&results), "1 stale in failure lists");
    known.listed = None;
    results.cases.push(known);
    assert_eq!(words(&results), "data 412 of 414, labels 412 of 412");
}

#[test]
fn a_badge_contains_no_text_from_an_implementation() {
    assert_eq!(
        report(&hostile(), Form::Badge),
        report(&demo(), Form::Badge)
    );
}
