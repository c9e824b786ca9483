//! Tests programs that drop privileges or resources while they are recorded.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::support::{Program, Run, Trace};

/// The calls of the main thread: `main`, `work` and `leaf` before and after privileges are dropped.
const MAIN: u64 = 1 + 11 + 1 + 100_001;
/// The calls of another thread, and of a child.
const THREAD: u64 = 12;
const CHILD: u64 = 11;

/// Returns the number of calls per session, in ascending order.
fn calls(run: &Run) -> Vec<u64> {
    let sessions = run.sessions.iter();
    let mut calls: Vec<u64> = sessions
        .map(|path| {
            let calls = Trace::open(path).calls();
            calls.returned + calls.open
        })
        .collect();
    calls.sort_unstable();
    calls
}

fn all(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all(&path, found);
        }
        found.push(path);
    }
}

#[test]
fn files_and_folders_belong_to_their_owner_whatever_the_umask() {
    Program::with("rights.c", |program| {
        let run = program.succeeds(&["umask"], &[]);
        assert_eq!(calls(&run), [CHILD, MAIN + THREAD], "{}", run.messages());
        let mut found = Vec::new();
        run.sessions.iter().for_each(|path| all(path, &mut found));
        assert!(found.len() >= 8, "{found:?}");
        for path in found {
            let found = fs::metadata(&path).unwrap();
            let owner = if found.is_dir() { 0o700 } else { 0o600 };
            let mode = found.permissions().mode();
            assert_eq!(mode & owner, owner, "{}: {mode:o}", path.display());
            // The group and others follow the umask.
            let is_new = path.ends_with("thread_1") || path.ends_with("thread_1/index.atf");
            assert!(!is_new || mode & 0o077 == 0, "{}: {mode:o}", path.display());
        }
    });
}

#[test]
fn closing_or_reusing_descriptors_loses_no_calls() {
    Program::with("rights.c", |program| {
        for what in ["descriptors", "numbers", "reused", "none"] {
            let run = program.succeeds(&[what], &[]);
            assert_eq!(run.messages(), "", "{what}");
            assert_eq!(calls(&run), [CHILD, MAIN + THREAD], "{what}");
        }
    });
}

/// Only root can become another user or change its root directory.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn a_program_that_changes_its_root_directory_loses_no_calls() {
    Program::with("rights.c", |program| {
        if is_root() {
            let run = program.succeeds(&["root"], &[]);
            let (with_child, message) = (calls(&run), run.messages());
            let has_all = with_child.contains(&(MAIN + THREAD));
            assert!(has_all, "{with_child:?} {message}");
        }
    });
}

#[test]
fn the_manifest_lists_the_losses_of_a_program_without_privileges() {
    Program::with("rights.c", |program| {
        for (what, kept, lost, why) in [
            // The descriptor of the main thread's file stays open.
            ("user", MAIN * 2, THREAD * 2, "permission denied"),
            ("sizes", 4096, 0, "file too large"),
        ] {
            if what == "user" && !is_root() {
                continue;
            }
            let run = program.succeeds(&[what], &[]);
            let trace = run.session();
            let error = trace.reader.manifest().unwrap().recording_error.as_deref();
            assert_eq!(error, Some(why), "{}", run.messages());
            assert_eq!(trace.event_count(), kept, "{what}");
            let all = MAIN * 2 + THREAD * 2;
            let lost = if lost == 0 { all - kept } else { lost };
            let found = trace.lost() + trace.lost_in_unlisted_threads();
            assert_eq!(found, lost, "{what}");
        }
    });
}
