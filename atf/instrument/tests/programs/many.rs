//! Tests many threads: events, losses and memory use.

use crate::support::{Program, Run, Trace};

/// The number of simultaneous threads.
const THREADS: u64 = 64;

/// Returns how many events the threads record in total. `ATF_TEST_EVENTS` overrides it.
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
