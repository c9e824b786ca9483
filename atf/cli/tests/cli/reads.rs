//! Measures how many bytes of a session commands read, as reported by the system.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tempfile::TempDir;

use crate::clean;

/// Runs `atf` and returns how many bytes it read.
fn bytes_read(folder: &Path, arguments: &[&str]) -> u64 {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    command.current_dir(folder).args(arguments);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    // The process's count exists until the process is reaped.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
    let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    assert!(child.wait().unwrap().success());
    let mut lines = counts.lines();
    let count = lines.find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    count.parse().unwrap()
}

#[test]
fn each_byte_of_a_session_is_read_once() {
    let folder = TempDir::new().unwrap();
    let synth = "synth --events 100000 --threads 2 --out s";
    clean(folder.path(), &synth.split(' ').collect::<Vec<_>>());
    let names = ["index.atf", "detail.atf"];
    let files = [0, 1].into_iter().flat_map(|thread| {
        let thread = folder.path().join(format!("s/thread_{thread}"));
        names.map(|name| thread.join(name).metadata().unwrap().len())
    });
    let size: u64 = files.sum();
    let commands: [&[&str]; 3] = [
        &["check", "s"],
        &["info", "--verify", "s"],
        &["recover", "s", "--out", "r"],
    ];
    for command in commands {
        let read = bytes_read(folder.path(), command);
        assert!(
            (size..size + size / 10).contains(&read),
            "{command:?}: {read} bytes of {size}"
        );
    }
}
