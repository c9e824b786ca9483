//! Tests that correct implementations pass.

use crate::accessors;
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

#[test]
fn the_generated_readers_read_the_corpus_and_what_the_generated_writers_write() {
    let readers = programs::readers();
    for reader in &readers {
        passes(&[reader], &[], &["read"]);
        passes(&[reader], &["--pairs", "--shard", "1/10"], &["read"]);
    }
    accessors::hold(&readers);
    let readers: Vec<_> = readers.iter().collect();
    passes(
        &readers,
        &["--case", "*/write-details-in-the-middle"],
        &["write"],
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
