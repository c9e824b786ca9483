//! Lists the files that may depend on a record's layout. All other files use `atf::wire`, which is
//! generated from the spec.
//!
//! Only a few files need the packed structs of a wire version. Others contain numbers written by hand
//! from the documents, which reveal mistakes in the spec. An unlisted file or folder fails the test.

#[path = "support/repository.rs"]
mod repository;

use std::collections::BTreeMap;

use atf_spec::layout::{self, Layout};
use repository::{members, root, text};

/// Production code that uses the layout of one wire version, through `v1::` or `v2::`.
const LAYOUTS: &[(&str, &str)] = &[
    ("atf/src/wire/mod.rs", "the owner"),
    // Tools outside the library.
    (
        "atf/bench/src/rows/write.rs",
        "the baseline writes packed structs itself",
    ),
];

/// Folders with numbers deliberately written by hand from the documents. If they took their offsets from the spec, they
/// would repeat the spec's mistakes.
const RECIPES: [&str; 3] = [
    "conformance/src/corpus/",
    "fuzz/safety/src/",
    "samples/src/",
];

/// Returns the production code of all packages, without unit tests: path and text.
fn production() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut packages = members();
    packages.push("python/tables".to_owned());
    for package in packages {
        let folder = format!("{package}/src");
        let tree = atf_samples::tree(&root().join(&folder)).expect("a package's sources");
        for (name, bytes) in tree.into_iter().filter(|(name, _)| name.ends_with(".rs")) {
            let text = String::from_utf8(bytes).expect("UTF-8");
            let code = text.split("#[cfg(test)]\nmod tests {").next();
            let code = code.unwrap_or_default().to_owned();
            files.insert(format!("{folder}/{name}"), code);
        }
    }
    assert!(files.len() > 300, "only {} files", files.len());
    files
}

/// Returns whether a line uses one of the layouts, as in `v1::IndexEvent`.
fn names_a_layout(line: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    ["v1::", "v2::"].iter().any(|name| {
        let mut found = line.match_indices(name);
        found.any(|(at, _)| !line[..at].ends_with(is_part))
    })
}

#[test]
fn only_listed_files_name_both_layouts() {
    let is_naming = |(_, code): &(String, String)| {
        let mut lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        !code.starts_with("// @generated") && lines.any(names_a_layout)
    };
    let naming = production().into_iter().filter(is_naming);
    let naming: Vec<String> = naming.map(|(path, _)| path).collect();
    let mut listed: Vec<&str> = LAYOUTS.iter().map(|(path, _)| *path).collect();
    listed.sort_unstable();
    assert_eq!(
        naming, listed,
        "left: files that name a layout; right: LAYOUTS"
    );
    assert!(LAYOUTS.iter().all(|(_, why)| !why.is_empty()));
}

/// Returns the names of all fields, from the resolved layout.
fn fields() -> Vec<String> {
    let layout: Layout = serde_json::from_str(layout::JSON).expect("a layout");
    let layouts = layout.records.iter().flat_map(|record| &record.layouts);
    let fields = layouts.flat_map(|layout| &layout.fields);
    fields.map(|field| format!("\"{}\"", field.name)).collect()
}

/// Returns whether a line looks like a row of a layout table: a field's name and two numbers.
fn is_row(line: &str, fields: &[String]) -> bool {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let words = line.split(|c: char| !(c == '_' || c.is_ascii_alphanumeric()));
    words.filter(is_number).count() >= 2 && fields.iter().any(|field| line.contains(field.as_str()))
}

/// Returns whether a line indexes bytes by numbers, as in `bytes[16..20]`.
fn takes_bytes_by_number(line: &str) -> bool {
    line.split('[').skip(1).any(|rest| {
        let inside = rest.split(']').next().unwrap_or_default();
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        inside
            .split_once("..")
            .is_some_and(|(start, end)| is_number(start) && is_number(end.trim_start_matches('=')))
    })
}

#[test]
fn only_listed_files_have_offsets_typed_by_hand() {
    let fields = fields();
    let rows = |code: &str| code.lines().filter(|line| is_row(line, &fields)).count();
    for (path, code) in production() {
        if RECIPES.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let remedy = "a table of offsets; take it from atf::wire";
        assert!(rows(&code) < 3, "{path}: {remedy}");
        let taken = code.lines().find(|line| takes_bytes_by_number(line));
        assert_eq!(
            taken, None,
            "{path}: bytes by number; take the offset from atf::wire"
        );
    }
    // Check that the detectors work.
    assert!(rows(&text("samples/src/layout.rs")) > 50);
    assert!(takes_bytes_by_number("let size = &bytes[0x10..20];"));
    assert!(names_a_layout("let raw: &v1::IndexEvent") && !names_a_layout("rev1::IndexEvent"));
}

/// The files that may have unsafe code, apart from `atf-capi` and `atf-instrument`.
const UNSAFE: [&str; 8] = [
    "atf/bench/src/harness.rs",
    "atf/bench/src/input.rs",
    "atf/bench/src/rows/capi.rs",
    "atf/bench/src/rows/write.rs",
    "atf/record/src/sys/mod.rs",
    "atf/src/sys/mod.rs",
    "fuzz/src/capi.rs",
    "fuzz/src/whole.rs",
];

#[test]
fn only_listed_files_allow_unsafe_code() {
    let is_allowed = |text: &str| {
        let words: String = text.split_whitespace().collect();
        words.contains("allow(unsafe_code")
    };
    let files = production()
        .into_iter()
        .filter(|(_, text)| is_allowed(text));
    let found: Vec<_> = files.map(|(path, _)| path).collect();
    assert_eq!(found, UNSAFE);
}
