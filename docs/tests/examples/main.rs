//! Tests that every command and example in the documents and in `--help` produces the documented
//! result.
//!
//! Commands are run as written, unless [`table`] specifies otherwise. Other examples must be in the
//! table.

#![cfg(unix)]

mod picture;
mod rules;
mod sandbox;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::num::NonZero;
use std::process::Output;
use std::sync::Mutex;
use std::thread;

use atf_docs::{Example, examples, is_shown, sessions};
use sandbox::{Sandbox, root};
use table::{ENTRIES, How, find, placeholders};

/// The documents whose examples are run.
const DOCUMENTS: [&str; 26] = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "samples/README.md",
    "conformance/testees/README.md",
    "docs/archive.md",
    "docs/commands.md",
    "docs/editions.md",
    "docs/export.md",
    "docs/install.md",
    "docs/libraries.md",
    "docs/python.md",
    "docs/questions.md",
    "docs/record.md",
    "docs/safety.md",
    "docs/spark.md",
    "docs/speed.md",
    "docs/tables.md",
    "docs/targets.md",
    "docs/tests.md",
    "docs/conformance/README.md",
    "docs/conformance/ci.md",
    "docs/conformance/ci-examples.md",
    "docs/conformance/files.md",
    "docs/conformance/protocol.md",
    "docs/conformance/site.md",
];

/// The documents whose Python blocks are all run by `python/tools/pages.py`.
const PYTHON: [&str; 3] = ["docs/archive.md", "docs/python.md", "docs/spark.md"];

/// The document whose commands are all run by `.ci/tutorial`, which downloads sources.
const TUTORIAL: &str = "docs/record.md";

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn all() -> impl Iterator<Item = (&'static str, Example)> {
    DOCUMENTS.into_iter().flat_map(|path| {
        let found = examples(&text(path));
        found.into_iter().map(move |example| (path, example))
    })
}

fn described(output: &Output) -> String {
    format!(
        "{}{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs a command. Compares its exit status and, if any output is shown, its output.
fn runs(sandbox: &Sandbox, command: &str, status: i32, shown: &str) {
    let output = sandbox.sh(command);
    let code = output.status.code();
    assert_eq!(code, Some(status), "$ {command}\n{}", described(&output));
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_right = shown.trim().is_empty() || is_shown(shown, &printed);
    assert!(is_right, "$ {command}\n{printed}");
}

/// Checks that the file that runs an example contains these words.
fn is_elsewhere(example: &str, path: &str, words: &str) {
    let is_there = text(path).contains(words);
    assert!(is_there, "{example}: {path} has no `{words}`");
}

#[test]
fn every_block_in_the_documents_has_the_shown_result() {
    let documents = Mutex::new(DOCUMENTS.into_iter());
    let (known, unknown) = (Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let work = || {
            while let Some(path) = { documents.lock().expect("documents").next() } {
                let (listed, others) = run_blocks(path);
                known.lock().expect("blocks").extend(listed);
                unknown.lock().expect("blocks").extend(others);
            }
        };
        let count = thread::available_parallelism().map_or(1, NonZero::get);
        (0..count).for_each(|_| drop(scope.spawn(work)));
    });
    let (known, unknown) = (known.into_inner().expect("blocks"), unknown.into_inner());
    let unknown = unknown.expect("blocks");
    let table = "docs/tests/examples/table.txt";
    assert!(unknown.is_empty(), "not in {table}: {unknown:#?}");
    let others = ["sentences", "--help", "placeholders"];
    let blocks = ENTRIES.iter().filter(|it| !others.contains(&it.place));
    let is_gone = |it: &&table::Entry| !known.contains(&(it.place, it.example.to_owned()));
    let gone: Vec<_> = blocks.filter(is_gone).collect();
    assert!(gone.is_empty(), "in no document: {gone:#?}");
}

/// Runs the blocks of a document. Returns those that the table lists, and those that it should list.
fn run_blocks(path: &'static str) -> (BTreeSet<(&'static str, String)>, Vec<String>) {
    let sandbox = Sandbox::new();
    let rust = text("docs/tests/rust.rs");
    let (mut known, mut unknown) = (BTreeSet::new(), Vec::new());
    for example in examples(&text(path)) {
        let Example::Block(language, block) = example else {
            continue;
        };
        let first = block.lines().next().unwrap_or_default().trim();
        if PYTHON.contains(&path) && ["python", "text"].contains(&language.as_str()) {
            is_elsewhere(first, ".ci/python", path);
            continue;
        }
        let how = match (find(path, first), language.as_str()) {
            (Some(how), _) => {
                known.insert((path, first.to_owned()));
                how
            }
            (None, "sh") if path == TUTORIAL => How::Elsewhere(".ci/tutorial", path),
            (None, "sh" | "console") => How::Runs(0, None),
            (None, _) => {
                unknown.push(format!("{path}: {first}"));
                continue;
            }
        };
        match how {
            How::Runs(status, None) if language == "console" => {
                let commands = sessions(&block);
                assert!(!commands.is_empty(), "{path}: no `$ ` in:\n{block}");
                for (command, shown) in commands {
                    runs(&sandbox, &command, status, &shown);
                }
            }
            How::Runs(status, instead) => runs(&sandbox, instead.unwrap_or(&block), status, ""),
            How::Rust => {
                let lines = |text: &'_ str| -> Vec<String> {
                    text.lines().map(|line| line.trim().to_owned()).collect()
                };
                let (part, whole) = (lines(&block), lines(&rust));
                let is_there = whole.windows(part.len()).any(|window| window == part);
                let why = "not in docs/tests/rust.rs, word for word";
                assert!(is_there, "{path}: {why}:\n{block}");
            }
            How::Parses => match language.as_str() {
                "toml" => drop(toml::from_str::<toml::Table>(&block).expect(first)),
                "json" => drop(serde_json::from_str::<serde_json::Value>(&block).expect(first)),
                _ => panic!("{path}: no parser for {language}"),
            },
            How::Elsewhere(place, words) => is_elsewhere(first, place, words),
            How::Form => {}
        }
    }
    (known, unknown)
}

/// The prefixes of commands that must be tested.
const OURS: [&str; 4] = ["atf ", "atf-conformance ", "atf-codegen ", "cargo run "];

#[test]
fn every_command_in_a_sentence_runs() {
    let sandbox = Sandbox::new();
    let mut known = BTreeSet::new();
    let is_command = |span: &str| {
        // Without arguments, `atf convert` is only the name of a command. `--help` shows its arguments.
        OURS.iter().any(|name| span.starts_with(name))
            && span.split(' ').count() > 2
            && !span.ends_with(" -p")
            || span == "atf-conformance run"
    };
    for (path, example) in all() {
        let Example::Span(span) = example else {
            continue;
        };
        if span.starts_with("cargo ") {
            names_exist(path, &span);
        }
        if is_command(&span) && known.insert(span.clone()) {
            test_command(&sandbox, "sentences", &span);
        }
    }
    assert_none_is_gone("sentences", &known);
}

/// Tests a command as its entry specifies, or as written if it has none.
fn test_command(sandbox: &Sandbox, place: &str, command: &str) {
    match find(place, command).unwrap_or(How::Runs(0, None)) {
        How::Runs(status, Some(instead)) => runs(sandbox, instead, status, ""),
        How::Runs(status, None) => runs(sandbox, &filled_in(command), status, ""),
        How::Elsewhere(file, words) => is_elsewhere(command, file, words),
        other => panic!("{command}: {other:?} does not apply to a command"),
    }
}

/// Replaces the placeholder words in a command.
fn filled_in(command: &str) -> String {
    let fill = |text: String, (words, meant): (&str, &str)| {
        text.replace(&format!(" {words} "), &format!(" {meant} "))
    };
    placeholders().fold(format!(" {command} "), fill)
}

/// Checks that each entry for commands in a place is one of these.
fn assert_none_is_gone(place: &str, known: &BTreeSet<String>) {
    let entries = ENTRIES.iter().filter(|it| it.place == place);
    let gone: Vec<_> = entries.filter(|it| !known.contains(it.example)).collect();
    assert!(gone.is_empty(), "in no document: {gone:#?}");
}

/// Checks that the packages, tests and folders in a cargo command exist.
fn names_exist(path: &str, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let after = |option: &str| {
        let pairs = words.windows(2).filter(move |pair| pair[0] == option);
        pairs.map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
    };
    let manifests = text("Cargo.toml");
    let (_, members) = manifests.split_once("members = [").expect("members");
    let (members, _) = members.split_once(']').expect("their end");
    let folders: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    let place = format!("{path}: `{command}`");
    for package in after("-p") {
        let line = format!("name = \"{package}\"");
        let is_it = |folder: &&&str| {
            let manifest = text(&format!("{folder}/Cargo.toml"));
            manifest.lines().any(|own| own == line)
        };
        let folder = folders.iter().find(is_it);
        let folder = folder.unwrap_or_else(|| panic!("{place}: no package {package}"));
        for test in after("--test") {
            let tests = root().join(folder).join("tests");
            let files = [format!("{test}/main.rs"), format!("{test}.rs")];
            let is_there = files.iter().any(|file| tests.join(file).is_file());
            assert!(is_there, "{place}: {package} has no test {test}");
        }
    }
    for named in after("--path").into_iter().chain(after("--manifest-path")) {
        let is_there = root().join(&named).exists();
        assert!(is_there, "{place}: {named} does not exist");
    }
}

/// A filter that matches nothing would select no test, and `cargo test` would succeed.
#[test]
fn every_test_that_a_document_names_exists() {
    let mut sources = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "corpus" {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let module = name.trim_end_matches(".rs").to_owned();
                sources.push((module, fs::read_to_string(&path).expect("UTF-8")));
            }
        }
    }
    let functions: Vec<&str> = (sources.iter())
        .flat_map(|(_, source)| source.split("fn ").skip(1))
        .filter_map(|rest| rest.split(['(', '<']).next())
        .collect();
    let is_module = |name: &str| {
        let declared = format!("mod {name}");
        sources
            .iter()
            .any(|(module, source)| module == name || source.contains(&declared))
    };
    let mut count = 0;
    for (path, example) in all() {
        let Example::Span(span) = example else {
            continue;
        };
        let is_name =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if span.chars().all(is_name) && span.matches('_').count() >= 4 {
            let is_there = functions.contains(&&*span);
            assert!(is_there, "{path}: there is no test `{span}`");
            count += 1;
        }
        for filter in filters(&span) {
            let mut parts = filter.split("::").filter(|part| !part.is_empty());
            let is_there = parts.all(|part| {
                is_module(part) || functions.iter().any(|function| function.contains(part))
            });
            assert!(is_there, "{path}: `{span}`: there is no test {filter}");
            count += 1;
        }
    }
    assert!(count > 10, "only {count} test names");
}

/// Returns the filters of a `cargo test` command.
fn filters(command: &str) -> impl Iterator<Item = &str> {
    let arguments = command.strip_prefix("cargo test ").unwrap_or_default();
    let before = iter::once("").chain(arguments.split(' '));
    let pairs = before.zip(arguments.split(' '));
    let takes_value = [
        "-p",
        "--test",
        "--manifest-path",
        "--target",
        "--features",
        "--bench",
    ];
    pairs.filter_map(move |(before, word)| {
        let is_filter =
            !word.is_empty() && !word.starts_with('-') && !takes_value.contains(&before);
        is_filter.then_some(word)
    })
}

/// One and a half screens.
const MOST_LINES: usize = 60;

#[test]
fn every_help_text_is_short_and_its_examples_run() {
    let sandbox = Sandbox::new();
    let mut known = BTreeSet::new();
    let mut texts = 0;
    for program in ["atf", "atf-conformance", "atf-codegen"] {
        let mut commands = vec![program.to_owned()];
        while let Some(command) = commands.pop() {
            let output = sandbox.sh(&format!("COLUMNS=100 {command} --help"));
            assert!(output.status.success(), "{}", described(&output));
            let help = String::from_utf8(output.stdout).expect("UTF-8");
            let lines = help.lines().count();
            assert!(
                lines <= MOST_LINES,
                "{command} --help: {lines} lines of at most {MOST_LINES}; move prose to docs/commands.md"
            );
            texts += 1;
            for (example, _) in sessions(&help) {
                if known.insert(example.clone()) {
                    test_command(&sandbox, "--help", &example);
                }
            }
            commands.extend(subcommands(&help).map(|name| format!("{command} {name}")));
        }
    }
    assert!(texts > 20, "only {texts} help texts");
    assert_none_is_gone("--help", &known);
}

/// Returns the subcommands in a help page, except for `help`.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap_or_default();
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let named = lines.filter(|line| !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help")
}

/// Every table row is on a single line.
#[test]
fn no_table_row_spans_several_lines() {
    for path in DOCUMENTS {
        let text = text(path);
        let rows = text.lines().filter(|line| line.starts_with("| "));
        let broken: Vec<_> = rows.filter(|row| !row.ends_with('|')).collect();
        assert!(broken.is_empty(), "{path}: {broken:#?}");
    }
}
