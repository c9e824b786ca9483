//! Tests paths that the user has no permission to read.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{INDEX, MANIFEST, Trace};
use crate::texts;

#[test]
fn paths_without_permission_are_unreadable_and_do_not_hide_others() {
    let folder = TempDir::new().unwrap();
    let at = |path: &str| folder.path().join(path);
    Trace::clean(1).write(&at("good")).unwrap();
    // Truncate the file before its footer. Only an unfinalized file may have a kill journal.
    let mut trace = Trace::clean(1);
    trace.cut(INDEX, 256);
    trace.write(&at("cut")).unwrap();
    let index = format!("good/{INDEX}");
    let closed = [&*index, "cut/thread_7/ring.atf", MANIFEST, "closed"];
    for file in ["cut/thread_7/ring.atf", MANIFEST] {
        fs::write(at(file), "{}").unwrap();
    }
    fs::create_dir(at("closed")).unwrap();
    for path in closed {
        fs::set_permissions(at(path), Permissions::from_mode(0o000)).unwrap();
    }
    let Some(mut command) = unprivileged(folder.path()) else {
        atf_samples::tools::skip("no unprivileged user can run the command");
        return;
    };
    let arguments = ["good", "cut", MANIFEST, "closed"];
    let output = command.args(arguments).output().unwrap();
    fs::set_permissions(at("closed"), Permissions::from_mode(0o755)).unwrap();
    let (status, text, _) = texts(&output);
    assert_eq!(status, 2);
    for path in closed {
        let line = format!("{path}: unreadable: Permission denied");
        assert!(text.contains(&line), "{text}");
    }
    for others in [
        "good/thread_9/index.atf: accept, 2 events\n",
        "\n4 paths could not be read\n",
    ] {
        assert!(text.contains(others), "{text}");
    }
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
