//! Renders self-contained pages, which need neither a network nor other files. The pages are
//! complete without JavaScript, which only adds filters and a choice of colours.

use std::error::Error as _;
use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::printable::{Printable, clipped};

/// The maximum length of a name in characters. The JSON report contains the full name.
const NAME_LETTERS: usize = 160;
/// The maximum length of a value in characters. The JSON report contains the full value.
const VALUE_LETTERS: usize = 1000;

const BASE: &str = include_str!("../templates/page.html");
/// The style of all pages, in dark and light.
pub const STYLE: &str = include_str!("../templates/report.css");
/// The script of all pages: the choice of colours, and list filters.
pub const SCRIPT: &str = include_str!("../templates/report.js");

/// A page with the parts shared by all pages.
#[derive(Serialize)]
struct Whole<T> {
    #[serde(flatten)]
    page: T,
    policy: String,
    style: &'static str,
    script: &'static str,
}

/// Renders a page from its template, which extends `page.html`.
///
/// # Errors
///
/// Returns an error if the template does not fit the page, or if writing to `out` fails.
pub fn write(template: &str, page: impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let environment = environment().map_err(io::Error::other)?;
    let template = environment
        .template_from_named_str("this.html", template)
        .map_err(io::Error::other)?;
    let whole = Whole {
        page,
        policy: policy(),
        style: STYLE,
        script: SCRIPT,
    };
    let rendered = template.render_captured_to(Serde(whole), out);
    rendered.map(drop).map_err(failure)
}

/// Converts a rendering error. If `out` caused it, keeps the kind of its error.
fn failure(error: minijinja::Error) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    let kind = cause.map_or(io::ErrorKind::Other, io::Error::kind);
    io::Error::new(kind, error)
}

/// Returns the content security policy. It allows only our own style and script, which are
/// identified by their hashes, so text from an implementation or a file is never executed.
fn policy() -> String {
    let sum = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    let (style, script) = (sum(STYLE), sum(SCRIPT));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; \
         base-uri 'none'; form-action 'none'"
    )
}

/// Returns an environment that has `page.html`. It escapes text in HTML, and rejects unknown names.
///
/// # Errors
///
/// Returns an error if its own template cannot be parsed.
pub fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|name| {
        if name.ends_with(".html") {
            AutoEscape::Html
        } else {
            AutoEscape::None
        }
    });
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("page.html", BASE)?;
    Ok(environment)
}

/// Prepares a name, a path or a short message for a page: escapes unprintable characters and limits
/// the length.
#[must_use]
pub fn shown(text: &str) -> String {
    Printable(clipped(text, NAME_LETTERS)).to_string()
}

/// Prepares a value, or a message that contains a value.
#[must_use]
pub fn shown_value(text: &str) -> String {
    Printable(clipped(text, VALUE_LETTERS)).to_string()
}

/// Returns the length of the HTML-escaped text, in bytes.
#[must_use]
pub fn escaped(text: &str) -> usize {
    let long = |letter: char| match letter {
        '<' | '>' | '&' | '"' | '\'' | '/' => 6,
        _ => letter.len_utf8(),
    };
    text.chars().map(long).sum()
}
