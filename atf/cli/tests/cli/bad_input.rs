//! No input causes a panic, a signal or a wrong exit status.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{atf, texts};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, padded, patched};

/// Every reading subcommand, in both output formats.
const COMMANDS: &[&[&str]] = &[
    &["info"],
    &["info", "--verify", "--json"],
    &["dump"],
    &["dump", "--details", "--json"],
    &["explain", "--all"],
    &["explain", "--json"],
    &["symbolize"],
];

/// Runs all subcommands on a path. Each one must exit normally, and print a message if it reports a
/// usage error.
fn run_all(folder: &Path, path: &str) -> Vec<i32> {
    let run = |command: &&[&str]| {
        let output = atf(folder, &[command, &[path][..]].concat());
        let (status, _, messages) = texts(&output);
        assert!(
            !messages.contains("panicked"),
            "{command:?} {path}: {messages}"
        );
        assert!((0..=2).contains(&status), "{command:?} {path}");
        assert!(status != 2 || !messages.is_empty(), "{command:?} {path}");
        status
    };
    COMMANDS.iter().map(run).collect()
}

/// Runs the subcommands that write a new trace. None may leave partial output.
fn rewrite_all(folder: &Path, path: &str) {
    for command in [
        &["recover", "--salvage"][..],
        &["convert", "--wire", "2"],
        &["convert", "--wire", "1", "--salvage"],
        &["scrub"],
    ] {
        let parent = TempDir::new().unwrap();
        let out = parent.path().join("out");
        let arguments = [command, &[path, "--out", out.to_str().unwrap()]].concat();
        let output = atf(folder, &arguments);
        let (status, _, messages) = texts(&output);
        assert!(!messages.contains("panicked"), "{command:?}: {messages}");
        assert_eq!(status == 2, !out.exists(), "{command:?}: {messages}");
        let left = fs::read_dir(parent.path()).unwrap().count();
        assert_eq!(left, usize::from(status != 2), "{command:?}");
    }
}

fn hostile_files() -> Vec<Vec<u8>> {
    let mut files = vec![
        Vec::new(),
        b"ATI2".to_vec(),
        b"ATD2".to_vec(),
        vec![0xff; 300],
        vec![0; 300],
        b"no trace at all, but a text that is long enough for a header of either of the two files"
            .to_vec(),
    ];
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 3).bytes();
        let detail = vec![
            DetailRecord::call(0, 1000, 8),
            DetailRecord::call(1, 2000, 0),
        ];
        let detail = DetailFile::new(version, detail).bytes();
        for whole in [index, detail] {
            // Put the largest number at every aligned offset.
            for offset in (8..whole.len() - 8).step_by(4) {
                files.push(patched(&whole, offset, &[0xff; 8]));
            }
            for size in (60..whole.len()).step_by(13) {
                files.push(whole[..size].to_vec());
            }
            files.push(padded(&whole, 4096));
        }
    }
    files
}

#[test]
fn hostile_files_cause_no_panic_or_signal() {
    let folder = TempDir::new().unwrap();
    // Test only one file in three, because each test starts several processes.
    for bytes in hostile_files()
        .iter()
        .enumerate()
        .filter(|(i, _)| i % 3 == 0 || *i < 6)
    {
        fs::write(folder.path().join("file"), bytes.1).unwrap();
        run_all(folder.path(), "file");
        if bytes.0 % 12 == 0 {
            let thread = folder.path().join("thread_7");
            fs::create_dir_all(&thread).unwrap();
            fs::write(thread.join("index.atf"), bytes.1).unwrap();
            fs::write(thread.join("detail.atf"), bytes.1).unwrap();
            rewrite_all(folder.path(), ".");
        }
    }
}

#[test]
fn hostile_sessions_cause_no_panic_or_signal() {
    let manifests: &[&[u8]] = &[
        b"",
        b"\xef\xbb\xbf{}",
        b"{",
        b"[]",
        b"\xff\xfe",
        br#"{"threads": [{"id": 0}, {"id": 0}, {"id": "../x"}, {"id": 4294967295}, {"id": 5e9}]}"#,
        br#"{"threads": 7, "symbols": {"a": 1}, "modules": [null], "x": "\u001b"}"#,
    ];
    for manifest in manifests {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("manifest.json"), manifest).unwrap();
        for (id, bytes) in [
            ("0", IndexFile::finalized(1, 2).bytes()),
            ("1", vec![1, 2, 3]),
            ("01", IndexFile::finalized(2, 2).bytes()),
            ("x", vec![]),
        ] {
            let thread = folder.path().join(format!("thread_{id}"));
            fs::create_dir(&thread).unwrap();
            fs::write(thread.join("index.atf"), &bytes).unwrap();
            fs::write(thread.join("detail.atf"), &bytes).unwrap();
        }
        fs::write(folder.path().join("thread_9"), b"a file").unwrap();
        let statuses = run_all(folder.path(), ".");
        // For a session, info and dump report the damage, explain rejects the folder, and symbolize
        // needs a manifest.
        assert_eq!(statuses, [1, 1, 1, 1, 2, 2, 2]);
        rewrite_all(folder.path(), ".");
    }
}
