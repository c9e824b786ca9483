//! Emits the resolved layout as JSON, for the macro, tests and other tools.

use atf_spec::layout::Layout;
use serde_json::Value;

use crate::{GENERATED, GeneratedFile};

/// Emits `spec/layout.json`, which the spec's crate includes.
///
/// # Panics
///
/// Never, because the layout's types are plain data.
#[must_use]
pub fn layout(layout: &Layout) -> GeneratedFile {
    let value = serde_json::to_value(layout).expect("the layout is plain data");
    GeneratedFile {
        path: "spec/layout.json".to_owned(),
        text: document("@generated", value),
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
    format!("{value:#}\n")
}
