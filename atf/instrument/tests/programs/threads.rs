//! Tests programs with threads, also with many: events, losses and memory use.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Calls, Program, Run, Trace};

/// The number of simultaneous threads of `many.c`.
const THREADS: u64 = 64;

#[test]
fn every_call_and_every_return_of_every_thread_is_recorded() {
    Program::each("life.c", |program| {
        let run = program.run(&["threads"]);
        let calls = run.counted();
        assert!(calls > 3 * 512, "{calls}");
        let trace = run.session().accepted();
        let returned = Calls::all_returned(calls);
        assert_eq!(trace.calls(), returned);
        assert_eq!(trace.lost(), 0);
        let threads = trace.threads();
        let names: Vec<_> = threads.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["first", "program", "second", "third"]);
        let depths = threads[0].1.iter().map(|it| it.call_depth.unwrap());
        // The depths: work, tree nine times, leaf.
        assert_eq!(depths.collect::<BTreeSet<_>>(), (1..=11).collect());
        // The functions of one module: early and late, work, tree and leaf.
        let events = threads.iter().flat_map(|(_, events)| events);
        let ids = events.map(|event| event.function_id);
        assert_eq!(ids.collect::<BTreeSet<_>>().len(), 5);
        assert_eq!(run.messages(), "");
    });
}

#[test]
fn a_signal_handler_s_events_are_recorded_or_counted_as_lost() {
    Program::with("life.c", |program| {
        let run = program.run(&["signals"]);
        let trace = run.session();
        assert_eq!(trace.event_count() + trace.lost(), 2 * run.counted());
    });
}

#[test]
fn small_stacks_and_destructors_of_keys_lose_no_calls() {
    Program::each("life.c", |program| {
        for mode in ["small", "sigaltstack", "keys"] {
            let run = program.run(&[mode]);
            let trace = run.session().accepted();
            assert_eq!(trace.calls().returned, run.counted(), "{mode}");
            assert_eq!(trace.threads().len(), 2);
        }
    });
}

#[test]
fn hooks_do_not_change_errno_or_act_on_cancellation() {
    Program::each("life.c", |program| {
        // The calls in addition to those of early and late.
        for (way, details, calls) in [
            ("errno", "off", 1),
            ("cancel", "off", 20_000),
            ("cancel", "all", 20_000),
        ] {
            let run = program.run_with(&[way], &[("ATF_DETAILS", details)]);
            assert_eq!(run.counted(), calls + 2, "{way}");
            let trace = run.session().accepted();
            assert_eq!(trace.calls().returned, run.counted(), "{way}");
        }
    });
}

#[test]
fn a_thread_that_waits_for_room_is_not_cancelled() {
    Program::with("life.c", |program| {
        // With 4 MiB, the second thread's ring is smaller, which that thread reports.
        for (ring, memory, lines) in [("256", "2G", 0), ("65536", "4M", 1)] {
            let variables = [("ATF_RING", ring), ("ATF_RING_MEMORY", memory)];
            let run = program.run_with(&["cancel"], &variables);
            assert_eq!(run.messages().lines().count(), lines, "{:?}", run.output);
            let trace = run.session().accepted();
            assert_eq!(trace.calls().returned, 20_002);
            assert_eq!(trace.lost(), 0);
        }
    });
}

#[test]
fn a_program_that_closes_all_descriptors_harms_neither_its_files_nor_the_trace() {
    Program::each("life.c", |program| {
        let own = program.folder.path().join("own");
        let run = program.run(&["close", own.to_str().unwrap()]);
        assert_eq!(fs::read_to_string(own).unwrap(), "first\nlast\n");
        let trace = run.session().accepted();
        assert_eq!(trace.calls().returned, run.counted());
    });
}

#[test]
fn exceptions_end_their_functions() {
    // Clang calls no hook when an exception leaves a function.
    Program::with("throws.cpp", |program| {
        let run = program.succeeds(&[], &[]);
        let trace = run.session().accepted();
        let calls = trace.calls();
        // main, caught twice, and five functions that an exception passes through.
        assert!(calls.returned > 10, "{calls:?}");
        assert_eq!((calls.left, calls.open, calls.unmatched), (0, 0, 0));
        assert_eq!(trace.threads().len(), 2);
    });
}

#[test]
fn after_a_longjmp_the_depth_is_correct_at_the_next_return() {
    Program::each("life.c", |program| {
        let run = program.run(&["jumps"]);
        let trace = run.session();
        let calls = trace.calls();
        // `longjmp` leaves six calls, three times.
        assert_eq!((calls.left, calls.open, calls.unmatched), (18, 0, 0));
        assert_eq!(calls.returned + calls.left, run.counted());
        let threads = trace.threads();
        let depths = threads[0].1.iter().map(|it| it.call_depth.unwrap());
        // early, guarded and its callees are followed by a call of leaf at depth 1 and by late.
        assert_eq!(depths.rev().take(4).collect::<Vec<_>>(), [1; 4]);
    });
}

#[test]
fn a_fiber_s_call_that_its_caller_did_not_wait_for_has_a_return_without_a_call() {
    Program::each("life.c", |program| {
        let run = program.run(&["fibers"]);
        let expected = Calls {
            returned: run.counted() - 1,
            left: 1,
            open: 0,
            unmatched: 1,
        };
        assert_eq!(run.session().accepted().calls(), expected);
    });
}

#[test]
fn a_flight_recorder_keeps_the_last_calls_of_many_threads_that_have_ended() {
    Program::with("life.c", |program| {
        for flight in ["60", "64M"] {
            let run = program.run_with(&["short"], &[("ATF_FLIGHT", flight)]);
            let trace = run.session().accepted();
            let found = (trace.threads().len(), trace.event_count(), trace.lost());
            assert_eq!(found, (41, 2 * run.counted(), 0));
            assert_eq!(run.messages(), "");
        }
    });
}

/// Returns how many events the threads of `many.c` record in total. `ATF_TEST_EVENTS` overrides it.
fn events() -> u64 {
    let set = std::env::var("ATF_TEST_EVENTS").ok();
    set.map_or(2_000_000, |events| events.parse().unwrap())
}

/// Runs threads that record simultaneously through rings of 4096 events. Returns the run and the
/// number of events that the program counted.
fn run(program: &Program, settings: &[(&str, &str)]) -> (Run, u64) {
    let calls = events() / THREADS / 2;
    let arguments = ["busy", &THREADS.to_string(), &calls.to_string()];
    let mut command = program.command(&arguments);
    command
        .env("ATF_RING", "4096")
        .envs(settings.iter().copied());
    (program.finished(&mut command), 2 * calls * THREADS)
}

/// Returns how many events, details, lost events and lost details a trace has.
fn counts(trace: &Trace) -> [u64; 4] {
    let mut details = 0;
    let mut events = 0;
    for thread in trace.reader.threads() {
        let thread = thread.open().unwrap();
        events += thread.index().event_count();
        details += thread.detail().map_or(0, |detail| detail.event_count());
    }
    [events, details, trace.lost(), trace.lost_details()]
}

#[test]
fn many_threads_that_wait_for_room_lose_nothing_in_bounded_memory() {
    Program::with("many.c", |program| {
        let (run, expected) = run(program, &[("ATF_OVERFLOW", "block")]);
        let trace = run.session().accepted();
        assert_eq!(counts(&trace), [expected, 0, 0, 0]);
        assert_eq!(run.messages(), "");
        // Each thread uses 128 KiB for its ring, and 128 KiB for its buffer.
        assert!(run.counted() < 128 << 10, "{} KiB", run.counted());
    });
}

#[test]
fn events_dropped_by_many_threads_are_counted_exactly() {
    Program::with("many.c", |program| {
        let (run, expected) = run(program, &[("ATF_OVERFLOW", "drop")]);
        let [events, _, lost, _] = counts(&run.session().accepted());
        assert!(lost > 0);
        assert_eq!(events + lost, expected);
        let message = format!("atf: {lost} events are not in the trace\n");
        assert_eq!(run.messages(), message);
    });
}

#[test]
fn details_of_many_threads_are_dropped_first() {
    Program::with("many.c", |program| {
        let settings = [("ATF_OVERFLOW", "drop-detail"), ("ATF_DETAILS", "all")];
        let (run, expected) = run(program, &settings);
        let [events, details, lost, lost_details] = counts(&run.session().accepted());
        assert_eq!(events + lost, expected);
        assert_eq!(details + lost_details, events);
        // The other policies record the detail of each recorded event.
        assert!(lost_details > 0);
    });
}

#[test]
fn rings_of_many_threads_are_smaller_if_memory_is_limited() {
    Program::with("many.c", |program| {
        let settings = [("ATF_RING_MEMORY", "2M")];
        let (run, expected) = run(program, &settings);
        let trace = run.session().accepted();
        assert_eq!(counts(&trace), [expected, 0, 0, 0]);
        // The scheduler determines which of the threads is the ninth to get its ring.
        let message = run.messages();
        let limit = "atf: memory is short, or limited to 2048 KiB for all rings (ATF_RING_MEMORY): the ring of thread ";
        let size = " holds 256 events, and those of later threads may hold fewer\n";
        let thread = message
            .strip_prefix(limit)
            .and_then(|it| it.strip_suffix(size));
        let is_id = thread.is_some_and(|it| it.parse::<u32>().is_ok());
        assert!(is_id, "{message}");
    });
}

#[test]
fn threads_that_have_ended_leave_no_memory_allocated() {
    Program::with("many.c", |program| {
        // Threads whose events no trigger requests have no files, and are not in the manifest.
        for (setting, value) in [("ATF_FLIGHT", "1"), ("ATF_MODULES", "!*")] {
            let run = program.run_with(&["brief", "3000", "1"], &[(setting, value)]);
            assert!(run.counted() < 20, "{} bytes per thread", run.counted());
        }
    });
}
