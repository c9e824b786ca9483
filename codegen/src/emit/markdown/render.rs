//! Renders pages and pictures from the templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use super::links::{self, Link};
use super::{Book, FOLDER, text};
use crate::{GENERATED, GeneratedFile};

/// The templates, by the names used in includes.
const TEMPLATES: [(&str, &str); 13] = [
    (
        "coverage.md",
        include_str!("../../../templates/markdown/coverage.md"),
    ),
    (
        "diagram.svg",
        include_str!("../../../templates/markdown/diagram.svg"),
    ),
    (
        "enums.md",
        include_str!("../../../templates/markdown/enums.md"),
    ),
    (
        "macros.md",
        include_str!("../../../templates/markdown/macros.md"),
    ),
    (
        "readme.md",
        include_str!("../../../templates/markdown/readme.md"),
    ),
    (
        "reconciliation.md",
        include_str!("../../../templates/markdown/reconciliation.md"),
    ),
    (
        "record.md",
        include_str!("../../../templates/markdown/record.md"),
    ),
    (
        "rule_table.md",
        include_str!("../../../templates/markdown/rule_table.md"),
    ),
    (
        "rules.md",
        include_str!("../../../templates/markdown/rules.md"),
    ),
    (
        "session.md",
        include_str!("../../../templates/markdown/session.md"),
    ),
    (
        "sketch.svg",
        include_str!("../../../templates/markdown/sketch.svg"),
    ),
    (
        "style.css",
        include_str!("../../../templates/markdown/style.css"),
    ),
    ("top.md", include_str!("../../../templates/markdown/top.md")),
];

/// A page's own data, and the data that every page gets.
#[derive(Serialize)]
struct Page<'a, T> {
    /// The page's title.
    title: &'a str,
    /// The previous page in the reference's order.
    previous: Option<&'a Link>,
    /// The next page.
    next: Option<&'a Link>,
    /// The first page.
    home: &'a Link,
    #[serde(flatten)]
    content: &'a T,
}

/// The parsed templates.
pub(super) struct Press {
    environment: Environment<'static>,
    pages: Vec<Link>,
}

impl Press {
    pub(super) fn new(book: &Book<'_>) -> Self {
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()
            .expect("the default delimiters are distinct");
        let mut environment = Environment::new();
        environment.set_syntax(syntax);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // Markdown is escaped word by word, by filters. XML is escaped automatically.
        environment.set_auto_escape_callback(|name| match name.rsplit_once('.') {
            Some((_, "svg")) => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        environment.add_filter("prose", |value: &str| text::prose(value));
        environment.add_filter("plain", |value: &str| text::escape(value));
        environment.add_filter("code", |value: &str| text::code(value));
        environment.add_filter("versions", |wires: Vec<u8>| text::versions(&wires));
        environment.add_global("generated", GENERATED);
        for (name, source) in TEMPLATES {
            environment
                .add_template(name, source)
                .expect("the templates are well-formed");
        }
        Self {
            environment,
            pages: links::pages(book),
        }
    }

    /// Renders a page of the reference.
    pub(super) fn page(
        &self,
        template: &str,
        path: &str,
        content: &impl Serialize,
    ) -> GeneratedFile {
        let at = self.pages.iter().position(|page| page.href == path);
        let at = at.expect("every page is in the order");
        let page = Page {
            title: &self.pages[at].text,
            previous: at.checked_sub(1).map(|at| &self.pages[at]),
            next: self.pages.get(at + 1),
            home: &self.pages[0],
            content,
        };
        self.picture(template, path, &page)
    }

    /// Renders a picture of the reference.
    pub(super) fn picture(
        &self,
        template: &str,
        path: &str,
        data: &impl Serialize,
    ) -> GeneratedFile {
        let text = self
            .environment
            .get_template(template)
            .and_then(|template| template.render(Serde(data)))
            .expect("the templates know their data");
        GeneratedFile {
            path: format!("{FOLDER}/{path}"),
            text,
        }
    }
}
