//! The examples: each compiles without warnings, runs, and writes valid files.

use std::path::{Path, PathBuf};
use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use crate::support::{C, Link, accepted, built, compiler, present, program, run};

const CPP: [&str; 2] = ["g++", "clang++"];

/// Runs a program that writes a session below `folder` and prints its path last.
fn session(command: &mut Command, folder: &Path) -> (String, PathBuf) {
    let printed = run(command.arg(folder));
    let path = printed.lines().last().expect("a line").to_owned();
    (printed, PathBuf::from(path))
}

#[test]
fn a_c_tracer_of_four_threads_writes_a_valid_session() {
    let folder = TempDir::new().unwrap();
    for compiler in present(&C) {
        for link in [Link::Static, Link::Shared] {
            let program = built(&folder, "examples/tracer.c", compiler, link, &[]);
            let root = folder.path().join(format!("{compiler}{link:?}"));
            let (printed, path) = session(&mut Command::new(program), &root);
            // 4 threads with 1000 calls and returns each; every second call has a detail.
            let counts = "8000 events, 2000 details\n";
            assert!(printed.starts_with(counts), "{printed}");
            let summary = accepted(&path);
            assert_eq!((summary.events, summary.details), (8000, 2000));
            // A manifest, and two files per thread.
            assert_eq!(summary.files, 9);
        }
    }
}

#[test]
fn four_threads_record_a_valid_session() {
    let folder = TempDir::new().unwrap();
    for compiler in present(&C) {
        let program = program(&folder, "examples/record.c", compiler);
        let root = folder.path().join(compiler);
        let (printed, path) = session(&mut Command::new(program), &root);
        assert!(printed.starts_with("8000 events, 0 lost\n"), "{printed}");
        let summary = accepted(&path);
        // A manifest, and a file per thread.
        assert_eq!((summary.events, summary.files), (8000, 5));
    }
}

#[test]
fn lost_details_and_a_full_disk_are_reported() {
    let folder = TempDir::new().unwrap();
    for compiler in present(&C) {
        let program = program(&folder, "tests/c/dropped.c", compiler);
        let path = folder.path().join(compiler);
        let printed = run(Command::new(&program).arg(&path));
        let expected = "warned: ATF_ERROR_LOST: thread_1: a reserved detail was not written\n\
            warned: ATF_ERROR_LINK: thread_1/index.atf: index_seq: 9, the oldest reservation has 3\n\
            warned: ATF_ERROR_LOST: thread_1: 1 more warning like the previous ones\n\
            0 wrong\n";
        assert_eq!(printed, expected);
        for (thread, events, details) in [(0, 5, 4), (1, 4, 2), (2, 1, 0)] {
            let summary = accepted(&path.join(format!("thread_{thread}")));
            assert_eq!((summary.events, summary.details), (events, details));
        }
    }
}

#[test]
fn the_functions_of_s3_write_a_valid_thread() {
    let folder = TempDir::new().unwrap();
    for compiler in present(&C) {
        let program = program(&folder, "examples/drain.c", compiler);
        let path = folder.path().join(compiler);
        let printed = run(Command::new(&program).arg(&path));
        // Every third of 1000 events has a detail, including the first.
        assert_eq!(printed, "1000 events, 334 details\n");
        let thread = path.join("thread_7");
        let summary = accepted(&thread);
        assert_eq!((summary.events, summary.details), (1000, 334));

        let reader = atf::thread::ThreadReader::open(&thread).unwrap();
        let details = reader.detail().unwrap();
        for (seq, index_seq) in (0..1000).step_by(3).enumerate() {
            let event = details.get(seq as u64).unwrap().unwrap();
            assert_eq!(event.header.index_seq, index_seq);
            // Calls are at even positions.
            let expected = if index_seq % 2 == 0 { 3 } else { 4 };
            assert_eq!(u16::from(event.header.event_type), expected);
            assert_eq!(event.payload_size(), 100 + index_seq % 257);
        }
        // The folder already exists.
        let again = Command::new(&program).arg(&path).output().unwrap();
        assert_eq!(again.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&again.stderr).contains("thread_7"));
    }
}

#[test]
fn cpp_handles_close_automatically_and_write_a_valid_session() {
    let folder = TempDir::new().unwrap();
    for compiler in present(&CPP) {
        let program = program(&folder, "examples/tracer.cpp", compiler);
        let root = folder.path().join(compiler);
        let (printed, path) = session(&mut Command::new(program), &root);
        assert!(printed.starts_with("2 events\n"), "{printed}");
        assert_eq!(accepted(&path).events, 2);
    }
}

#[test]
fn the_reader_prints_a_sample_in_time_order() {
    let sample = atf_samples::folder().join("sample-small/session_20260105_101500/pid_4242");
    let folder = TempDir::new().unwrap();
    for compiler in present(&C) {
        let program = program(&folder, "examples/read.c", compiler);
        let printed = run(Command::new(&program).arg(&sample));
        let times: Vec<u64> = printed
            .lines()
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        // EXPECTED.json lists this many events.
        assert_eq!(times.len(), 2000);
        assert!(times.is_sorted());

        let (first, last) = (times[500], times[1500]);
        let range = [first.to_string(), last.to_string()];
        let part = run(Command::new(&program).arg(&sample).args(range));
        let wanted = times.iter().filter(|time| (first..=last).contains(time));
        assert_eq!(part.lines().count(), wanted.count());
    }
}

#[test]
fn valgrind_finds_no_bad_access_and_no_leak() {
    let folder = TempDir::new().unwrap();
    let Some(compiler) = compiler() else { return };
    if !has("valgrind") {
        return;
    }
    let valgrind = || {
        let mut command = Command::new("valgrind");
        command.args(["--error-exitcode=9", "--leak-check=full", "-q"]);
        command
    };
    let tracer = program(&folder, "examples/tracer.c", compiler);
    let root = folder.path().join("out");
    let printed = run(valgrind().arg(tracer).arg(&root).arg("50"));
    let path = PathBuf::from(printed.lines().last().unwrap());
    assert_eq!(accepted(&path).events, 400);
    let read = program(&folder, "examples/read.c", compiler);
    assert_eq!(run(valgrind().arg(read).arg(&path)).lines().count(), 400);
    let record = program(&folder, "examples/record.c", compiler);
    let out = folder.path().join("recorded");
    let printed = run(valgrind().arg(record).arg(out).arg("50"));
    assert!(printed.starts_with("400 events, 0 lost\n"), "{printed}");
}

#[test]
fn the_address_sanitizer_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let Some(compiler) = compiler() else { return };
    let more = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for name in ["tracer.c", "drain.c"] {
        let source = format!("examples/{name}");
        let program = built(&folder, &source, compiler, Link::Static, &more);
        run(Command::new(program).arg(folder.path().join(format!("{name}_out"))));
    }
}
