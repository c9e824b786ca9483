//! Emits the format's reference: Markdown pages and byte diagrams, under `docs/reference/`.
//!
//! The templates in `templates/markdown/` contain the prose and tables. The modules here prepare
//! the data. Each kind of page has its own module. The other modules are `links` for pages and
//! anchors, `settled` for decisions, and `diagram` and `sketch` for pictures.

mod coverage;
mod diagram;
mod differences;
mod enums;
mod links;
mod readme;
mod reconciliation;
mod record;
mod render;
mod rules;
mod session;
mod settled;
mod sketch;
mod text;

use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use atf_spec::reconcile::{Group, Reconciliation};

use self::diagram::Scale;
use self::render::Press;
use crate::GeneratedFile;

/// The pages' folder, relative to the repository's root.
const FOLDER: &str = "docs/reference";

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
    let scale = Scale::new(layout);
    for record in &layout.records {
        let page = record::page(&book, record);
        files.push(press.page("record.md", &links::record_page(&record.name), page));
        for (path, diagram) in diagram::diagrams(record, scale) {
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
