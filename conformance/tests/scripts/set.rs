//! Runs the reference writer on all scripts.

use std::collections::BTreeSet;

use atf_conformance::results::Outcome;
use atf_conformance::rules;
use atf_conformance::scripts::{Script, Scripted, all, scripts};

use super::{graded, written};

/// Returns the scripts that do not kill the process.
fn survived() -> Vec<Scripted> {
    [1, 2].into_iter().flat_map(scripts).collect()
}

#[test]
fn the_reference_writer_passes_every_script() {
    for scripted in survived() {
        let out = written(&scripted.script);
        let graded = graded(&scripted, out.path());
        assert_eq!(graded.outcome, Outcome::Passed, "{}", scripted.name);
        assert!(
            graded.notes.is_empty(),
            "{}: {:?}",
            scripted.name,
            graded.notes
        );
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
            assert!(
                rule.wires.contains(&scripted.wire),
                "{}: {id}",
                scripted.name
            );
        }
        let wires = scripted.script.threads();
        assert!(
            wires
                .values()
                .all(|thread| thread.open.wire == scripted.wire)
        );
    }
}
