//! Checks the links, anchors and form of the pages.

use std::collections::BTreeSet;
use std::path::Path;

use atf_codegen::GENERATED;

use crate::reference::{Reference, name};

#[test]
fn every_link_and_picture_has_a_target() {
    let reference = Reference::new();
    let pages = reference.pages();
    let files: BTreeSet<&str> = reference.files.iter().map(name).collect();
    let mut dead = Vec::new();
    let mut count = 0;
    for (page, content) in &pages {
        for link in content.links.iter().chain(&content.images) {
            count += 1;
            let (file, anchor) = match link.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (link.as_str(), None),
            };
            let is_there = match anchor {
                None => files.contains(file) || is_in_repository(file),
                Some(anchor) => pages.get(file).is_some_and(|page| page.has(anchor)),
            };
            if !is_there {
                dead.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(count > 500, "only {count} links");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
    let shown: BTreeSet<&str> = pages
        .values()
        .flat_map(|page| &page.images)
        .map(String::as_str)
        .collect();
    let pictures = files.into_iter().filter(|file| file.ends_with(".svg"));
    assert_eq!(
        pictures.collect::<BTreeSet<_>>(),
        shown,
        "each picture is shown"
    );
}

/// Returns whether a link leads to an existing file outside the reference, such as a test that
/// verifies a statement.
fn is_in_repository(link: &str) -> bool {
    let path = link.strip_prefix("../../");
    path.is_some_and(|path| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(path)
            .is_file()
    })
}

#[test]
fn each_anchor_occurs_once_on_its_page() {
    for (page, content) in Reference::new().pages() {
        let mut seen = BTreeSet::new();
        let twice: Vec<_> = content
            .anchors
            .iter()
            .filter(|anchor| !seen.insert(*anchor))
            .collect();
        // The anchors of our headings must differ from those of the spec's names.
        assert!(twice.is_empty(), "{page}: {twice:?}");
    }
}

#[test]
fn github_renders_the_pages_as_intended() {
    let reference = Reference::new();
    for (page, content) in reference.pages() {
        assert_eq!(content.emphasis, 0, "{page}: a stray * or _ or ~");
        for html in &content.html {
            let is_ours = html.starts_with("<a id=") || html == "</a>" || html.contains(GENERATED);
            assert!(is_ours, "{page}: raw HTML: {html}");
        }
        let text = reference.text(page);
        assert_eq!(
            text.lines().next(),
            Some(format!("<!-- {GENERATED} -->").as_str()),
            "{page}"
        );
        assert!(
            text.ends_with('\n') && !text.contains("\n\n\n"),
            "{page}: empty lines"
        );
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
