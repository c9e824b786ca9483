//! Checks a small session with each possible truncation and with each single bit flipped.
//!
//! If a check misses a flip, no reader can notice it, because nothing else in the session repeats
//! the field. These tests list all such fields, so that a change in what can be detected does not
//! go unnoticed.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use atf_conformance::corpus::trace::{DETAIL, INDEX, MANIFEST, Trace};
use tempfile::TempDir;

use crate::outcome::Outcome;

/// Returns whether a check finds anything.
fn is_noticed(path: &Path) -> bool {
    let outcome = Outcome::check(path);
    !outcome.broken().is_empty() || !outcome.unreadable.is_empty()
}

fn small(version: u8) -> TempDir {
    let folder = TempDir::new().unwrap();
    Trace::small(version).write(folder.path()).unwrap();
    assert!(!is_noticed(folder.path()));
    folder
}

/// Flips each bit of a file, and returns the flips that a check of `checked` misses: byte and mask.
fn unnoticed(file: &Path, checked: &Path) -> Vec<(usize, u8)> {
    let bytes = fs::read(file).unwrap();
    let mut handle = OpenOptions::new().write(true).open(file).unwrap();
    let mut write = |offset: usize, byte: u8| {
        handle.seek(SeekFrom::Start(offset as u64)).unwrap();
        handle.write_all(&[byte]).unwrap();
    };
    let mut unnoticed = Vec::new();
    for (offset, byte) in bytes.iter().enumerate() {
        for mask in (0..8).map(|bit| 1 << bit) {
            write(offset, byte ^ mask);
            if !is_noticed(checked) {
                unnoticed.push((offset, mask));
            }
        }
        write(offset, *byte);
    }
    unnoticed
}

#[test]
fn each_truncation_of_each_file_is_noticed() {
    for version in [1, 2] {
        let folder = small(version);
        for name in [INDEX, DETAIL, MANIFEST] {
            let file = folder.path().join(name);
            let bytes = fs::read(&file).unwrap();
            for size in 0..bytes.len() {
                fs::write(&file, &bytes[..size]).unwrap();
                assert!(is_noticed(folder.path()), "{name} truncated to {size}");
            }
            fs::write(&file, &bytes).unwrap();
        }
    }
}

#[test]
fn each_flipped_bit_of_index_and_detail_in_a_session_is_noticed() {
    for version in [1, 2] {
        let folder = small(version);
        for name in [INDEX, DETAIL] {
            let file = folder.path().join(name);
            assert_eq!(
                unnoticed(&file, folder.path()),
                [],
                "{name}, version {version}"
            );
        }
    }
}

/// Nothing else in the session repeats the names and addresses of modules and functions.
#[test]
fn in_a_manifest_only_modules_and_names_are_uncheckable() {
    let folder = TempDir::new().unwrap();
    let mut trace = Trace::clean(1);
    trace.remove("thread_7");
    trace.replace(MANIFEST, r#"{"id": 7, "has_detail": true},"#, "");
    trace.write(folder.path()).unwrap();
    assert!(!is_noticed(folder.path()));
    let file = folder.path().join(MANIFEST);
    let text = fs::read_to_string(&file).unwrap();
    let bits = unnoticed(&file, folder.path()).into_iter();
    let fields: BTreeSet<_> = bits.map(|(offset, _)| key_before(&text, offset)).collect();
    let expected = [
        "base_address",
        // This bit determines the case of a hexadecimal digit.
        "function_id",
        // This is a module's `module_id`, not a symbol's.
        "module_id",
        "name",
        "path",
        "size",
        "uuid",
    ];
    assert_eq!(fields, BTreeSet::from(expected));
}

/// Returns the key of the value at an offset.
fn key_before(text: &str, offset: usize) -> &str {
    let end = text[..offset].rfind("\": ").unwrap();
    &text[text[..end].rfind('"').unwrap() + 1..end]
}
