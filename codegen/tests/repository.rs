//! Checks this repository: its files match their schemas, the tests that it cites exist, and it has
//! no unwanted dependencies.

#[path = "support/repository.rs"]
mod repository;

use std::path::{Path, PathBuf};

use atf_spec::holds::{Hold, Kind};
use atf_spec::origin::BUILT_IN;
use atf_spec::yaml::{At, FileId, Node, Value as Yaml};
use jsonschema::Validator;
use repository::{members, root, text};
use serde_json::Value;

fn schema(path: &Path) -> Validator {
    let schema: Value = serde_json::from_str(&text(path)).expect("a schema is JSON");
    assert!(jsonschema::meta::is_valid(&schema), "{}", path.display());
    jsonschema::validator_for(&schema).expect("the schema can be used")
}

/// Returns the schema that the first line of a YAML file specifies for editors.
fn schema_of(path: &Path, text: &str) -> PathBuf {
    let first = text.lines().next().unwrap_or_default();
    let name = first.strip_prefix("# yaml-language-server: $schema=");
    let name = name.unwrap_or_else(|| panic!("{} begins with: {first}", path.display()));
    path.with_file_name(name)
}

fn json(path: &Path, text: &str) -> Value {
    let root = Node::parse(FileId(0), text.as_bytes());
    value(&root.unwrap_or_else(|fault| panic!("{}: {}", path.display(), fault.message)))
}

fn value(node: &Node) -> Value {
    match &node.value {
        Yaml::Null => Value::Null,
        Yaml::Bool(truth) => (*truth).into(),
        Yaml::Int(number) => u64::try_from(*number)
            .expect("no number is negative")
            .into(),
        Yaml::OtherNumber => panic!("every number is an integer"),
        Yaml::Text(text) => text.as_str().into(),
        Yaml::Seq(items) => items.iter().map(value).collect(),
        Yaml::Map(entries) => {
            let entry = |(key, node): &(At<String>, Node)| (key.value.clone(), value(node));
            Value::Object(entries.iter().map(entry).collect())
        }
    }
}

fn errors(schema: &Validator, value: &Value) -> Vec<String> {
    let errors = schema.iter_errors(value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// The schema also refuses the file with an unknown key, or without its first one.
#[test]
fn every_spec_file_matches_the_schema_in_its_first_line() {
    for (path, text) in BUILT_IN {
        let path = root().join("spec").join(path);
        let schema = schema(&schema_of(&path, text));
        let value = json(&path, text);
        assert_eq!(errors(&schema, &value), [""; 0], "{}", path.display());
        let members = value.as_object().expect("a file is a mapping");
        let mut more = members.clone();
        more.insert("unheard_of".to_owned(), Value::Null);
        assert!(!schema.is_valid(&more.into()), "{}", path.display());
        let mut fewer = members.clone();
        fewer.shift_remove(members.keys().next().expect("a file has a key"));
        assert!(!schema.is_valid(&fewer.into()), "{}", path.display());
    }
}

#[test]
fn the_layout_matches_its_schema() {
    let path = root().join("spec/layout.json");
    let mut layout: Value = serde_json::from_str(&text(&path)).expect("JSON");
    let members = layout.as_object_mut().expect("a mapping");
    members.shift_remove("@generated");
    let schema = schema(&root().join("spec/schema/layout.schema.json"));
    assert_eq!(errors(&schema, &layout), [""; 0]);
    layout["grammars"][0]["functions"][0]["is"]["op"] = "sum".into();
    assert!(!schema.is_valid(&layout));
}

#[test]
fn real_manifests_match_the_schema_and_broken_ones_do_not() {
    let schema = schema(&root().join("spec/schema/manifest.schema.json"));
    let samples = [
        "samples/sample-small/session_20260105_101500/pid_4242/manifest.json",
        "samples/sample-crashed/session_20260105_101500/pid_4243/manifest.json",
    ];
    for sample in samples {
        let manifest: Value = serde_json::from_str(&text(sample)).expect("the sample is JSON");
        assert!(schema.is_valid(&manifest), "{sample}");
        let with = |pointer: &str, value: Value| {
            let mut manifest = manifest.clone();
            *manifest.pointer_mut(pointer).expect("the sample has it") = value;
            manifest
        };
        assert!(!schema.is_valid(&with("/threads", Value::Null)));
        assert!(!schema.is_valid(&with("/threads/0/id", "../../etc".into())));
        assert!(!schema.is_valid(&with("/threads/0/id", (1_u64 << 32).into())));
        assert!(!schema.is_valid(&with("/clock_type", 256.into())));
    }
}

fn spec() -> atf_spec::load::Spec {
    let compiled = atf_spec::compile(&root().join("spec"));
    compiled.spec.expect("the spec is well-formed")
}

/// Returns whether a file has a test with that name.
fn has_test(text: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines = text.lines().rev().map(str::trim);
    let above = lines.skip_while(|line| !line.starts_with(&head)).skip(1);
    let is_attribute = |line: &&str| line.starts_with("#[") || line.starts_with("///");
    let mut attributes = above.take_while(is_attribute);
    attributes.any(|line| line == "#[test]")
}

/// The spec's compiler checks the rules in `held_by` and `tested_by`. This test checks everything
/// else that these keys cite.
#[test]
fn every_cited_test_benchmark_and_section_exists() {
    let spec = spec();
    let held = spec.topics.iter().flat_map(|topic| &topic.held_by);
    let silences = spec.decisions.silences.iter();
    let tested = silences.flat_map(|silence| &silence.tested_by);
    let holds = held.chain(tested).filter_map(|text| Hold::parse(text));
    let holds: Vec<Hold<'_>> = holds.collect();
    assert!(holds.len() > 50, "only {} holds", holds.len());
    let measured = text("docs/speed.md");
    for Hold { kind, path, name } in holds {
        let text = text(path);
        match kind {
            Kind::Test => assert!(has_test(&text, name), "{path} has no test {name}"),
            Kind::Benchmark => {
                let is_there = text.contains(&format!("\"{name}"));
                assert!(is_there, "{path} has no benchmark `{name}`");
                let row = format!("| {name}");
                let is_measured = measured.lines().any(|line| line.starts_with(&row));
                assert!(is_measured, "not measured: {name}");
            }
            _ => {
                let mut headings = text.lines().filter_map(|line| line.strip_prefix("## "));
                let is_it = |heading: &str| heading.to_lowercase().replace(' ', "-") == name;
                assert!(headings.any(is_it), "{path} has no section {name}");
            }
        }
    }
}

#[test]
fn only_test_functions_count_as_tests() {
    let file =
        "#[test]\nfn here() {\n}\n\nfn helper() {\n}\nmod inner {\n    #[test]\n    fn there() {\n";
    assert!(has_test(file, "here") && has_test(file, "there"));
    assert!(!has_test(file, "helper") && !has_test(file, "gone"));
}

/// The documents are not in the repository. If they are next to it, as in CI, no line may have
/// changed since the claims were written. Otherwise, `.ci/run` reports that the documents are
/// missing.
#[test]
fn the_claims_match_the_documents() {
    let documents = root().join("../shared/sources");
    if documents.is_dir() {
        let faults = atf_spec::text::compare(&spec(), &documents);
        let messages: Vec<_> = faults.iter().map(|fault| &fault.message).collect();
        assert!(messages.is_empty(), "{messages:#?}");
    }
}

#[test]
fn the_map_lists_every_crate_that_is_not_internal_to_a_folder() {
    let map = text("ARCHITECTURE.md");
    let members = members();
    assert!(members.len() > 15, "{members:?}");
    // Skip the package that tests the documents and the implementations that test the kit.
    let internal = |member: &str| member == "docs" || member.starts_with("conformance/");
    for member in members.iter().filter(|it| !internal(it)) {
        let row = format!("| `{member}` | `");
        assert!(map.contains(&row), "no row for {member}");
    }
}
