//! The command `atf-conformance check`: real sessions, both forms of the report, bad input.

// The rules' tests use more of it.
#[allow(dead_code, unused_imports)]
#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod parallel;
mod parts;
mod report;
mod samples;
#[cfg(unix)]
mod special_files;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// The sessions that a third party's writer wrote.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples")
}

/// `atf-conformance check`, to be given its arguments.
fn command() -> Command {
    let mut command = Command::cargo_bin("atf-conformance").unwrap();
    command.arg("check");
    command
}

/// What the command gives for paths below a folder that it runs in.
fn check(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = command();
    command.current_dir(folder).args(arguments);
    command.output().unwrap()
}

/// Its exit status, its output and its messages.
fn texts(output: &Output) -> (i32, &str, &str) {
    let text = |bytes| str::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}
