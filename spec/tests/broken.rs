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

use atf_spec::layout::{ConstantValue, Field, Scalar, Value};
use support::{base, broken, change, faults};

#[test]
fn the_base_of_all_cases_has_no_faults() {
    assert_eq!(faults(base().path()), "");
}

/// The expected layout is written by hand from `broken/base`.
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

    let kind = layout.enumeration("kind").expect("an enumeration");
    let members = kind.members.iter();
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
    fs::write(
        folder.path().join("constants.yaml"),
        b"constants: # l\xe4st\n",
    )
    .unwrap();
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
