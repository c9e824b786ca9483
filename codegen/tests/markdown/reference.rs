//! This repository's spec and its pages, as GitHub renders them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use atf_codegen::GeneratedFile;
use atf_codegen::emit::markdown;
use atf_spec::layout::{Field, Layout, Record};
use atf_spec::load::Spec;
use atf_spec::reconcile::Reconciliation;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// This repository's spec and its pages.
pub(crate) struct Reference {
    pub(crate) spec: Spec,
    pub(crate) found: Reconciliation,
    pub(crate) layout: Layout,
    files: Vec<GeneratedFile>,
}

impl Reference {
    /// Compiles the spec and writes its pages once for all tests.
    pub(crate) fn get() -> &'static Self {
        static REFERENCE: LazyLock<Reference> = LazyLock::new(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
            let compiled = atf_spec::compile(&folder);
            let layout = compiled.layout().expect("the spec has no faults");
            let spec = compiled.spec.expect("the spec has no faults");
            let found = compiled.reconciliation.expect("the spec has no faults");
            let files = markdown::files(&spec, &found, &layout);
            Reference {
                spec,
                found,
                layout,
                files,
            }
        });
        &REFERENCE
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        let path = format!("docs/reference/{name}");
        let file = self.files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("there is no {path}")).text
    }

    pub(crate) fn pictures(&self) -> impl Iterator<Item = &GeneratedFile> {
        self.files.iter().filter(|file| file.path.ends_with(".svg"))
    }

    /// Returns the pages by name, as GitHub renders them.
    pub(crate) fn pages(&self) -> BTreeMap<&str, Page> {
        let pages = self.files.iter().filter(|file| file.path.ends_with(".md"));
        pages
            .map(|file| (name(file), Page::read(&file.text)))
            .collect()
    }
}

/// Returns a path relative to the pages' folder.
pub(crate) fn name(file: &GeneratedFile) -> &str {
    let name = file.path.strip_prefix("docs/reference/");
    name.unwrap_or_else(|| panic!("{} is not below docs/reference", file.path))
}

/// The anchors, pictures and markup of a page.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) anchors: Vec<String>,
    pub(crate) images: Vec<String>,
    pub(crate) html: Vec<String>,
    /// The number of emphasized passages. No page should have any.
    pub(crate) emphasis: usize,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let title = heading.take().expect("a heading ends after its start");
                    page.anchors.push(slug(&title));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(title) = &mut heading {
                        title.push_str(&text);
                    }
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    page.images.push(dest_url.into_string());
                }
                Event::Start(Tag::Emphasis | Tag::Strikethrough) => page.emphasis += 1,
                Event::Html(html) | Event::InlineHtml(html) => {
                    let id = html
                        .split_once("<a id=\"")
                        .and_then(|(_, rest)| rest.split_once('"'));
                    page.anchors.extend(id.map(|(id, _)| id.to_owned()));
                    page.html.push(html.trim().to_owned());
                }
                _ => {}
            }
        }
        page
    }

    pub(crate) fn has(&self, anchor: &str) -> bool {
        self.anchors.iter().any(|known| known == anchor)
    }
}

/// Returns GitHub's anchor for a heading.
fn slug(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the fields of each table on a record's page.
pub(crate) fn tables(record: &Record) -> Vec<&[Field]> {
    let tables = record.layouts.iter().map(|layout| &*layout.fields);
    let mut tables: Vec<&[Field]> = tables.collect();
    if record.is_same_in_every_wire() {
        tables.truncate(1);
    }
    tables
}
