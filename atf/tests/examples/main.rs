//! Runs the programs in `examples/` on real data and checks their output.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf::EventKind;
use atf::write::{Event, SessionWriter, WriteOptions};

/// Returns a command that runs an example. Cargo builds the examples together with the tests,
/// unless only some of the tests are selected.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let program = built.join("examples").join(file);
    assert!(
        program.exists(),
        "{} is missing: run cargo build -p atf --examples",
        program.display()
    );
    Command::new(program)
}

fn sample(path: &str) -> PathBuf {
    atf_samples::folder().join(path)
}

/// Runs an example, checks its exit status and returns its output.
fn run(command: &mut Command, status: i32) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn assert_has_line(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line}\n{text}");
}

#[test]
fn read_prints_states_events_and_problems() {
    let session = sample("sample-crashed/session_20260105_101500");
    let printed = run(example("read").arg(&session), 0);
    assert_has_line(&printed, "thread 0: finalized, 900 events, 118 details");
    assert_has_line(&printed, "thread 1: not finalized, 510 events, 20 details");
    assert_has_line(&printed, "  1234567890123565 call 0x6444fc10000000f");
    let problems: Vec<_> = printed.lines().filter(|l| l.contains("problem")).collect();
    assert_eq!(problems.len(), 3, "{printed}");
    let links = "links reach detail event 24, but there are only 20";
    assert!(problems[2].ends_with(links), "{printed}");

    let thread = session.join("pid_4243/thread_2");
    let printed = run(example("read").arg(thread), 0);
    assert_has_line(&printed, "thread 2: finalized, 400 events, 0 details");
    assert_eq!(printed.lines().count(), 6, "{printed}");
}

#[test]
fn the_output_of_write_threads_passes_check() {
    let folder = tempfile::tempdir().unwrap();
    let printed = run(example("write_threads").arg(folder.path()), 0);
    let counts = ": 8000 events, 40 details\n";
    assert!(printed.ends_with(counts), "{printed}");

    let printed = run(example("check").arg(folder.path()), 0);
    assert_has_line(&printed, "9 files; rules broken: 0 must, 0 should");
}

#[test]
fn check_fails_on_a_broken_must() {
    let printed = run(example("check").arg(sample("sample-crashed")), 0);
    assert_has_line(&printed, "6 files; rules broken: 0 must, 10 should");

    let folder = tempfile::tempdir().unwrap();
    let index = sample("sample-small/session_20260105_101500/pid_4242/thread_2/index.atf");
    let mut bytes = std::fs::read(index).unwrap();
    bytes[0] = b'X';
    std::fs::write(folder.path().join("index.atf"), bytes).unwrap();
    let printed = run(example("check").arg(folder.path()), 1);
    let reject = "index.atf: reject\n  must ATF-";
    assert!(printed.contains(reject), "{printed}");
    assert!(printed.contains("rules broken: 1 must"), "{printed}");
}

#[test]
fn recover_writes_a_trace_that_check_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("recovered");
    let crashed = sample("sample-crashed-nomanifest");
    let printed = run(example("recover").args([&crashed, &new]), 0);
    assert_has_line(&printed, "1146 events and 68 details are in the new trace");
    let printed = run(example("check").arg(&new), 0);
    assert!(!printed.contains(": recover"), "{printed}");
}

#[test]
fn follow_prints_events_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("pid_1");
    let mut follow = example("follow");
    let follow = follow.arg(&folder).arg("60").stdout(Stdio::piped());
    let mut follow = follow.spawn().unwrap();
    let mut printed = BufReader::new(follow.stdout.take().unwrap());

    let session = SessionWriter::create(&folder, &WriteOptions::default()).unwrap();
    let mut thread = session.thread(3).unwrap();
    let call = Event::new(5, 7, EventKind::CALL, 1);
    thread.write(&call).unwrap();
    thread.write(&call).unwrap();
    thread.flush().unwrap();
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    assert_eq!(line, "3 5 call 0x7\n");

    thread.finalize().unwrap();
    session.finalize().unwrap();
    let mut rest = String::new();
    printed.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "3 5 call 0x7\nevery thread is finalized\n");
    assert!(follow.wait().unwrap().success());
}

#[test]
fn follow_gives_up_on_a_writer_that_was_killed() {
    let session = sample("sample-crashed/session_20260105_101500/pid_4243");
    let printed = run(example("follow").arg(session).arg("0"), 1);
    assert_eq!(printed.lines().count(), 1810);
}

#[test]
fn without_arguments_the_examples_print_their_usage() {
    for name in ["check", "follow", "read", "recover", "write_threads"] {
        let output = example(name).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let usage = format!("usage: {name} ");
        assert!(!output.status.success(), "{name}");
        assert!(text.contains(&usage), "{text}");
    }
}
