//! Tests `generate`.

use std::fs;
use std::path::Path;

use crate::{files, generate, generated, real_spec, run, temp, utf8};

#[test]
fn a_second_generate_writes_nothing() {
    let out = temp();
    let first = generate(&out, &[]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    let expected = [
        "atf/include/atf_v1.h",
        "spec/layout.json",
        "atf/src/wire/generated/v2.rs",
        "atf/src/rules/table.rs",
        "docs/reference/index_event.md",
        "spec/schema/manifest.schema.json",
    ];
    for path in expected {
        assert!(out.path().join(path).is_file(), "{path}");
        first.prints(&format!("wrote {path}\n"));
    }
    let written = files(out.path());
    assert_eq!(first.stdout.lines().count(), written.len());
    assert_eq!(generate(&out, &[]).succeeds(), "");
    assert_eq!(files(out.path()), written);
}

#[test]
fn the_committed_files_are_up_to_date() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = utf8(&repository);
    let ran = run(&real_spec(), &["generate", "--check", "--out", out]);
    assert_eq!(ran.succeeds(), "");
}

#[test]
fn a_check_lists_stale_files_and_the_fix_and_writes_nothing() {
    let out = generated();
    let header = out.path().join("atf/include/atf_v1.h");
    fs::write(&header, "touched").expect("a temporary file");
    fs::remove_file(out.path().join("spec/layout.json")).expect("a generated file");
    let before = files(out.path());
    let ran = generate(&out, &["--check"]);
    let expected = "stale: atf/include/atf_v1.h\n\
                    stale: spec/layout.json\n\
                    fix with: cargo run -p atf-codegen -- generate c json\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (1, expected));
    assert_eq!(files(out.path()), before);
    let fixed = generate(&out, &["c", "json"]);
    let expected = "wrote atf/include/atf_v1.h\nwrote spec/layout.json\n";
    assert_eq!(fixed.succeeds(), expected);
    assert_eq!(generate(&out, &["--check"]).status, 0);
}

#[test]
fn generate_removes_leftovers_and_keeps_other_files() {
    let out = generated();
    let below = |path: &str| out.path().join(path);
    let leftover = below("atf/src/wire/generated/v9.rs");
    fs::copy(below("atf/src/wire/generated/v1.rs"), &leftover).expect("a copy");
    let own = below("atf/src/wire/generated/notes.txt");
    fs::write(&own, "written by hand").expect("a temporary file");
    let checked = generate(&out, &["--check"]);
    let expected = "stale: atf/src/wire/generated/v9.rs (no longer generated)\n\
                    fix with: cargo run -p atf-codegen -- generate rust\n";
    assert_eq!((checked.status, checked.stdout.as_str()), (1, expected));
    assert!(leftover.exists());
    let fixed = generate(&out, &[]);
    assert_eq!(fixed.succeeds(), "removed atf/src/wire/generated/v9.rs\n");
    assert!(!leftover.exists() && own.exists());
}

#[cfg(unix)]
#[test]
fn generate_replaces_a_symlink_and_not_its_target() {
    let out = temp();
    let theirs = temp();
    let victim = theirs.path().join("victim");
    fs::write(&victim, "theirs").expect("a temporary file");
    let symlink = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, out.path().join(name)).expect("a symlink");
    };
    fs::create_dir(out.path().join("spec")).expect("a folder");
    symlink(&victim, "spec/layout.json");
    let ran = generate(&out, &["json"]);
    assert_eq!(ran.succeeds(), "wrote spec/layout.json\n");
    // A folder may be a symlink too.
    symlink(theirs.path(), "spec/schema");
    let ran = generate(&out, &["schema"]);
    assert_ne!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(fs::read(&victim).expect("a file"), b"theirs");
    assert_eq!(files(theirs.path()).len(), 1);
}

#[test]
fn an_unwritable_file_is_named() {
    let out = temp();
    fs::write(out.path().join("spec"), "in the way").expect("a temporary file");
    let ran = generate(&out, &["json"]);
    ran.fails(2);
    assert!(ran.stderr.starts_with("atf-codegen: "), "{}", ran.stderr);
    ran.reports("layout.json: ");
}
