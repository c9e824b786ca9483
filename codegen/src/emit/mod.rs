//! Emitters, one per target.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::Value;

use crate::GENERATED;

/// Includes the templates of a folder, with their names.
macro_rules! templates {
    ($folder:literal: $($name:literal)*) => {
        [$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $folder, "/", $name)),
        )),*]
    };
}

pub mod c;
pub mod rust;

#[cfg(feature = "command")]
pub mod dict;
#[cfg(feature = "command")]
pub mod folder;
#[cfg(feature = "command")]
pub mod json;
#[cfg(feature = "command")]
pub mod markdown;
#[cfg(feature = "command")]
pub mod readers;
#[cfg(feature = "command")]
pub mod rules;
#[cfg(feature = "command")]
pub mod schema;

/// Wraps a text's words into lines of at most this many letters, apart from longer words. There is
/// at least one line.
#[must_use]
pub fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Parses templates, which may include each other.
fn environment(templates: &[(&'static str, &'static str)]) -> Environment<'static> {
    let mut environment = empty_environment();
    for (name, source) in templates {
        environment
            .add_template(name, source)
            .expect("the templates are well-formed");
    }
    environment
}

/// Returns an environment for templates in our syntax.
fn empty_environment() -> Environment<'static> {
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
    environment.add_global("generated", GENERATED);
    environment
}

fn render(environment: &Environment<'_>, template: &str, data: &Value) -> String {
    environment
        .get_template(template)
        .and_then(|template| template.render(Serde(data)))
        .expect("the templates know their data")
}
