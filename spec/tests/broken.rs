//! What the compiler says of broken specs.
//!
//! Each folder of `broken/` is a case, made of `broken/base`, the smallest spec that has one of
//! everything: `changes.diff` changes lines of its files, `without.txt` names files and folders to
//! leave out, and what else there is replaces or adds files. `expected.txt` is what the compiler
//! says of the whole.
//!
//! After a change of messages, `ATF_BLESS=1 cargo test -p atf-spec --test broken` rewrites every
//! `expected.txt`; read the difference before committing it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{base, broken, change, faults, overlay};

#[test]
fn the_base_of_all_cases_has_no_fault() {
    assert_eq!(faults(base().path()), "");
}

/// Rewritten by `ATF_BLESS=1`.
#[test]
fn every_broken_spec_is_refused_with_the_expected_message() {
    let bless = std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for case in cases() {
        let said = said_of(&case);
        let golden = case.join("expected.txt");
        if bless {
            fs::write(&golden, &said).expect("a golden file can be written");
        }
        let name = case.file_name().unwrap_or_default().display();
        match fs::read_to_string(&golden) {
            _ if said.is_empty() => wrong.push(format!("== {name}: the compiler found no fault")),
            Ok(expected) if expected == said => {}
            Ok(expected) => wrong.push(format!(
                "== {name}: expected\n{expected}\n-- but found\n{said}"
            )),
            Err(error) => wrong.push(format!("== {name}: expected.txt: {error}; found\n{said}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The folders of all cases.
fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(broken()).expect("the cases");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a case").path())
        .filter(|path| !path.ends_with("base"))
        .collect();
    cases.sort();
    assert!(cases.len() > 80, "only {} cases", cases.len());
    cases
}

/// What the compiler says of the base with a case's files.
fn said_of(case: &Path) -> String {
    let folder = base();
    overlay(case, folder.path());
    if let Ok(difference) = fs::read_to_string(case.join("changes.diff")) {
        change(folder.path(), &difference);
    }
    if let Ok(names) = fs::read_to_string(case.join("without.txt")) {
        for path in names.lines().map(|name| folder.path().join(name)) {
            let removed = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    faults(folder.path())
}
