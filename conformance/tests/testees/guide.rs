//! The guide's commands, as they stand in it.

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

use crate::programs::{has, path, succeeds};

/// The commands below a heading of the guide.
fn commands<'a>(guide: &'a str, heading: &str) -> &'a str {
    let below = guide.split_once(&format!("\n### {heading}\n"));
    let (_, below) = below.unwrap_or_else(|| panic!("no heading {heading}"));
    let (_, block) = below.split_once("```sh\n").expect("commands");
    block.split_once("```").expect("their end").0
}

/// Runs the commands in a folder that looks like a checkout, on a few cases.
fn follow(heading: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        if !["target", ".git"]
            .map(OsStr::new)
            .contains(&&*entry.file_name())
        {
            symlink(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let program = bin.join("atf-conformance");
    let few = "--case 'v1/iftr-002-a*' --time-limit 60";
    fs::write(&program, format!("#!/bin/sh\nexec '{kit}' \"$@\" {few}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = env::join_paths([bin].into_iter().chain(env::split_paths(&path()))).unwrap();

    let guide = fs::read_to_string(root.join("docs/conformance/README.md")).unwrap();
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).env("PATH", path);
    // What is built has its crates from this build, and need not be quick.
    shell.env("CARGO_NET_OFFLINE", "true");
    shell.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    succeeds(shell.args(["-e", "-c", commands(&guide, heading)]))
}

#[test]
fn the_guides_commands_for_c_lead_to_a_verdict() {
    if has("make") && has("cc") {
        let said = follow("C");
        assert!(said.contains(" passed, 0 failed,"), "{said}");
    }
}

#[test]
fn the_guides_commands_for_rust_lead_to_a_verdict() {
    let said = follow("Rust");
    assert!(said.contains(" passed, 0 failed,"), "{said}");
}

#[test]
fn the_guides_commands_for_python_lead_to_a_verdict() {
    if has("python3") {
        let said = follow("Python");
        assert!(said.contains(" passed, 0 failed,"), "{said}");
    }
}
