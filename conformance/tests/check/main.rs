//! Tests `atf-conformance check`, including its reports, on real sessions and bad input.

// Only the test program `rules` uses the whole module.
#[allow(dead_code, unused_imports)]
#[path = "../support/mod.rs"]
mod support;

mod parallel;
mod parts;
#[cfg(unix)]
mod permissions;
mod samples;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// Runs `atf-conformance check` in a folder.
fn check(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("atf-conformance").unwrap();
    command.current_dir(folder).arg("check").args(arguments);
    command.output().unwrap()
}

/// Returns the exit status, output and messages.
fn texts(output: &Output) -> (i32, &str, &str) {
    let text = |bytes| str::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}
