//! Renders pages and pictures from the templates.

use minijinja::Environment;
use serde_json::{Value, json};

use super::links::{self, Link};
use super::{Book, FOLDER, text};
use crate::{GeneratedFile, emit};

/// The templates, by the names used in includes.
const TEMPLATES: [(&str, &str); 13] = templates!("markdown":
    "coverage.md" "diagram.svg" "enums.md" "macros.md" "readme.md" "reconciliation.md" "record.md"
    "rule_table.md" "rules.md" "session.md" "sketch.svg" "style.css" "top.md"
);

/// The parsed templates.
pub(super) struct Press {
    environment: Environment<'static>,
    pages: Vec<Link>,
}

impl Press {
    pub(super) fn new(book: &Book<'_>) -> Self {
        let mut environment = emit::environment(&TEMPLATES);
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
    pub(super) fn page(&self, template: &str, path: &str, mut page: Value) -> GeneratedFile {
        let at = self.pages.iter().position(|page| page.href == path);
        let at = at.expect("every page is in the order");
        page["title"] = json!(self.pages[at].text);
        page["previous"] = json!(at.checked_sub(1).map(|at| &self.pages[at]));
        page["next"] = json!(self.pages.get(at + 1));
        page["home"] = json!(self.pages[0]);
        self.picture(template, path, &page)
    }

    pub(super) fn picture(&self, template: &str, path: &str, data: &Value) -> GeneratedFile {
        GeneratedFile {
            path: format!("{FOLDER}/{path}"),
            text: emit::render(&self.environment, template, data),
        }
    }
}
