//! Tests the environment variables.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use atf::clock::now_ns;
use atf_record::CounterClock;
use atf_samples::tools::{has, skip};

use crate::support::{Program, Run};

const SETTINGS: &str = include_str!("settings.txt");

fn run(program: &Program, variables: &[(&str, &str)]) -> Run {
    program.run_with(&["threads"], variables)
}

#[test]
fn a_depth_limits_what_is_recorded() {
    Program::with("life.c", |program| {
        let trace = run(program, &[("ATF_DEPTH", "3")]).session().accepted();
        // The calls of early and late, and in each of three threads, one call of work and three of
        // tree.
        assert_eq!(trace.calls().returned, 2 + 3 * 4);
    });
}

#[test]
fn modules_are_chosen_by_path_or_name() {
    Program::with("life.c", |program| {
        for (globs, is_recorded) in [
            ("program", true),
            ("lib*", false),
            ("!program", false),
            ("!lib*", true),
            ("*,!*/program", false),
            ("!*/program,prog*", true),
        ] {
            let run = run(program, &[("ATF_MODULES", globs)]);
            let events = run.session().event_count();
            let expected = if is_recorded { 2 * run.counted() } else { 0 };
            assert_eq!(events, expected, "{globs}");
        }
    });
}

#[test]
fn times_come_from_the_chosen_clock_and_its_error_is_recorded() {
    Program::with("life.c", |program| {
        for (clock, has_error) in [("system", false), ("tsc", CounterClock::is_available())] {
            let before = now_ns();
            let run = run(program, &[("ATF_CLOCK", clock)]);
            let after = now_ns();
            if clock == "tsc" && !has_error {
                let why = "this processor has no constant-rate counter";
                assert_eq!(run.messages(), format!("atf: ATF_CLOCK=tsc: {why}\n"));
                continue;
            }
            let trace = run.session().accepted();
            assert_eq!(trace.event_count(), 2 * run.counted());
            let error = trace.reader.manifest().unwrap().clock_error_ns;
            assert_eq!(error.is_some(), has_error);
            for (_, events) in trace.threads() {
                // A run of a few milliseconds is too short for better precision.
                let slack = 1_000_000;
                let times = events.iter().map(|event| event.timestamp_ns);
                assert!(times.clone().min().unwrap() + slack > before);
                assert!(times.max().unwrap() < after + slack);
            }
        }
    });
}

#[test]
fn nothing_is_recorded_on_request_or_if_a_setting_is_invalid() {
    Program::with("life.c", |program| {
        for line in SETTINGS.lines().filter(|line| !line.starts_with('#')) {
            let (settings, message) = line.split_once(" |").unwrap();
            let settings = settings.split(' ').map(|it| it.split_once('=').unwrap());
            let run = program.succeeds(&["threads"], &settings.collect::<Vec<_>>());
            assert!(run.counted() > 1000);
            let message = match message.trim_start() {
                "" => String::new(),
                text => format!("atf: {text}\n"),
            };
            assert_eq!(run.messages(), message, "{line}");
            assert!(run.sessions.is_empty(), "{line}");
        }
    });
}

#[test]
fn a_program_continues_if_its_folder_cannot_be_written() {
    Program::with("life.c", |program| {
        fs::write(program.traces(), []).unwrap();
        let run = program.command(&["threads"]).output().unwrap();
        assert!(run.status.success());
        let message = String::from_utf8(run.stderr).unwrap();
        let start = "atf: nothing is recorded: ";
        assert!(message.starts_with(start), "{message}");
        assert_eq!(message.lines().count(), 1);
    });
}

#[test]
fn a_session_is_still_written_after_its_folder_is_moved() {
    Program::with("life.c", |program| {
        let moved = program.folder.path().join("moved");
        let run = program.run(&["moved", moved.to_str().unwrap()]);
        assert_eq!((run.output.status.code(), &*run.messages()), (Some(0), ""));
        // No folder was created in the old place.
        assert!(run.sessions.is_empty() && !program.traces().exists());
        fs::rename(&moved, program.traces()).unwrap();
        let sessions = program.sessions();
        let run = Run { sessions, ..run };
        assert_eq!(run.session().accepted().calls().returned, run.counted());
    });
}

#[test]
fn a_program_with_more_privileges_than_its_user_is_not_recorded() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip("only root can start such a program");
    }
    if !has("setpriv") {
        return;
    }
    Program::each("life.c", |program| {
        let mut command = Command::new("setpriv");
        command.args(["--ruid", "65534"]).arg(program.path());
        let run = program.finished(program.record(&mut command));
        assert_eq!(run.counted(), 2);
        assert!(run.sessions.is_empty());
    });
}
