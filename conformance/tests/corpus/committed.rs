//! Tests the corpus as a folder: the committed tables contain the cases, and a new corpus replaces
//! an older one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use atf_conformance::corpus::edition;
use atf_samples::files::hex;
use serde_json::Value;
use tempfile::TempDir;

use crate::{ALL, CASES};

#[test]
fn generating_removes_an_older_corpus_but_no_other_files() {
    let folder = TempDir::new().unwrap();
    edition::generate(folder.path(), &CASES[..3]).unwrap();
    edition::generate(folder.path(), &CASES[..1]).unwrap();
    assert!(edition::verify(folder.path(), &CASES[..1]).is_empty());
    assert!(!folder.path().join("v1/session.json").exists());

    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("v1/mine.txt");
    fs::create_dir(folder.path().join("v1")).unwrap();
    fs::write(&mine, "mine").unwrap();
    assert!(edition::generate(folder.path(), &CASES[..1]).is_err());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
}

/// Returns the committed table entries of all cases, by name.
fn entries() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let read = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(folder.join(path)).unwrap()).unwrap()
    };
    let list = read("corpus.json");
    let tables = list["tables"].as_array().unwrap();
    let tables = tables.iter().map(|path| read(path.as_str().unwrap()));
    let lists = tables.flat_map(|table| [table["cases"].clone(), table["large"].clone()]);
    let cases = lists.flat_map(|list| list.as_array().cloned().unwrap_or_default());
    cases
        .map(|case| (case["name"].as_str().unwrap().to_owned(), case))
        .collect()
}

/// Joins the parts of a file, as docs/conformance/README.md describes.
fn bytes(parts: &Value) -> Vec<u8> {
    let parts = parts.as_array().unwrap().iter();
    let bytes = parts.map(|part| match part {
        Value::String(text) => text.clone().into_bytes(),
        part => {
            let times = part[2].as_u64().unwrap_or(1);
            hex(part[1].as_str().unwrap()).repeat(usize::try_from(times).unwrap())
        }
    });
    bytes.collect::<Vec<_>>().concat()
}

/// Applies a JSON merge patch.
fn patched(document: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut members = document.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        let before = members.remove(key).unwrap_or_default();
        if !value.is_null() {
            members.insert(key.clone(), patched(&before, value));
        }
    }
    members.into()
}

#[test]
fn the_tables_contain_every_byte_and_document() {
    let entries = entries();
    assert_eq!(entries.len(), ALL.len());
    let (large, small): (Vec<_>, Vec<_>) = ALL.iter().partition(|case| case.is_large());
    for case in large {
        for (path, bytes) in &case.files {
            assert_eq!(entries[&case.name]["sizes"][path], bytes.len(), "{path}");
        }
    }
    for case in small {
        let entry = &entries[&case.name];
        let files = entry["files"].as_object().into_iter().flatten();
        let files: BTreeMap<_, _> = files.map(|(path, it)| (path.clone(), bytes(it))).collect();
        assert!(files == case.files, "{}", case.name);
        assert_eq!(entry["expected"], case.expected, "{}", case.name);
        let others = entry["alternatives"].as_array().into_iter().flatten();
        let others: Vec<_> = others.map(|patch| patched(&case.expected, patch)).collect();
        assert_eq!(others, case.alternatives, "{}", case.name);
    }
}
