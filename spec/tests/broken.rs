//! Tests the compiler's diagnostics for broken specs.
//!
//! A file in `broken/` contains test cases: changes to `broken/base`, the smallest spec with one of
//! everything, and the compiler's output for each.
//!
//! ```text
//! === name of the case
//! without PATH          a file or folder is removed
//! +++ PATH              a file is added or replaced; its text follows
//! --- PATH              lines of a file change, as `support::change` describes
//! >>>
//! error: …
//! ```
//!
//! After a change to messages, `ATF_BLESS=1 cargo test -p atf-spec --test broken` rewrites the
//! output; review the diff before committing it.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use atf_spec::layout::Layout;
use support::{base, broken, change, faults};

#[test]
fn the_base_of_all_cases_has_no_faults() {
    assert_eq!(faults(base().path()), "");
}

/// `base.json` was compared by hand with `broken/base`.
#[test]
fn the_base_resolves_to_the_layout_in_its_files() {
    let folder = base();
    let constants = "constants:
  - { constant: TOY_END, is: item.next.none, means: The next of the last item. }
  - { constant: TOY_VERSION, is: head.version.value, means: The version. }
";
    fs::write(folder.path().join("constants.yaml"), constants).expect("a temporary file");
    let compiled = atf_spec::compile(folder.path());
    let mut layout = compiled.layout().expect("no faults");
    // A build compares the layout with these files to determine whether the layout is up to date.
    let inputs = std::mem::take(&mut layout.inputs);
    assert_eq!(
        inputs.keys().collect::<Vec<_>>(),
        [
            "constants.yaml",
            "enums.yaml",
            "format.yaml",
            "grammar/toy.yaml",
            "records/head.yaml",
            "records/item.yaml",
        ]
    );
    let expected: Layout = serde_json::from_str(include_str!("base.json")).expect("a layout");
    assert_eq!(layout, expected);
}

/// `ATF_BLESS=1` rewrites the expected messages.
#[test]
fn every_broken_spec_is_refused_with_the_expected_message() {
    let bless = std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    let (mut count, mut names) = (0, BTreeSet::new());
    for path in files() {
        let text = fs::read_to_string(&path).expect("the file of cases can be read");
        let mut blessed = Vec::new();
        for case in text.split("=== ").skip(1) {
            let (name, case) = case.split_once('\n').expect("a case has lines");
            let (changes, expected) = case.split_once(">>>\n").expect("a case expects a fault");
            let found = faults_of(changes);
            count += 1;
            assert!(names.insert(name.to_owned()), "two cases are called {name}");
            if found.is_empty() {
                wrong.push(format!("== {name}: the compiler found no fault"));
            } else if !bless && found.trim_end() != expected.trim_end() {
                wrong.push(format!(
                    "== {name}: expected\n{expected}\n-- but found\n{found}"
                ));
            }
            blessed.push(format!("=== {name}\n{changes}>>>\n{}\n", found.trim_end()));
        }
        if bless {
            fs::write(&path, blessed.join("\n")).expect("a file of cases can be written");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 80, "only {count} cases");
}

#[test]
fn a_byte_that_is_not_utf8_is_a_fault() {
    let folder = base();
    let path = folder.path().join("constants.yaml");
    fs::write(path, b"constants: # l\xe4st\n").unwrap();
    let expected = "error: the file is not UTF-8
 --> constants.yaml:1:15
  |
1 | constants: # l\u{fffd}st
  |               ^ byte 0xe4
";
    assert_eq!(faults(folder.path()).trim_end(), expected.trim_end());
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(broken()).expect("the cases");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Returns the compiler's output for the base as changed by a case.
fn faults_of(changes: &str) -> String {
    let folder = base();
    let mut rest = changes;
    while let Some(line) = rest.lines().next() {
        let start = line.len() + 1;
        let ends = ["\n--- ", "\n+++ ", "\nwithout "];
        let ends = ends.iter().filter_map(|mark| rest[start - 1..].find(mark));
        let end = ends.min().map_or(rest.len(), |at| start + at);
        let (this, next) = rest.split_at(end);
        if let Some(path) = line.strip_prefix("without ") {
            remove(&folder.path().join(path));
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = folder.path().join(path);
            let above = path.parent().expect("a file is in a folder");
            if above.is_file() {
                remove(above);
            }
            if path.is_dir() {
                remove(&path);
            }
            fs::create_dir_all(above).expect("a folder can be made");
            fs::write(path, &this[start..]).expect("a temporary file");
        } else {
            change(folder.path(), this);
        }
        rest = next;
    }
    faults(folder.path())
}

fn remove(path: &Path) {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
