//! The JSON Schemas of answers.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::lacks::Lack;
use crate::results::{Role, shortened};

/// The schema of a reader's document.
pub const READER: &str = include_str!("../../schema/reader.json");
/// The schema of a validator's document.
pub const VALIDATOR: &str = include_str!("../../schema/validator.json");

/// Validates a document against its role's schema. The document may omit keys for capabilities that
/// the implementation lacks.
///
/// # Errors
///
/// Returns the first schema violation and its location.
pub fn check(role: Role, document: &Value, lacks: &[Lack]) -> Result<(), String> {
    static READERS: LazyLock<Validator> = LazyLock::new(|| compile(READER, &[]));
    static VALIDATORS: LazyLock<Validator> = LazyLock::new(|| compile(VALIDATOR, &[]));
    let lenient;
    let validator = match role {
        Role::Write | Role::Query => return Ok(()),
        Role::Read if !lacks.is_empty() => {
            lenient = compile(READER, lacks);
            &lenient
        }
        Role::Read => &*READERS,
        Role::Validate => &*VALIDATORS,
    };
    match validator.iter_errors(document).next() {
        None => Ok(()),
        Some(error) => {
            let place = error.instance_path().to_string();
            let place = match place.as_str() {
                "" => "the document".to_owned(),
                place => shortened(place),
            };
            let full = error.to_string();
            let mut why = shortened(&full);
            if why != full {
                // Omit the value, which may come before the reason.
                why = shortened(&error.masked().to_string());
            }
            Err(format!("{place}: {why}"))
        }
    }
}

fn compile(schema: &str, lacks: &[Lack]) -> Validator {
    let mut schema = serde_json::from_str(schema).expect("our schema is JSON");
    require_less(&mut schema, "", lacks);
    jsonschema::validator_for(&schema).expect("our schema is valid")
}

/// Removes from every list of required keys those that an implementation may omit. `name` is the
/// name of the object that the schema describes.
fn require_less(schema: &mut Value, name: &str, lacks: &[Lack]) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(keys)) = members.get_mut("required") {
                let is_lacking = |key: &str| lacks.iter().any(|lack| lack.omits(name, key));
                keys.retain(|key| !key.as_str().is_some_and(is_lacking));
            }
            members
                .iter_mut()
                .for_each(|(name, value)| require_less(value, name, lacks));
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| require_less(value, name, lacks)),
        _ => {}
    }
}
