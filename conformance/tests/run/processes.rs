//! Nothing is left of a testee: no process, no folder.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use atf_conformance::results::{Failure, Outcome};

use serde_json::json;

use crate::support::{Bench, LONG, document, failure};

/// The processes that work in a folder, or were told that it is theirs.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let of = |path: &Path| {
        let text = |name: &str| {
            let bytes = fs::read(path.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let is_own = text("environ").contains(folder)
            || fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        is_own.then(|| text("cmdline"))
    };
    let processes = fs::read_dir("/proc").unwrap();
    processes
        .flatten()
        .filter_map(|entry| of(&entry.path()))
        .collect()
}

#[track_caller]
fn nothing_is_left(bench: &Bench) {
    assert_eq!(processes_of(&bench.cases()), Vec::<String>::new());
    let folders = fs::read_dir(bench.cases()).unwrap();
    assert_eq!(folders.count(), 0, "folders are left");
}

#[test]
fn the_search_for_processes_finds_one() {
    let bench = Bench::new();
    let mut sleep = Command::new("sleep")
        .arg("1000")
        .current_dir(bench.cases())
        .spawn()
        .unwrap();
    let found = processes_of(&bench.cases());
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert_eq!(found, ["sleep 1000 "]);
}

#[test]
fn what_it_starts_in_the_background_ends_with_it() {
    let bench = Bench::new();
    let document = document();
    let result = bench.one(&format!("sleep 1000 & sleep 1000 & echo '{document}'"));
    assert_eq!(result.outcome, Outcome::Passed);
    assert!(
        result.stderr.contains("2 more processes"),
        "{}",
        result.stderr
    );
    nothing_is_left(&bench);
}

#[test]
fn what_leaves_its_session_and_hides_ends_too() {
    let bench = Bench::new();
    let document = document();
    // No other process on the machine sleeps as long.
    let time = format!("1000.{}", std::process::id());
    // In a session of its own, away from the folder, without its environment, its parent gone.
    let script = format!(
        "(cd / && env -i setsid sh -c 'sleep {time} >/dev/null 2>&1 </dev/null & sleep {time}' &)\n\
         sleep 0.3; echo '{document}'"
    );
    let result = bench.one(&script);
    assert_eq!(result.outcome, Outcome::Passed, "{result:?}");
    assert_eq!(sleeps(&time), 0);
    nothing_is_left(&bench);
}

/// How many processes sleep that long.
fn sleeps(time: &str) -> usize {
    let line = format!("sleep\0{time}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.map(|entry| fs::read(entry.path().join("cmdline")));
    lines
        .filter(|found| matches!(found, Ok(found) if *found == line.as_bytes()))
        .count()
}

#[test]
fn a_timeout_leaves_nothing_whatever_was_started() {
    let mut bench = Bench::new();
    bench.limits.time = Duration::from_millis(700);
    let script = "trap '' TERM\n\
         for i in 1 2 3; do (trap '' TERM; setsid sh -c 'while :; do sleep 0.05; done') & done\n\
         while :; do sleep 0.1; done";
    let result = bench.one(script);
    assert_eq!(failure(&result).0, Failure::Timeout);
    nothing_is_left(&bench);
}

#[test]
fn one_that_forks_without_end_is_ended() {
    let mut bench = Bench::new();
    bench.limits.time = Duration::from_millis(700);
    // Each starts another one in the background and ends, so that all are orphans.
    let script = "cat > again.sh <<'.'\nsleep 0.01; setsid sh again.sh &\n.\n\
                  sh again.sh & sh again.sh & sleep 1000";
    let result = bench.one(script);
    assert_eq!(failure(&result).0, Failure::Timeout);
    nothing_is_left(&bench);
}

#[test]
fn every_way_to_end_leaves_nothing() {
    for script in [
        "exit 3",
        "kill -11 $$",
        "exec yes",
        "echo '{}' > file; mkdir -p a/b; exit 0",
    ] {
        let mut bench = Bench::new();
        bench.limits.output = 1 << 20;
        bench.one(script);
        nothing_is_left(&bench);
    }
}

#[test]
fn a_folder_without_rights_is_removed_too() {
    let bench = Bench::new();
    bench.one("mkdir -p a/b; touch a/b/c; chmod 000 a/b a");
    nothing_is_left(&bench);
}

#[test]
fn its_folder_is_empty_its_input_is_closed_and_its_group_is_its_own() {
    let bench = Bench::new();
    let script = "[ -z \"$(ls -A)\" ] || exit 10\n\
         [ \"$TMPDIR\" = \"$PWD\" ] || exit 11\n\
         [ -z \"$(cat)\" ] || exit 12\n\
         [ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] || exit 13\n\
         touch mine; exit 77";
    let results = bench.run(
        &[bench.reader("curious", script)],
        (0..5)
            .map(|n| crate::support::case(&format!("v1/{n}")))
            .collect(),
    );
    for result in &results.cases {
        assert!(
            matches!(result.outcome, Outcome::Skipped { .. }),
            "{result:?}"
        );
    }
}

#[test]
fn a_testee_that_ends_its_warden_harms_no_other() {
    let bench = Bench::new();
    let rude = bench.reader("rude", "kill -9 $PPID; sleep 0.2");
    let good = bench.says("good", &document(), 0);
    let cases = (0..4)
        .map(|n| crate::support::case(&format!("v1/{n}")))
        .collect();
    let results = bench.run(&[rude, good], cases);
    for result in &results.cases {
        match result.testee {
            0 => assert_eq!(failure(result).0, Failure::Crash),
            _ => assert_eq!(result.outcome, Outcome::Passed, "{result:?}"),
        }
    }
}

#[test]
fn when_the_kit_is_gone_its_testees_end_and_its_folders_go() {
    let bench = Bench::new();
    let cases = bench.cases().join("run");
    let work = cases.join("0/work");
    fs::create_dir_all(&work).unwrap();
    let mut warden = Command::new(env!("CARGO_BIN_EXE_atf-conformance"))
        .arg("warden")
        .arg(&cases)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut kit = warden.stdin.take().unwrap();
    let job = json!({
        "command": ["sh", "-c", "trap '' TERM; sleep 1000 & setsid sleep 1000 & sleep 1000"],
        "folder": work,
        "time": {"secs": 1000, "nanos": 0},
        "memory": 1 << 30,
        "output": 1 << 20,
    });
    writeln!(kit, "{job}").unwrap();
    let sleeping = || {
        let processes = processes_of(&work);
        processes
            .iter()
            .filter(|line| *line == "sleep 1000 ")
            .count()
    };
    let start = Instant::now();
    while sleeping() < 3 {
        assert!(start.elapsed() < LONG, "the testee does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    // All that a warden sees of a kit that was killed.
    drop(kit);
    warden.wait().unwrap();
    nothing_is_left(&bench);
}
