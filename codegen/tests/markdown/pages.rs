//! Checks the pictures, anchors and form of the pages.

use std::collections::BTreeSet;

use atf_codegen::GENERATED;

use crate::reference::{Reference, name};

/// `docs/tests/links.rs` tests that links and pictures have targets.
#[test]
fn every_picture_is_shown() {
    let reference = Reference::get();
    let pages = reference.pages();
    let shown = pages.values().flat_map(|page| &page.images);
    let shown: BTreeSet<&str> = shown.map(String::as_str).collect();
    let pictures = reference.pictures().map(name);
    assert_eq!(pictures.collect::<BTreeSet<_>>(), shown);
}

#[test]
fn each_anchor_occurs_once_on_its_page() {
    for (page, content) in Reference::get().pages() {
        let mut seen = BTreeSet::new();
        let anchors = content.anchors.iter();
        let twice: Vec<_> = anchors.filter(|anchor| !seen.insert(*anchor)).collect();
        // The anchors of our headings must differ from those of the spec's names.
        assert!(twice.is_empty(), "{page}: {twice:?}");
    }
}

#[test]
fn github_renders_the_pages_as_intended() {
    let reference = Reference::get();
    for (page, content) in reference.pages() {
        assert_eq!(content.emphasis, 0, "{page}: a stray * or _ or ~");
        for html in &content.html {
            let is_ours = html.starts_with("<a id=") || html == "</a>" || html.contains(GENERATED);
            assert!(is_ours, "{page}: raw HTML: {html}");
        }
        let text = reference.text(page);
        assert!(
            text.starts_with(&format!("<!-- {GENERATED} -->\n")),
            "{page}"
        );
        let has_empty_lines = !text.ends_with('\n') || text.contains("\n\n\n");
        assert!(!has_empty_lines, "{page}: empty lines");
        let mut columns = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = None;
                continue;
            }
            let cells = line.replace("\\|", "").matches('|').count();
            assert_eq!(*columns.get_or_insert(cells), cells, "{page}: {line}");
            assert!(line.ends_with('|'), "{page}: {line}");
        }
    }
}
