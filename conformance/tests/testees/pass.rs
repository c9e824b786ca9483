//! Tests that correct implementations pass.

use std::fs;
use std::path::Path;

use crate::programs::{self, Testee};

#[test]
fn the_compiled_testees_pass_the_corpus_and_all_scripts_and_read_each_others_files() {
    let testees = programs::compiled();
    let testees: Vec<_> = testees.iter().collect();
    passes(
        &testees,
        &["--role", "read", "--role", "write"],
        &["read", "write"],
    );
    passes(&testees, &["--role", "read", "--pairs"], &["read"]);
}

#[test]
fn the_python_testee_passes_everything() {
    if let Some(python) = programs::python() {
        passes(&[&python], &[], &["read", "write"]);
        passes(&[&python], &["--pairs", "--shard", "1/10"], &["read"]);
    }
}

/// The readers that are generated for other languages, each with the tools that build and run it.
const READERS: &[(&str, &[&str])] = &[("cpp", &["make", "g++"]), ("python", &["make", "python3"])];

#[test]
fn the_generated_readers_read_the_corpus() {
    for (language, tools) in READERS {
        if let Some(reader) = programs::reader(language, tools) {
            passes(&[&reader], &[], &["read"]);
            passes(&[&reader], &["--pairs", "--shard", "1/10"], &["read"]);
        }
    }
}

#[test]
fn every_generated_reader_is_tested() {
    let readers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers");
    let mut folders: Vec<_> = fs::read_dir(readers)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(
        folders,
        READERS.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
}

fn passes(testees: &[&Testee], arguments: &[&str], roles: &[&str]) {
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
    let passed = |role: &&str| {
        let mut passed = cases.iter().filter(|case| case["outcome"] == "passed");
        passed.any(|case| case["role"] == **role)
    };
    assert!(roles.iter().all(passed));
}
