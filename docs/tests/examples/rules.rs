//! Tests that the commands name only rules that `atf check` finds broken.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn commands_name_only_rules_that_check_finds_broken() {
    let sandbox = Sandbox::new();
    let (mut cases, mut named) = (0, 0);
    let copied = sandbox.sh("atf-conformance corpus copy cases 'v1/*'");
    assert!(copied.status.success());
    for case in fs::read_dir(sandbox.path().join("cases/v1")).expect("the corpus") {
        let case = case.expect("a readable folder").path();
        let text = fs::read_to_string(case.join("case.json")).expect("its description");
        let facts: Value = serde_json::from_str(&text).expect("JSON");
        let path = facts["path"].as_str().unwrap_or_default();
        let trace = case.join("files").join(path);
        let rules = |commands: &str| {
            let trace = trace.display();
            let output = sandbox.sh(&format!("t='{trace}'; {{ {commands}; }} 2>&1 || true"));
            ids(&String::from_utf8_lossy(&output.stdout))
        };
        let broken = rules("atf check --json \"$t\"");
        // Other commands report the same problems as `last`.
        let others = rules("atf info --verify \"$t\"; atf last \"$t\"");
        let more: Vec<_> = others.difference(&broken).collect();
        assert!(more.is_empty(), "{}: {more:?}", trace.display());
        named += others.len();
        cases += 1;
    }
    assert!(cases > 300 && named > 200, "{cases}, {named}");
}

fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let ids = words.filter(|word| word.starts_with("ATF-"));
    ids.map(str::to_owned).collect()
}
