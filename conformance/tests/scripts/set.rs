//! Runs the reference writer on all scripts.

use std::collections::BTreeSet;

use atf_conformance::results::Outcome;
use atf_conformance::rules;
use atf_conformance::scripts::{Script, Scripted, all, scripts};
use atf_conformance::written::Graded;

use super::{graded, written};

/// Returns the scripts that do not kill the process.
fn survived() -> Vec<Scripted> {
    [1, 2].into_iter().flat_map(scripts).collect()
}

#[test]
fn the_reference_writer_passes_every_script() {
    for scripted in survived() {
        let out = written(&scripted.script);
        let Graded { outcome, notes, .. } = graded(&scripted, out.path());
        let passed = (Outcome::Passed, Vec::new());
        assert_eq!((outcome, notes), passed, "{}", scripted.name);
    }
}

#[test]
fn the_text_of_a_script_is_complete() {
    for scripted in all() {
        let text = scripted.to_string();
        let script: Script = text.parse().unwrap();
        assert!(script == scripted.script, "{}", scripted.name);
        assert!(text.starts_with(&format!("# {}\n", scripted.name)));
        let limit = scripted
            .limit
            .map(|bytes| format!("# The kit limits every file to {bytes} bytes.\n"));
        assert!(text.contains(&limit.unwrap_or_default()), "{text}");
    }
}

#[test]
fn scripts_are_deterministic_and_have_unique_names() {
    assert!(all() == all());
    let names: BTreeSet<_> = all().into_iter().map(|scripted| scripted.name).collect();
    assert_eq!(names.len(), all().len());
}

#[test]
fn each_script_tests_rules_of_its_wire_version() {
    for scripted in all() {
        assert!(!scripted.rules.is_empty(), "{}", scripted.name);
        for id in &scripted.rules {
            let rule = rules::ALL.iter().find(|rule| rule.id == *id);
            let rule = rule.unwrap_or_else(|| panic!("{}: {id}", scripted.name));
            let wires = rule.wires;
            assert!(wires.contains(&scripted.wire), "{}: {id}", scripted.name);
        }
        let threads = scripted.script.threads();
        let mut threads = threads.values();
        assert!(threads.all(|thread| thread.open.wire == scripted.wire));
    }
}
