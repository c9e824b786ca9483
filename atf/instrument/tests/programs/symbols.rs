//! Tests functions that the library calls and the program may define.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use atf::EventKind;
use atf_samples::tools::has;

use crate::support::{Program, libraries};

/// The functions that `libatf_instrument.so` imports from other libraries, each with a decision.
const SYMBOLS: &str = include_str!("symbols.txt");

/// The names differ on other processors and C libraries.
#[test]
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn there_is_a_decision_for_each_function_of_other_libraries() {
    if !has("nm") {
        return;
    }
    let library = libraries().join("libatf_instrument.so");
    let mut command = Command::new("nm");
    command.args(["-D", "--undefined-only"]).arg(library);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // The lines end with names and, after `@`, their versions.
    let names = text
        .lines()
        .filter_map(|line| line.rsplit(' ').next()?.split('@').next());
    let found: BTreeSet<_> = names.collect();
    let lines = SYMBOLS.lines().filter(|line| !line.starts_with('#'));
    let decided: BTreeSet<_> = lines.flat_map(str::split_whitespace).collect();
    let new: Vec<_> = found.difference(&decided).collect();
    let gone: Vec<_> = decided.difference(&found).collect();
    let is_same = new.is_empty() && gone.is_empty();
    assert!(is_same, "new: {new:?}, gone: {gone:?}");
}

#[test]
fn the_recording_does_not_use_the_program_s_own_clock() {
    Program::with("own_clock.c", |program| {
        for variables in [&[][..], &[("ATF_RING", "64")], &[("ATF_FLIGHT", "60")]] {
            let run = program.succeeds(&[], variables);
            // Only the program may call its functions, and it never does.
            assert_eq!(run.counted(), 0, "{variables:?}");
            assert_eq!(run.messages(), "", "{variables:?}");
            assert!(!run.sessions[0].ends_with("pid_42"));
            let trace = run.session().accepted();
            assert_eq!((trace.calls().returned, trace.lost()), (2 * 501, 0));
            for (_, events) in trace.threads() {
                let times = events.iter().map(|event| event.timestamp_ns);
                assert!(times.clone().is_sorted());
                // Each of the 500 calls sleeps for at least a microsecond.
                let (first, last) = (times.clone().min().unwrap(), times.max().unwrap());
                assert!(last - first >= 500_000, "{first} to {last}");
            }
        }
    });
}

#[test]
fn a_program_may_define_functions_of_the_c_library() {
    Program::each("own_functions.c", |program| {
        for variables in [&[][..], &[("ATF_RING", "64")]] {
            let run = program.succeeds(&[], variables);
            let trace = run.session();
            let threads = trace.threads();
            let events = threads.iter().flat_map(|(_, events)| events);
            let mut calls = BTreeMap::<_, u64>::new();
            for event in events.filter(|event| event.event_kind == EventKind::CALL) {
                *calls.entry(event.function_id).or_default() += 1;
            }
            // The calls of work and of leaf.
            let counts: Vec<_> = calls.into_values().collect();
            assert_eq!(run.counted(), 2 + 40_000);
            let has_both = counts.contains(&2) && counts.contains(&40_000);
            assert!(has_both, "{counts:?}");
        }
    });
}

/// A statically linked library uses the program's clock, but not for the times of events.
#[test]
fn a_program_with_its_own_clock_may_be_linked_with_the_library() {
    Program::each("own_clock.c", |program| {
        let run = program.succeeds(&[], &[]);
        assert_eq!(run.sessions.len(), 1);
    });
}
