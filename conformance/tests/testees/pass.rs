//! Tests that correct implementations pass.

use std::fs;
use std::process::Command;

use atf_samples::{accessors, readers};
use tempfile::TempDir;

use crate::programs::{self, Testee};

/// One run grades all implementations, so that it builds the corpus only once.
#[test]
fn all_implementations_read_the_corpus_and_generated_writers_pass_all_scripts() {
    let (testees, readers) = (testees(), programs::readers());
    let all: Vec<_> = testees.iter().chain(&readers).collect();
    passes(&all, "read", &["--role=read"]);
    let some = ["--role=read", "--pairs", "--shard=1/10"];
    passes(&all, "read", &some);
    passes(&all, "write", &["--case", "*/write-details-in-the-middle"]);
    for reader in &readers {
        if readers::is_writer(reader.folder()).unwrap() {
            passes(&[reader], "write", &["--role=write"]);
        }
        check_accessors(reader).unwrap();
        says_why_a_manifest_is_ignored(reader);
    }
}

#[test]
#[ignore = "slow: grades 900 files per implementation"]
fn all_implementations_read_all_pairs_of_faults() {
    let (testees, readers) = (testees(), programs::readers());
    let all: Vec<_> = testees.iter().chain(&readers).collect();
    passes(&all, "read", &["--role=read", "--pairs"]);
}

#[test]
fn the_testees_pass_all_scripts_and_read_each_others_files() {
    let testees = testees();
    let all: Vec<_> = testees.iter().collect();
    passes(&all, "write", &["--role=write"]);
}

/// Returns the layout interpreter and the implementations in C and Python.
fn testees() -> Vec<Testee> {
    let interpreter = [programs::interpreter()].into_iter();
    let others = programs::c().into_iter().chain(programs::python());
    interpreter.chain(others).collect()
}

#[track_caller]
fn says_why_a_manifest_is_ignored(reader: &Testee) {
    let session = TempDir::new().unwrap();
    #[rustfmt::skip]
    let manifests = [
        ("{", "ATF-MANI-002"),
        ("[]", "ATF-MANI-002"),
        ("{}", "ATF-MANI-003"),
        (r#"{"threads": [], "modules": [{"id": -1}]}"#, "ATF-MANI-003"),
        (r#"{"threads": [], "modules": [{"id": -1}]}"#, "modules"),
        (r#"{"threads": [], "symbols": [{"function_id": "1f"}]}"#, "function_id"),
    ];
    for (manifest, why) in manifests {
        fs::write(session.path().join("manifest.json"), manifest).unwrap();
        let mut read = program(reader);
        let output = read.arg("read").arg(session.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let folder = reader.folder().display();
        assert!(said.contains(why), "{folder}: {manifest}: {said}");
    }
}

fn check_accessors(reader: &Testee) -> Result<(), String> {
    let path = programs::root().join("spec/layout.json");
    let layout = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let is_writer = readers::is_writer(reader.folder()).unwrap();
    accessors::check(&mut program(reader), is_writer, &layout)
}

fn program(reader: &Testee) -> Command {
    let manifest = fs::read_to_string(reader.manifest()).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    Command::new(reader.folder().join(manifest["read"][0].as_str().unwrap()))
}

#[test]
fn an_accessor_that_uses_another_fields_place_is_noticed() {
    let Some(python) = programs::reader("python") else {
        return;
    };
    let path = python.folder().join("src/adatrace_reader/records.py");
    let right = fs::read_to_string(&path).unwrap();
    for (own, other) in [
        ("timestamp_ns=v[0]", "timestamp_ns=v[1]"),
        ("self.timestamp_ns,", "self.function_id,"),
    ] {
        assert!(right.contains(own));
        fs::write(&path, right.replacen(own, other, 1)).unwrap();
        let why = check_accessors(&python).unwrap_err();
        assert!(why.contains("timestamp_ns"), "{why}");
    }
    fs::write(&path, &right).unwrap();
    check_accessors(&python).unwrap();
}

/// Grades implementations, and asserts that all cases pass, some of them in this role.
fn passes(testees: &[&Testee], role: &str, arguments: &[&str]) {
    // The machine may be busy with other tests.
    let arguments = [arguments, &["--time-limit", "60"]].concat();
    let (code, report) = programs::run(testees, &arguments);
    let cases = report["cases"].as_array().unwrap();
    let failed: Vec<_> = { cases.iter() }
        .filter(|case| case["outcome"] == "failed")
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(
        (code, &report["summary"]["cross_failed"]),
        (Some(0), &0.into())
    );
    let mut passed = cases.iter().filter(|case| case["outcome"] == "passed");
    assert!(passed.any(|case| case["role"] == role));
}
