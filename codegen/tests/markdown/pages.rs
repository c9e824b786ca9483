//! Checks that the pages contain everything in the spec, and their pictures, anchors and form.

use std::collections::BTreeSet;

use atf_codegen::GENERATED;
use atf_spec::reconcile::How;

use crate::reference::{Reference, name, tables};

/// Removes the marks of code and the escapes.
fn words(text: &str) -> String {
    text.replace(['`', '\\'], "")
}

#[test]
fn every_rule_has_an_anchor_and_all_its_text() {
    let reference = Reference::get();
    let pages = reference.pages();
    let text = reference.text("rules.md");
    for rule in reference.spec.all_rules() {
        let (id, anchor) = (rule.id.as_str(), rule.id.to_lowercase());
        assert!(pages["rules.md"].has(&anchor), "{id}");
        let section = text.split_once(&format!("### {id}\n"));
        let (_, section) = section.expect("the rule has a heading");
        let section = section.split("\n#").next().unwrap_or_default();
        let has_it = words(section).contains(&words(&rule.rule));
        assert!(has_it, "{id}: {section}");
        for name in rule.about.iter().chain(&rule.settled_by) {
            assert!(section.contains(&format!("[`{name}`](")), "{id}: {name}");
        }
        for source in &rule.sources {
            assert!(section.contains(source.as_str()), "{id}: {source}");
        }
    }
}

#[test]
fn every_field_is_in_each_wire_versions_offset_table() {
    let reference = Reference::get();
    let pages = reference.pages();
    for record in &reference.layout.records {
        let page = format!("{}.md", record.name);
        let text = reference.text(&page);
        let rows = text.lines();
        let rows: Vec<Vec<&str>> = rows.map(|line| line.split(" | ").collect()).collect();
        let mut expected = 0;
        for layout in tables(record) {
            for field in layout {
                expected += 1;
                let name = format!("`{}`", field.name);
                let offset = format!("| {}", field.offset);
                let size = field.ty.size().to_string();
                let ty = format!("`{}`", field.ty);
                let is_row = |row: &&Vec<&str>| {
                    row[..3] == [offset.as_str(), &size, &ty] && row[3].ends_with(&name)
                };
                let mut rows = rows.iter().filter(|row| row.len() > 4);
                let found = rows.any(|row| is_row(&row));
                assert!(found, "{page}: {} at {}", field.name, field.offset);
                let anchor = format!("field-{}", field.name);
                assert!(pages[page.as_str()].has(&anchor), "{page}: {anchor}");
            }
        }
        let is_row = |row: &&Vec<&str>| row.len() > 4 && row[1].parse::<u32>().is_ok();
        assert_eq!(rows.iter().filter(is_row).count(), expected, "{page}");
    }
}

#[test]
fn every_disagreement_is_on_the_page_with_each_claim() {
    let reference = Reference::get();
    let pages = reference.pages();
    let text = reference.text("reconciliation.md");
    for found in &reference.found.disagreements {
        let key = found.key.to_string();
        assert!(pages["reconciliation.md"].has(&key), "{key} has an anchor");
        let (_, section) = text.split_once(&format!("`{key}` is now `")).expect(&key);
        let table = section.lines().skip(2);
        let table = table.take_while(|line| line.starts_with('|'));
        let rows: Vec<&str> = table.skip(2).collect();
        assert_eq!(
            rows.len(),
            found.claims.len(),
            "{key}: a row for each claim"
        );
        for claim in &found.claims {
            let how = match claim.how {
                How::States => "`",
                how => how.verb(),
            };
            let of_source = format!("| {} | {how}", claim.source);
            let section = format!(" | {} |", claim.section);
            let is_row = |row: &&str| row.starts_with(&of_source) && words(row).contains(&section);
            assert!(rows.iter().any(is_row), "{key}: {}", claim.source);
        }
        let decision = &found.settlement.as_ref().expect(&key).decision;
        for said in [&decision.title, &decision.reason] {
            assert!(words(text).contains(&words(said)), "{key}: {said}");
        }
    }
}

#[test]
fn every_silence_and_topic_is_on_the_page() {
    let reference = Reference::get();
    let pages = reference.pages();
    let page = &pages["reconciliation.md"];
    for silence in &reference.spec.decisions.silences {
        assert!(page.has(&silence.silence), "{}", silence.silence);
    }
    for topic in &reference.spec.topics {
        assert!(page.has(&topic.topic), "{}", topic.topic);
    }
    for source in &reference.spec.sources {
        assert!(page.has(&source.source), "{}", source.source);
    }
}

#[test]
fn every_named_number_and_manifest_key_is_on_its_page() {
    let reference = Reference::get();
    for enumeration in &reference.layout.enums {
        for member in &enumeration.members {
            let name = format!("`{}`", enumeration.c_name(member));
            assert!(reference.text("enums.md").contains(&name), "{name}");
        }
    }
    for constant in &reference.layout.constants {
        let name = &constant.name;
        assert!(reference.text("enums.md").contains(name), "{name}");
    }
    for object in &reference.spec.manifest.objects {
        for field in &object.fields {
            let key = format!("| `{}` | ", field.name);
            assert!(reference.text("session.md").contains(&key), "{key}");
        }
    }
}

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
fn github_renders_the_pages_as_intended() {
    let reference = Reference::get();
    for (page, content) in reference.pages() {
        assert_eq!(content.emphasis, 0, "{page}: a stray * or _ or ~");
        let mut seen = BTreeSet::new();
        let mut anchors = content.anchors.iter();
        // The anchors of our headings must differ from those of the spec's names.
        let twice = anchors.find(|anchor| !seen.insert(*anchor));
        assert_eq!(twice, None, "{page}: an anchor occurs twice");
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
