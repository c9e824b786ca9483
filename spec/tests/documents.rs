//! Tests the compiler's diagnostics for claims whose lines do not match their document. The
//! documents here are made up; `atf-codegen spec check --sources DIR` checks the real ones.

mod support;

use std::fs;
use std::path::Path;

use atf_spec::text;
use support::{base, change, faults};
use tempfile::TempDir;

/// A made-up document for the base's source A.
const TOY: &str = "\
# Toy
```c
struct head {
    char magic[4];  // TOYS
    char version;   // 1
    char kind;      // good 1, bad 2
    char rest[4];
} head;
```

| item | bytes |
|------|-------|
| time | 8 |
| next | 4 |
| depth | 4 |
A kind is good or something else.
- Items ascend.
";

/// A change to the base that makes source A a document: its claims have the lines of [`TOY`].
const LINES: &str = "--- sources/A.yaml
@@
 wire: 1
+text:
+  file: toy.txt
+  lines: 17
+  silent: { blank: [10], heading: [1] }
@@
   - record: head
-    where: Head
+    name: head
+    lines: 2-9
+    where: Head
     form: struct
@@
   - record: item
+    lines: 11-15
     where: Item
@@
-    where: Head > Kinds
+    lines: 16
+    where: Head > Kinds
@@
-  - { topic: order, term: ascending, where: Order, says: Items ascend by time. }
+  - { topic: order, term: ascending, lines: 17, where: Order, says: Items ascend by time. }
";

/// Returns the spec and the document, with matching digests.
fn toy() -> (TempDir, TempDir) {
    let (spec, sources) = (base(), tempfile::tempdir().expect("a temporary folder"));
    change(spec.path(), LINES);
    write(sources.path(), TOY);
    bless(spec.path(), sources.path());
    assert_eq!(compared(&spec, &sources), "");
    (spec, sources)
}

fn write(sources: &Path, document: &str) {
    fs::write(sources.join("toy.txt"), document).expect("a temporary file");
}

fn bless(spec: &Path, sources: &Path) {
    let known = atf_spec::compile(spec).spec.expect("a well-formed spec");
    let yaml = text::digests(&known, sources).expect("lines without a fault");
    fs::write(spec.join("digests.yaml"), yaml).expect("a temporary file");
}

/// Returns the faults in the spec, followed by those found by comparing it with the documents.
fn compared(spec: &TempDir, sources: &TempDir) -> String {
    let compiled = atf_spec::compile(spec.path());
    let known = compiled.spec.as_ref().expect("a well-formed spec");
    let beside = text::compare(known, sources.path());
    let faults = compiled.faults.iter().chain(&beside);
    let messages: Vec<&str> = faults.map(|fault| fault.message.as_str()).collect();
    let folder = sources.path().display().to_string();
    messages.join("\n").replace(&folder, "DIR")
}

/// Returns the spec, and the document after replacing a string.
fn rewritten(from: &str, to: &str) -> (TempDir, TempDir) {
    let (spec, sources) = toy();
    assert_eq!(TOY.matches(from).count(), 1, "{from}");
    write(sources.path(), &TOY.replace(from, to));
    (spec, sources)
}

fn changed(from: &str, to: &str) -> String {
    let (spec, sources) = rewritten(from, to);
    compared(&spec, &sources)
}

/// Returns the faults in the claims' lines after changing the spec.
fn faults_after(difference: &str) -> String {
    let (spec, _sources) = toy();
    let difference = format!("--- sources/A.yaml\n@@\n{difference}");
    change(spec.path(), &difference);
    faults(spec.path())
}

#[test]
fn a_changed_line_is_reported_with_its_number() {
    // In a sentence, a struct, a table and a heading, even for a single space.
    for (from, to, lines) in [
        ("- Items ascend.", "- Items descend.", "line 17"),
        ("good 1, bad 2", "good 1, bad 3", "lines 2-9"),
        ("| next | 4 |", "| next | 8 |", "lines 11-15"),
        ("# Toy", "# Toy ", "line 1"),
    ] {
        let expected = format!("A, {lines}: the text does not match the claim's digest");
        assert_eq!(changed(from, to), expected);
    }
}

#[test]
fn a_line_must_match_its_reason_for_claiming_nothing() {
    let found = changed("```\n\n|", "```\nItems may be lost.\n|");
    assert_eq!(found, "A, line 10: not a blank line");
}

#[test]
fn an_added_or_removed_line_is_refused() {
    let found = changed(
        "- Items ascend.\n",
        "- Items ascend.\n- Nothing else is said.\n",
    );
    assert_eq!(found, "A has 18 lines, not 17");
    let found = changed("- Items ascend.\n", "");
    let lost = "A, line 17: the text does not match the claim's digest";
    assert_eq!(found, format!("A has 16 lines, not 17\n{lost}"));
}

#[test]
fn a_missing_document_is_named() {
    let (spec, sources) = toy();
    fs::remove_file(sources.path().join("toy.txt")).expect("a temporary file");
    let found = compared(&spec, &sources);
    assert!(found.starts_with("DIR/toy.txt: "), "{found}");
}

#[test]
fn gaps_and_overlaps_are_reported_at_the_adjacent_lines() {
    let silent = |now: &str| {
        let before = "{ blank: [10], heading: [1] }";
        format!("-  silent: {before}\n+  silent: {now}\n")
    };
    let lines = |before: &str, now: &str| format!("-    lines: {before}\n+    lines: {now}\n");
    let total = |now: u32| format!("-  lines: 17\n+  lines: {now}\n");
    let overlap = "{ blank: [10], heading: [1, 16] }";
    for (difference, says) in [
        (silent("{ heading: [1] }"), "no claim covers line 10 of A"),
        (silent("{ blank: [10] }"), "no claim covers line 1 of A"),
        (lines("2-9", "4-9"), "no claim covers lines 2-3 of A"),
        (total(19), "no claim covers lines 18-19 of A"),
        (lines("2-9", "2-11"), "lines 2-11 and line 10 overlap"),
        (lines("16", "14-16"), "lines 11-15 and lines 14-16 overlap"),
        (silent(overlap), "line 16 and line 16 overlap"),
        (total(16), "A has 16 lines, not 17"),
    ] {
        let found = faults_after(&difference);
        let first = found.lines().next().unwrap_or_default();
        assert_eq!(first, format!("error: {says}"));
    }
}

#[test]
fn lines_without_a_digest_and_digests_without_lines_are_refused() {
    // One record now claims both lines.
    let (spec, _sources) = toy();
    let joined = "--- sources/A.yaml
@@
-    lines: 11-15
+    lines: 11-16
@@
-    lines: 16
+    lines: 11-16
";
    change(spec.path(), joined);
    let found = faults(spec.path());
    let messages = found.lines().filter(|line| line.starts_with("error"));
    let expected = [
        "error: A has no digest for lines 11-16",
        "error: A has a digest for `11-15`, but no claim has these lines",
        "error: A has a digest for `16`, but no claim has these lines",
    ];
    assert_eq!(messages.collect::<Vec<_>>(), expected);
}

#[test]
fn only_claims_of_documents_have_lines() {
    let found = faults_after("-    lines: 2-9\n");
    let says = "error: `lines` is missing: name the lines of A that make this claim";
    assert!(found.contains(says), "{found}");
    let (spec, _sources) = toy();
    let other = "--- sources/B.yaml\n@@\n   - record: head\n+    lines: 3\n     where: Head\n";
    change(spec.path(), other);
    let found = faults(spec.path());
    let says = "error: source B is not a document with lines";
    assert!(found.starts_with(says), "{found}");
}

#[test]
fn line_numbers_start_at_1() {
    for wrong in ["0", "9-2", "x", "-3", "1-", "2-x"] {
        let found = faults_after(&format!("-    lines: 2-9\n+    lines: {wrong}\n"));
        assert!(found.contains("lines"), "{wrong}: {found}");
    }
}

#[test]
fn a_statement_hidden_in_claimed_lines_is_refused_even_with_a_digest() {
    let hidden = |from: &str, to: &str| {
        let (spec, sources) = rewritten(from, to);
        bless(spec.path(), sources.path());
        compared(&spec, &sources)
    };
    let rest = "    char rest[4];";
    let unclaimed = |line: u32, record: &str| {
        format!("A, line {line}: no field of {record} is claimed from this line")
    };
    assert_eq!(hidden(rest, "    short rest; char more[2];"), "");
    assert_eq!(hidden(rest, "    char arrest[4];"), unclaimed(7, "head"));
    let found = hidden("| next | 4 |", "| flags | 4 |");
    assert_eq!(found, unclaimed(14, "item"));

    let (spec, sources) = toy();
    let joined = "--- sources/A.yaml
@@
-    lines: 16
+    lines: 16-17
@@
-  - { topic: order, term: ascending, lines: 17, where: Order, says: Items ascend by time. }
+  - { topic: order, term: ascending, lines: 16-17, where: Order, says: Items ascend by time. }
";
    change(spec.path(), joined);
    bless(spec.path(), sources.path());
    assert_eq!(compared(&spec, &sources), unclaimed(17, "head"));
}
