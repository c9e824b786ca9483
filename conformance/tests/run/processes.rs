//! Tests that runs leave nothing behind: no process and no folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atf_conformance::results::{Failure, Outcome};
use atf_conformance::run::warden::{End, Warden};
use atf_conformance::run::{Ended, Limits, readings};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Bench, KIT, assert_all_pass, candidate, case, document, failure, wait_until};

/// Returns the folders of all processes in `/proc`.
fn processes() -> impl Iterator<Item = PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.map(|entry| entry.path())
}

/// Returns a process's file without failing if the process has just ended.
fn text(process: &Path, file: &str) -> String {
    let bytes = fs::read(process.join(file)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the command lines of processes whose working folder or environment refers to `folder`.
fn processes_of(folder: &Path) -> Vec<String> {
    let name = folder.to_str().unwrap();
    let is_own = |process: &PathBuf| {
        text(process, "environ").contains(name)
            || fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    let own = processes().filter(is_own);
    own.map(|process| text(&process, "cmdline").replace('\0', " "))
        .collect()
}

/// Counts the processes that have this word among their arguments.
fn processes_with(word: &str) -> usize {
    let lines = processes().map(|process| text(&process, "cmdline"));
    lines
        .filter(|line| line.split('\0').any(|it| it == word))
        .count()
}

#[track_caller]
fn nothing_is_left(bench: &Bench) {
    assert_eq!(processes_of(&bench.cases), Vec::<String>::new());
    no_folder_is_left(bench);
}

#[track_caller]
fn no_folder_is_left(bench: &Bench) {
    let folders = fs::read_dir(&bench.cases).unwrap();
    assert_eq!(folders.count(), 0, "leftover folders");
}

#[test]
fn the_search_for_processes_finds_one() {
    let bench = Bench::new();
    let mut sleep = Command::new("sleep");
    let mut sleep = sleep.arg("1000").current_dir(&bench.cases).spawn().unwrap();
    // A process that is just being started has no command line yet.
    wait_until(|| processes_of(&bench.cases) != [""]);
    let found = processes_of(&bench.cases);
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert_eq!(found, ["sleep 1000 "]);
}

#[test]
fn a_detached_process_is_ended() {
    let bench = Bench::new();
    let document = document();
    let time = own_time();
    // This process is an orphan in its own session, outside the folder and without the environment
    // variables.
    let script = format!(
        "(cd / && env -i setsid sh -c 'sleep {time} >/dev/null 2>&1 </dev/null & sleep {time}' &)\n\
         sleep 0.3; echo '{document}'"
    );
    let result = bench.one(&script);
    assert_eq!(result.outcome, Outcome::Passed, "{result:?}");
    assert_eq!(processes_with(&time), 0);
    nothing_is_left(&bench);
}

/// Returns a number of seconds for which no other process sleeps, so that it identifies the
/// processes of one test.
fn own_time() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1000);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{count}.{}", std::process::id())
}

#[test]
fn a_timeout_leaves_no_process() {
    for script in [
        "trap '' TERM\n\
         for i in 1 2 3; do (trap '' TERM; setsid sh -c 'while :; do sleep 0.05; done') & done\n\
         while :; do sleep 0.1; done",
        // Each process starts another one in the background and then ends, so all of them become
        // orphans.
        "cat > again.sh <<'.'\nsleep 0.01; setsid sh again.sh &\n.\n\
         sh again.sh & sh again.sh & sleep 1000",
    ] {
        let mut bench = Bench::new();
        bench.options.limits.time = Duration::from_millis(700);
        let result = bench.one(script);
        assert_eq!(failure(&result).0, Failure::Timeout, "{script}");
        nothing_is_left(&bench);
    }
}

#[test]
fn every_way_to_end_leaves_nothing_behind() {
    for script in [
        "exit 3",
        "kill -11 $$",
        "exec yes",
        "echo '{}' > file; mkdir -p a/b; exit 0",
        "mkdir -p a/b; touch a/b/c; chmod 000 a/b a",
    ] {
        let mut bench = Bench::new();
        bench.options.limits.output = 1 << 20;
        bench.one(script);
        nothing_is_left(&bench);
    }
}

#[test]
fn a_folder_that_cannot_be_removed_is_a_note_and_not_a_failure() {
    let mut bench = Bench::new();
    // Make the path so long that the path of the implementation's folder exceeds the system's
    // limit.
    while bench.cases.as_os_str().len() < 3830 {
        bench.cases.push("l".repeat(100));
    }
    fs::create_dir_all(&bench.cases).unwrap();
    let name = "n".repeat(255);
    let document = document();
    let rude = bench.reader("rude", &format!("mkdir {name}; echo '{document}'"));
    let good = bench.says("good", &document, 0);
    let results = bench.run(&[rude, good], vec![case("v1/one")]);
    let notes: Vec<_> = results.cases.iter().map(|case| &*case.notes).collect();
    let [[note], []] = notes[..] else {
        panic!("{results:?}")
    };
    let expected = format!("cannot remove its folder: {name}: ");
    assert!(note.text.starts_with(&expected), "{note}");
    assert_all_pass(&results);
}

/// Returns a reader's script that answers valid files correctly, so that it passes the smoke test,
/// and runs `script` for all others.
fn after_the_smoke_test(script: &str) -> String {
    format!("{KIT} testee read \"$1\" >answer && exec cat answer; {script}")
}

#[test]
fn a_process_has_an_empty_folder_a_closed_input_and_its_own_group() {
    let bench = Bench::new();
    let script = "[ -z \"$(ls -A)\" ] || exit 10\n\
         [ \"$TMPDIR\" = \"$PWD\" ] || exit 11\n\
         [ -z \"$(cat)\" ] || exit 12\n\
         [ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] || exit 13\n\
         touch mine; exit 77";
    let cases = (0..5).map(|n| case(&format!("v1/{n}")));
    let results = bench.run(&[bench.reader("curious", script)], cases.collect());
    let is_skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
    let mut outcomes = results.cases.iter().map(|case| &case.outcome);
    assert!(outcomes.all(is_skipped), "{results:?}");
}

#[test]
fn a_program_that_is_still_being_written_is_started_when_complete() {
    let bench = Bench::new();
    let program = bench.path().join("built");
    let mut file = fs::File::create(&program).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755))
        .unwrap();
    write!(file, "#!/bin/sh\necho '{}'\n", document()).unwrap();
    file.flush().unwrap();
    let text = "protocol = 1\nname = 'built'\nversion = '1'\nread = ['./built', '{path}']\nwire = [1]\n\
                features = ['index']\n";
    let reader = candidate(&bench.path().join("built.toml"), text);
    let closes = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(file);
    });
    let result = bench.grade(reader, case("v1/one"));
    closes.join().unwrap();
    assert_eq!(result.outcome, Outcome::Passed, "{result:?}");
}

#[test]
fn stopping_or_killing_the_warden_affects_no_other_implementation() {
    for signal in ["STOP", "KILL"] {
        let bench = Bench::new();
        let time = own_time();
        // One of the processes is in its own session, outside the folder and without the
        // environment variables.
        let rude = format!(
            "cd /; env -i setsid sleep {time} &\n\
             until grep -q ^sleep /proc/$!/cmdline; do sleep 0.01; done\n\
             kill -{signal} $PPID; sleep {time}"
        );
        let rude = bench.reader("rude", &rude);
        let good = bench.says("good", &document(), 0);
        let cases = (0..3).map(|n| case(&format!("v1/{n}")));
        let message = "it stopped or killed its supervising process";
        let results = bench.run(&[rude, good], cases.collect());
        for result in &results.cases {
            match result.testee {
                0 => assert_eq!(failure(result), (Failure::Crash, message)),
                _ => assert_eq!(result.outcome, Outcome::Passed, "{result:?}"),
            }
        }
        assert_eq!(processes_with(&time), 0, "{signal}");
        nothing_is_left(&bench);
    }
}

#[test]
fn a_stopped_warden_and_keeper_are_not_awaited_forever() {
    let mut bench = Bench::new();
    // The kit must stop waiting before the warden could report a timeout.
    bench.options.limits.time = Duration::from_secs(3);
    bench.options.limits.margin = Duration::ZERO;
    let keeper = "$(cut -d' ' -f4 /proc/$PPID/stat)";
    let result = bench.one(&format!("kill -STOP {keeper} $PPID; sleep 1000"));
    let message = "its supervising process does not answer";
    assert_eq!(failure(&result), (Failure::Crash, message));
    nothing_is_left(&bench);
}

/// Returns a reader's script that kills its supervising processes and leaves two processes that
/// sleep for `time`.
fn kills_its_keeper(time: &str) -> String {
    after_the_smoke_test(&format!(
        "keeper=$(cut -d' ' -f4 /proc/$PPID/stat)\n\
         cd /; env -i setsid sleep {time} &\n\
         until grep -q ^sleep /proc/$!/cmdline; do sleep 0.01; done\n\
         kill -KILL $keeper $PPID; sleep {time}"
    ))
}

#[test]
fn killing_the_warden_and_its_keeper_leaves_only_processes_that_the_kit_did_not_start() {
    let bench = Bench::new();
    let (foreign, own) = (own_time(), own_time());
    bench.reader("rude", &kills_its_keeper(&own));
    // The kit replaces the shell, and becomes the parent of its background process.
    let run = format!(
        "setsid sh -c 'sleep {foreign} & wait' >/dev/null 2>&1 & echo $!\n\
         exec {KIT} run rude.toml --case 'v1/ihdr-002-*' --report tap --time-limit 60"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &run]).current_dir(bench.path());
    let output = shell.env("TMPDIR", &bench.cases).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let left = (processes_with(&foreign), processes_with(&own));
    let mut processes = processes_of(&bench.cases);
    processes.retain(|line| !line.contains(&foreign));
    let group = text.lines().next().and_then(|line| line.parse().ok());
    let group = Pid::from_raw(group.unwrap()).unwrap();
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    let message = "it stopped or killed its supervising process";
    assert!(text.contains(message), "{output:?}");
    assert_eq!((left, processes), ((1, 0), Vec::new()));
    no_folder_is_left(&bench);
}

/// Runs a command with a warden.
fn run(warden: &mut Warden, command: &[&str], folder: &Path, limits: &Limits) -> Ended {
    let command: Vec<_> = command.iter().map(|word| (*word).to_owned()).collect();
    let interrupt = AtomicUsize::new(0);
    let ended = warden.run(&command, folder, None, limits, &interrupt);
    ended.unwrap()
}

#[test]
fn a_dropped_warden_leaves_the_cases_to_the_kit() {
    let bench = Bench::new();
    let work = bench.cases.join("work");
    fs::create_dir(&work).unwrap();
    let mut warden = Warden::start(Path::new(KIT), &bench.cases).unwrap();
    let limits = bench.options.limits;
    let ended = run(&mut warden, &["true"], &work, &limits);
    assert_eq!(ended.end, End::Exited(0));
    let ended = run(&mut warden, &["./no-such-program"], &work, &limits);
    let why = "No such file or directory (os error 2)".to_owned();
    assert_eq!(ended.end, End::NotStarted(why));
    // Output past the limit is discarded.
    let limits = Limits {
        output: 1000,
        ..limits
    };
    let ended = run(&mut warden, &["yes"], &work, &limits);
    assert_eq!((ended.end, ended.output), (End::Output(1000), Vec::new()));
    // The processes are the warden and its keeper.
    let cases = bench.cases.to_str().unwrap();
    assert_eq!(processes_with(cases), 2);
    drop(warden);
    // The warden has ended and left the folder for cases, because the kit is still running.
    assert_eq!(processes_with(cases), 0);
    assert!(work.is_dir());
}

#[test]
fn output_over_the_limit_is_never_an_answer_even_if_the_program_has_ended() {
    let bench = Bench::new();
    let mut warden = Warden::start(Path::new(KIT), &bench.cases).unwrap();
    let limits = Limits {
        output: 1000,
        ..bench.options.limits
    };
    let mut prints = |size: &str| {
        let command = ["head", "-c", size, "/dev/zero"];
        let ended = run(&mut warden, &command, &bench.cases, &limits);
        (ended.end, ended.output.len())
    };
    // The program ends at about the time at which the warden reads its output, so either may be
    // noticed first.
    for _ in 0..300 {
        assert_eq!(prints("1001"), (End::Output(1000), 0));
    }
    assert_eq!(prints("1000"), (End::Exited(0), 1000));
}

/// Starts the kit as the warden of a folder for cases, and gives it a shell command to run in
/// `work`. Returns it with its input.
fn warden_with(script: &str, cases: &Path, work: &Path) -> (Child, ChildStdin) {
    let mut warden = Command::new(KIT);
    warden.arg("warden").arg(cases);
    warden.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut warden = warden.spawn().unwrap();
    let mut kit = warden.stdin.take().unwrap();
    let job = json!({
        "command": ["sh", "-c", script],
        "folder": work,
        "time": {"secs": 1000, "nanos": 0},
        "memory": 1 << 30,
        "output": 1 << 20,
    });
    writeln!(kit, "{job}").unwrap();
    (warden, kit)
}

#[test]
fn a_warden_has_no_children_after_its_answer() {
    let bench = Bench::new();
    let script = "sleep 1000 & setsid sleep 1000 & exit 3";
    let (mut warden, mut kit) = warden_with(script, &bench.cases, &bench.cases);
    let mut answer = String::new();
    let mut output = BufReader::new(warden.stdout.take().unwrap());
    output.read_line(&mut answer).unwrap();
    // Zombies are still in the list of children. A thread of the warden may end before it is read.
    let tasks = fs::read_dir(format!("/proc/{}/task", warden.id())).unwrap();
    let children = tasks.flatten().map(|task| text(&task.path(), "children"));
    assert_eq!(children.collect::<String>(), "", "{answer}");
    assert!(answer.contains("{\"Exited\":3}"), "{answer}");
    assert!(answer.contains("[ended 2 leftover processes]"), "{answer}");
    // An empty line means that there are no more jobs, but that the kit continues.
    writeln!(kit).unwrap();
    assert!(warden.wait().unwrap().success());
    assert!(bench.cases.is_dir());
}

#[test]
fn an_interrupted_run_is_ended_by_its_signal_and_leaves_nothing_behind() {
    for signal in [Signal::INT, Signal::TERM] {
        let bench = Bench::new();
        let page = bench.path().join("page.html");
        bench.reader("slow", &after_the_smoke_test("exec sleep 1000"));
        let mut kit = Command::new(KIT);
        kit.args(["run", "slow.toml", "--case", "v1/ihdr-00*"])
            .args(["--time-limit", "1000", "--report", "html=page.html"])
            .current_dir(bench.path())
            .env("TMPDIR", &bench.cases);
        let mut kit = kit.spawn().unwrap();
        wait_until(|| processes_of(&bench.cases).contains(&"sleep 1000 ".to_owned()));
        kill_process(Pid::from_child(&kit), signal).unwrap();
        let status = kit.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()));
        assert!(!page.exists(), "an empty report");
        nothing_is_left(&bench);
    }
}

#[test]
fn an_implementation_that_damages_the_kits_folders_does_not_affect_the_others() {
    let bench = Bench::new();
    let cases = bench.cases.display();
    let document = document();
    let up_to = |folder: &str| {
        format!("d=$PWD; while [ \"$(dirname $d)\" != {folder} ]; do d=$(dirname $d); done")
    };
    let first = up_to(&bench.cases.to_string_lossy());
    let is_passed = |script: &str| {
        let bad = bench.reader("bad", &format!("{script}\necho '{document}'"));
        let good = bench.says("good", &document, 0);
        let tasks = readings([case("v1/one"), case("v1/two")]);
        let results = bench.run_tasks(&[bad, good], &tasks, 1);
        let of_good = results.cases.iter().filter(|result| result.testee == 1);
        let outcomes: Vec<_> = of_good.map(|result| result.outcome.clone()).collect();
        assert_eq!(outcomes.len(), 2, "{script}");
        outcomes.iter().for_each(|outcome| match outcome {
            Outcome::Failed { class, message, .. } => {
                assert_eq!(*class, Failure::Crash);
                let start = "the kit itself could not run the case: ";
                assert!(message.starts_with(start), "{message}");
            }
            other => assert_eq!(*other, Outcome::Passed, "{script}"),
        });
        outcomes.iter().all(|outcome| *outcome == Outcome::Passed)
    };
    for script in [
        format!("{first}; rm -rf $d; echo >$d"),
        format!("{first}; mv $d {cases}/other; ln -s /proc $d; rm -rf {cases}/other"),
        format!("for d in {cases}/*; do rm -rf $d; echo >$d; done"),
        format!("chmod 0 {cases}/*"),
        format!("rm -rf {cases}"),
    ] {
        assert!(is_passed(&script), "{script}");
        nothing_is_left(&bench);
    }
    assert!(!is_passed(&format!("rm -rf {cases}; echo >{cases}")));
}

#[test]
fn when_the_kit_dies_its_processes_end_and_its_folders_are_removed() {
    let bench = Bench::new();
    let cases = bench.cases.join("run");
    let work = cases.join("0/work");
    fs::create_dir_all(&work).unwrap();
    let script = "trap '' TERM; sleep 1000 & setsid sleep 1000 & sleep 1000";
    let (mut warden, kit) = warden_with(script, &cases, &work);
    wait_until(|| {
        let processes = processes_of(&work).into_iter();
        processes.filter(|line| line == "sleep 1000 ").count() >= 3
    });
    // Close the warden's input. If the kit is killed, this is all that the warden notices.
    drop(kit);
    warden.wait().unwrap();
    nothing_is_left(&bench);
}
