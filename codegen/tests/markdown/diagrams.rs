//! Checks that the diagrams show every byte once and every name within its box.

use std::ops::Range;

use atf_codegen::GENERATED;
use atf_spec::layout::Field;
use roxmltree::{Document, Node};

use crate::reference::{Reference, tables};

#[test]
fn a_byte_diagram_shows_each_byte_of_its_field_once() {
    let reference = Reference::get();
    let pages = reference.pages();
    for record in &reference.layout.records {
        let images = &pages[format!("{}.md", record.name).as_str()].images;
        assert_eq!(images.len(), tables(record).len(), "{}", record.name);
        for (image, fields) in images.iter().zip(tables(record)) {
            let svg = Document::parse(reference.text(image)).expect("well-formed XML");
            let mut bytes: Vec<Vec<&str>> = vec![Vec::new(); record.size as usize];
            for shown in boxes(&svg) {
                let (offset, size) = (number(shown, "data-offset"), number(shown, "data-size"));
                for byte in offset..offset + size {
                    let field = shown.attribute("data-field").expect("a box has a field");
                    bytes
                        .get_mut(byte as usize)
                        .expect("within the record")
                        .push(field);
                }
            }
            for (byte, found) in (0..).zip(bytes) {
                let is_in = |it: &&Field| (it.offset..it.offset + it.ty.size()).contains(&byte);
                let field = fields.iter().find(is_in).map(|field| field.name.as_str());
                assert_eq!(found, Vec::from_iter(field), "{image}: byte {byte}");
            }
        }
    }
}

#[test]
fn pictures_have_titles_and_are_self_contained() {
    let reference = Reference::get();
    for file in reference.pictures() {
        let svg = Document::parse(&file.text).expect("well-formed XML");
        let text = |name| {
            let mut nodes = svg.descendants().filter(|node| node.has_tag_name(name));
            let text = nodes.next().and_then(|node| node.text());
            text.unwrap_or_default().to_owned()
        };
        let path = &file.path;
        let is_titled = !text("title").is_empty() && !text("desc").is_empty();
        assert!(is_titled, "{path}");
        assert!(
            text("style").contains("prefers-color-scheme: dark"),
            "{path}"
        );
        assert_eq!(file.text.matches(GENERATED).count(), 1, "{}", file.path);
        for node in svg.descendants() {
            let reaches_out = node
                .attributes()
                .any(|attribute| attribute.name() == "href");
            assert!(!reaches_out && !node.has_tag_name("script"), "{path}");
        }
    }
}

#[test]
fn names_fit_their_boxes() {
    /// The letter width of the widest common monospace font, relative to the font size.
    const LETTER: f64 = 0.605;
    let reference = Reference::get();
    let mut count = 0;
    for file in reference.pictures() {
        let svg = Document::parse(&file.text).expect("well-formed XML");
        for shown in boxes(&svg) {
            let rect = shown.descendants().find(|node| node.has_tag_name("rect"));
            let width = f64::from(number(rect.expect("a box has a rectangle"), "width"));
            for text in shown.descendants().filter(|node| node.has_tag_name("text")) {
                let size = if text.has_attribute("class") {
                    10.0
                } else {
                    12.0
                };
                let letters = text.text().unwrap_or_default().chars();
                let letters = letters.map(|_| LETTER * size);
                assert!(
                    letters.sum::<f64>() < width,
                    "{}: {:?}",
                    file.path,
                    text.text()
                );
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count} texts");
}

#[test]
fn boxes_are_within_the_picture_and_do_not_overlap() {
    let reference = Reference::get();
    for file in reference.pictures() {
        let svg = Document::parse(&file.text).expect("well-formed XML");
        let right = number(svg.root_element(), "width");
        let area = |shown: Node<'_, '_>| {
            let rect = shown.descendants().find(|node| node.has_tag_name("rect"));
            let rect = rect.expect("a box has a rectangle");
            let (x, y) = (number(rect, "x"), number(rect, "y"));
            (x..x + number(rect, "width"), y..y + number(rect, "height"))
        };
        let areas: Vec<_> = boxes(&svg).map(area).collect();
        for (at, (x, y)) in areas.iter().enumerate() {
            assert!(x.end < right, "{}: box {at} overflows", file.path);
            for (other, (other_x, other_y)) in areas.iter().enumerate().skip(at + 1) {
                let apart = |one: &Range<u32>, other: &Range<u32>| {
                    one.end <= other.start || other.end <= one.start
                };
                let is_apart = apart(x, other_x) || apart(y, other_y);
                assert!(is_apart, "{}: boxes {at} and {other}", file.path);
            }
        }
    }
}

fn boxes<'a>(svg: &'a Document<'_>) -> impl Iterator<Item = Node<'a, 'a>> {
    svg.descendants()
        .filter(|node| node.has_attribute("data-field"))
}

fn number(node: Node<'_, '_>, attribute: &str) -> u32 {
    let value = node
        .attribute(attribute)
        .and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| panic!("{attribute} of {node:?} is a number"))
}
