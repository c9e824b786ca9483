//! Detects sessions whose processes are still running.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use atf::session::ProcessName;
use rustix::process::getuid;

use super::proc::{field, stat, text};

/// The files that a recorded process has mapped, by inode and name.
type Files = BTreeSet<(u64, String)>;

/// Returns whether a session's process, such as a forked child, is still running. The files of a
/// running process must not be replaced.
///
/// Checks that the process has mapped files of its session: the folder's name, `pid_N`, contains
/// only the process's id in its innermost namespace, which another process may share.
pub(super) fn still_runs(session: &Path) -> bool {
    let Some(name) = ProcessName::from_path(session) else {
        return false;
    };
    loop {
        let files = files(session);
        if is_mapped(name.pid, &files) {
            return true;
        }
        // The process may just have replaced its manifest.
        if self::files(session) == files {
            return false;
        }
    }
}

fn is_mapped(pid: u32, files: &Files) -> bool {
    let (Ok(processes), Some(start)) = (fs::read_dir("/proc"), start(Path::new("/proc/self")))
    else {
        return false;
    };
    let id = pid.to_string();
    processes.flatten().any(|process| {
        let process = process.path();
        // A process of this run started after this one.
        if self::start(&process).is_none_or(|found| found < start) {
            return false;
        }
        let status = text(&process.join("status")).unwrap_or_default();
        let known = field(&status, "NSpid:").and_then(|ids| ids.split_whitespace().last());
        let user = field(&status, "Uid:").and_then(|ids| ids.split_whitespace().next());
        known == Some(id.as_str())
            && match text(&process.join("maps")) {
                Ok(maps) => maps.lines().any(|line| maps_one(line, files)),
                // A process can hide its maps even from its user; see `PR_SET_DUMPABLE`.
                Err(error) => {
                    error.kind() == io::ErrorKind::PermissionDenied
                        && user == Some(getuid().as_raw().to_string().as_str())
                }
            }
    })
}

/// Returns whether a line in a process's list of mapped files is about one of these files.
fn maps_one(line: &str, files: &Files) -> bool {
    let inode = line.split_whitespace().nth(4);
    let inode = inode.and_then(|inode| inode.parse().ok()).unwrap_or(0);
    let mut names = files.iter().filter(|(found, _)| *found == inode);
    names.any(|(_, name)| line.ends_with(name.as_str()))
}

/// Returns the files of a session that a recorded process maps.
fn files(session: &Path) -> Files {
    let mut files = Files::new();
    let mut add = |path: &Path, name: &str| {
        let found = fs::symlink_metadata(path.join(name));
        files.extend(found.map(|found| (found.ino(), format!("/{name}"))));
    };
    add(session, "manifest.json");
    for thread in fs::read_dir(session).into_iter().flatten().flatten() {
        add(&thread.path(), "ring.atf");
    }
    files
}

/// Returns when a process started, in clock ticks since boot.
fn start(process: &Path) -> Option<u64> {
    stat(process)?.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_recognized_by_its_inode_and_name() {
        let files = Files::from([(77, "/ring.atf".to_owned())]);
        let line = |inode, name| {
            format!("7f00-7f01 rw-s 00000000 fd:01 {inode}   /o/pid_1/thread_0/{name}")
        };
        assert!(maps_one(&line(77, "ring.atf"), &files));
        assert!(!maps_one(&line(78, "ring.atf"), &files));
        assert!(!maps_one(&line(77, "libc.so"), &files));
        assert!(!maps_one("7f00-7f01 rw-p 00000000 00:00 0", &files));
    }
}
