//! Recording from C: threads, full rings, wrong calls, signals, forks.

use std::path::Path;
use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use crate::support::{Link, accepted, compile, libraries, package, present, run};

/// The sessions that `recording.c` records, with their events and details.
const SESSIONS: [(&str, u64, u64); 22] = [
    ("rings", 24_000, 8_000),
    ("direct", 24_000, 8_000),
    ("drop_detail", 4, 1),
    ("drop_newest", 4, 1),
    ("block", 1, 0),
    ("no_payloads", 1, 0),
    ("wrong_order", 1, 0),
    ("closed", 1, 0),
    ("closed_direct", 1, 0),
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

fn program(folder: &Path, compiler: &str, link: Link, more: &[&str]) -> Command {
    let program = folder.join(format!("recording_{compiler}_{link:?}"));
    compile(
        compiler,
        &package("tests/c/recording.c"),
        link,
        more,
        &program,
    );
    Command::new(program)
}

#[test]
fn c_threads_record_valid_sessions() {
    for compiler in present(&["gcc", "clang"]) {
        for link in [Link::Static, Link::Shared] {
            let folder = TempDir::new().unwrap();
            let mut command = program(folder.path(), compiler, link, &[]);
            let out = folder.path().join("out");
            assert_eq!(run(command.arg(&out)), "0 wrong\n");
            for (name, events, details) in SESSIONS {
                let summary = accepted(&out.join(name));
                assert_eq!(
                    (summary.events, summary.details),
                    (events, details),
                    "{name}"
                );
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
    let Some(compiler) = present(&["gcc", "clang"]).first().copied() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    for link in [Link::Static, Link::Shared] {
        let program = folder.path().join(format!("at_exit_{link:?}"));
        let source = package("tests/c/at_exit.c");
        compile(compiler, &source, link, &[], &program);
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
    let Some(compiler) = present(&["gcc", "clang"]).first().copied() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let [host, plugin] = ["host", "plugin.so"].map(|name| folder.path().join(name));
    let source = package("tests/c/plugin.c");
    compile(compiler, &source, Link::Static, &[], &host);
    let more = ["-shared", "-fPIC", "-DPLUGIN"];
    compile(compiler, &source, Link::Static, &more, &plugin);
    let out = folder.path().join("out");
    let message = run(Command::new(host).arg(plugin).arg(&out));
    assert_eq!(message, "3 events\n");
    assert_eq!(accepted(&out).events, 3);
}

#[test]
#[cfg(target_os = "linux")]
fn the_shared_library_is_not_unloaded_while_it_records() {
    let Some(compiler) = present(&["gcc", "clang"]).first().copied() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let [program, out] = ["unload", "out"].map(|name| folder.path().join(name));
    let source = package("tests/c/unload.c");
    compile(compiler, &source, Link::Static, &[], &program);
    let library = libraries().join("libatf_capi.so");
    run(Command::new(program).arg(library).arg(&out));
    assert_eq!(accepted(&out).events, 2);
}

#[test]
fn recording_has_no_memory_errors() {
    let folder = TempDir::new().unwrap();
    let Some(compiler) = present(&["gcc", "clang"]).first().copied() else {
        return;
    };
    let more = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut command = program(folder.path(), compiler, Link::Static, &more);
    command.arg(folder.path().join("sanitized"));
    // A forked child leaks the memory of threads that exist only in its parent.
    assert_eq!(run(command.arg("no forks")), "0 wrong\n");
    if !has("valgrind") {
        return;
    }
    let example = folder.path().join("example");
    compile(
        compiler,
        &package("examples/record.c"),
        Link::Static,
        &[],
        &example,
    );
    let mut command = Command::new("valgrind");
    command.args(["--error-exitcode=9", "--leak-check=full", "-q"]);
    command.arg(example).arg(folder.path().join("valgrind"));
    assert!(run(command.arg("50")).starts_with("400 events, 0 lost\n"));
}
