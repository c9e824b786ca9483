//! Checks whether `manifest.json` matches its JSON Schema and can be used.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use atf_spec::layout;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Returns `used`, `absent` or, if a reader cannot use the manifest, `ignored`.
pub(crate) fn state(path: &Path) -> &'static str {
    let Ok(meta) = path.symlink_metadata() else {
        return "absent";
    };
    let bytes = (!meta.is_symlink()).then(|| fs::read(path).ok()).flatten();
    match bytes.as_deref().and_then(parse) {
        Some(value) if fits(&value, schema(), schema()) => "used",
        _ => "ignored",
    }
}

/// Parses strict JSON: UTF-8 without a byte-order mark, and no duplicate keys.
fn parse(bytes: &[u8]) -> Option<Value> {
    let once: Once = serde_json::from_slice(bytes).ok()?;
    Some(once.0)
}

/// Returns the committed schema.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        serde_json::from_str(layout::MANIFEST_SCHEMA)
            .unwrap_or_else(|fault| panic!("manifest.schema.json: {fault}"))
    })
}

/// The only pattern in the schema.
const HEX: &str = "^0x[0-9a-fA-F]{1,16}$";

/// Returns whether a value matches a schema. An integer must not be written with a fraction, not
/// even `.0`.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str() {
        let place = name.trim_start_matches('#');
        return root
            .pointer(place)
            .is_some_and(|schema| fits(value, schema, root));
    }
    match (schema["type"].as_str(), value) {
        (Some("object"), Value::Object(members)) => has_members(members, schema, root),
        (Some("array"), Value::Array(items)) => {
            items.iter().all(|item| fits(item, &schema["items"], root))
        }
        (Some("string"), Value::String(text)) => match schema["pattern"].as_str() {
            None => true,
            Some(pattern) => pattern == HEX && is_hex(text),
        },
        (Some("integer"), Value::Number(number)) => {
            let limits = [&schema["minimum"], &schema["maximum"]].map(integer);
            let is_within = |number| limits[0] <= Some(number) && Some(number) <= limits[1];
            number.as_i128().is_some_and(is_within)
        }
        (Some("boolean"), Value::Bool(_)) => true,
        _ => false,
    }
}

/// Returns whether all required keys are present and all known keys match. Other keys are allowed.
fn has_members(members: &Map<String, Value>, schema: &Value, root: &Value) -> bool {
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    required.all(|key| members.contains_key(key))
        && members.iter().all(|(key, value)| {
            let schema = schema["properties"].get(key);
            schema.is_none_or(|schema| fits(value, schema, root))
        })
}

fn integer(value: &Value) -> Option<i128> {
    value.as_number().and_then(Number::as_i128)
}

fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A JSON value without duplicate keys. Parsing rejects them.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(Self)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without duplicate keys")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut keys = BTreeSet::new();
        let mut map = Map::new();
        while let Some((key, Once(value))) = members.next_entry::<String, Once>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom("duplicate key"));
            }
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the interpreter handles every keyword in the committed schema that restricts a
    /// value.
    fn assert_known(schema: &Value) {
        for (key, value) in schema.as_object().into_iter().flatten() {
            match key.as_str() {
                "$comment" | "$schema" | "title" | "description" => {}
                "type" | "required" | "$ref" => {}
                "minimum" | "maximum" => assert!(integer(value).is_some(), "{value}"),
                "pattern" => assert_eq!(value, HEX),
                "items" => assert_known(value),
                "properties" | "$defs" => {
                    let schemas = value.as_object().into_iter().flatten();
                    schemas.for_each(|(_, schema)| assert_known(schema));
                }
                other => panic!("{other} is not interpreted"),
            }
        }
    }

    #[test]
    fn every_keyword_of_the_manifest_schema_is_interpreted() {
        assert!(schema().pointer("/properties/threads").is_some());
        assert_known(schema());
    }
}
