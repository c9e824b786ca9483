//! Tests Unix paths: devices, FIFOs, symlinks, names of arbitrary bytes, permissions.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::bad_input::assert_unreadable;
use crate::support::{DETAIL, INDEX, MANIFEST, Trace};
use crate::{check, command, texts};

/// Makes a folder with a good session in `good`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    Trace::clean(1).write(&folder.path().join("good")).unwrap();
    folder
}

fn make_fifo(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_device_is_unreadable() {
    assert_unreadable(
        &folder(),
        "/dev/zero",
        "neither a regular file nor a folder",
    );
}

#[test]
fn a_fifo_is_unreadable_and_does_not_block() {
    let folder = folder();
    make_fifo(&folder.path().join("pipe"));
    assert_unreadable(&folder, "pipe", "neither a regular file nor a folder");
}

#[test]
fn a_fifo_in_a_session_does_not_hide_other_files() {
    for (file, verdicts) in [(INDEX, 3), (DETAIL, 3), (MANIFEST, 3)] {
        let folder = TempDir::new().unwrap();
        let mut trace = Trace::clean(1);
        trace.remove(file);
        trace.write(folder.path()).unwrap();
        make_fifo(&folder.path().join(file));
        let mut command = command();
        command.current_dir(folder.path()).arg(".");
        let output = command.timeout(Duration::from_secs(60)).output().unwrap();
        let (status, text, _) = texts(&output);
        assert_eq!(status, 2, "{file}: {text}");
        assert!(text.contains(&format!(
            "{file}: unreadable: not a regular file but a FIFO\n"
        )));
        assert!(
            text.contains(&format!("\n{verdicts} files: ")),
            "{file}: {text}"
        );
    }
}

#[test]
fn a_dangling_symlink_is_reported_as_such() {
    let folder = folder();
    symlink("nothing", folder.path().join("broken_link")).unwrap();
    assert_unreadable(&folder, "broken_link", "a broken symlink");
}

#[test]
fn a_symlink_loop_is_unreadable() {
    let folder = folder();
    symlink("two", folder.path().join("one")).unwrap();
    symlink("one", folder.path().join("two")).unwrap();
    assert_unreadable(&folder, "one", "symbolic links");
}

#[test]
fn a_symlink_to_its_own_folder_is_not_followed() {
    let folder = folder();
    symlink(".", folder.path().join("again")).unwrap();
    let output = check(folder.path(), &["."]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    assert!(text.contains("\n4 files: 4 accept"), "{text}");
}

#[test]
fn a_symlink_given_as_an_argument_is_followed() {
    let folder = folder();
    symlink("good", folder.path().join("link")).unwrap();
    let output = check(folder.path(), &["link"]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    assert!(
        text.contains("link/thread_7/index.atf: accept, 6 events\n"),
        "{text}"
    );
}

#[test]
fn paths_without_permission_are_unreadable_and_hide_no_other() {
    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    for path in [&folder.path().join("good").join(INDEX), &closed] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    let Some(mut command) = unprivileged(folder.path()) else {
        atf_samples::tools::skip("no unprivileged user can run the command");
        return;
    };
    let output = command.args(["good", "closed"]).output().unwrap();
    fs::set_permissions(closed, Permissions::from_mode(0o755)).unwrap();
    let (status, text, _) = texts(&output);
    assert_eq!(status, 2);
    let line = format!("good/{INDEX}: unreadable: Permission denied");
    assert!(text.contains(&line), "{text}");
    assert!(
        text.contains("closed: unreadable: Permission denied"),
        "{text}"
    );
    assert!(
        text.contains("good/thread_9/index.atf: accept, 2 events\n"),
        "{text}"
    );
    assert!(text.contains("\n2 paths could not be read\n"), "{text}");
}

#[test]
fn a_symlinked_detail_file_is_not_followed_without_an_index_either() {
    let folder = TempDir::new().unwrap();
    let mut trace = Trace::clean(1);
    trace.rename(DETAIL, "elsewhere.atf");
    trace.remove(INDEX);
    trace.symlink(DETAIL, "../elsewhere.atf");
    trace.write(folder.path()).unwrap();
    let outcome = crate::support::Outcome::of(folder.path());
    assert!(outcome.finding("thread_7", "ATF-SESS-002").is_some());
    assert!(outcome.finding(DETAIL, "ATF-SESS-003").is_some());
}

#[test]
fn a_kill_journal_and_a_lone_manifest_without_permission_are_unreadable() {
    let folder = TempDir::new().unwrap();
    // Truncate the file before its footer. Only an unfinalized file may have a kill journal.
    let mut trace = Trace::clean(1);
    trace.cut(INDEX, 256);
    trace.write(&folder.path().join("cut")).unwrap();
    let ring = folder.path().join("cut/thread_7/ring.atf");
    fs::write(&ring, "").unwrap();
    let manifest = folder.path().join(MANIFEST);
    fs::write(&manifest, "{}").unwrap();
    for path in [ring, manifest] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    let Some(mut command) = unprivileged(folder.path()) else {
        atf_samples::tools::skip("no unprivileged user can run the command");
        return;
    };
    let output = command.args(["cut", MANIFEST]).output().unwrap();
    let (status, text, _) = texts(&output);
    assert_eq!(status, 2);
    for path in ["cut/thread_7/ring.atf", MANIFEST] {
        let line = format!("{path}: unreadable: Permission denied");
        assert!(text.contains(&line), "{text}");
    }
    assert!(text.contains("\n2 paths could not be read\n"), "{text}");
}

/// Returns the command for a user without privileges, or `None` if there is no such user.
fn unprivileged(folder: &Path) -> Option<Command> {
    const NOBODY: u32 = 65534;
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::metadata(folder).unwrap().uid() == 0;
    let command = || {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf-conformance"));
        command.arg("check").current_dir(folder);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    // The program may be in a folder that other users cannot access.
    let help = command().arg("--help").output();
    help.is_ok_and(|output| output.status.success())
        .then(command)
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for form in [None, Some("--json")] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf-conformance"));
        command.arg("check").args(form).arg(atf_samples::folder());
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
        let output = child.unwrap().wait_with_output().unwrap();
        assert_eq!(texts(&output), (0, "", ""), "{form:?}");
    }
}

#[test]
fn control_characters_in_names_are_escaped() {
    let folder = TempDir::new().unwrap();
    let name = "a\n/etc/passwd: accept\u{1b}[2K\u{9b}1A\u{202e}";
    Trace::clean(1).write(&folder.path().join(name)).unwrap();
    let gone = "gone\u{1b}]0;title\u{7}";
    let output = check(folder.path(), &[".", gone]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 2);
    let steers = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("/etc")), "{text}");
    let line = r"./a\u{a}/etc/passwd: accept\u{1b}[2K\u{9b}1A\u{202e}/thread_7/index.atf: accept";
    assert!(text.contains(line), "{text}");
    assert!(
        text.contains(r"gone\u{1b}]0;title\u{7}: unreadable: "),
        "{text}"
    );
}

#[test]
fn names_that_are_not_utf_8_are_read_and_shown() {
    let folder = TempDir::new().unwrap();
    let name = OsStr::from_bytes(b"caf\xe9");
    Trace::clean(1).write(&folder.path().join(name)).unwrap();
    let output = command()
        .current_dir(folder.path())
        .arg(name)
        .output()
        .unwrap();
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    assert!(
        text.contains("caf\u{fffd}/thread_7/index.atf: accept, 6 events\n"),
        "{text}"
    );

    let mut command = command();
    let output = command
        .current_dir(folder.path())
        .args(["--json", "."])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = report["files"][0]["path"].as_str().unwrap();
    assert!(path.starts_with("./caf\u{fffd}/"), "{path}");
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let samples = atf_samples::folder();
    let check = ["check", samples.to_str().unwrap()];
    for arguments in [&check[..], &["--help"], &["corpus", "list"]] {
        let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
            atf_samples::tools::skip("no /dev/full");
            return;
        };
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf-conformance"));
        command.args(arguments).stdout(full);
        let output = command.stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2, "{arguments:?}");
        assert!(messages.contains("No space left on device"), "{messages}");
    }
}
