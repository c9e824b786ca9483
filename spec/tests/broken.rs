//! Tests the compiler's diagnostics for broken specs.
//!
//! Each folder in `broken/` is a test case: a modification of `broken/base`, the smallest spec that
//! has one of everything. `changes.diff` changes lines in the base's files, `without.txt` lists
//! files and folders to remove, and all other files replace or add files. `expected.txt` contains
//! the compiler's output.
//!
//! After a change to messages, `ATF_BLESS=1 cargo test -p atf-spec --test broken` rewrites every
//! `expected.txt`; review the diff before committing it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use atf_spec::layout::{ConstantValue, Field, Scalar, Value};
use support::{base, broken, change, faults, overlay};

#[test]
fn the_base_of_all_cases_has_no_faults() {
    assert_eq!(faults(base().path()), "");
}

/// The expected layout is typed by hand from `broken/base`.
#[test]
fn the_base_resolves_to_the_layout_in_its_files() {
    let folder = base();
    let constants = "constants:
  - { constant: TOY_END, is: item.next.none, means: The next of the last item. }
  - { constant: TOY_VERSION, is: head.version.value, means: The version. }
";
    fs::write(folder.path().join("constants.yaml"), constants).expect("a temporary file");
    let compiled = atf_spec::compile(folder.path());
    let layout = compiled.layout().expect("no faults");

    let fields = |record: &str, wire| {
        let layout = layout.record(record).and_then(|record| record.layout(wire));
        let fields = layout.expect("a record of the base").fields.iter();
        let field = |field: &Field| {
            let name = format!("{} {} {}", field.offset, field.ty, field.name);
            (name, field.none, field.sources.join(" "))
        };
        fields.map(field).collect::<Vec<_>>()
    };
    let field = |text: &str, none, sources: &str| (text.to_owned(), none, sources.to_owned());
    let item = [
        field("0 u64 time", None, "A B"),
        field("8 u32 next", Some(0xffff_ffff), "A B"),
        field("12 u32 depth", None, "A"),
    ];
    assert_eq!(fields("item", 1), item);
    let item = [
        field("0 u64 time", None, "A B"),
        field("8 u64 next", Some(u64::MAX), "A B"),
    ];
    assert_eq!(fields("item", 2), item);
    assert_eq!(
        fields("head", 2),
        [
            field("0 u8[4] magic", None, "A B"),
            field("4 u8 version", None, "A B"),
            field("5 u8 kind", None, "A B"),
            field("6 u8[2] reserved", None, "A B"),
        ]
    );

    let members = layout
        .enumeration("kind")
        .expect("an enumeration")
        .members
        .iter();
    let members: Vec<_> = members
        .map(|member| (member.name.as_str(), member.value, member.sources.join(" ")))
        .collect();
    assert_eq!(
        members,
        [("good", 1, "A B".into()), ("bad", 2, "A B".into())]
    );

    let constants = layout.constants.iter().map(|constant| {
        let value = |value: &ConstantValue| (value.wire, value.scalar, value.value);
        let values: Vec<_> = constant.values.iter().map(value).collect();
        (constant.name.as_str(), constant.sources.join(" "), values)
    });
    let end = vec![(1, Scalar::U32, 0xffff_ffff), (2, Scalar::U64, u64::MAX)];
    let version = vec![(1, Scalar::U8, 1), (2, Scalar::U8, 2)];
    let expected = [
        ("TOY_END", "A B".to_owned(), end),
        ("TOY_VERSION", "A B".to_owned(), version),
    ];
    assert_eq!(constants.collect::<Vec<_>>(), expected);

    // A build compares the layout with these files to determine whether the layout is up to date.
    let inputs: Vec<_> = layout.inputs.keys().collect();
    assert_eq!(
        inputs,
        [
            "constants.yaml",
            "enums.yaml",
            "format.yaml",
            "grammar/toy.yaml",
            "records/head.yaml",
            "records/item.yaml",
        ]
    );
}

#[test]
fn an_optional_key_without_a_value_counts_as_missing() {
    let folder = base();
    let difference = "--- records/item.yaml
@@
-    units: ns
+    units:
@@
-      1: { offset: 12, type: u32 }
+      1: { offset: 12, type: u32, value: null, none: ~ }
";
    change(folder.path(), difference);
    assert_eq!(faults(folder.path()), "");
    let layout = atf_spec::compile(folder.path())
        .layout()
        .expect("no faults");
    let item = layout.record("item").and_then(|record| record.layout(1));
    let fields = &item.expect("a record").fields;
    assert_eq!(
        (&fields[0].units, &fields[2].value, fields[2].none),
        (&None, &None, None)
    );
}

#[test]
fn the_maximum_values_of_types_are_accepted() {
    let folder = base();
    let difference = "--- enums.yaml
@@
-      - { name: bad, value: 2, means: Bad., claims: [A, B] }
+      - { name: bad, value: 255, means: Bad., claims: [A, B] }
--- sources/A.yaml
@@
-      - { field: kind, type: u8, members: { good: 1, bad: 2 } }
+      - { field: kind, type: u8, members: { good: 1, bad: 255 } }
--- sources/B.yaml
@@
-      - { field: kind, offset: 5, size: 1, members: { good: 1, bad: 2 } }
+      - { field: kind, offset: 5, size: 1, members: { good: 1, bad: 255 } }
--- records/item.yaml
@@
     type: u64
+    value: 0xFFFFFFFFFFFFFFFF
@@
       1: { offset: 12, type: u32 }
+    max: 0xFFFFFFFE
";
    change(folder.path(), difference);
    assert_eq!(faults(folder.path()), "");
    let layout = atf_spec::compile(folder.path())
        .layout()
        .expect("no faults");
    let kinds = layout.enumeration("kind").expect("an enumeration");
    assert_eq!(kinds.members[1].value, 255);
    let item = layout.record("item").and_then(|record| record.layout(1));
    let item = item.expect("a record");
    assert_eq!(item.fields[0].value, Some(Value::Number(u64::MAX)));
    assert_eq!(item.fields[2].max, Some(0xffff_fffe));
}

/// `ATF_BLESS=1` rewrites the expected messages.
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

/// Returns the folders of all cases.
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

/// Returns the compiler's output for the base as changed by a case.
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
