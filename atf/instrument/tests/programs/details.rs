//! Tests details, triggers, and the flight recorder.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use atf::EventKind;
use atf::detail::FunctionPayload;
use atf::index::IndexEvent;
use atf::session::SessionReader;

use crate::support::{Program, Run, Trace};

/// Returns each thread's events with their payloads.
fn detailed(session: &SessionReader) -> Vec<Vec<(IndexEvent, Option<FunctionPayload>)>> {
    let threads = session.threads().iter().map(|thread| {
        let reader = thread.open().unwrap();
        let events = reader.index().events_in(..).map(|event| {
            let event = event.unwrap();
            let detail = reader.detail_of(&event).unwrap().found();
            let payload = detail.map(|detail| {
                assert_eq!(detail.header.event_type, event.event_kind.detail_type());
                let payload = reader.detail().unwrap().function_payload(&detail).unwrap();
                let payload = payload.expect("a payload of the format's shape");
                assert_eq!(payload.function_id, event.function_id);
                payload
            });
            (event, payload)
        });
        events.collect()
    });
    threads.collect()
}

#[test]
fn details_have_the_registers_and_the_stack_of_the_function() {
    Program::each("details.c", |program| {
        for (size, ring) in [(None, None), (Some("256"), Some("64")), (Some("0"), None)] {
            let mut variables = vec![("ATF_DETAILS", "all")];
            variables.extend(size.map(|size| ("ATF_STACK", size)));
            variables.extend(ring.map(|ring| ("ATF_RING", ring)));
            let trace = program.run_with(&["six"], &variables).session().accepted();
            let threads = detailed(&trace.reader);
            let [call, _, _, end] = &threads[0][..] else {
                panic!("{threads:?}");
            };
            let (called, returned) = (call.1.as_ref().unwrap(), end.1.as_ref().unwrap());
            let size: usize = size.map_or(128, |size| size.parse().unwrap());
            assert_eq!((called.stack.len(), returned.stack.len()), (size, size));
            assert_eq!(called.x_regs[..2], [0, 0]);
            if cfg!(target_arch = "x86_64") {
                assert_eq!(called.x_regs[2..], [3, 4, 5, 6, 0, 0]);
                let modules = &trace.reader.manifest().unwrap().modules;
                let code = |address: u64| {
                    modules.iter().any(|module| {
                        let base = module.base_address.unwrap();
                        (base..base + module.size.unwrap()).contains(&address)
                    })
                };
                // The return address is in main, which is not recorded but is in the same module.
                assert!(code(called.lr), "{called:x?}");
            }
            assert_eq!((called.sp, called.lr), (returned.sp, returned.lr));
            assert_eq!(called.sp % 16, 0);
            let marker = b"STACK OF SIX...\0";
            let has_marker = |payload: &FunctionPayload| {
                let mut parts = payload.stack.windows(marker.len());
                parts.any(|bytes| bytes == marker)
            };
            assert_eq!(has_marker(returned), size > 0, "{returned:?}");
            assert!(!has_marker(called));
        }
    });
}

#[test]
fn only_the_details_around_the_trigger_of_a_busy_program_are_kept() {
    Program::with("details.c", |program| {
        for how in ["call", "signal", "function"] {
            let mut variables = vec![
                ("ATF_DETAILS", "trigger"),
                ("ATF_PRE_ROLL", "100"),
                ("ATF_POST_ROLL", "50"),
            ];
            match how {
                "signal" => variables.push(("ATF_TRIGGER_SIGNAL", "USR2")),
                "function" => variables.push(("ATF_TRIGGER_FUNCTIONS", "rare")),
                _ => {}
            }
            let run = program.run_with(&["around", how], &variables);
            let trace = run.session().accepted();
            assert_eq!((trace.lost(), trace.lost_details()), (0, 0));
            let text = String::from_utf8(run.output.stdout).unwrap();
            let times: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
            let (pre_roll, post_roll) = (100_000_000, 50_000_000);
            // The trigger fired between the two printed times, so events at these times are
            // certainly in its window.
            let surely = times[1] - pre_roll..=times[0] + post_roll;
            let perhaps = times[0] - pre_roll..=times[1] + post_roll;
            let threads = detailed(&trace.reader);
            assert_eq!(threads.len(), 2);
            let mut details = 0;
            for (event, payload) in threads.iter().flatten() {
                let time = event.timestamp_ns;
                let has = payload.is_some();
                assert!(has || !surely.contains(&time), "{how}: {event:?}");
                assert!(!has || perhaps.contains(&time), "{how}: {event:?}");
                details += u64::from(has);
            }
            assert!(details > 0 && details < threads.iter().flatten().count() as u64);
        }
    });
}

#[test]
fn a_depth_and_functions_select_triggers_and_details() {
    let window = ("ATF_DETAILS", "trigger");
    let depth_of = |found: &[(IndexEvent, Option<FunctionPayload>)]| {
        let with = found.iter().filter(|(_, payload)| payload.is_some());
        with.map(|(event, _)| event.call_depth.unwrap()).min()
    };
    Program::with("details.c", |program| {
        // Windows of length zero contain the details of the triggering calls and of other events at
        // the same time.
        let found = program.run_with(&["down"], &[window, ("ATF_TRIGGER_DEPTH", "7")]);
        let threads = detailed(&found.session().accepted().reader);
        assert_eq!(depth_of(&threads[0]), Some(7));
        let variables = [
            window,
            ("ATF_TRIGGER_DEPTH", "7"),
            ("ATF_TRIGGER_FUNCTIONS", "leaf"),
        ];
        let found = program.run_with(&["down"], &variables);
        let threads = detailed(&found.session().accepted().reader);
        assert_eq!(depth_of(&threads[0]), None);
        let variables = [("ATF_DETAILS", "all"), ("ATF_DETAIL_FUNCTIONS", "leaf")];
        let found = program.run_with(&["six"], &variables);
        let threads = detailed(&found.session().accepted().reader);
        let details = threads[0].iter().map(|(_, payload)| payload.is_some());
        assert_eq!(details.collect::<Vec<_>>(), [false, true, true, false]);
    });
}

#[test]
fn a_function_whose_name_stays_mangled_has_no_details() {
    Program::with("slow_name.c", |program| {
        let variables = [("ATF_DETAILS", "all"), ("ATF_DETAIL_FUNCTIONS", "*")];
        let found = program.run_with(&[], &variables);
        let threads = detailed(&found.session().accepted().reader);
        let payloads = threads[0].iter().map(|(_, payload)| payload.is_some());
        let details: Vec<_> = payloads.collect();
        // The calls and returns of `main` and of `slow`.
        assert_eq!(details, [true, false, false, true]);
    });
}

#[test]
fn the_program_s_own_handler_is_called_after_a_trigger() {
    Program::with("details.c", |program| {
        let variables = [("ATF_FLIGHT", "10"), ("ATF_TRIGGER_SIGNAL", "SIGUSR2")];
        let run = program.run_with(&["handler"], &variables);
        assert_eq!(run.output.status.code(), Some(77), "{:?}", run.output);
    });
}

#[test]
fn the_last_calls_before_a_crash_and_its_signal_are_recorded() {
    Program::with("details.c", |program| {
        for (how, signal, last) in [
            ("segv", libc::SIGSEGV, "rare"),
            ("abrt", libc::SIGABRT, "rare"),
            ("ill", libc::SIGILL, "rare"),
            ("sent", libc::SIGBUS, "rare"),
            ("stack", libc::SIGSEGV, "overflow"),
        ] {
            for flight in ["10", "1M"] {
                let run = program.run_with(&["crash", how], &[("ATF_FLIGHT", flight)]);
                let found = run.output.status.signal();
                assert_eq!(found, Some(signal), "{how}: {:?}", run.output);
                let session = run.session();
                // The handler waited until all data requested by the crash was written.
                let unwritten = session.reader.manifest().unwrap().unwritten_events;
                assert_eq!(unwritten, None);
                let threads = session.threads();
                let events = &threads[0].1;
                // 1000 calls of leaf, and a call of rare, which also calls leaf.
                let complete = &events[..2004];
                assert!(complete.iter().all(|event| event.call_depth.unwrap() <= 2));
                assert_eq!(complete[2003].event_kind, EventKind::RETURN);
                assert_eq!(events.len() == 2004, last == "rare", "{how}");
            }
        }
    });
}

#[test]
fn the_last_calls_of_a_forked_child_that_crashes_are_recorded() {
    Program::with("details.c", |program| {
        let run = program.succeeds(&["fork"], &[("ATF_FLIGHT", "10")]);
        let traces = run.sessions.iter().map(|session| Trace::open(session));
        let mut counts: Vec<_> = traces.map(|trace| trace.event_count()).collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 2004]);
    });
}

#[test]
fn the_last_calls_of_a_program_that_exits_are_recorded() {
    Program::with("details.c", |program| {
        let run = program.run_with(&["down"], &[("ATF_FLIGHT", "3600")]);
        let trace = run.session().accepted();
        assert_eq!((trace.event_count(), trace.lost()), (20, 0));
    });
}

/// Runs the program with details and at most `size` KiB of memory.
fn limited(program: &Program, size: u32, setting: (&str, &str)) -> Run {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -v {size} && exec \"$0\" down");
    command.args(["-c", &limited]).arg(program.path());
    let command = program.record(command.current_dir(program.folder.path()));
    program.finished(command.envs([setting, ("ATF_DETAILS", "all")]))
}

#[test]
fn the_memory_for_details_is_bounded() {
    Program::with("details.c", |program| {
        // A flight recorder is limited to its configured size, and a ring without windows to
        // 64 MiB.
        for (setting, size) in [
            (("ATF_FLIGHT", "64M"), 600_000),
            (("ATF_RING", "1048576"), 300_000),
        ] {
            let run = limited(program, size, setting);
            assert!(run.output.status.success(), "{:?}", run.output);
            let threads = detailed(&run.session().accepted().reader);
            assert_eq!(threads[0].len(), 20);
            assert!(threads[0].iter().all(|(_, payload)| payload.is_some()));
        }
    });
}

#[test]
fn the_memory_for_details_is_bounded_by_the_system_s_memory() {
    Program::with("details.c", |program| {
        let run = limited(program, 150_000, ("ATF_FLIGHT", "64M"));
        assert!(run.output.status.success(), "{:?}", run.output);
        let message = String::from_utf8_lossy(&run.output.stderr).into_owned();
        assert!(message.starts_with("atf: memory is short"), "{message}");
        assert_eq!(run.session().event_count(), 20);
    });
}

#[test]
fn a_long_run_is_split_into_segments_with_every_call_once() {
    Program::with("life.c", |program| {
        // A segment ends only while the program runs. With small rings, the program must wait for
        // the drain.
        let variables = [("ATF_SEGMENT", "8K"), ("ATF_RING", "64")];
        let found = program.finished(program.command(&["threads"]).envs(variables));
        assert!(found.sessions.len() > 1, "{:?}", found.output);
        let sessions = found.sessions.iter();
        let traces = sessions.map(|session| Trace::open(session).accepted());
        let recorded: u64 = traces.map(|trace| trace.event_count()).sum();
        assert_eq!(recorded, 2 * found.counted());
        let mut command = program.command(&["threads"]);
        let kept = program.finished(command.envs(variables).env("ATF_KEEP", "1"));
        let session = kept.session().accepted();
        assert!(session.event_count() < recorded);
    });
}
