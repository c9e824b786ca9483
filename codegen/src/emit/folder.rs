//! Renders a folder of templates: a target in a language, built in or a user's own.
//!
//! Each file `PATH.jinja` in the folder becomes the file `PATH`. Files whose names begin with `_`
//! are only included by others. `docs/targets.md` describes the data that templates receive.

mod code;
mod model;

pub use code::FORMS;

use std::collections::BTreeMap;

use atf_spec::layout::Layout;
use atf_spec::model::ManifestFile;
use minijinja::{Environment, Error, Value};

use crate::GeneratedFile;

/// Templates: their texts by their paths in the folder, with `/` between folders.
pub type Templates = BTreeMap<String, String>;

/// Renders the templates of a folder. The generated files' paths begin with `prefix`.
///
/// # Errors
///
/// Returns the first fault of a template, with its name, line and the reason.
pub fn render(
    templates: &Templates,
    layout: &Layout,
    manifest: &ManifestFile,
    prefix: &str,
) -> Result<Vec<GeneratedFile>, Error> {
    let mut environment = super::empty_environment();
    add_filters(&mut environment);
    for (path, text) in templates {
        environment.add_template_owned(path.clone(), text.clone())?;
    }
    let model = Value::from(minijinja::value::Serde(model::model(layout, manifest)));
    let mut files = Vec::new();
    for path in templates.keys() {
        let Some(file) = output(path) else {
            continue;
        };
        let text = environment.get_template(path)?.render(&model)?;
        files.push(GeneratedFile::new(format!("{prefix}{file}"), text));
    }
    Ok(files)
}

/// Returns the path of the file that a template becomes, or `None` if others include it.
#[must_use]
pub fn output(path: &str) -> Option<&str> {
    let file = path.strip_suffix(".jinja")?;
    let name = file.rsplit('/').next().unwrap_or(file);
    (!name.starts_with('_')).then_some(file)
}

fn add_filters(environment: &mut Environment<'static>) {
    environment.add_filter("camel", |name: &str| camel(name));
    environment.add_filter("pascal", |name: &str| pascal(name));
    environment.add_filter("avoid", |name: String, words: &str| avoid(name, words));
    environment.add_filter("wrapped", |text: &str, prefix: &str| wrapped(text, prefix));
    environment.add_filter("negated", |value: Value| {
        let negated = code::negated(code::expression(&value)?);
        Ok::<_, Error>(Value::from(minijinja::value::Serde(negated)))
    });
    environment.add_filter("branches", |value: Value| branches(&value));
    environment.add_filter(
        "code",
        |expression: Value, syntax: Value, indent: Option<usize>| {
            code::code(&expression, &syntax, indent.unwrap_or(0))
        },
    );
}

fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let mut letters = pascal.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_lowercase().to_string() + letters.as_str()
    })
}

/// Converts a name to `PascalCase`. Underscores at the start are dropped, and those between digits
/// stay.
fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    for part in name.split('_') {
        let ends_in_digit = pascal.ends_with(|last: char| last.is_ascii_digit());
        if ends_in_digit && part.starts_with(|first: char| first.is_ascii_digit()) {
            pascal.push('_');
        }
        pascal += &atf_spec::layout::camel_case(part);
    }
    pascal
}

/// Appends an underscore to a name that is reserved in the language.
fn avoid(name: String, words: &str) -> String {
    if words.split_whitespace().any(|word| word == name) {
        name + "_"
    } else {
        name
    }
}

/// The width at which comments wrap.
const COLUMNS: usize = 96;

/// Wraps prose into lines, each but the first after `prefix`, which begins with its indentation.
/// Replaces backslashes, and the marks that would begin or end a comment.
fn wrapped(text: &str, prefix: &str) -> String {
    let text = text.replace("*/", "* /").replace("/*", "/ *");
    let text = text.replace('\\', "/");
    let lines = super::wrap(&text, COLUMNS - prefix.chars().count());
    lines.join(&format!("\n{prefix}"))
}

/// Returns an expression as a list of branches, each with `is` and, except for the last, `when`.
fn branches(value: &Value) -> Result<Value, Error> {
    let mut rest = value.clone();
    let mut list = Vec::new();
    while rest.get_attr("op")?.as_str() == Some("if") {
        list.push(Value::from(BTreeMap::from([
            ("when", rest.get_attr("condition")?),
            ("is", rest.get_attr("then")?),
        ])));
        rest = rest.get_attr("otherwise")?;
    }
    list.push(Value::from(BTreeMap::from([
        ("when", Value::from(())),
        ("is", rest),
    ])));
    Ok(list.into_iter().collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn pascal_case_has_no_underscore_at_the_start() {
        assert_eq!(super::pascal("_reserved1"), "Reserved1");
    }
}
