//! Emits the format's reference: Markdown pages and byte diagrams, under `docs/reference/`.
//!
//! The templates in `templates/markdown/` contain the prose and tables. The modules here prepare
//! the data. Each kind of page has its own module. The other modules are `links` for pages and
//! anchors, and `diagram` and `sketch` for pictures.

mod coverage;
mod diagram;
mod enums;
mod links;
mod readme;
mod reconciliation;
mod record;
mod rules;
mod session;
mod sketch;
mod text;

use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use atf_spec::reconcile::{Group, Reconciliation};
use minijinja::Environment;
use serde_json::{Value, json};

use self::links::Link;
use super::{environment, render};
use crate::GeneratedFile;

const FOLDER: &str = "docs/reference";

/// The templates, by the names used in includes.
const TEMPLATES: [(&str, &str); 13] = templates!("markdown":
    "coverage.md" "diagram.svg" "enums.md" "macros.md" "readme.md" "reconciliation.md" "record.md"
    "rule_table.md" "rules.md" "session.md" "sketch.svg" "style.css" "top.md"
);

struct Book<'a> {
    spec: &'a Spec,
    found: &'a Reconciliation,
    layout: &'a Layout,
    /// The decisions on disagreements, in the spec's order.
    decisions: Vec<Group<'a>>,
}

/// Emits the pages and their pictures. The spec must have no faults, so that every disagreement is
/// settled.
#[must_use]
pub fn files(spec: &Spec, found: &Reconciliation, layout: &Layout) -> Vec<GeneratedFile> {
    let book = Book {
        spec,
        found,
        layout,
        decisions: found.groups(spec),
    };
    let press = Press::new(&book);
    let mut files = vec![
        press.page("readme.md", links::README, readme::page(&book)),
        press.picture("sketch.svg", links::SKETCH, &sketch::sketch(layout)),
    ];
    let byte = diagram::byte_width(layout);
    for record in &layout.records {
        let page = record::page(&book, record);
        files.push(press.page("record.md", &links::record_page(&record.name), page));
        for (path, diagram) in diagram::diagrams(record, byte) {
            files.push(press.picture("diagram.svg", &path, &diagram));
        }
    }
    files.push(press.page("enums.md", links::ENUMS, enums::page(&book)));
    files.push(press.page("session.md", links::SESSION, session::page(&book)));
    files.push(press.page("rules.md", links::RULES, rules::page(&book)));
    let chapter = reconciliation::page(&book);
    files.push(press.page("reconciliation.md", links::RECONCILIATION, chapter));
    files.push(press.page("coverage.md", links::COVERAGE, coverage::page(&book)));
    files
}

/// The parsed templates.
struct Press {
    environment: Environment<'static>,
    pages: Vec<Link>,
}

impl Press {
    fn new(book: &Book<'_>) -> Self {
        let mut environment = environment(&TEMPLATES);
        environment.add_filter("prose", |value: &str| text::prose(value));
        environment.add_filter("plain", |value: &str| text::escape(value));
        environment.add_filter("code", |value: &str| text::code(value));
        environment.add_filter("versions", |wires: Vec<u8>| text::versions(&wires));
        Self {
            environment,
            pages: links::pages(book),
        }
    }

    /// Renders a page of the reference. `page` is an object.
    fn page(&self, template: &str, path: &str, mut page: Value) -> GeneratedFile {
        let at = self.pages.iter().position(|page| page.href == path);
        let at = at.expect("every page is in the order");
        page["title"] = json!(self.pages[at].text);
        page["previous"] = json!(at.checked_sub(1).map(|at| &self.pages[at]));
        page["next"] = json!(self.pages.get(at + 1));
        page["home"] = json!(self.pages[0]);
        self.picture(template, path, &page)
    }

    fn picture(&self, template: &str, path: &str, data: &Value) -> GeneratedFile {
        let text = render(&self.environment, template, data);
        GeneratedFile::new(format!("{FOLDER}/{path}"), text)
    }
}
