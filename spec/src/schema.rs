//! Builds JSON Schemas: for the spec's YAML files, from the types that they are parsed into, and
//! for manifest.json, from `manifest.yaml`.

use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value, json};

use crate::inline_schema::inline_schema;
use crate::layout::Layout;
use crate::model::{
    ConstantsFile, DecisionsFile, DigestsFile, EditionsFile, EnumsFile, FormatFile, GrammarFile,
    JsonType, ManifestField, ManifestFile, ManifestObject, RecordSpec, RuleSpec, RulesFile,
    SessionFile, SourceFile, TopicsFile,
};

/// A fixed value in a file: a number or text.
pub struct NumberOrText;

inline_schema!(NumberOrText, { "type": ["integer", "string"], "minimum": 0 });

/// Returns the name and schema of each of the spec's own files.
#[must_use]
pub fn of_spec() -> Vec<(&'static str, Value)> {
    vec![
        ("constants", schema_for!(ConstantsFile).into()),
        ("decisions", schema_for!(DecisionsFile).into()),
        ("digests", schema_for!(DigestsFile).into()),
        ("editions", schema_for!(EditionsFile).into()),
        ("enums", schema_for!(EnumsFile).into()),
        ("format", schema_for!(FormatFile).into()),
        ("grammar", schema_for!(GrammarFile).into()),
        ("manifest_yaml", schema_for!(ManifestFile).into()),
        ("record", schema_for!(RecordSpec).into()),
        ("rules", schema_for!(RulesFile).into()),
        ("session", schema_for!(SessionFile).into()),
        ("source", schema_for!(SourceFile).into()),
        ("topics", schema_for!(TopicsFile).into()),
    ]
}

/// Returns the schema of `layout.json`.
#[must_use]
pub fn of_layout() -> Value {
    schema_for!(Edition).into()
}

/// The members of `layout.json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Edition {
    /// The version of this file's structure.
    version: u32,
    #[serde(flatten)]
    layout: Layout,
    editions: Editions,
    /// The rules, as in `rules/*.yaml`.
    rules: Vec<RuleSpec>,
    /// The objects of manifest.json, as in `manifest.yaml`.
    manifest: ManifestFile,
    /// The folders of a session, as in `session.yaml`.
    session: SessionFile,
}

/// The versions of the edition.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Editions {
    spec: String,
    rules: String,
}

/// Returns the schema of manifest.json. Unknown keys are allowed because readers ignore them.
#[must_use]
pub fn of_manifest(manifest: &ManifestFile) -> Value {
    let definition = |object: &ManifestObject| (object.object.value.clone(), self::object(object));
    let empty = json!({ "type": "object", "properties": {}, "required": [] });
    let root = manifest.objects.first().map_or(empty, object);
    let others: Map<String, Value> = manifest.objects.iter().skip(1).map(definition).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": manifest.file,
        "description": manifest.means,
        "type": root["type"],
        "properties": root["properties"],
        "required": root["required"],
        "$defs": others,
    })
}

fn object(object: &ManifestObject) -> Value {
    let property = |field: &ManifestField| (field.name.value.clone(), of_key(field));
    let properties: Map<String, Value> = object.fields.iter().map(property).collect();
    let required = object.fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    json!({
        "description": object.means,
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

/// Returns the schema of a key of manifest.json.
#[must_use]
pub fn of_key(field: &ManifestField) -> Value {
    let of = || {
        let name = field.of.as_ref().map_or("", |name| name.as_str());
        json!({ "$ref": format!("#/$defs/{name}") })
    };
    let mut schema = match field.ty.value {
        JsonType::Boolean => json!({ "type": "boolean" }),
        JsonType::U8 => integer(0, u8::MAX.into()),
        JsonType::U32 => integer(0, u32::MAX.into()),
        JsonType::U64 => integer(0, u64::MAX),
        JsonType::I64 => integer(i64::MIN, i64::MAX.unsigned_abs()),
        JsonType::PositiveI32 => integer(1, i32::MAX.unsigned_abs().into()),
        // Readers ignore an empty name (ATF-MANI-013), so it does not make a manifest invalid.
        JsonType::Text | JsonType::Name => json!({ "type": "string" }),
        JsonType::Hex => json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{1,16}$" }),
        JsonType::Object => of(),
        JsonType::List => json!({ "type": "array", "items": of() }),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), field.means.clone().into());
    }
    schema
}

fn integer(minimum: i64, maximum: u64) -> Value {
    json!({ "type": "integer", "minimum": minimum, "maximum": maximum })
}
