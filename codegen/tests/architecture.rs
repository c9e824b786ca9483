//! Checks ARCHITECTURE.md: its paths exist, and a change touches the files that it names.

#[path = "support/repository.rs"]
mod repository;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use repository::{root, text};

fn map() -> String {
    text("ARCHITECTURE.md")
}

/// Collects the text files that people write, without tests: path and text.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root()).expect("a path below the root");
        let name = name.to_str().expect("a path in UTF-8").to_owned();
        let last = name.rsplit('/').next().unwrap_or_default();
        // The map itself, the history, builds, and files that commands and fuzzers write.
        let skipped = ["ARCHITECTURE.md", "CHANGELOG.md", "target", ".git", "tests"];
        let is_written = [
            "conformance/corpus",
            "docs/reference",
            "fuzz/corpus",
            "fuzz/found",
        ];
        if skipped.contains(&last) || is_written.contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if let Ok(text) = fs::read_to_string(&path)
            && !text.lines().take(3).any(|line| line.contains("@generated"))
        {
            files.push((name, text));
        }
    }
}

/// Returns whether a word occurs in `text` other than as a part of longer words.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Returns where to search for an example of a change: the folder where files are named after it,
/// and the words that only code and documents about it contain.
fn search(change: &str, name: &str) -> (&'static str, Vec<String>) {
    let mut upper = name.to_owned();
    upper[..1].make_ascii_uppercase();
    match change {
        "A rule" => ("spec/rules/", vec![name.to_owned(), name.replace('-', "_")]),
        "A subcommand of `atf`" => (
            "atf/cli/src/",
            vec![
                format!("Command::{upper}"),
                format!("crate::{name}"),
                format!("atf {name}"),
            ],
        ),
        "A report form of the kit" => ("conformance/", vec![name.to_owned(), upper]),
        "A target of the generator" => (
            "codegen/",
            vec![
                format!("Target::{upper}"),
                format!("emit::{name}"),
                format!("generate {name}"),
                format!("{name}/** linguist-generated"),
            ],
        ),
        other => panic!("no search for {other}"),
    }
}

/// Returns whether a file contains an example or is named after it.
fn mentions(path: &str, text: &str, name: &str, (folder, words): &(&str, Vec<String>)) -> bool {
    let within = path.strip_prefix(folder).into_iter();
    let mut parts = within.flat_map(|it| it.split('/'));
    let is_module = |line: &str| line.trim_start_matches("pub ") == format!("mod {name};");
    words.iter().any(|word| has_word(text, word))
        || parts.any(|part| part.split('.').next() == Some(name))
        || path.starts_with(folder) && text.lines().any(is_module)
}

/// Returns the entry for a change, as in `- **A rule**, such as …`, on one line.
fn entry(map: &str, change: &str) -> String {
    let head = format!("- **{change}**, such as ");
    let (_, rest) = map.split_once(&head).unwrap_or_else(|| panic!("no {head}"));
    let lines = rest.lines();
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("- "));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the paths in a text, with NAME replaced.
fn paths(text: &str, name: &str) -> Vec<String> {
    let is_path = |it: &&str| it.contains('/') || it.starts_with('.') || it.ends_with(".md");
    let paths = quoted(text).filter(is_path).flat_map(expanded);
    paths.map(|path| path.replace("NAME", name)).collect()
}

fn is_under(file: &str, path: &str) -> bool {
    let rest = file.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An entry names past examples of a change and the files that such a change touches. The files
/// before `If needed` must mention each example, and no unlisted file may mention one.
#[test]
fn changes_touch_the_files_that_their_entries_name() {
    let mut files = Vec::new();
    collect(root(), &mut files);
    assert!(files.len() > 1000, "only {} files", files.len());
    let map = map();
    for change in [
        "A rule",
        "A subcommand of `atf`",
        "A report form of the kit",
        "A target of the generator",
    ] {
        let entry = entry(&map, change);
        let (examples, rest) = entry.split_once(": ").expect("a colon");
        for name in quoted(examples) {
            let search = search(change, name);
            let found = files
                .iter()
                .filter(|(path, text)| mentions(path, text, name, &search));
            let found: Vec<_> = found.map(|(path, _)| path.as_str()).collect();
            let (always, at_times) = rest.split_once(" If needed: ").unwrap_or((rest, ""));
            let (always, at_times) = (paths(always, name), paths(at_times, name));
            for path in &always {
                let is_found = found.iter().any(|file| is_under(file, path));
                assert!(is_found, "{change}: {path} does not mention {name}");
            }
            let is_named = |file: &str| {
                let mut paths = always.iter().chain(&at_times);
                paths.any(|path| is_under(file, path))
            };
            let unnamed = found.into_iter().filter(|file| !is_named(file));
            let unnamed: Vec<_> = unnamed.collect();
            assert_eq!(unnamed, [""; 0], "{change}: {name} is also there");
        }
    }
}

/// The experiments themselves run at night. This test fails as soon as an edit breaks one of their
/// patches: each hunk must match exactly one place, regardless of line numbers. ARCHITECTURE.md
/// must list the files that a patch changes.
#[test]
fn experiment_patches_apply_and_change_the_listed_files() {
    let architecture = map();
    let mut sizes = Vec::new();
    for entry in fs::read_dir(root().join("spec/experiments")).expect("the experiments") {
        let folder = entry.expect("an experiment").path();
        let patch = folder.join("code.patch");
        let changed = if patch.exists() {
            patched_files(&text(&patch))
        } else {
            BTreeSet::new()
        };
        let name = folder.file_name().expect("a name").to_string_lossy();
        let head = format!("| `{name}` |");
        let row = architecture.lines().find_map(|row| row.strip_prefix(&head));
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {name}"));
        let listed = quoted(row).flat_map(expanded);
        assert_eq!(listed.collect::<BTreeSet<_>>(), changed, "{name}");
        sizes.push(changed.len());
    }
    sizes.sort_unstable();
    assert!(matches!(sizes[..], [0, .., 1..=10]), "{sizes:?}");
}

fn patched_files(patch: &str) -> BTreeSet<String> {
    let files = patch.split("--- a/").skip(1).map(|file| {
        let (name, rest) = file.split_once('\n').expect("a hunk");
        let code = text(name);
        for hunk in rest.split("\n@@ ").skip(1) {
            let lines = hunk.lines().skip(1);
            let old: Vec<_> = lines
                .filter(|line| !line.starts_with('+'))
                .map(|line| format!("{}\n", line.get(1..).unwrap_or_default()))
                .collect();
            let old = old.concat();
            assert_eq!(code.matches(&old).count(), 1, "{name}: count of:\n{old}");
        }
        name.to_owned()
    });
    files.collect()
}

/// Returns the paths that a pattern such as `src/{a,b}.rs` matches.
fn expanded(path: &str) -> Vec<String> {
    let parts = path
        .split_once('{')
        .and_then(|(start, rest)| Some((start, rest.split_once('}')?)));
    match parts {
        None => vec![path.to_owned()],
        Some((start, (names, end))) => {
            let names = names.split(',');
            names.map(|name| format!("{start}{name}{end}")).collect()
        }
    }
}

/// A part in capitals, as in `spec/sources/ID.yaml`, stands for any name.
#[test]
fn every_path_in_the_architecture_exists() {
    let map = map();
    let is_path = |quoted: &&str| quoted.contains('/') && !quoted.contains(' ');
    let mut count = 0;
    for path in quoted(&map).filter(is_path).flat_map(expanded) {
        let is_name = |part: &str| {
            part.bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_uppercase())
        };
        let known = path.split('/').take_while(|part| !is_name(part));
        let known: PathBuf = known.collect();
        assert!(root().join(&known).exists(), "ARCHITECTURE.md: {path}");
        count += 1;
    }
    assert!(count > 100, "only {count} paths");
}

/// Readers scan the rows for the place to make a change, so each row must be short.
#[test]
fn architecture_rows_are_short() {
    let map = map();
    let rows: Vec<_> = map.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 60, "only {} rows", rows.len());
    for row in rows {
        assert!(row.chars().count() <= 160, "{row}");
    }
}
