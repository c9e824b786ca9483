//! One page that needs nothing else: no network, no other file. It is whole without JavaScript, which
//! adds filters and the choice of colours.

mod failure;
mod matrix;
mod page;

use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::results::Results;
use page::Page;

/// The page, its style and its script.
const TEMPLATES: [(&str, &str); 3] = [
    (
        "report.css",
        include_str!("../../../../templates/report.css"),
    ),
    ("report.js", include_str!("../../../../templates/report.js")),
    ("run.html", include_str!("../../../../templates/run.html")),
];

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let environment = environment().map_err(io::Error::other)?;
    let template = environment
        .get_template("run.html")
        .map_err(io::Error::other)?;
    let page = Page::new(results);
    let rendered = template.render_captured_to(Serde(page), &mut *out);
    rendered.map_err(io::Error::other)?;
    Ok(())
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}
