//! Emits JSON Schemas: of the spec's YAML files, for editors, and of manifest.json, for authors of
//! tracers.

use atf_spec::load::Spec;
use atf_spec::schema;

use super::json::document;
use crate::GeneratedFile;

/// Emits `spec/schema/*.schema.json`.
#[must_use]
pub fn files(spec: &Spec) -> Vec<GeneratedFile> {
    let manifest = ("manifest", schema::of_manifest(&spec.manifest));
    let all = schema::of_spec().into_iter().chain([manifest]);
    all.map(|(name, schema)| {
        let path = format!("spec/schema/{name}.schema.json");
        GeneratedFile {
            path,
            text: document("$comment", schema),
        }
    })
    .collect()
}
