//! `record`.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Calls 1 + N functions, and ends as its first argument says.
const PROGRAM: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __attribute__((noinline)) int inner(int n) { return n; }
static __attribute__((noinline)) void outer(int n) { while (n--) inner(n); }
static volatile int is_told;
static void told(int number) { is_told = number; }
int main(int argc, char **argv) {
    outer(atoi(argv[1]));
    const char *end = argc > 2 ? argv[2] : "";
    if (!strcmp(end, "fail")) return 7;
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "child")) {
        int ready[2];
        char byte = 0;
        if (pipe(ready) != 0) return 9;
        if (fork() == 0) {
            close(1);
            close(2);
            outer(1);
            if (write(ready[1], &byte, 1) == 1) sleep(60);
        }
        // The child records before this process ends.
        if (read(ready[0], &byte, 1) != 1) return 9;
    }
    if (!strcmp(end, "daemon")) {
        int ready[2];
        char byte = 0;
        if (pipe(ready) != 0) return 9;
        if (fork() == 0) {
            close(1);
            close(2);
            signal(SIGTERM, told);
            outer(1);
            if (write(ready[1], &byte, 1) != 1) return 9;
            while (!is_told) usleep(1000);
            outer(2);
            return 0;
        }
        if (read(ready[0], &byte, 1) != 1) return 9;
    }
    if (!strcmp(end, "wait")) {
        signal(SIGTERM, told);
        puts("waits");
        fflush(stdout);
        while (!is_told) usleep(1000);
        return 5;
    }
    if (!strcmp(end, "kill")) raise(SIGKILL);
    if (!strcmp(end, "trigger")) raise(SIGHUP);
    if (!strcmp(end, "pause")) {
        puts("waits");
        fflush(stdout);
        for (;;) pause();
    }
    puts("the program's own output");
}
"#;

/// Compiles the program; `None` without a compiler.
fn program(flags: &[&str]) -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("program.c");
    fs::write(&source, PROGRAM).unwrap();
    let mut command = Command::new("gcc");
    command
        .current_dir(folder.path())
        .args(["-O1", "-g", "program.c", "-o", "program"]);
    match command.args(flags).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => {
            let required = std::env::var_os("ATF_REQUIRE_TOOLS").is_some_and(|value| value == "1");
            assert!(!required, "gcc: {error}");
            eprintln!("SKIPPED: gcc: {error}");
            return None;
        }
    }
    Some(folder)
}

/// The library that cargo built with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libatf_instrument.so")
}

/// A command that records the program.
fn record(folder: &TempDir, options: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    command.current_dir(folder.path()).arg("record");
    command
        .args(["--out", "traces", "--library"])
        .arg(library());
    command.args(options).arg("--").args(program);
    command
}

/// Its exit status, its output, and its messages, with times and paths replaced.
fn told(output: &Output, folder: &Path) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let messages = text(&output.stderr);
    let folder = fs::canonicalize(folder).unwrap();
    let messages = messages.replace(folder.to_str().unwrap(), "");
    let constant = |line: &str| match line.split_once(" in 0.") {
        Some((before, after)) => format!("{before} in …{}", after.split_once(')').unwrap().1),
        None => match line.split_once("/session_") {
            Some((before, _)) => format!("{before}/session_…"),
            None => line.to_owned(),
        },
    };
    // The table is ordered by times, which vary.
    let is_row = |line: &&str| line.starts_with(' ');
    let (table, messages): (Vec<_>, Vec<_>) = messages.lines().partition(is_row);
    let cells = |row: &&str| row.split_whitespace().skip(1).map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = table.iter().map(cells).collect();
    let mut table: Vec<_> = rows
        .iter()
        .map(|cells| cells[cells.len() - 2..].join(" "))
        .collect();
    table.sort();
    let messages: Vec<_> = messages.into_iter().map(constant).collect();
    let messages = [messages, table].concat().join("\n");
    (output.status.code(), text(&output.stdout), messages)
}

/// The sessions of all runs.
fn sessions(folder: &TempDir) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let runs = list(&folder.path().join("traces"));
    runs.iter().flat_map(|run| list(run)).collect()
}

/// Asserts that the only session is accepted, and returns its events by function's name.
fn dumped(folder: &TempDir, session: &Path) -> Vec<String> {
    let check = super::atf(
        folder.path(),
        &[
            "check".as_ref(),
            "--deny".as_ref(),
            "should".as_ref(),
            session.as_os_str(),
        ],
    );
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    let dump = super::atf(folder.path(), &["dump".as_ref(), session.as_os_str()]);
    let text = String::from_utf8(dump.stdout).unwrap();
    let name = |line: &str| line.split_whitespace().last().unwrap().to_owned();
    text.lines().map(name).collect()
}

#[test]
fn a_program_is_recorded_with_the_names_of_its_functions() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let output = record(&folder, &[], &["./program", "3"]).output().unwrap();
    let expected = "\
atf: recorded 10 events of 1 thread in …, no loss recorded
atf: written to /traces/session_…
1 main
1 outer
3 inner
calls function";
    let own = "the program's own output\n".to_owned();
    assert_eq!(
        told(&output, folder.path()),
        (Some(0), own, expected.to_owned())
    );
    let [session] = &sessions(&folder)[..] else {
        panic!("{output:?}");
    };
    let names = dumped(&folder, session);
    assert_eq!(names[..4], ["main", "outer", "inner", "inner"]);
    assert_eq!(names.len(), 10);
}

#[test]
fn its_exit_status_is_the_program_s_and_a_dead_program_s_session_is_finalized() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let output = record(&folder, &[], &["./program", "1", "fail"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    fs::remove_dir_all(folder.path().join("traces")).unwrap();

    let output = record(&folder, &[], &["./program", "1", "abort"])
        .output()
        .unwrap();
    let (status, _, messages) = told(&output, folder.path());
    assert_eq!(status, Some(128 + 6));
    let expected = "\
atf: recorded 5 events of 1 thread in …, no loss recorded
atf: written to /traces/session_…
atf: the program was ended by SIGABRT
1 inner
1 main
1 outer
calls function";
    assert_eq!(messages, expected);
    let found = sessions(&folder);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        dumped(&folder, &found[0]),
        ["main", "outer", "inner", "inner", "outer"]
    );
}

#[test]
fn what_a_dead_program_s_rings_may_have_lost_is_told() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let output = record(&folder, &["--ring", "64"], &["./program", "1", "abort"])
        .output()
        .unwrap();
    let messages = told(&output, folder.path()).2;
    // 64 in the ring, and 128 KiB in the writer's buffer.
    let lost =
        "the process died, so up to 4160 events of each thread, which were in memory, are lost";
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(lost), "{messages}");
    let [session] = &sessions(&folder)[..] else {
        panic!("{messages}");
    };
    let summary = "up to 4160 events of each thread may be missing";
    assert!(
        text.contains(&format!("per second), {summary}\n")),
        "{text}"
    );
    // The finalized files still tell.
    for (command, expected) in [
        (
            "last",
            "\n  ended by SIGABRT\n  missing up to 4160 events of each thread: the tracer was killed\n",
        ),
        ("info", "the process was ended by SIGABRT\n"),
        (
            "info",
            "the tracer was killed: up to 4160 events of each thread are missing\n",
        ),
        (
            "check",
            "advice ATF-MANI-016  unwritten_events: the tracer was killed: up to 4160 events of each thread are missing",
        ),
    ] {
        let output = super::atf(folder.path(), &[command.as_ref(), session.as_os_str()]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{command}: {text}");
    }
    let info = super::atf(folder.path(), &["info".as_ref(), session.as_os_str()]);
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("nothing that was written was lost"), "{info}");
    // The report of the finalization is not a part of the trace.
    for command in [&["cut"][..], &["scrub"], &["convert", "--wire", "2"]] {
        let out = folder.path().join(command[0]);
        let mut all: Vec<&OsStr> = command.iter().map(AsRef::as_ref).collect();
        all.extend([session.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        let output = super::atf(folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
    }
    let output = super::atf(
        folder.path(),
        &["last".as_ref(), "--json".as_ref(), session.as_os_str()],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(r#""ended_by":"SIGABRT","unwritten_events":"4160","#),
        "{text}"
    );
}

#[test]
fn a_child_that_outlives_the_program_keeps_its_session() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let output = record(&folder, &[], &["./program", "1", "child"])
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        messages.matches("still runs and is recorded").count(),
        1,
        "{messages}"
    );
    let session = messages
        .split(": this process")
        .next()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap();
    let process = session.strip_prefix("pid_").unwrap();
    let kill = Command::new("kill")
        .args(["-KILL", process])
        .status()
        .unwrap();
    assert!(kill.success());
    // Its files are still the ones that it wrote: nothing is lost.
    let path = sessions(&folder)
        .into_iter()
        .find(|path| path.ends_with(session))
        .unwrap();
    let dump = super::atf(folder.path(), &["dump".as_ref(), path.as_os_str()]);
    let text = String::from_utf8(dump.stdout).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_daemon_that_outlives_the_program_finalizes_its_session_when_it_exits() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    for options in [&[][..], &["--ring", "64"]] {
        let _ = fs::remove_dir_all(folder.path().join("traces"));
        let output = record(&folder, options, &["./program", "1", "daemon"])
            .stdout(Stdio::null())
            .output()
            .unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        let (path, _) = messages.split_once(": this process still runs").unwrap();
        let session = PathBuf::from(path.rsplit("atf: ").next().unwrap());
        let process = session.file_name().unwrap().to_str().unwrap();
        let process = process.strip_prefix("pid_").unwrap();
        let is_finalized = || {
            let arguments = ["check", "--deny", "should"].map(OsStr::new);
            let arguments = [&arguments[..], &[session.as_os_str()]].concat();
            super::atf(folder.path(), &arguments).status.success()
        };
        assert!(!is_finalized());
        assert!(
            Command::new("kill")
                .arg(process)
                .status()
                .unwrap()
                .success()
        );
        for _ in 0..600 {
            if is_finalized() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        // Of the child: outer, inner, told by the signal, outer, two of inner, and main returns.
        assert_eq!(dumped(&folder, &session).len(), 4 + 2 + 6 + 1);
    }
}

#[test]
fn options_limit_what_is_recorded() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    for (options, events) in [
        (&["--depth", "2"][..], 4),
        (&["--module", "prog*"], 10),
        (&["--clock", "system"], 10),
        (&["--function", "outer", "--function", "m*"], 4),
        (&["--ring", "64", "--overflow", "block"], 10),
    ] {
        let output = record(&folder, options, &["./program", "3"])
            .output()
            .unwrap();
        let messages = told(&output, folder.path()).2;
        assert!(
            messages.contains(&format!("recorded {events} events")),
            "{messages}"
        );
    }
    for options in [["--module", "!program"], ["--min-size", "1000000"]] {
        let output = record(&folder, &options, &["./program", "3"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let expected = "atf: nothing was recorded: no call matched the filters";
        assert_eq!(told(&output, folder.path()).2, expected);
    }
}

#[test]
fn malformed_globs_are_refused_before_the_program_runs() {
    let folder = TempDir::new().unwrap();
    for option in ["--module", "--function"] {
        let output = record(&folder, &[option, "["], &["./program"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let messages = String::from_utf8(output.stderr).unwrap();
        let expected = format!(
            "error: invalid value '[' for '{option} <GLOB>': error parsing glob '[': unclosed character class; missing ']'"
        );
        assert_eq!(messages.lines().next(), Some(&*expected));
    }
}

#[test]
fn values_and_options_without_meaning_are_refused_before_the_program_runs() {
    let folder = TempDir::new().unwrap();
    let window = "needs --details trigger or --flight";
    for (options, expected) in [
        (&["--segment", "0.5"][..], "'--segment <SECONDS|BYTES>'"),
        (
            &["--segment", "0"],
            "expected seconds, or a size such as 64M",
        ),
        (&["--segment", "x"], "invalid value 'x'"),
        (&["--flight", "0"], "'--flight <SECONDS|BYTES>'"),
        (
            &["--flight", "abc"],
            "expected seconds, or a size up to 512M",
        ),
        (&["--flight", "1.5"], "invalid value '1.5'"),
        (&["--flight", "1T"], "invalid value '1T'"),
        (&["--flight", "513M"], "invalid value '513M'"),
        (
            &["--flight", "1", "--trigger-signal", "KILL"],
            "'--trigger-signal <SIGNAL>': expected HUP, USR1, USR2, URG or WINCH",
        ),
        (&["--pre-roll", "5"], &format!("--pre-roll {window}")),
        (
            &["--details", "all", "--post-roll", "5"],
            &format!("--post-roll {window}"),
        ),
        (
            &["--trigger-function", "f"],
            &format!("--trigger-function {window}"),
        ),
        (
            &["--flight", "10", "--details", "trigger"],
            "--details trigger: with --flight, use all or off",
        ),
        (
            &["--details", "off", "--stack", "8"],
            "--stack needs --details all or trigger",
        ),
    ] {
        let output = record(&folder, options, &["touch", "has_run"])
            .output()
            .unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let first = messages.lines().next().unwrap();
        assert!(first.contains(expected), "{options:?}: {messages}");
        assert!(!folder.path().join("has_run").exists(), "{options:?}");
    }
}

#[test]
fn lengths_and_signals_are_accepted_in_any_case() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    for options in [
        &["--flight", "10s"][..],
        &["--flight", "64m", "--trigger-signal", "sigusr2"],
        &["--segment", "64k"],
    ] {
        let output = record(&folder, options, &["./program", "3"])
            .output()
            .unwrap();
        let messages = told(&output, folder.path()).2;
        assert!(
            messages.contains("recorded 10 events"),
            "{options:?}: {messages}"
        );
    }
}

#[test]
fn segments_are_not_counted_as_processes() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let options = ["--segment", "64K"];
    let output = record(&folder, &options, &["./program", "100000"])
        .output()
        .unwrap();
    let count = sessions(&folder).len();
    assert!(count > 1, "{output:?}");
    let messages = told(&output, folder.path()).2;
    let expected = format!("of 1 thread in {count} segments in …");
    assert!(messages.contains(&expected), "{messages}");
}

#[test]
fn the_signal_is_in_the_last_segment() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let options = ["--segment", "64K"];
    let output = record(&folder, &options, &["./program", "100000", "abort"])
        .output()
        .unwrap();
    let mut sessions = sessions(&folder);
    sessions.sort();
    let is_told = |session: &PathBuf| {
        let manifest = fs::read_to_string(session.join("manifest.json")).unwrap();
        manifest.contains("SIGABRT")
    };
    let last = sessions.pop().unwrap();
    assert!(is_told(&last) && !sessions.is_empty(), "{output:?}");
    assert!(!sessions.iter().any(is_told));
}

#[test]
fn details_that_windows_lost_are_in_the_summary() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let options = "--details trigger --pre-roll 60000 --trigger-function told --ring 64";
    let options: Vec<_> = options.split(' ').collect();
    let output = terminated(&mut record(
        &folder,
        &options,
        &["./program", "100000", "wait"],
    ));
    let messages = told(&output, folder.path()).2;
    assert!(!messages.contains("no loss recorded"), "{messages}");
    assert!(messages.contains(" details lost\n"), "{messages}");
}

#[test]
fn a_full_disk_is_told_as_the_reason_for_what_is_missing() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    fs::create_dir(folder.path().join("traces")).unwrap();
    for (size, calls, status, expected) in [
        ("2m", "1000000", 0, "later events may be missing"),
        ("16k", "1", 2, "nothing was recorded: 6 events lost"),
        ("4k", "1", 2, "nothing was recorded: the disk of "),
    ] {
        let recorded = record(&folder, &[], &["./program", calls]);
        let mut command = Command::new("unshare");
        command.current_dir(folder.path()).args(["-rm", "sh", "-c"]);
        command.arg(format!(
            "mount -t tmpfs -o size={size} none traces || exit 77; exec \"$@\""
        ));
        command
            .arg("sh")
            .arg(recorded.get_program())
            .args(recorded.get_args());
        let output = match command.output() {
            Ok(output) if output.status.code() == Some(77) => return,
            // Containers may forbid namespaces.
            Ok(output) if output.stderr.starts_with(b"unshare") => return,
            Ok(output) => output,
            Err(_) => return,
        };
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{messages}");
        assert!(messages.contains(expected), "{messages}");
        assert!(!messages.contains("no loss recorded"), "{messages}");
        assert!(!messages.contains("-finstrument-functions"), "{messages}");
    }
}

#[test]
fn a_program_without_hooks_and_one_that_cannot_be_run_leave_no_session() {
    let Some(folder) = program(&[]) else {
        return;
    };
    let output = record(&folder, &[], &["./program", "1"]).output().unwrap();
    let expected =
        "atf: nothing was recorded: ./program must be compiled with -finstrument-functions, linked dynamically, and keep its environment".to_owned();
    let own = "the program's own output\n".to_owned();
    assert_eq!(told(&output, folder.path()), (Some(2), own, expected));
    let output = record(&folder, &[], &["./program", "1", "fail"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    let output = record(&folder, &[], &["./missing"]).output().unwrap();
    let expected =
        "atf: ./missing: cannot be run: No such file or directory (os error 2)".to_owned();
    assert_eq!(
        told(&output, folder.path()),
        (Some(2), String::new(), expected)
    );
    assert!(sessions(&folder).is_empty());
}

/// Terminates `atf record` once its program waits for that.
fn terminated(record: &mut Command) -> Output {
    record.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = record.spawn().unwrap();
    // Its first output means that it is ready.
    let output = child.stdout.as_mut().unwrap();
    output.read_exact(&mut [0]).unwrap();
    let kill = Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(kill.success());
    child.wait_with_output().unwrap()
}

#[test]
fn signals_are_passed_to_the_program() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let output = terminated(&mut record(&folder, &[], &["./program", "1", "wait"]));
    assert_eq!(output.status.code(), Some(5));
}

#[test]
fn details_and_the_last_calls_before_a_crash_are_recorded_on_demand() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let trigger = [
        "--details",
        "trigger",
        "--pre-roll",
        "100",
        "--post-roll",
        "50",
    ];
    let signal = ["--trigger-signal", "USR2"];
    let function = ["--trigger-function", "inner", "--trigger-depth", "2"];
    for (options, has_details) in [
        (&["--details", "all", "--stack", "64"][..], true),
        (&["--details", "all", "--detail-function", "!*"], false),
        (&[&trigger[..], &signal].concat(), false),
        (&[&trigger[..], &function].concat(), true),
        (&["--flight", "10", "--details", "all"], true),
        (&["--segment", "1K", "--keep", "5"], false),
    ] {
        let _ = fs::remove_dir_all(folder.path().join("traces"));
        let output = record(&folder, options, &["./program", "3"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{options:?}: {output:?}");
        let [session] = &sessions(&folder)[..] else {
            panic!("{output:?}");
        };
        assert_eq!(dumped(&folder, session).len(), 10, "{options:?}");
        let has = session.join("thread_0/detail.atf").exists();
        assert_eq!(has, has_details, "{options:?}");
    }
}

#[test]
fn a_flight_recording_of_a_program_that_a_signal_ends_is_whole() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let flight = |end| record(&folder, &["--flight", "10"], &["./program", "1", end]);
    // SIGTERM to `atf record` is passed on.
    let outputs = [
        (flight("abort").output().unwrap(), 6, "SIGABRT"),
        (terminated(&mut flight("pause")), 15, "SIGTERM"),
    ];
    for ((output, number, name), session) in outputs.iter().zip(sessions(&folder)) {
        assert_eq!(output.status.code(), Some(128 + number), "{output:?}");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.contains("5 events of 1 thread"), "{messages}");
        assert!(
            messages.contains("per second), no loss recorded\n"),
            "{messages}"
        );
        assert!(
            messages.ends_with(&format!("ended by {name}\n")),
            "{messages}"
        );
        assert_eq!(
            dumped(&folder, &session),
            ["main", "outer", "inner", "inner", "outer"]
        );
    }
}

#[test]
fn of_a_ring_that_was_too_small_the_summary_names_one_that_is_not() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let windows = [
        &["--flight", "60"][..],
        &[
            "--details",
            "trigger",
            "--pre-roll",
            "60000",
            "--trigger-signal",
            "HUP",
        ],
    ];
    for options in windows {
        let run = |ring: &str| {
            let options = [options, &["--ring", ring]].concat();
            let end = if options[0] == "--flight" {
                ""
            } else {
                "trigger"
            };
            let mut command = record(&folder, &options, &["./program", "50000", end]);
            String::from_utf8(command.output().unwrap().stderr).unwrap()
        };
        // 100,004 events: half of a ring has room for them, and for another quarter.
        let advice = "a window did not fit into its ring: --ring 262144 would have been enough";
        let messages = run("1024");
        assert!(messages.contains(advice), "{messages}");
        let messages = run("262144");
        assert!(messages.contains("100004 events of 1 thread"), "{messages}");
        assert!(messages.contains("no loss recorded"), "{messages}");
        assert!(!messages.contains("--ring"), "{messages}");
    }
}

#[test]
fn a_flight_recording_of_a_killed_program_says_what_may_be_missing() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    let mut command = record(&folder, &["--flight", "10"], &["./program", "1", "kill"]);
    let messages = String::from_utf8(command.output().unwrap().stderr).unwrap();
    let lost = "what its rings held after the last trigger is lost";
    assert!(
        messages.contains(&format!("the process died, so {lost}")),
        "{messages}"
    );
}
