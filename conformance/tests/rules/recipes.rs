//! Tests that a check of each edited session finds exactly the expected broken rules, in the
//! expected place and the expected number of times.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use atf_conformance::corpus::edit::{VOCABULARY, functions};
use atf_conformance::corpus::{Recipe, read_recipes, recipes};

use crate::outcome::Outcome;

/// Returns the differences from the expected findings, in one wire version.
fn faults(recipe: &Recipe, version: u8) -> Vec<String> {
    let trace = recipe.trace(version);
    let outcome = match recipe.subject() {
        folder if !folder.ends_with(".atf") => Outcome::of_folder(&trace, folder),
        _ => Outcome::of_trace(&trace),
    };
    let mut faults = Vec::new();
    for (path, why) in &outcome.unreadable {
        faults.push(format!("unreadable: {}: {why}", path.display()));
    }
    let broken = recipe.broken().into_iter();
    let mut broken: Vec<_> = broken
        .map(|(file, rule)| format!("{file} {rule}"))
        .collect();
    broken.sort();
    if outcome.broken() != broken {
        let found = outcome.broken().join("\n      ");
        let expected = broken.join("\n      ");
        faults.push(format!(
            "found\n      {found}\n    expected\n      {expected}"
        ));
    }
    if let (Some(expected), Some(rule)) = (&recipe.found, recipe.rules.first())
        && let Some(finding) = outcome.finding(&expected.file, rule)
    {
        let place = expected.place(&trace);
        let verdict = outcome.report(&expected.file).verdict();
        let found = (&finding.place, finding.count, verdict);
        let expected = (&place, expected.count, expected.verdict);
        if found != expected {
            faults.push(format!("{found:?}, expected {expected:?}"));
        }
    }
    faults
}

#[test]
fn a_check_finds_exactly_what_each_edit_breaks() {
    let mut found = String::new();
    for recipe in recipes().iter().filter(|recipe| !recipe.is_clean()) {
        for version in &recipe.wires {
            for fault in faults(recipe, *version) {
                let slug = recipe.slug();
                let _ = write!(found, "\n  v{version}/{slug}:\n    {fault}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn each_step_and_each_function_is_used() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/corpus/recipes");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let texts: Vec<_> = files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(texts.len() > 10, "{}", texts.len());
    let is_used = |word: &str| texts.iter().any(|text| text.contains(word));
    let steps = VOCABULARY.lines().filter_map(|line| line.split_once("  "));
    for step in steps.flat_map(|(steps, _)| steps.split(", ")) {
        assert!(
            is_used(&format!("{step} = ")) || is_used(&format!("{step}.")),
            "{step}"
        );
    }
    for name in functions() {
        assert!(is_used(&format!("call = \"{name}")), "{name}");
    }
}

#[test]
fn a_mistake_in_a_data_file_is_reported_with_its_line() {
    #[rustfmt::skip]
    let mistakes = [
        (r#"follows = "ATF-IHDR-999 0""#, "no rule ATF-IHDR-999"),
        (r#"breaks = "ATF-IHDR-003 0", flags = ["mistake"]"#, "no flag mistake"),
        (r#"breaks = "ATF-IHDR-003 0", edit = {cutt = 3}"#, "unknown step cutt"),
        (r#"breaks = "ATF-IHDR-003 0", edit = {append = "2 x 5"}"#, "expected \"2ff0\""),
        (r#"breaks = "ATF-IHDR-003 0", edit = {call = "nobody"}"#, "no function nobody"),
        (r#"follows = "ATF-IHDR-003 0", noted = """#, "unknown field `noted`"),
        (r#"follows = "ATF-IHDR-003 0", at = "header""#, "need breaks"),
        (r#"note = """#, "expected one of"),
    ];
    for (case, error) in mistakes {
        let text = format!("cases = [\n  {{{case}}},\n]");
        let found = read_recipes(&text).unwrap_err();
        assert!(
            found.contains(error) && found.contains("line 2"),
            "{case}: {found}"
        );
    }
}
