//! Wrong calls from C, and recording: threads, full rings, signals, forks.

use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use crate::support::{
    C, Link, accepted, built, compile, compiler, libraries, package, present, program, run,
};

const RECORDING: &str = "tests/c/recording.c";

/// The sessions that `recording.c` records, with their events and details.
const SESSIONS: [(&str, u64, u64); 19] = [
    ("rings", 24_000, 8_000),
    ("direct", 24_000, 8_000),
    ("drop_detail", 4, 1),
    ("drop_newest", 4, 1),
    ("wrong_order", 1, 0),
    ("closed", 1, 0),
    ("details", 3, 1),
    ("flight", 2, 1),
    ("segments", 10, 0),
    ("segments_segment_000002", 10, 0),
    ("segments_segment_000003", 1, 0),
    ("cancelled", 40_001, 1),
    ("cancelled_direct", 40_001, 1),
    ("cancelled_writer", 20_001, 1),
    ("cancelled_recovered", 20_001, 1),
    ("forks", 80, 0),
    ("forks_direct", 80, 0),
    ("namesakes", 80, 0),
    ("namesakes_direct", 80, 0),
];

#[test]
fn c_threads_record_valid_sessions() {
    for compiler in present(&C) {
        for link in [Link::Static, Link::Shared] {
            let folder = TempDir::new().unwrap();
            let program = built(&folder, RECORDING, compiler, link, &[]);
            let out = folder.path().join("out");
            assert_eq!(run(Command::new(program).arg(&out)), "0 wrong\n");
            for (name, events, details) in SESSIONS {
                let summary = accepted(&out.join(name));
                let found = (summary.events, summary.details);
                assert_eq!(found, (events, details), "{name}");
            }
            accepted(&out.join("signals"));
            let last = atf::session::SessionReader::open(out.join("last")).unwrap();
            let manifest = last.manifest().unwrap();
            assert_eq!(manifest.unwritten_events, None);
            let index = std::fs::metadata(out.join("last/thread_0/index.atf")).unwrap();
            assert_eq!(index.len(), 64 + 32);
        }
    }
}

#[test]
fn program_exit_stops_a_recording() {
    let Some(compiler) = compiler() else { return };
    let folder = TempDir::new().unwrap();
    for link in [Link::Static, Link::Shared] {
        let program = built(&folder, "tests/c/at_exit.c", compiler, link, &[]);
        for (mode, events) in [
            ("stop", 3),
            ("late", 3),
            ("stopping", 400_000),
            ("cancelled", 3),
            ("child", 4),
            ("namesake", 4),
        ] {
            let out = folder.path().join(format!("{mode}_{link:?}"));
            run(Command::new(&program).arg(&out).arg(mode));
            assert_eq!(accepted(&out).events, events, "{mode}");
        }
        let out = folder.path().join(format!("lose_{link:?}"));
        run(Command::new(&program).arg(&out).arg("lose"));
        let session = atf::session::SessionReader::open(&out).unwrap();
        assert!(session.manifest().unwrap().unwritten_events.is_some());
    }
}

#[test]
fn a_library_is_recorded_from_its_constructor_to_its_destructor() {
    let Some(compiler) = compiler() else { return };
    let folder = TempDir::new().unwrap();
    let source = "tests/c/plugin.c";
    let host = program(&folder, source, compiler);
    let plugin = folder.path().join("plugin.so");
    let more = ["-shared", "-fPIC", "-DPLUGIN"];
    compile(compiler, &package(source), Link::Static, &more, &plugin);
    let out = folder.path().join("out");
    let message = run(Command::new(host).arg(plugin).arg(&out));
    assert_eq!(message, "3 events\n");
    assert_eq!(accepted(&out).events, 3);
}

#[test]
#[cfg(target_os = "linux")]
fn the_shared_library_is_not_unloaded_while_it_records() {
    let Some(compiler) = compiler() else { return };
    let folder = TempDir::new().unwrap();
    let program = program(&folder, "tests/c/unload.c", compiler);
    let out = folder.path().join("out");
    let library = libraries().join("libatf_capi.so");
    run(Command::new(program).arg(library).arg(&out));
    assert_eq!(accepted(&out).events, 2);
}

#[test]
fn recording_has_no_memory_errors() {
    let folder = TempDir::new().unwrap();
    let Some(compiler) = compiler() else { return };
    let more = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let program = built(&folder, RECORDING, compiler, Link::Static, &more);
    let out = folder.path().join("sanitized");
    // A forked child leaks the memory of threads that exist only in its parent.
    let printed = run(Command::new(program).arg(out).arg("no forks"));
    assert_eq!(printed, "0 wrong\n");
}

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
