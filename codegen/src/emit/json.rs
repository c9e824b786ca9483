//! The resolved layout as JSON: what the macro, tests and other tools read.

use atf_spec::layout::Layout;
use serde_json::{Map, Value};

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
        text: document(value),
    }
}

/// A JSON file's text; its first member says what made it.
pub(super) fn document(value: Value) -> String {
    let value = match value {
        Value::Object(members) => {
            let mut all = Map::new();
            all.insert(
                "@generated".to_owned(),
                GENERATED.trim_start_matches("@generated ").into(),
            );
            all.extend(members);
            Value::Object(all)
        }
        other => other,
    };
    format!("{value:#}\n")
}
