//! Tests `--overlay`.

use std::fs;
use std::path::Path;

use crate::{changed_spec, files, real_spec, run};

fn experiment(name: &str) -> String {
    let folder = real_spec().join("experiments").join(name);
    folder.to_str().expect("a path in UTF-8").to_owned()
}

/// Only `--out .` replaces the official files of a checkout with those of an edition.
#[test]
fn an_edition_never_replaces_the_official_files_by_accident() {
    let checkout = tempfile::tempdir().expect("a temporary folder");
    let spec = checkout.path().join("spec");
    let copy = changed_spec("format.yaml", "format: ATF v2", "format: ATF v2");
    fs::rename(copy.path(), &spec).expect("a folder of the same disk");
    let before = files(checkout.path());
    let overlay = experiment("vendor");
    let ran = run(&spec, &["--overlay", &overlay, "generate", "c"]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("use --out ."), "{}", ran.stderr);
    let documents = checkout.path().to_str().expect("a path in UTF-8");
    let bless = ["spec", "check", "--sources", documents, "--bless"];
    let ran = run(&spec, &[&["--overlay", &overlay][..], &bless].concat());
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("with --overlay"), "{}", ran.stderr);
    assert!(files(checkout.path()) == before);
}

/// Editors of Windows write both.
#[test]
fn an_overlay_may_have_a_byte_order_mark_and_utf_16_is_named() {
    let text = "objects:\n  - object: thread\n    fields:\n      \
                - { name: acme, type: u8, means: Hm. }\n";
    let mut utf_16 = vec![0xff, 0xfe];
    utf_16.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let check = |bytes: &[u8]| {
        let overlay = tempfile::tempdir().expect("a temporary folder");
        fs::write(overlay.path().join("manifest.yaml"), bytes).expect("a temporary file");
        let overlay = overlay.path().to_str().expect("a path in UTF-8");
        run(&real_spec(), &["--overlay", overlay, "spec", "edition"])
    };
    let ran = check(format!("\u{feff}{text}").as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("thread.acme\n"), "{}", ran.stdout);
    let ran = check(&utf_16);
    assert_eq!(ran.status, 1);
    let expected = "error: the file is not UTF-8, but UTF-16\n --> overlay/manifest.yaml:1:1";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
}

#[test]
fn a_vendors_edition_has_its_headers_and_names_the_cases_that_still_apply() {
    let overlay = experiment("vendor");
    let out = tempfile::tempdir().expect("a temporary folder");
    let out_path = out.path().to_str().expect("a path in UTF-8");
    let generate = [
        "--overlay",
        &overlay,
        "generate",
        "c",
        "rust",
        "--out",
        out_path,
    ];
    let without_corpus = [&generate[..], &["--corpus", "nowhere"]].concat();
    let ran = run(&real_spec(), &without_corpus);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    let generated = run(&real_spec(), &generate);
    assert_eq!(generated.status, 0, "{}", generated.stderr);
    // The manifest's types, reader and writer have the new key.
    let manifest = out.path().join("atf/src/manifest/generated.rs");
    let manifest = fs::read_to_string(manifest).expect("the manifest's code");
    assert!(manifest.contains("acme_name"), "{manifest}");
    let header = fs::read_to_string(out.path().join("atf/include/atf_v1.h")).expect("a header");
    assert!(header.contains("#define ATF_OS_FREEBSD 6u"), "{header}");
    assert!(header.contains("uint64_t dropped_count;"), "{header}");

    let edition = ["--overlay", &overlay, "spec", "edition"];
    let ran = run(
        &real_spec(),
        &[&edition[..], &["--corpus", "nowhere"]].concat(),
    );
    let remedy =
        "; name the corpus's folder with --corpus; a checkout has it in conformance/corpus";
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    let ran = run(&real_spec(), &edition);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        generated.stdout.ends_with(&format!("\n{}", ran.stdout)),
        "{}",
        generated.stdout
    );
    let (changes, cases) = ran
        .stdout
        .split_once(" cases of corpus ")
        .expect("the cases");
    assert_eq!(
        changes
            .lines()
            .collect::<Vec<_>>()
            .split_last()
            .expect("lines")
            .1,
        [
            "changed: index_footer.dropped_count",
            "changed: index_footer.reserved",
            "changed: manifest.json: thread.acme_name",
            "changed: os",
        ]
    );
    for case in [
        "v1/ihdr-009-6",
        "v1/iftr-008-the-last-byte",
        "v2/dhdr-007-6",
    ] {
        assert!(cases.contains(&format!("\n  {case}\n")), "{case}: {cases}");
    }
    assert!(!cases.contains("ihdr-010"), "{cases}");
}

/// The test does not build the generated files, because `.ci/experiment` does so every night.
#[test]
fn every_experiment_has_a_valid_spec_and_changes_generated_files() {
    let mut count = 0;
    for entry in fs::read_dir(real_spec().join("experiments")).expect("the experiments") {
        let folder = entry.expect("an experiment").path();
        // The others change the code alone.
        let has_spec = |path: &Path| path.extension().is_some_and(|it| it == "yaml");
        let mut files = fs::read_dir(&folder).expect("its files");
        if !files.any(|file| has_spec(&file.expect("a file").path())) {
            continue;
        }
        let overlay = folder.to_str().expect("a path in UTF-8");
        let ran = run(&real_spec(), &["--overlay", overlay, "generate", "--check"]);
        assert_eq!((ran.status, &*ran.stderr), (1, ""), "{overlay}");
        assert!(ran.stdout.contains("stale: atf/src/"), "{}", ran.stdout);
        count += 1;
    }
    assert!(count >= 5, "only {count} experiments");
}

#[test]
fn a_third_wire_version_is_an_overlay() {
    let overlay = experiment("wire3");
    let ran = run(
        &real_spec(),
        &["--overlay", &overlay, "spec", "diff", "2", "3"],
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for change in [
        "~ event_count",
        "- clock_type",
        "+ clock ",
        "+ dropped_count",
    ] {
        assert!(ran.stdout.contains(change), "{change}: {}", ran.stdout);
    }
}

#[test]
fn a_fault_names_the_overlays_file() {
    let overlay = tempfile::tempdir().expect("a temporary folder");
    let text = "enums:\n  - enum: os\n    members:\n      - { name: plan9, value: 6, means: Plan 9., claims: [] }\n";
    fs::write(overlay.path().join("enums.yaml"), text).expect("a temporary file");
    let path = overlay.path().to_str().expect("a path in UTF-8");
    let ran = run(&real_spec(), &["--overlay", path, "spec", "check"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("--> overlay/enums.yaml:4:31\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("the sources say absent"),
        "{}",
        ran.stderr
    );
    let unknown = text.replace("enum: os", "enum: clock_type");
    fs::write(overlay.path().join("enums.yaml"), unknown).expect("a temporary file");
    let ran = run(&real_spec(), &["--overlay", path, "spec", "check"]);
    assert_eq!(ran.status, 1);
    let known = "the spec has no `enum: clock_type`, so the overlay adds it; the spec has: arch, os, clock, ";
    assert!(ran.stderr.contains(known), "{}", ran.stderr);
    let misspelled = overlay.path().join("enum.yaml");
    fs::rename(overlay.path().join("enums.yaml"), misspelled).expect("a temporary file");
    let ran = run(&real_spec(), &["--overlay", path, "spec", "check"]);
    assert_eq!(ran.status, 1);
    let says = "overlay/enum.yaml";
    assert!(ran.stderr.contains(says), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the spec has no such file"),
        "{}",
        ran.stderr
    );
    let ran = run(&real_spec(), &["--overlay", "nowhere", "spec", "check"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("nowhere: no such folder"),
        "{}",
        ran.stderr
    );
}

/// A carriage return would not compile in Rust, and the order of text that changes its direction is
/// not what it seems.
#[test]
fn a_text_with_control_characters_is_refused() {
    for (escape, name) in [
        ("\\r", "U+000D"),
        ("\\0", "U+0000"),
        ("\\x7f", "U+007F"),
        ("\\u202e", "U+202E"),
    ] {
        let overlay = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(overlay.path().join("records")).expect("a temporary folder");
        let file = overlay.path().join("records/index_footer.yaml");
        fs::write(file, format!("means: \"A{escape}B\"\n")).expect("a temporary file");
        let path = overlay.path().to_str().expect("a path in UTF-8");
        let ran = run(&real_spec(), &["--overlay", path, "spec", "check"]);
        let says = format!("a text with the control character {name}");
        assert_eq!(ran.status, 1, "{name}");
        assert!(ran.stderr.contains(&says), "{name}: {}", ran.stderr);
        assert!(
            ran.stderr
                .contains("--> overlay/records/index_footer.yaml:1:8\n")
        );
    }
}
