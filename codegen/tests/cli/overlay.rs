//! Tests `--overlay`.

use std::fs;
use std::path::Path;

use crate::{changed_spec, experiment, files, put, real_spec, run, run_over, temp, utf8};

/// Only `--out .` replaces the official files of a checkout.
#[test]
fn an_edition_never_replaces_the_official_files_by_accident() {
    let checkout = temp();
    let spec = checkout.path().join("spec");
    let copy = changed_spec("format.yaml", "format: ATF v2", "format: ATF v2");
    fs::rename(copy.path(), &spec).expect("a folder on the same disk");
    let before = files(checkout.path());
    let overlay = experiment("vendor");
    let ran = run(&spec, &["--overlay", &overlay, "generate", "c"]);
    ran.fails(2);
    ran.reports("use --out .");
    let documents = utf8(checkout.path());
    let bless = ["spec", "check", "--sources", documents, "--bless"];
    let ran = run(&spec, &[&["--overlay", &overlay][..], &bless].concat());
    ran.fails(2);
    ran.reports("with --overlay");
    assert!(files(checkout.path()) == before);
}

/// Windows editors write byte order marks and UTF-16.
#[test]
fn an_overlay_may_have_a_byte_order_mark_and_utf_16_is_named() {
    let text = "objects:\n  - object: thread\n    fields:\n      \
                - { name: acme, type: u8, means: Hm. }\n";
    let mut utf_16 = vec![0xff, 0xfe];
    utf_16.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let check = |bytes: &[u8]| {
        let overlay = temp();
        put(overlay.path(), "manifest.yaml", bytes);
        run_over(utf8(overlay.path()), &["spec", "edition"])
    };
    let ran = check(format!("\u{feff}{text}").as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.prints("thread.acme\n");
    let ran = check(&utf_16);
    assert_eq!(ran.status, 1);
    let expected = "error: the file is UTF-16, not UTF-8\n --> overlay/manifest.yaml:1:1";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
}

#[test]
fn a_vendors_edition_has_its_headers_and_names_the_cases_that_still_apply() {
    let overlay = experiment("vendor");
    let out = temp();
    let generate = ["generate", "c", "rust", "--out", utf8(out.path())];
    let without_corpus = [&generate[..], &["--corpus", "nowhere"]].concat();
    run_over(&overlay, &without_corpus).fails(2);
    let generated = run_over(&overlay, &generate);
    assert_eq!(generated.status, 0, "{}", generated.stderr);
    // The manifest's types, reader and writer have the new key.
    let manifest = out.path().join("atf/src/manifest/generated.rs");
    let manifest = fs::read_to_string(manifest).expect("the manifest's code");
    assert!(manifest.contains("acme_name"), "{manifest}");
    let header = fs::read_to_string(out.path().join("atf/include/atf_v1.h")).expect("a header");
    assert!(header.contains("#define ATF_OS_FREEBSD 6u"), "{header}");
    assert!(header.contains("uint64_t dropped_count;"), "{header}");

    let ran = run_over(&overlay, &["spec", "edition", "--corpus", "nowhere"]);
    let remedy =
        "; name the corpus's folder with --corpus; a checkout has it in conformance/corpus";
    assert_eq!(ran.status, 2);
    ran.reports(remedy);
    let ran = run_over(&overlay, &["spec", "edition"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (generated, edition) = (generated.stdout, ran.stdout);
    assert!(generated.ends_with(&format!("\n{edition}")), "{generated}");
    let (changes, cases) = edition.split_once(" cases of corpus ").expect("the cases");
    let expected = "\
        changed: index_footer.dropped_count\n\
        changed: index_footer.reserved\n\
        changed: manifest.json: thread.acme_name\n\
        changed: os\n";
    let (changes, _) = changes.rsplit_once('\n').expect("the changes");
    assert_eq!(changes, expected.trim_end());
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
        // The others change only code.
        let has_spec = |path: &Path| path.extension().is_some_and(|it| it == "yaml");
        let mut files = fs::read_dir(&folder).expect("its files");
        if !files.any(|file| has_spec(&file.expect("a file").path())) {
            continue;
        }
        let overlay = utf8(&folder);
        let ran = run_over(overlay, &["generate", "--check"]);
        assert_eq!((ran.status, &*ran.stderr), (1, ""), "{overlay}");
        ran.prints("stale: atf/src/");
        count += 1;
    }
    assert!(count >= 5, "only {count} experiments");
}

#[test]
fn an_overlay_can_add_a_third_wire_version() {
    let ran = run_over(&experiment("wire3"), &["spec", "diff", "2", "3"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for change in [
        "~ event_count",
        "- clock_type",
        "+ clock ",
        "+ dropped_count",
    ] {
        ran.prints(change);
    }
}

#[test]
fn a_fault_names_the_overlays_file() {
    let overlay = temp();
    let text = "enums:\n  - enum: os\n    members:\n      - { name: plan9, value: 6, means: Plan 9., claims: [] }\n";
    put(overlay.path(), "enums.yaml", text);
    let check = || {
        let ran = run_over(utf8(overlay.path()), &["spec", "check"]);
        assert_eq!(ran.status, 1);
        ran
    };
    let ran = check();
    ran.reports("--> overlay/enums.yaml:4:31\n");
    ran.reports("the sources say absent");
    let misnamed = text.replace("enum: os", "enum: clock_type");
    put(overlay.path(), "enums.yaml", misnamed);
    check().reports(
        "the spec has no `enum: clock_type`, so the overlay adds it; the spec has: arch, os, clock, ",
    );
    let misspelled = overlay.path().join("enum.yaml");
    fs::rename(overlay.path().join("enums.yaml"), misspelled).expect("a temporary file");
    let ran = check();
    ran.reports("overlay/enum.yaml");
    ran.reports("the spec has no such file");
    let ran = run_over("nowhere", &["spec", "check"]);
    assert!(ran.fails(2).contains("nowhere: no such folder"));
}
