//! Tests that the libraries never substitute a value silently. `allowed.txt` lists, with reasons,
//! each place where a library replaces a missing value or returns early as if it had finished.
//!
//! This test fails if there is any other such place. Make it return an error (in `atf`,
//! `Error::internal` if it cannot be reached), or list it with the reason why nothing is lost or
//! misreported.

use std::collections::BTreeMap;
use std::path::Path;

/// The libraries whose code is checked: a folder, and what precedes its paths in `allowed.txt`.
const LIBRARIES: [(&str, &str); 3] = [
    ("atf/src/", ""),
    ("atf/analyze/src/", "analyze/"),
    ("atf/record/src/", "record/"),
];

/// The allowed lines and their reasons.
const ALLOWED: &str = include_str!("allowed.txt");

/// Returns whether a line substitutes a value for a missing one.
fn makes_up(line: &str) -> bool {
    line.contains("unwrap_or_default()") || line.contains("unwrap_or(")
}

/// Returns whether a line directly after `let … else {` returns as if everything were done.
fn returns_early(line: &str, before: &str) -> bool {
    let is_else = before == "else {" || (before.starts_with("let ") && before.ends_with("else {"));
    let is_early = [
        "return;",
        "return Ok(",
        "return false",
        "return Map",
        "return Manifest",
    ];
    is_else && is_early.iter().any(|early| line.starts_with(early))
}

/// Returns the lines of a file that must be in `allowed.txt`.
fn silent(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let code = lines.iter().enumerate();
    let silent = code.filter(|(at, line)| {
        let before = at.checked_sub(1).map_or("", |before| lines[before]);
        !line.starts_with("//") && (makes_up(line) || returns_early(line, before))
    });
    silent.map(|(_, line)| *line).collect()
}

#[test]
fn every_substitute_for_a_missing_value_has_a_reason() {
    let mut counts: BTreeMap<(String, String), i64> = BTreeMap::new();
    let mut reason = "";
    for line in ALLOWED.lines().skip(2).filter(|line| !line.is_empty()) {
        if let Some(text) = line.strip_prefix("# ") {
            reason = text;
            continue;
        }
        assert!(!reason.is_empty(), "a line before the first reason: {line}");
        let (file, line) = line.split_once(": ").expect("FILE: LINE");
        let place = (file.to_owned(), line.to_owned());
        *counts.entry(place).or_default() -= 1;
    }
    let mut looked_at = 0;
    for (folder, prefix) in LIBRARIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(folder);
        for (name, bytes) in atf_samples::tree(&folder).unwrap() {
            let name = format!("{prefix}{name}");
            if name.ends_with("/tests.rs") {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            // The reasons for generated code are in the generator.
            if text.starts_with("// @generated") {
                continue;
            }
            looked_at += 1;
            for line in silent(&text) {
                *counts.entry((name.clone(), line.to_owned())).or_default() += 1;
            }
        }
    }
    assert!(looked_at > 50, "{looked_at}");
    let wrong = |wanted: fn(i64) -> bool| {
        let wrong = counts.iter().filter(|(_, count)| wanted(**count));
        let wrong = wrong.map(|((file, line), _)| format!("\n  {file}: {line}"));
        wrong.collect::<String>()
    };
    let (new, gone) = (wrong(|count| count > 0), wrong(|count| count < 0));
    assert!(
        new.is_empty(),
        "lines without a reason: make them errors, or list them:{new}"
    );
    assert!(gone.is_empty(), "listed lines that no longer exist:{gone}");
}
