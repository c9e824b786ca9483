//! Emits JSON Schemas for the spec's YAML files (used by editors), manifest.json (for authors of
//! tracers) and layout.json (for authors of targets).

use atf_spec::load::Spec;
use atf_spec::schema;

use super::json::document;
use crate::GeneratedFile;

/// Emits `spec/schema/*.schema.json`.
#[must_use]
pub fn files(spec: &Spec) -> Vec<GeneratedFile> {
    let others = [
        ("manifest", schema::of_manifest(&spec.manifest)),
        ("layout", schema::of_layout()),
    ];
    let all = schema::of_spec().into_iter().chain(others);
    all.map(|(name, schema)| {
        let path = format!("spec/schema/{name}.schema.json");
        GeneratedFile::new(path, document("$comment", schema))
    })
    .collect()
}
