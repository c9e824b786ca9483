//! Runs `atf` on real sessions, on files built byte by byte, and on bad input.

mod bad_input;
mod diff;
mod dump;
mod explain;
mod follow;
mod info;
#[cfg(target_os = "linux")]
mod memory;
mod open;
#[cfg(target_os = "linux")]
mod reads;
#[cfg(target_os = "linux")]
mod record;
#[cfg(unix)]
mod recover;
mod report;
mod states;
// These tests build ELF files.
#[cfg(target_os = "linux")]
mod symbolize;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Returns each sample session's path below `samples` and its entry in `EXPECTED.json`.
fn expected() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(atf_samples::folder().join("EXPECTED.json")).unwrap();
    let sessions: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(sessions.len(), 3);
    sessions.into_iter().collect()
}

/// Runs `atf` with arguments in a folder.
fn atf<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S]) -> Output {
    let mut command = Command::cargo_bin("atf").unwrap();
    command.current_dir(folder).args(arguments);
    command.output().unwrap()
}

/// Returns a command's exit status, output and messages.
fn texts(output: &Output) -> (i32, &str, &str) {
    let text = |bytes| str::from_utf8(bytes).unwrap();
    (
        output.status.code().expect("not killed by a signal"),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Runs `atf`, asserts that it succeeds without messages, and returns its output.
fn clean<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S]) -> String {
    let output = atf(folder, arguments);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (0, ""));
    text.to_owned()
}

/// Runs `atf` and returns its output, even if the trace has problems.
fn written<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S]) -> String {
    let output = atf(folder, arguments);
    let (status, text, messages) = texts(&output);
    assert!(status <= 1, "{messages}");
    text.to_owned()
}

/// Like [`written`], in the folder of the samples. The arguments are separated by spaces.
fn of_samples(arguments: &str) -> String {
    let arguments: Vec<_> = arguments.split(' ').collect();
    written(&atf_samples::folder(), &arguments)
}

/// Parses JSON lines.
fn lines(text: &str) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).unwrap();
    text.lines().map(line).collect()
}

/// Parses a 64-bit number, which is a decimal string.
fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}
