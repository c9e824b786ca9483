//! Emits an edition as JSON, for the macro, for comparisons, and for other tools.

use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use serde_json::{Map, Value, json};

use crate::{GENERATED, GeneratedFile};

/// Emits `spec/layout.json`, which the spec's crate includes.
#[must_use]
pub fn layout(layout: &Layout, spec: &Spec) -> GeneratedFile {
    let text = document("@generated", edition(layout, spec));
    GeneratedFile::new("spec/layout.json", text)
}

/// The version of the form of `layout.json`; `docs/targets.md` says when it is raised.
const VERSION: u32 = 1;

/// Returns what an edition promises: the layout, followed by the versions, the rules, the manifest's
/// keys and the session's folders, with the keys of the spec's YAML files.
///
/// # Panics
///
/// Never, because all of these are plain data.
#[must_use]
pub fn edition(layout: &Layout, spec: &Spec) -> Value {
    let rules: Vec<_> = spec.all_rules().collect();
    let beyond = json!({
        "editions": {
            "spec": spec.editions.spec.version,
            "rules": spec.editions.rules.version,
        },
        "rules": rules,
        "manifest": spec.manifest,
        "session": spec.session,
    });
    let layout = serde_json::to_value(layout).expect("the layout is plain data");
    let parts = [json!({ "version": VERSION }), layout, without_null(beyond)];
    let members = parts.into_iter().filter_map(|part| match part {
        Value::Object(members) => Some(members),
        _ => None,
    });
    Value::Object(members.flatten().collect())
}

fn without_null(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(key, value)| (key, without_null(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(without_null).collect(),
        other => other,
    }
}

/// Returns the text of a JSON file whose first member, `key`, identifies the generator.
pub(super) fn document(key: &str, value: Value) -> String {
    let value = match value {
        Value::Object(members) => {
            let mark = (key.to_owned(), GENERATED.into());
            Value::Object(std::iter::once(mark).chain(members).collect())
        }
        other => other,
    };
    let mut text = String::new();
    write(&value, 0, &mut text);
    text.push('\n');
    text
}

/// The length up to which an object or a list is written on one line, without its indentation.
const WIDTH: usize = 100;

/// Writes a value that starts after `indent` spaces, on one line if it fits.
fn write(value: &Value, indent: usize, text: &mut String) {
    let flat = flat(value);
    let (items, [open, close]): (Vec<(String, &Value)>, _) = match value {
        Value::Array(items) => {
            let items = items.iter().map(|item| (String::new(), item));
            (items.collect(), ['[', ']'])
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, item)| (format!("{key:?}: "), item));
            (members.collect(), ['{', '}'])
        }
        _ => (Vec::new(), [' '; 2]),
    };
    if items.is_empty() || (indent > 0 && flat.len() < WIDTH) {
        text.push_str(&flat);
        return;
    }
    let inner = indent + 2;
    text.push(open);
    for (index, (key, item)) in items.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', inner));
        text.push_str(key);
        write(item, inner, text);
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(close);
}

fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member = |(key, item): (&String, &Value)| format!("{key:?}: {}", flat(item));
            let members: Vec<_> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}
