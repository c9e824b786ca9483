//! Tests `spec breaking`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{
    changed_spec, copy_of_spec, experiment, put, real_spec, replace, run, run_in, temp, utf8,
};

/// Returns a copy of the real spec with versions that are the same in every edition.
fn spec() -> TempDir {
    let copy = copy_of_spec();
    let edition = |of: &str| format!("{of}: {{ version: 1.2.3, digest: '' }}\n");
    let editions = ["spec", "rules", "corpus"].map(edition).concat();
    put(copy.path(), "editions.yaml", editions);
    copy
}

/// Writes the layout.json of a spec below its folder, and returns the path.
fn layout(spec: &TempDir) -> String {
    let folder = utf8(spec.path());
    let ran = run(spec.path(), &["generate", "json", "--out", folder]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    utf8(&spec.path().join("spec/layout.json")).to_owned()
}

/// Each case is a title, differences of the spec's files, and the status and output of the command.
/// `ATF_BLESS=1 cargo test -p atf-codegen --test cli category` rewrites these.
#[test]
fn each_change_has_its_category() {
    let old = spec();
    let old = layout(&old);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/breaking.txt");
    let cases = fs::read_to_string(&path).expect("the cases");
    let mut found = String::new();
    for case in cases.trim_end().split("\n\n") {
        let (change, _) = case.split_once("\n=> ").unwrap_or((case, ""));
        let mut files = change.split("\n--- ");
        let title = files.next().expect("a title");
        let new = spec();
        for file in files {
            let (file, lines) = file.split_once('\n').expect("a file and its lines");
            let side = |sign: char| {
                let lines = lines.lines();
                let lines = lines.filter_map(|line| line.strip_prefix([' ', sign]));
                lines.map(|line| format!("{line}\n")).collect::<String>()
            };
            replace(new.path(), file, &side('-'), &side('+'));
        }
        let ran = run_in(&real_spec(), &["spec", "breaking", &old, utf8(new.path())]);
        assert_eq!(ran.stderr, "", "{title}");
        found += &format!("{change}\n=> {}\n{}\n", ran.status, ran.stdout);
    }
    let found = found.trim_end();
    if std::env::var_os("ATF_BLESS").is_some() {
        fs::write(&path, format!("{found}\n")).expect("the cases");
    } else {
        assert_eq!(found, cases.trim_end());
    }
}

/// The options change only the status.
#[test]
fn fail_on_and_versions_set_the_status() {
    let old = spec();
    let renamed = spec();
    let file = "records/ring_header.yaml";
    replace(renamed.path(), file, "AtfRingHeader", "AtfKillJournal");
    let raised = spec();
    replace(raised.path(), file, "AtfRingHeader", "AtfKillJournal");
    let [before, after] = ["1.2.3", "1.3.0"].map(|it| format!("spec: {{ version: {it}"));
    replace(raised.path(), "editions.yaml", &before, &after);
    let cases: [(&TempDir, &[&str], i32); 10] = [
        (&renamed, &[], 8),
        (&renamed, &["--fail-on", "wire"], 0),
        (&renamed, &["--fail-on", "c"], 1),
        (&renamed, &["--fail-on", "documents"], 1),
        (&renamed, &["--versions"], 1),
        (&renamed, &["--versions", "--fail-on", "wire"], 1),
        (&raised, &["--versions"], 0),
        (&raised, &["--versions", "--fail-on", "c"], 1),
        (&old, &["--versions", "--fail-on", "documents"], 0),
        (&old, &["--fail-on", "everything"], 2),
    ];
    for (new, options, status) in cases {
        let editions = ["spec", "breaking", utf8(old.path()), utf8(new.path())];
        let ran = run_in(&real_spec(), &[&editions, options].concat());
        assert_eq!(ran.status, status, "{options:?}: {}", ran.stderr);
    }
}

#[test]
fn the_last_release_and_the_current_spec_are_the_defaults() {
    let spec = spec();
    let ran = run(spec.path(), &["spec", "breaking"]);
    let why = "atf-codegen: name OLD: there is no release beside the current spec, in `released/VERSION`\n";
    assert_eq!((ran.status, &*ran.stderr), (2, why));
    let layout = fs::read_to_string(layout(&spec)).expect("a layout.json");
    for (version, name) in [("0.9.0", "AtfOld"), ("0.10.0", "AtfNew")] {
        let path = format!("released/{version}/layout.json");
        put(spec.path(), &path, layout.replace("AtfRingHeader", name));
    }
    let ran = run(spec.path(), &["spec", "breaking"]);
    assert_eq!(ran.status, 8, "{}", ran.stderr);
    ran.prints("ring_header: c_name AtfNew → AtfRingHeader\n");
    let vendor = experiment("vendor");
    let ran = run(spec.path(), &["--overlay", &vendor, "spec", "breaking"]);
    ran.prints("os: members.freebsd = 6 added\n");
}

/// An older layout.json without the members that only newer programs write can still be compared.
#[test]
fn missing_members_of_an_edition_are_listed() {
    let spec = spec();
    let path = layout(&spec);
    let mut layout: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("a file")).expect("JSON");
    let members = layout.as_object_mut().expect("an object");
    assert!(members.remove("rules").is_some());
    fs::write(&path, layout.to_string()).expect("a temporary file");
    let editions = ["spec", "breaking", &path, utf8(spec.path())];
    let ran = run_in(&real_spec(), &editions);
    let says = "no changes\nnot compared: rules, which only NEW has\n";
    assert_eq!((ran.status, &*ran.stdout), (0, says));
}

#[test]
fn editions_that_cannot_be_read_are_errors() {
    let folder = temp();
    put(folder.path(), "empty.json", "");
    put(folder.path(), "other.json", "{\"cases\": []}");
    let faulty = changed_spec("records/index_footer.yaml", "size: 64", "size: 60");
    let faulty = utf8(faulty.path());
    let vendor = experiment("vendor");
    let cases: [(&[&str], &str); 6] = [
        (&["nowhere.json"], "atf-codegen: nowhere.json: No such file"),
        (
            &["empty.json"],
            "atf-codegen: empty.json: EOF while parsing a value at line 1",
        ),
        (
            &["other.json"],
            "atf-codegen: other.json: not a layout.json: missing field `wires`\n",
        ),
        (&[faulty], " --> records/index_footer.yaml:"),
        (
            &["."],
            "atf-codegen: .: not a spec folder: it has no folder `records`\n",
        ),
        (&[faulty, "--overlay", &vendor], "so NEW must be left out\n"),
    ];
    for (arguments, says) in cases {
        let old = utf8(&real_spec()).to_owned();
        let arguments = [&["spec", "breaking", &old], arguments].concat();
        let ran = run_in(folder.path(), &arguments);
        ran.fails(2);
        ran.reports(says);
    }
}
