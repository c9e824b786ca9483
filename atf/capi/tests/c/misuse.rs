//! Tests that wrong calls return errors, and that no memory is freed twice or used after free.

use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use crate::support::{C, compiler, present, program, run};

/// Compiles the program of wrong calls and runs it with a tool, which starts the program that
/// follows its options.
fn finds_nothing_wrong(compiler: &str, tool: &str, options: &[&str]) {
    let folder = TempDir::new().unwrap();
    let program = program(&folder, "tests/c/misuse.c", compiler);
    let sample = "sample-small/session_20260105_101500/pid_4242";
    let mut command = Command::new(tool);
    command.args(options).arg(program);
    command.arg(folder.path().join("work"));
    command.arg(atf_samples::folder().join(sample));
    assert_eq!(run(&mut command), "0 wrong\n");
}

#[test]
fn every_wrong_call_returns_its_status() {
    for compiler in present(&C) {
        finds_nothing_wrong(compiler, "env", &[]);
    }
}

#[test]
fn wrong_calls_cause_no_memory_errors() {
    if let Some(compiler) = compiler()
        && has("valgrind")
    {
        // Valgrind's "possibly lost" includes the data that std keeps, until the thread ends, for
        // each thread that it did not start.
        let definite = "--errors-for-leak-kinds=definite";
        let options = ["--error-exitcode=9", "--leak-check=full", "-q", definite];
        finds_nothing_wrong(compiler, "valgrind", &options);
    }
}
