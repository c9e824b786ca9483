//! Tests that wrong calls return errors, and that no memory is freed twice or used after free.

use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use crate::support::{Link, compile, package, present, run};

const SAMPLE: &str = "sample-small/session_20260105_101500/pid_4242";

#[test]
fn every_wrong_call_returns_its_status() {
    for compiler in present(&["gcc", "clang"]) {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("misuse");
        let source = package("tests/c/misuse.c");
        compile(compiler, &source, Link::Static, &[], &program);
        let mut command = Command::new(&program);
        command
            .arg(folder.path().join("work"))
            .arg(atf_samples::folder().join(SAMPLE));
        assert_eq!(run(&mut command), "0 wrong\n");
    }
}

#[test]
fn wrong_calls_cause_no_memory_errors() {
    let Some(compiler) = present(&["gcc", "clang"]).first().copied() else {
        return;
    };
    if !has("valgrind") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("misuse");
    let source = package("tests/c/misuse.c");
    compile(compiler, &source, Link::Static, &[], &program);
    let mut command = Command::new("valgrind");
    // Valgrind's "possibly lost" includes the data that std keeps, until the thread ends, for each
    // thread that it did not start.
    command.args(["--error-exitcode=9", "--leak-check=full", "-q"]);
    command.arg("--errors-for-leak-kinds=definite");
    command.arg(&program);
    command
        .arg(folder.path().join("work"))
        .arg(atf_samples::folder().join(SAMPLE));
    assert_eq!(run(&mut command), "0 wrong\n");
}
