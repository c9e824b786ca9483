//! Readers in other languages, and descriptions for other tools, each a folder of templates in
//! `codegen/templates`.

use atf_spec::layout::Layout;
use atf_spec::model::ManifestFile;

use super::folder;
use crate::GeneratedFile;

/// The templates of each language.
const READERS: &[(&str, &[(&str, &str)])] = &[
    (
        "cpp",
        &templates!("cpp":
            "include/atf/_common.jinja" "include/atf/files.hpp.jinja"
            "include/atf/manifest.hpp.jinja" "include/atf/records.hpp.jinja"
            "include/atf/writers.hpp.jinja"
        ),
    ),
    (
        "go",
        &templates!("go": "cmd/testee/records.go.jinja" "files.go.jinja" "manifest.go.jinja" "records.go.jinja"),
    ),
    (
        "java",
        &templates!("java":
            "src/main/java/atf/format/DetailFile.java.jinja"
            "src/main/java/atf/format/IndexFile.java.jinja"
            "src/main/java/atf/format/Manifest.java.jinja"
            "src/main/java/atf/format/Records.java.jinja"
            "src/main/java/atf/format/_file.jinja"
            "src/main/java/atf/format/_names.jinja"
        ),
    ),
    (
        "kaitai",
        &templates!("kaitai": "_records.jinja" "atf_detail.ksy.jinja" "atf_index.ksy.jinja"),
    ),
    ("magic", &templates!("magic": "atf.magic.jinja")),
    (
        "python",
        &templates!("python":
            "src/adatrace_reader/_words.jinja" "src/adatrace_reader/files.py.jinja"
            "src/adatrace_reader/manifest.py.jinja" "src/adatrace_reader/records.py.jinja"
            "src/adatrace_reader/writers.py.jinja"
        ),
    ),
    (
        "schemas",
        &templates!("schemas": "arrow.json.jinja" "records.schema.json.jinja"),
    ),
    (
        "typescript",
        &templates!("typescript":
            "src/_common.jinja" "src/files.ts.jinja" "src/manifest.ts.jinja" "src/records.ts.jinja"
        ),
    ),
];

/// Returns the names of the languages and tools.
pub fn languages() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|(language, _)| *language)
}

/// Renders the reader in a language into `readers/LANGUAGE`.
///
/// # Panics
///
/// Panics if there is no such language. Tests render each one, so its templates have no faults.
#[must_use]
pub fn render(language: &str, layout: &Layout, manifest: &ManifestFile) -> Vec<GeneratedFile> {
    let mut readers = READERS.iter();
    let (_, templates) = readers
        .find(|(name, _)| *name == language)
        .expect("a known language");
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let templates = templates.iter().map(own).collect();
    let prefix = format!("readers/{language}/");
    let files = folder::render(&templates, layout, manifest, &prefix);
    files.unwrap_or_else(|fault| panic!("{fault:#}"))
}
