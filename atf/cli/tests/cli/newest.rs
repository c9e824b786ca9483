//! Commands without a path take the newest recording in or below the current folder.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::{atf, lines, texts};
use atf_samples::files::{EventRecord, IndexFile};

const COMMANDS: [&[&str]; 7] = [
    &["report", "--json"],
    &["last", "--json"],
    &["info", "--json"],
    &["dump", "--json"],
    &["dump", "--calls"],
    &["flamegraph"],
    &["export", "--format", "csv", "--out", "-"],
];

/// Creates a session with a thread, last changed this many seconds ago.
fn session(path: &Path, seconds: u64) {
    let thread = path.join("thread_1");
    fs::create_dir_all(&thread).unwrap();
    let event = |(timestamp_ns, kind)| EventRecord {
        timestamp_ns,
        function_id: 5,
        kind,
        depth: 1,
        detail_seq: None,
    };
    let mut file = IndexFile::of(2, [(100, 1), (200, 2)].map(event).to_vec());
    file.thread_id = 1;
    fs::write(thread.join("index.atf"), file.bytes()).unwrap();
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_newest_recording_is_taken_and_named() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    session(&path("b/session_1/pid_7"), 500);
    let run = |arguments: &[&str]| {
        let output = atf(folder.path(), arguments);
        let (status, text, messages) = texts(&output);
        (status, text.to_owned(), messages.to_owned())
    };
    for command in COMMANDS {
        let (status, text, messages) = run(command);
        assert!(status <= 1, "{messages}");
        let only = "atf: b/session_1: the only recording in or below the current folder\n";
        assert_eq!(messages, only, "{command:?}");
        let given = [command, &["b/session_1"]].concat();
        assert_eq!(run(&given), (status, text, String::new()), "{command:?}");
    }
    // The current folder may be the recording, or one of its processes.
    for inside in ["b/session_1", "b/session_1/pid_7"] {
        let output = atf(&path(inside), &["report"]);
        let (status, _, messages) = texts(&output);
        let only = "atf: .: the only recording in or below the current folder\n";
        assert_eq!((status, messages), (0, only), "{inside}");
    }
    // The processes of one run are one recording. An unfinished copy is none.
    session(&path("a/session_2/pid_8"), 400);
    session(&path("a/session_2/pid_9"), 300);
    session(&path("c"), 600);
    session(&path(".atf-1-2/pid_1"), 100);
    for command in COMMANDS {
        let (status, text, messages) = run(command);
        let newest =
            "atf: a/session_2: the newest of 3 recordings in or below the current folder\n";
        assert_eq!(messages, newest, "{command:?}");
        let given = [command, &["a/session_2"]].concat();
        assert_eq!(run(&given), (status, text, String::new()), "{command:?}");
    }
}

#[test]
fn only_commands_that_read_have_a_default() {
    let folder = TempDir::new().unwrap();
    for command in COMMANDS {
        let output = atf(folder.path(), command);
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2);
        let none = "no PATH is given, and there is no recording in or below the current folder";
        assert_eq!(messages, format!("atf: {none}\n"));
    }
    session(folder.path(), 0);
    for command in ["check", "recover", "cut", "convert", "scrub", "symbolize"] {
        let output = atf(folder.path(), &[command, "--out", "out"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn several_recordings_are_told() {
    let folder = TempDir::new().unwrap();
    for name in ["t/s_1/pid_7", "t/s_1/pid_8", "t/s_2/pid_7"] {
        session(&folder.path().join(name), 0);
    }
    for command in ["report", "last", "info"] {
        let output = atf(folder.path(), &[command, "--json", "t"]);
        let (_, text, messages) = texts(&output);
        let told = "atf: t: 2 recordings, one after another: t/s_1, t/s_2\n";
        assert_eq!(messages, told, "{command}");
        if command != "info" {
            assert_eq!(lines(text).len(), 3, "{command}");
        }
    }
    let output = atf(
        folder.path(),
        &["export", "--format", "csv", "--out", "-", "t"],
    );
    let (status, _, messages) = texts(&output);
    assert_eq!(status, 2);
    assert!(
        messages.contains("several sessions; name one of"),
        "{messages}"
    );
    assert!(messages.contains("t/s_2/pid_7"), "{messages}");
}
