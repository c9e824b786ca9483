//! Tests `atf record`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use atf::write::{SessionWriter, WriteOptions};
use tempfile::TempDir;

mod ends;
mod preload;
mod values;
mod windows;

/// A program that calls 1 + N functions. Its first argument determines how it ends.
const PROGRAM: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static __attribute__((noinline)) int inner(int n) { return n; }
#ifndef OUTER
#define OUTER "outer"
#endif
static void outer(int n) __asm__(OUTER);
static __attribute__((noinline)) void outer(int n) { while (n--) inner(n); }
static volatile int is_told;
static void told(int number) { is_told = number; }
int main(int argc, char **argv) {
    outer(atoi(argv[1]));
    const char *end = argc > 2 ? argv[2] : "";
    if (!strcmp(end, "fail")) return 7;
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "daemon")) {
        int ready[2];
        char byte = 0;
        if (pipe(ready) != 0) return 9;
        if (fork() == 0) {
            close(1);
            close(2);
            signal(SIGTERM, told);
            // Not UTF-8, and its files in /proc belong to root.
            prctl(PR_SET_NAME, "odd) \xd0");
            prctl(PR_SET_DUMPABLE, 0);
            outer(1);
            if (write(ready[1], &byte, 1) != 1) return 9;
            for (int n = 0; n < 60000 && !is_told; n++) usleep(1000);
            outer(2);
            return 0;
        }
        // Let the child record events before this process ends.
        if (read(ready[0], &byte, 1) != 1) return 9;
    }
    if (!strcmp(end, "wait")) {
        signal(SIGTERM, told);
        puts("waits");
        fflush(stdout);
        while (!is_told) usleep(1000);
        return 5;
    }
    if (!strcmp(end, "corrupt")) {
        /* The allocator aborts the program while it holds its lock. */
        char *volatile last = NULL;
        for (int n = 0; n < 400; n++) last = malloc(24);
        memset(last + 24, -1, 8);
        for (int n = 0; n < 4; n++) last = malloc(3000);
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

/// Compiles [`PROGRAM`] with hooks. Returns `None` if there is no compiler.
fn program() -> Option<TempDir> {
    built(PROGRAM)
}

/// Compiles a program with hooks from this source. Returns `None` if there is no compiler.
fn built(text: &str) -> Option<TempDir> {
    compiled(text, "-finstrument-functions")
}

/// Compiles a program from this source. Returns `None` if there is no compiler.
fn compiled(text: &str, flags: &str) -> Option<TempDir> {
    compiled_by("gcc", text, flags)
}

fn compiled_by(compiler: &str, text: &str, flags: &str) -> Option<TempDir> {
    if !atf_samples::tools::has(compiler) {
        return None;
    }
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("program.c"), text).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "program.c", "-o", "program"]);
    command.args(flags.split_whitespace());
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(folder)
}

/// Returns the path of the library that cargo built with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libatf_instrument.so")
}

/// Returns a command that records a program. Options and arguments are separated by spaces.
fn record(folder: &TempDir, options: &str, program: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    command.current_dir(folder.path()).arg("record");
    command
        .args(["--out", "traces", "--library"])
        .arg(library());
    command.args(options.split_whitespace()).arg("--");
    command.args(program.split_whitespace());
    command
}

/// Returns a shell that runs a command, and then becomes an `atf record` with these words.
fn from_shell(folder: &TempDir, before: &str, words: &str) -> Command {
    let script = format!("{before}\nexec \"$0\" record --library \"$1\" --out traces {words}");
    let mut command = Command::new("bash");
    command.current_dir(folder.path()).args(["-c", &script]);
    command.args([assert_cmd::cargo::cargo_bin("atf"), library()]);
    command
}

/// Records a program and returns the messages.
fn messages(folder: &TempDir, options: &str, program: &str) -> String {
    let output = record(folder, options, program).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// Returns a command's exit status, stdout and stderr, with times and paths replaced.
fn outcome(output: &Output, folder: &Path) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let messages = text(&output.stderr);
    let folder = fs::canonicalize(folder).unwrap();
    let messages = messages.replace(folder.to_str().unwrap(), "");
    let constant = |line: &str| match line.split_once(" per second)") {
        Some((before, after)) => format!("{} in …{after}", before.rsplit_once(" in ").unwrap().0),
        None => match line.split_once("/session_") {
            Some((before, _)) => format!("{before}/session_…"),
            None => line.to_owned(),
        },
    };
    // The table is sorted by times, which vary between runs.
    let is_row = |line: &&str| line.starts_with(' ');
    let (table, messages): (Vec<_>, Vec<_>) = messages.lines().partition(is_row);
    let last_cells = |row: &&str| {
        let cells: Vec<_> = row.split_whitespace().collect();
        cells[cells.len() - 2..].join(" ")
    };
    let mut table: Vec<_> = table.iter().map(last_cells).collect();
    table.sort();
    let messages: Vec<_> = messages.into_iter().map(constant).collect();
    let messages = [messages, table].concat().join("\n");
    (output.status.code(), text(&output.stdout), messages)
}

/// Returns the sessions of all runs.
fn sessions(folder: &TempDir) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let runs = list(&folder.path().join("traces"));
    runs.iter().flat_map(|run| list(run)).collect()
}

/// Checks a session, and fails even for advice.
fn check(folder: &TempDir, session: &Path) -> Output {
    let arguments = ["check", "--deny", "should", session.to_str().unwrap()];
    super::atf(folder.path(), &arguments)
}

/// Asserts that the session is accepted, and returns the function names of its events.
fn dumped(folder: &TempDir, session: &Path) -> Vec<String> {
    let check = check(folder, session);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    let text = super::written(folder.path(), &["dump".as_ref(), session.as_os_str()]);
    let name = |line: &str| line.split_whitespace().last().unwrap().to_owned();
    text.lines().map(name).collect()
}

#[test]
fn a_program_is_recorded_with_the_names_of_its_functions() {
    let Some(folder) = program() else { return };
    let output = record(&folder, "", "./program 3").output().unwrap();
    let expected = "\
atf: recorded 10 events of 1 thread in …, no loss recorded
atf: written to /traces/session_…
1 main
1 outer
3 inner
calls function";
    let own = "the program's own output\n".to_owned();
    assert_eq!(
        outcome(&output, folder.path()),
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
fn a_dead_program_s_session_is_finalized() {
    let Some(folder) = program() else { return };
    let output = record(&folder, "", "./program 1 abort").output().unwrap();
    let (status, _, messages) = outcome(&output, folder.path());
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
fn the_events_that_a_dead_program_may_have_lost_are_reported() {
    let Some(folder) = program() else { return };
    let text = messages(&folder, "--ring 64", "./program 1 abort");
    // The lost events: 64 in the ring, and 128 KiB in the writer's buffer.
    let lost = "up to 4160 events of each thread are missing\n";
    for start in ["the process died, so ", "per second), "] {
        assert!(text.contains(&format!("{start}{lost}")), "{text}");
    }
    let [blocking] = &sessions(&folder)[..] else {
        panic!("{text}");
    };
    fs::remove_dir_all(blocking).unwrap();

    let text = messages(&folder, "--ring 64 --overflow drop", "./program 1 abort");
    let lost = "up to 4160 events of each thread, plus those dropped after the last update of the \
                manifest, are missing\n";
    for start in ["the process died, so ", "per second), "] {
        assert!(text.contains(&format!("{start}{lost}")), "{text}");
    }
    let [session] = &sessions(&folder)[..] else {
        panic!("{text}");
    };
    let session = session.to_str().unwrap();
    let missing = "the tracer was killed: up to 4160 events of each thread are missing, plus those \
                   dropped after the last update of the manifest";
    // The finalized files still show the loss.
    for (command, before) in [
        ("last", "\n  ended by SIGABRT\n  "),
        ("info", "the process was ended by SIGABRT\n"),
        ("check", "advice ATF-MANI-016  unwritten_events: "),
    ] {
        let output = super::atf(folder.path(), &[command, session]);
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, rest) = text.split_once(before).expect(&text);
        assert!(rest.trim_start().starts_with(missing), "{command}: {text}");
    }
    // Commands that compute results from the events report how many are missing.
    for command in [
        &["report"][..],
        &["diff", session],
        &["flamegraph", "--out", "flame.svg"],
        &["export", "--format", "chrome", "--out", "chrome.json"],
    ] {
        let output = super::atf(folder.path(), &[command, &[session]].concat());
        let messages = String::from_utf8(output.stderr).unwrap();
        let expected = format!("{session}: {missing}\n");
        assert!(messages.contains(&expected), "{command:?}: {messages}");
    }
    for file in ["chrome.json", "flame.svg"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(missing), "{text}");
    }
    let info = super::written(folder.path(), &["info", session]);
    assert!(info.contains("recovered without losses"), "{info}");
    // The report about the finalization is not copied with the trace.
    for command in [&["cut"][..], &["scrub"], &["convert", "--wire", "2"]] {
        let arguments = [command, &[session, "--out", command[0]]].concat();
        let output = super::atf(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
    }
    let text = super::written(folder.path(), &["last", "--json", session]);
    assert!(
        text.contains(r#""ended_by":"SIGABRT","unwritten_events":"4160","#),
        "{text}"
    );
}

#[test]
fn only_options_determine_how_a_program_is_recorded() {
    let Some(folder) = program() else { return };
    let mut record = record(&folder, "", "./program 3");
    // Simulate an `atf record` that is itself recorded.
    let variables = [
        ("ATF_RECORD", "off"),
        ("ATF_DEPTH", "1"),
        ("ATF_DETAILS", "trigger"),
    ];
    let output = record.envs(variables).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("10 events"), "{messages}");
}

/// Records a program that leaves a child. Returns the child's session and process id.
fn outlived(folder: &TempDir, options: &str) -> (PathBuf, String) {
    let messages = messages(folder, options, "./program 1 daemon");
    let parts: Vec<_> = messages
        .split(": this process is still running and recorded")
        .collect();
    let [before, _] = parts[..] else {
        panic!("{messages}");
    };
    let (_, session) = before.rsplit_once("atf: ").unwrap();
    let (_, process) = session.rsplit_once("/pid_").unwrap();
    (PathBuf::from(session), process.to_owned())
}

#[test]
fn a_child_that_outlives_the_program_keeps_its_session() {
    let Some(folder) = program() else { return };
    let (session, process) = outlived(&folder, "");
    send("KILL", &process);
    // The session still has the files that the program wrote, so nothing is lost.
    let text = super::written(folder.path(), &["dump".as_ref(), session.as_os_str()]);
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_daemon_that_outlives_the_program_finalizes_its_session_when_it_exits() {
    let Some(folder) = program() else { return };
    for options in ["", "--ring 64"] {
        let _ = fs::remove_dir_all(folder.path().join("traces"));
        let (session, process) = outlived(&folder, options);
        let is_finalized = || check(&folder, &session).status.success();
        assert!(!is_finalized());
        send("TERM", &process);
        for _ in 0..600 {
            if is_finalized() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        // In the child: `outer`, `inner`, `told` called by the signal, `outer`, `inner` twice, and
        // the return of `main`.
        assert_eq!(dumped(&folder, &session).len(), 4 + 2 + 6 + 1);
    }
}

/// Runs a script with the words of the command that records a program into a disk of this size.
/// Returns `None` if there is no such disk: containers may forbid namespaces.
fn on_small_disk(folder: &TempDir, size: &str, script: &str, program: &str) -> Option<Output> {
    fs::create_dir_all(folder.path().join("traces")).unwrap();
    let record = record(folder, "", program);
    let mount = format!("mount -t tmpfs -o size={size} none traces || exit 77; {script}");
    let mut command = Command::new("unshare");
    command.current_dir(folder.path());
    command.args(["-rm", "sh", "-c", &mount, "sh"]);
    command.arg(record.get_program()).args(record.get_args());
    let output = command.output().ok()?;
    let is_mounted = output.status.code() != Some(77) && !output.stderr.starts_with(b"unshare");
    is_mounted.then_some(output)
}

#[test]
fn a_full_disk_is_reported_as_the_reason_for_missing_events() {
    let Some(folder) = program() else { return };
    for (size, calls, status, expected) in [
        ("2m", "1000000", 0, "later events may be missing"),
        ("16k", "1", 2, "nothing was recorded: 6 events lost"),
        ("4k", "1", 2, "nothing was recorded: the disk of "),
    ] {
        let program = format!("./program {calls}");
        let Some(output) = on_small_disk(&folder, size, "exec \"$@\"", &program) else {
            return;
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
    let Some(folder) = compiled(PROGRAM, "") else {
        return;
    };
    let output = record(&folder, "", "./program 1").output().unwrap();
    let expected =
        "atf: nothing was recorded: ./program must be compiled with -finstrument-functions and linked dynamically, and must keep its environment".to_owned();
    let own = "the program's own output\n".to_owned();
    assert_eq!(outcome(&output, folder.path()), (Some(2), own, expected));
    let output = record(&folder, "", "./program 1 fail").output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let output = record(&folder, "", "./missing").output().unwrap();
    let expected =
        "atf: ./missing: cannot be run: No such file or directory (os error 2)".to_owned();
    assert_eq!(
        outcome(&output, folder.path()),
        (Some(2), String::new(), expected)
    );
    assert!(sessions(&folder).is_empty());
    // A failed run removes the folder that it created.
    fs::remove_dir(folder.path().join("traces")).unwrap();
    record(&folder, "", "./missing").output().unwrap();
    assert!(!folder.path().join("traces").exists());
}

#[test]
fn only_the_reason_is_reported_for_a_program_killed_before_its_first_event() {
    let folder = TempDir::new().unwrap();
    // If the program is killed while the library reads symbol tables, it leaves such a session.
    let session = SessionWriter::create(folder.path().join("begun"), &WriteOptions::default());
    session.unwrap().finalize().unwrap();
    let script = "cp -r begun \"$ATF_SESSION/pid_$$\" && kill -KILL $$";
    let mut command = record(&folder, "", "sh -c");
    command.arg(script);
    let expected = "\
atf: the program was ended by SIGKILL
atf: nothing was recorded: the program's hooks wrote no event";
    let expected = (Some(128 + 9), String::new(), expected.to_owned());
    assert_eq!(outcome(&command.output().unwrap(), folder.path()), expected);
    let mut command = record(&folder, "", "sh -c");
    let output = command.arg("kill -KILL $$").output().unwrap();
    let expected = "SIGKILL arrived before the first event, or sh must be compiled";
    assert!(String::from_utf8_lossy(&output.stderr).contains(expected));
}

#[test]
fn functions_with_equal_names_are_distinguished_by_module() {
    let text = r#"
        #ifdef PART
        static __attribute__((noinline)) void same(void) { __asm__ volatile(""); }
        void PART(void) { same(); }
        #else
        void a(void), b(void);
        int main(void) { a(); b(); }
        #endif
    "#;
    let Some(folder) = compiled(text, "-DPART=a -shared -fPIC -finstrument-functions") else {
        return;
    };
    let path = |name: &str| folder.path().join(name);
    fs::rename(path("program"), path("liba.so")).unwrap();
    for arguments in [
        "-DPART=b -shared -fPIC -finstrument-functions -o libb.so program.c",
        "-o program program.c ./liba.so ./libb.so",
    ] {
        let mut command = Command::new("gcc");
        command.current_dir(folder.path()).arg("-O1");
        let status = command.args(arguments.split(' ')).status();
        assert!(status.unwrap().success(), "{arguments}");
    }
    let messages = messages(&folder, "", "./program");
    for end in [" same [liba.so]\n", " same [libb.so]\n", " a\n", " b\n"] {
        assert!(messages.contains(end), "{end:?} in {messages}");
    }
}

#[test]
fn without_standard_error_a_dead_program_s_session_is_still_finalized() {
    let Some(folder) = program() else { return };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ways = [
        record(&folder, "--ring 64", "./program 1 kill")
            .stderr(writer)
            .output(),
        from_shell(&folder, "", "--ring 64 -- ./program 1 kill 2>&-").output(),
    ];
    for output in ways {
        assert_eq!(output.unwrap().status.code(), Some(128 + 9));
    }
    let found = sessions(&folder);
    assert_eq!(found.len(), 2);
    for session in found {
        let manifest = fs::read_to_string(session.join("manifest.json")).unwrap();
        assert!(manifest.contains("\"ended_by\": \"SIGKILL\""), "{manifest}");
        dumped(&folder, &session);
    }
}

/// Sends a signal to `atf record` alone, once its program is waiting.
fn signalled(record: &mut Command, signal: &str) -> Output {
    record.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = record.spawn().unwrap();
    // Wait for the program's first byte of output, which shows that it is ready.
    let output = child.stdout.as_mut().unwrap();
    output.read_exact(&mut [0]).unwrap();
    send(signal, &child.id().to_string());
    child.wait_with_output().unwrap()
}

fn send(signal: &str, process: &str) {
    let kill = Command::new("kill")
        .args(["-s", signal, process])
        .status()
        .unwrap();
    assert!(kill.success());
}

#[test]
fn a_program_ignores_the_signals_that_its_caller_ignored() {
    let folder = TempDir::new().unwrap();
    let mut shell = from_shell(&folder, "trap '' XFSZ", "-- grep SigIgn /proc/self/status");
    let output = shell.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(ignores(&text, 25), "SIGXFSZ in {text}");
}

#[test]
fn a_caller_that_ignores_sigchld_gets_the_program_s_exit_status() {
    let Some(folder) = program() else { return };
    let mut shell = from_shell(&folder, "trap '' CHLD", "-- ./program 1 fail");
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(sessions(&folder).len(), 1);
}

/// Returns whether a process with this status, as in `/proc/PID/status`, ignores a signal.
fn ignores(status: &str, signal: u32) -> bool {
    let mask = status.split_once("SigIgn:").expect("a mask of signals").1;
    let mask = mask.split_whitespace().next().unwrap();
    u64::from_str_radix(mask, 16).unwrap() & 1 << (signal - 1) != 0
}

/// A program that waits for a tenth of a second after its first signal, and then exits with the
/// number of its last signal plus 50 times the number of signals. With `LEAVES`, it first leaves
/// the terminal's session.
const SIGNALS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int told, count;
static void tell(int number) { told = number; count++; }
static void wait(long ns) { nanosleep(&(struct timespec){ 0, ns }, NULL); }
int main(void) {
    const int all[] = { SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT, SIGURG, SIGWINCH };
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) signal(all[n], tell);
#ifdef LEAVES
    if (setsid() < 0) return 9;
#endif
    puts("waits");
    fflush(stdout);
    for (int n = 0; n < 60000 && !told; n++) wait(1000000);
    for (int n = 0; n < 100; n++) wait(1000000);
    return 50 * count + told;
}
"#;

#[test]
fn ctrl_c_reaches_the_program_once_even_outside_the_terminal_s_session() {
    if !atf_samples::tools::has("script") {
        return;
    }
    for flags in ["", "-DLEAVES"] {
        let Some(folder) = compiled(SIGNALS, &format!("-finstrument-functions {flags}")) else {
            return;
        };
        let record = record(&folder, "", "./program");
        let words = [record.get_program()].into_iter().chain(record.get_args());
        let words: Vec<_> = words.map(|word| word.to_str().unwrap()).collect();
        // Without `exec`, some shells would remain in the foreground and be killed by the signal,
        // or exit with their own status.
        let line = format!("exec {}", words.join(" "));
        // A caller may ignore SIGINT, as a shell does for a command in the background.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", "script", "-q", "-e", "-c"]);
        command.args([&*line, "/dev/null"]);
        command.current_dir(folder.path()).stdin(Stdio::piped());
        let mut terminal = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = terminal.stdout.take().unwrap();
        let mut text = Vec::new();
        while !text.ends_with(b"waits") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            text.extend(byte);
        }
        let mut input = terminal.stdin.take().unwrap();
        input.write_all(b"\x03").unwrap();
        output.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text);
        let status = terminal.wait().unwrap().code();
        assert_eq!(status, Some(50 + 2), "{flags}: {text}");
    }
}

#[test]
fn signals_are_passed_to_the_program() {
    let Some(folder) = built(SIGNALS) else { return };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    for (signal, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("USR1", 10),
        ("USR2", 12),
        ("TERM", 15),
        ("CONT", 18),
        ("URG", 23),
        ("WINCH", 28),
    ] {
        // Some signals may be ignored, for example if the tests were started with nohup.
        if ignores(&status, number) {
            continue;
        }
        // Run in a session without a terminal, because a terminal would send some signals to the
        // program itself.
        let record = record(&folder, "", "./program");
        let mut command = Command::new("setsid");
        command.arg(record.get_program()).args(record.get_args());
        command.current_dir(folder.path());
        let output = signalled(&mut command, signal);
        let status = output.status.code();
        assert_eq!(status, Some(50 + number.cast_signed()), "{signal}");
    }
}

#[test]
fn the_program_stops_and_continues_with_the_recorder() {
    let Some(folder) = built(SIGNALS) else { return };
    let mut command = record(&folder, "", "./program");
    // Run in the background of any terminal.
    let mut child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let id = child.id().to_string();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    send("TSTP", &id);
    let start = Instant::now();
    for process in [&id, children.trim()] {
        while !is_stopped(process) {
            assert!(start.elapsed() < Duration::from_secs(60), "{process}");
            thread::sleep(Duration::from_millis(1));
        }
    }
    send("CONT", &id);
    assert_eq!(child.wait().unwrap().code(), Some(50 + 18));
}

fn is_stopped(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.contains(") T ")
}
