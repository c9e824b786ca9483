//! Tests how programs end, also by SIGKILL.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::{Calls, Program, Trace};

#[test]
fn threads_that_still_run_are_finalized_too() {
    Program::each("life.c", |program| {
        let run = program.run(&["live"]);
        let calls = run.counted();
        let trace = run.session().accepted();
        // One function never returns.
        let expected = Calls {
            returned: calls - 1,
            open: 1,
            ..Calls::default()
        };
        assert_eq!(trace.calls(), expected);
        assert_eq!(trace.threads().len(), 2);
    });
}

#[test]
fn a_program_whose_main_thread_has_ended_ends_with_its_last_thread() {
    Program::each("main_exit.c", |program| {
        for variables in [&[][..], &[("ATF_RING", "64")]] {
            for (mode, calls) in [
                ("alone", 2),
                ("odd_name", 2),
                ("thread", 4),
                ("join", 4),
                ("late", 1),
            ] {
                let run = program.succeeds(&[mode], variables);
                assert_eq!(run.messages(), "", "{mode}");
                assert_eq!(run.counted(), calls, "{mode}");
                let trace = run.session().accepted();
                let returned = Calls::all_returned(calls);
                assert_eq!(trace.calls(), returned, "{mode}");
            }
        }
    });
}

/// The bit of a status, as from `wait`, that indicates a core dump.
const CORE: i32 = 0x80;

#[test]
fn a_process_whose_main_thread_ends_without_notice_ends_as_if_it_were_not_recorded() {
    Program::each("leader.c", |program| {
        for variables in [&[][..], &[("ATF_RING", "64")]] {
            for (mode, status, calls, open) in [
                ("exit", Some(3 << 8), 1, 0),
                ("die", Some(libc::SIGSYS), 1, 0),
                // If another thread was the last one, the status depends on the kernel's version.
                ("exit, thread", None, 3, 0),
                ("die, thread", None, 3, 0),
                // The function that ends its thread does not return.
                ("exit, raw thread", None, 3, 1),
                ("raw thread", None, 3, 1),
            ] {
                let command = || {
                    let mut command = program.command(&[mode]);
                    command.envs(variables.iter().copied());
                    command
                };
                let alone = command().env("ATF_RECORD", "off").output().unwrap();
                let alone = alone.status.into_raw() & !CORE;
                let run = program.finished(&mut command());
                let found = run.output.status.into_raw() & !CORE;
                assert_eq!((found, alone), (status.unwrap_or(alone), found), "{mode}");
                assert_eq!(run.messages(), "", "{mode}");
                assert_eq!(run.counted(), calls, "{mode}");
                let expected = Calls {
                    returned: calls - open,
                    open,
                    ..Calls::default()
                };
                assert_eq!(run.session().accepted().calls(), expected, "{mode}");
            }
        }
    });
}

/// A program that forbids itself to open or write files is not killed because of the library's.
#[test]
fn a_program_in_a_sandbox_ends_as_if_it_were_not_recorded() {
    Program::each("leader.c", |program| {
        let run = program.run(&["sandbox"]);
        assert_eq!(run.output.status.code(), Some(5), "{:?}", run.output);
        assert_eq!(run.session().accepted().calls().returned, 101);
        // The kernel kills the drain: threads wait neither for it nor for room in a ring.
        for variables in [&[][..], &[("ATF_RING", "8")]] {
            let run = program.run_with(&["sandbox all"], variables);
            assert_eq!(run.output.status.code(), Some(5), "{:?}", run.output);
            let why = "the system ended the thread that writes the recording";
            assert!(run.messages().contains(why), "{:?}", run.output);
        }
    });
}

/// Without root, the program ends with status 77.
#[test]
fn a_process_that_changed_its_root_directory_ends_as_if_it_were_not_recorded() {
    Program::with("leader.c", |program| {
        let root = tempfile::tempdir().unwrap();
        for (mode, status) in [
            ("exit, chroot", 3 << 8),
            ("die, chroot", libc::SIGSYS),
            // The library cannot find out the status.
            ("exit, closed, chroot", 0),
        ] {
            let mut command = program.command(&[mode, root.path().to_str().unwrap()]);
            let output = program.finished(&mut command).output;
            let found = output.status.into_raw() & !CORE;
            assert!([status, 77 << 8].contains(&found), "{mode}: {output:?}");
        }
    });
}

#[test]
fn a_child_that_ends_without_notice_ends_with_its_status() {
    Program::each("leader.c", |program| {
        let run = program.succeeds(&["clone"], &[]);
        assert_eq!(run.counted(), 7 << 8);
        let calls = run.sessions.iter();
        let calls = calls.map(|path| Trace::open(path).accepted().calls().returned);
        assert_eq!(calls.collect::<Vec<_>>(), [1, 1]);
    });
}

#[test]
fn all_events_of_a_program_that_dies_are_recorded() {
    Program::each("life.c", |program| {
        for (way, code, signal) in [("_exit", Some(3), None), ("abort", None, Some(6))] {
            let run = program.run(&[way]);
            let status = run.output.status;
            assert_eq!((status.code(), status.signal()), (code, signal));
            let calls = run.session().calls();
            assert_eq!(calls, Calls::all_returned(run.counted()));
        }
    });
}

#[test]
fn names_that_threads_got_after_their_first_call_survive_the_program_s_death() {
    Program::each("life.c", |program| {
        for variables in [&[][..], &[("ATF_RING", "64")], &[("ATF_FLIGHT", "10")]] {
            let run = program.run_with(&["renamed"], variables);
            assert_eq!(run.output.status.signal(), Some(6), "{variables:?}");
            let threads = run.session().threads();
            let names: Vec<_> = threads.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["program", "renamed"], "{variables:?}");
        }
    });
}

#[test]
fn a_signal_handler_may_end_the_program_while_an_event_is_recorded() {
    Program::with("life.c", |program| {
        for _ in 0..5 {
            let run = program.succeeds(&["exit-by-signal"], &[]);
            let trace = run.session();
            assert!(trace.event_count() > 0);
            assert_eq!(trace.calls().unmatched, 0);
        }
    });
}

#[test]
fn events_lost_after_a_jump_out_of_a_hook_are_counted() {
    Program::with("life.c", |program| {
        for details in ["off", "all"] {
            let run = program.succeeds(&["jump-out"], &[("ATF_DETAILS", details)]);
            // The calls and returns of leaf and of late.
            assert_eq!(run.session().lost(), 202, "{details}");
        }
    });
}

#[test]
fn messages_that_nobody_reads_do_not_kill_a_program_or_end_up_in_its_files() {
    Program::with("life.c", |program| {
        let lossy = [("ATF_RING", "16"), ("ATF_OVERFLOW", "drop")];
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program.command(&["threads"]);
        let output = command.envs(lossy).stderr(writer).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let run = program.finished(program.command(&["threads"]).envs(lossy));
        assert!(run.messages().ends_with(" events are not in the trace\n"));

        // The program's own file gets the descriptor of standard error.
        let own = program.folder.path().join("own");
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" close \"$1\" 2>&-"]);
        shell.args([&program.path(), &own]);
        let output = program.record(&mut shell).envs(lossy).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(fs::read_to_string(own).unwrap(), "first\nlast\n");
    });
}

#[test]
fn a_program_without_memory_continues_and_its_losses_are_counted() {
    Program::with("no_memory.c", |program| {
        for variables in [
            &[][..],
            &[("ATF_RING", "4096")],
            &[("ATF_FLIGHT", "60")],
            &[("ATF_DETAILS", "all")],
        ] {
            let run = program.succeeds(&[], variables);
            let trace = run.session().accepted();
            let lost = trace.lost() + trace.lost_in_unlisted_threads();
            let events = trace.event_count() + lost;
            assert_eq!(events, 2 * run.counted(), "{variables:?}");
        }
    });
}

#[test]
fn events_that_do_not_fit_on_the_disk_are_counted_as_lost() {
    Program::with("life.c", |program| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 60 && exec \"$0\" threads"]);
        shell.arg(program.path()).env("ATF_RING", "64");
        let run = program.finished(program.record(&mut shell));
        let message = run.messages();
        assert!(message.contains("File too large"), "{message}");
        let trace = run.session();
        assert!(trace.event_count() > 0 && trace.lost() > 0);
        assert_eq!(trace.event_count() + trace.lost(), 2 * run.counted());
    });
}

#[test]
fn a_killed_program_loses_no_call_that_had_been_recorded() {
    Program::with("life.c", |program| {
        let finished = program.folder.path().join("finished");
        for kill in 0..20 {
            let _ = fs::remove_file(&finished);
            let mut command = program.command(&["forever", finished.to_str().unwrap()]);
            let mut child = command.spawn().unwrap();
            let count = || {
                let bytes = fs::read(&finished).unwrap_or_default();
                bytes
                    .first_chunk()
                    .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
            };
            while count() == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_micros(1_700 * kill));
            child.kill().unwrap();
            child.wait().unwrap();
            let sessions = program.sessions();
            let trace = Trace::open(&sessions[0]);
            // The last call may have been recorded but not yet counted.
            let (recorded, counted) = (trace.calls().returned, count());
            let is_whole = (counted..=counted + 1).contains(&recorded);
            assert!(is_whole, "{recorded} of {counted}");
        }
    });
}
