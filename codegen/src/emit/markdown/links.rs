//! Pages and anchors.

use atf_spec::load::Spec;
use serde::Serialize;

use super::Book;

pub(super) const README: &str = "README.md";
pub(super) const ENUMS: &str = "enums.md";
pub(super) const SESSION: &str = "session.md";
pub(super) const RULES: &str = "rules.md";
pub(super) const RECONCILIATION: &str = "reconciliation.md";
pub(super) const COVERAGE: &str = "coverage.md";
/// The picture of the files.
pub(super) const SKETCH: &str = "svg/files.svg";
pub(super) const MANIFEST_ANCHOR: &str = "manifest-file";

/// A link that works from any page, because all pages are in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Link {
    /// The name or title of the target, not yet escaped.
    pub(super) text: String,
    /// The page and the anchor.
    pub(super) href: String,
}

impl Link {
    pub(super) fn new(text: impl Into<String>, href: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            href: href.into(),
        }
    }
}

pub(super) fn pages(book: &Book<'_>) -> Vec<Link> {
    let mut pages = vec![Link::new(&book.spec.format.format, README)];
    pages.extend(book.layout.records.iter().map(record));
    pages.push(Link::new("Enumerations, flags and constants", ENUMS));
    pages.push(Link::new("Session folder and manifest", SESSION));
    pages.push(Link::new("Rules", RULES));
    pages.push(Link::new("Sources and decisions", RECONCILIATION));
    pages.push(Link::new("Coverage of the sources", COVERAGE));
    pages
}

pub(super) fn record_page(record: &str) -> String {
    format!("{record}.md")
}

/// Returns a link to a record, with its title as the text.
pub(super) fn record(record: &atf_spec::layout::Record) -> Link {
    Link::new(&record.title, record_page(&record.name))
}

pub(super) fn field_anchor(field: &str) -> String {
    format!("field-{field}")
}

/// Returns a link to a field, with the name used on the current page as the text.
pub(super) fn field(text: &str, record: &str, field: &str) -> Link {
    let href = format!("{}#{}", record_page(record), field_anchor(field));
    Link::new(text, href)
}

pub(super) fn enumeration(name: &str) -> Link {
    Link::new(name, format!("{ENUMS}#{name}"))
}

/// Returns a link to a rule. The anchor is the rule's heading in lower case.
pub(super) fn rule(id: &str) -> Link {
    Link::new(id, format!("{RULES}#{}", id.to_ascii_lowercase()))
}

/// Returns a link to a topic or a silence, or to the decision on a disagreement.
pub(super) fn topic(name: &str) -> Link {
    Link::new(name, format!("{RECONCILIATION}#{name}"))
}

/// Returns a link to a file in the repository, given its path from the root.
pub(super) fn file(text: &str, path: &str) -> Link {
    let href = match path.strip_prefix("docs/reference/") {
        Some(page) => page.to_owned(),
        None => format!("../../{path}"),
    };
    Link::new(text, href)
}

pub(super) fn manifest_object_anchor(object: &str) -> String {
    format!("object-{object}")
}

pub(super) fn manifest_object(object: &str) -> Link {
    let anchor = manifest_object_anchor(object);
    Link::new(object, format!("{SESSION}#{anchor}"))
}

/// Returns a link to the subject of a rule, topic, silence or claim: a record, a field, an
/// enumeration, a topic, the manifest or the session.
pub(super) fn subject(spec: &Spec, name: &str) -> Link {
    if let Some((record, known)) = name.split_once('.')
        && spec.record(record).is_some()
    {
        return field(name, record, known);
    }
    if spec.record(name).is_some() {
        return Link::new(name, record_page(name));
    }
    if spec.enumeration(name).is_some() {
        return enumeration(name);
    }
    if spec.topic(name).is_some() {
        return topic(name);
    }
    if name == spec.manifest.file {
        return Link::new(name, format!("{SESSION}#{MANIFEST_ANCHOR}"));
    }
    Link::new(name, SESSION)
}
