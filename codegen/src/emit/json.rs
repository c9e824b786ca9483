//! The resolved layout as JSON: what the macro, tests and other tools read.

use atf_spec::layout::Layout;
use serde_json::Value;

use crate::{GENERATED, GeneratedFile};

/// `atf-derive/layout.json`, inside the package of the macro that includes it.
///
/// # Panics
///
/// Never: the layout's types are plain data.
#[must_use]
pub fn layout(layout: &Layout) -> GeneratedFile {
    let value = serde_json::to_value(layout).expect("the layout is plain data");
    GeneratedFile {
        path: "atf-derive/layout.json".to_owned(),
        text: document("@generated", value),
    }
}

/// A JSON file's text; its first member, under `key`, says what made it.
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
