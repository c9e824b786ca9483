//! The JSON Schemas of what testees answer.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::results::Role;

/// The schema of a reader's document.
pub const READER: &str = include_str!("../../schema/reader.json");
/// The schema of a validator's document.
pub const VALIDATOR: &str = include_str!("../../schema/validator.json");

/// Holds a document against the schema of its role.
///
/// # Errors
///
/// What breaks the schema first, with its place.
pub fn check(role: Role, document: &Value) -> Result<(), String> {
    static READERS: LazyLock<Option<Validator>> = LazyLock::new(|| compile(READER));
    static VALIDATORS: LazyLock<Option<Validator>> = LazyLock::new(|| compile(VALIDATOR));
    let validator = match role {
        Role::Write => return Ok(()),
        Role::Read => &READERS,
        Role::Validate => &VALIDATORS,
    };
    let Some(validator) = validator.as_ref() else {
        return Err("the kit's own schema cannot be used".to_owned());
    };
    match validator.iter_errors(document).next() {
        None => Ok(()),
        Some(error) => {
            let place = error.instance_path().to_string();
            let place = match place.as_str() {
                "" => "the document",
                place => place,
            };
            Err(format!("{place}: {error}"))
        }
    }
}

fn compile(schema: &str) -> Option<Validator> {
    jsonschema::validator_for(&serde_json::from_str(schema).ok()?).ok()
}
