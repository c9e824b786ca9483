//! Tests the end of a run: the exit status, the session's folder, and processes still running.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{built, messages, on_small_disk, record, sessions};

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static __attribute__((noinline)) int leaf(int n) { return n; }
static void remove_all(const char *session) {
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'", session);
    if (system(command) != 0) exit(99);
}
/* Moves the folder of all sessions away, and plants one whose file is a symlink. */
static void replace(const char *session) {
    char path[4096], to[4096];
    snprintf(to, sizeof to, "%s/../moved", session);
    if (rename(session, to) != 0 || mkdir(session, 0777) != 0) exit(99);
    for (int depth = 0; depth < 2; depth++) {
        snprintf(path, sizeof path, depth ? "%s/pid_%d/thread_0" : "%s/pid_%d", session, getpid());
        if (mkdir(path, 0777) != 0) exit(99);
    }
    snprintf(path, sizeof path, "%s/pid_%d/thread_0/index.atf", session, getpid());
    snprintf(to, sizeof to, "%s/../../victim", session);
    if (symlink(to, path) != 0) exit(99);
}
int main(int argc, char **argv) {
    leaf(argc);
    if (!strcmp(argv[1], "remove")) remove_all(getenv("ATF_SESSION"));
    if (!strcmp(argv[1], "replace")) replace(getenv("ATF_SESSION"));
    for (int n = 0; n < 20000; n++) leaf(n);
    return 12;
}
"#;

#[test]
fn a_program_that_deletes_the_session_keeps_its_exit_status() {
    let Some(folder) = built(PROGRAM) else { return };
    let output = record(&folder, "", "./program remove").output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(12), "{messages}");
    assert!(!messages.contains("standard output"), "{messages}");
    let expected = "this folder was deleted while the program ran, so the traces are lost";
    assert!(messages.contains(expected), "{messages}");
}

#[test]
fn a_symlink_that_is_planted_while_a_program_is_recorded_is_not_followed() {
    let Some(folder) = built(PROGRAM) else { return };
    let victim = folder.path().join("victim");
    fs::write(&victim, "theirs").unwrap();
    for options in ["", "--ring 1024"] {
        let mut command = record(&folder, options, "./program replace");
        let output = command.output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(12), "{messages}");
        assert_eq!(fs::read(&victim).unwrap(), b"theirs", "{messages}");
        let moved = folder.path().join("traces/moved");
        assert!(messages.contains("recorded 40"), "{messages}");
        assert!(messages.contains("/traces/moved\n"), "{messages}");
        fs::remove_dir_all(moved).unwrap();
    }
}

#[test]
fn a_full_disk_is_reported_as_the_reason_why_recording_stopped() {
    let Some(folder) = built(PROGRAM) else { return };
    let script = "\"$@\"; exec \"$1\" last traces/*/*";
    let Some(output) = on_small_disk(&folder, "1m", script, "./program none") else {
        return;
    };
    let messages = String::from_utf8(output.stderr).unwrap();
    let last = String::from_utf8(output.stdout).unwrap();
    let expected = ": stopped recording: no space left on device, ";
    assert!(last.contains(expected), "{last}\n{messages}");
    assert!(
        !messages.contains("/.atf-") && !messages.contains("/proc/"),
        "{messages}"
    );
}

/// The first process in a PID namespace is process 1, like the system's first process.
#[test]
fn a_process_in_another_namespace_is_not_mistaken_for_the_program() {
    let Some(folder) = built(PROGRAM) else { return };
    let can = Command::new("unshare").args(["-rpf", "true"]).status();
    if !can.is_ok_and(|status| status.success()) {
        // Containers may forbid namespaces.
        return;
    }
    let messages = messages(&folder, "", "unshare -rpf ./program none");
    assert!(!messages.contains("still running"), "{messages}");
    let session = sessions(&folder).pop().unwrap();
    assert!(
        session.ends_with(Path::new("pid_1")),
        "{}",
        session.display()
    );
    let manifest = fs::read_to_string(session.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"leaf\""), "{manifest}");
}
